"""Run a script and show what its pipelines record and launch.

Every torch.pipeline() of the script is traced. The trace tells when each op was recorded, planned
and launched, and what made a pipeline flush; open it in Perfetto or chrome://tracing. Options of
this command stand before the script, those after it are the script's.

Examples:
  mindtorch trace train.py --epochs 1
  mindtorch trace --out run.json --graph run.svg train.py
"""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from .usage import UsageError

if TYPE_CHECKING:
    from ..deferred.pictures.history import Tracing

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
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
    parser.add_argument("script", metavar="SCRIPT", help="the Python file to run")
    args = parser.add_argument(
        "args", nargs=argparse.REMAINDER, metavar="...", help="its arguments"
    )
    args.required = False


def run(options: argparse.Namespace) -> int:
    """Run the script, write the files, and return the script's exit status."""
    from ..deferred.pictures.dot import check_suffix
    from ..deferred.pictures.history import trace_pipelines

    if not Path(options.script).is_file():
        raise UsageError(f"there is no file {options.script!r}")
    out = _target(options.out)
    picture = None if options.graph is None else _target(options.graph)
    if picture is not None:
        try:
            check_suffix(picture)
        except (ValueError, RuntimeError) as error:
            raise UsageError(str(error)) from None
        if options.graph_ops < 1:
            raise UsageError(f"--graph-ops must be at least 1, got {options.graph_ops}")
    with trace_pipelines() as tracing:
        try:
            status = _run_script(options.script, options.args)
        finally:
            _write(tracing, out, picture, options.graph_ops)
    return status


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


def _write(tracing: Tracing, out: Path, picture: Path | None, most: int) -> None:
    """Write the files, and say so on standard error: standard output is the script's."""
    from ..deferred.pictures.chrome_trace import write_chrome_trace
    from ..deferred.pictures.nodes import count

    graph = tracing.graph()
    if not tracing.histories:
        _say("the script opened no torch.pipeline(), so there is nothing to show")
    write_chrome_trace(out, tracing.histories)
    groups = len({node.group for node in graph} - {None})
    for name, start, end, _ in tracing.asides:
        _say(f"{name}: {(end - start) * 1e3:.0f} ms")
    _say(
        f"{out}: {count(len(tracing.histories), 'pipeline')}, "
        f"{count(len(graph.flushes), 'flush', 'flushes')}, {count(len(graph), 'op')}, "
        f"{count(groups, 'fused group')}"
    )
    if picture is not None:
        shown = graph.first(most)
        shown.render(picture)
        more = f" of {len(graph)}" if shown.left_out else ""
        _say(f"{picture}: {len(shown)}{more} ops")


def _say(text: str) -> None:
    print(f"mindtorch trace: {text}", file=sys.stderr)
