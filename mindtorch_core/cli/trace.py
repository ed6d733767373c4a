"""Run a script and show, on one page, when its ops ran and what its pipelines recorded and launched.

The page has the timeline of ops, flushes, fused groups and of an accelerator's tasks, the memory that
tensors hold, the lines that made a pipeline flush, and the graph of each pipeline. It stands alone: no
network is needed to look at it. A trace for Perfetto or chrome://tracing is written too. Options of this
command stand before the script, those after it are the script's.

Examples:
  mindtorch trace train.py --epochs 1
  mindtorch trace --no-open --page run.html train.py
  mindtorch trace --out run.json --graph run.svg train.py
  mindtorch trace --json train.py > run.json
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from .usage import UsageError, add_json, add_rest, output_aside, print_json

if TYPE_CHECKING:
    from ..measuring.timeline.following import Follower

__all__ = ["add_arguments", "run"]

_MOST = 100_000  # ops that a page shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--page",
        metavar="FILE",
        default="trace.html",
        help="where the page goes (default: trace.html)",
    )
    parser.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        help="show the page in a browser (default: where a person looks on)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="trace.json",
        help="where the trace goes (default: trace.json); .gz compresses it",
    )
    parser.add_argument(
        "--graph", metavar="FILE", help="also draw the recorded ops: .svg, .png, .pdf or .dot"
    )
    parser.add_argument(
        "--graph-ops",
        metavar="N",
        type=int,
        default=300,
        help="draw the first N ops (default: 300)",
    )
    add_json(parser)
    parser.add_argument("script", metavar="SCRIPT", help="the Python file to run")
    add_rest(parser)


def run(options: argparse.Namespace) -> int:
    """Run the script, write the files, and return the script's exit status."""
    from ..deferred.pictures.dot import check_suffix
    from ..measuring.timeline.following import Follower

    if not Path(options.script).is_file():
        raise UsageError(f"there is no file {options.script!r}")
    if options.graph_ops < 1:
        raise UsageError(f"--graph-ops must be at least 1, got {options.graph_ops}")
    # The script may change the working directory.
    files = {
        kind: _target(name)
        for kind in ("page", "out", "graph")
        if (name := getattr(options, kind)) is not None
    }
    if "graph" in files:
        try:
            check_suffix(files["graph"])
        except (ValueError, RuntimeError) as error:
            raise UsageError(str(error)) from None
    follower, status = Follower(_MOST), 1
    try:
        with follower, output_aside(options.json):
            status = _run_script(options.script, options.args)
    finally:
        _write(follower, files, options, status)
    if options.open or (options.open is None and _somebody_looks() and not options.json):
        _open(files["page"])
    return status


def _somebody_looks() -> bool:
    """Whether the command was typed at a terminal of a machine that shows windows."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(page: Path) -> None:
    import webbrowser

    if not webbrowser.open(page.as_uri()):
        _say(f"found no browser; the page is {page}")


def _target(name: str) -> Path:
    """A file to be written; the script may change the working directory."""
    path = Path(name).absolute()
    if not path.parent.is_dir():
        raise UsageError(f"cannot write {name!r}: there is no folder {str(path.parent)!r}")
    return path


def _run_script(script: str, args: list[str]) -> int:
    """Run a file as ``python`` does; returns its exit status."""
    with _as_main(script, args):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                return end.code or 0
            print(end.code, file=sys.stderr)
            return 1
        except Exception as error:  # noqa: BLE001 (a script may raise anything)
            traceback.print_exception(error.with_traceback(_below(error.__traceback__, script)))
            return 1
    return 0


@contextmanager
def _as_main(script: str, args: list[str]) -> Iterator[None]:
    """Let a script find its arguments, its neighbours, and warnings that name their line."""
    argv, path = sys.argv, list(sys.path)
    sys.argv = [script, *args]
    sys.path.insert(0, str(Path(script).absolute().parent))
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    finally:
        sys.argv, sys.path[:] = argv, path


def _below(entry: TracebackType | None, script: str) -> TracebackType | None:
    """The part of a traceback that begins in the script."""
    while entry is not None and entry.tb_frame.f_code.co_filename != script:
        entry = entry.tb_next
    return entry


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    text = warnings.formatwarning(message, category, filename, lineno, line)
    print(text, end="", file=file or sys.stderr)


def _write(
    follower: Follower, files: dict[str, Path], options: argparse.Namespace, status: int
) -> None:
    """Write the files, and say so on standard error: standard output is the script's."""
    from ..deferred.pictures.chrome_trace import write_chrome_trace
    from ..deferred.pictures.nodes import count
    from ..measuring.timeline.facts import facts_of
    from ..measuring.timeline.page import write_page

    facts = facts_of(follower, options.script, options.args, status)
    tracing = follower.tracing
    graph = tracing.graph()
    if not tracing.histories:
        _say("the script opened no torch.pipeline(), so no flush is shown")
    write_page(files["page"], facts, follower, options.graph_ops)
    write_chrome_trace(files["out"], tracing.histories)
    for name, start, end, thread in tracing.asides:
        if thread not in tracing.rows:  # of collective operations there are many
            _say(f"{name}: {(end - start) * 1e3:.0f} ms")
    _say(f"{files['page']}: {_summary(facts)}")
    groups = len({node.group for node in graph} - {None})
    _say(
        f"{files['out']}: {count(len(tracing.histories), 'pipeline')}, "
        f"{count(len(graph.flushes), 'flush', 'flushes')}, {count(len(graph), 'op')}, "
        f"{count(groups, 'fused group')}"
    )
    if "graph" in files:
        shown = graph.first(options.graph_ops)
        shown.render(files["graph"])
        more = f" of {len(graph)}" if shown.left_out else ""
        _say(f"{files['graph']}: {len(shown)}{more} ops")
    if options.json:
        print_json({**facts, "files": {kind: str(path) for kind, path in files.items()}})


def _summary(facts: dict[str, Any]) -> str:
    """What the page shows, in a line."""
    from ..deferred.pictures.nodes import count, size

    breaks = sum(flush["kind"] != "end" for flush in facts["flushes"])
    parts = [
        count(sum(op["op"] for op in facts["ops"]), "op"),
        count(breaks, "break"),
        *([count(len(facts["tasks"]), "task")] if facts["tasks"] else []),
        *(f"{device} {size(held['peak'])}" for device, held in facts["memory"].items()),
    ]
    return ", ".join(parts)


def _say(text: str) -> None:
    print(f"mindtorch trace: {text}", file=sys.stderr)
