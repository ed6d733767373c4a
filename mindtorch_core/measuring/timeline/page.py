"""One page that shows what was followed; it asks no network, and runs nothing of the program's."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from ...deferred.pictures.drawing import svg_of
from ...deferred.pictures.graph import Graph
from ...deferred.pictures.history import History
from ...deferred.pictures.nodes import count
from ...values.markup import escaped, json_text
from .following import Follower

__all__ = ["write_page"]

_DATA: Final = "/*DATA*/"
_GRAPHS: Final = "<!--GRAPHS-->"
_PICTURES: Final = 12  # graphs that are drawn; the next ones are named


def write_page(path: Path, facts: dict[str, Any], follower: Follower, most: int) -> None:
    """Write the page.

    Args:
        path: the file.
        facts: what `facts_of` gives.
        follower: what followed the program.
        most: how many ops of a pipeline are drawn.

    Raises:
        OSError: if the file cannot be written.
    """
    template = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    head, _, rest = template.partition(_GRAPHS)
    middle, _, tail = rest.partition(_DATA)
    graphs = "\n".join(_graphs(follower.tracing.histories, most))
    path.write_text("".join([head, graphs, middle, json_text(facts), tail]), encoding="utf-8")


def _graphs(histories: list[History], most: int) -> Iterator[str]:
    """The graph of each pipeline; those that are alike are drawn once."""
    alike: dict[tuple[object, ...], list[History]] = {}
    for history in histories:
        if history.flushes:
            alike.setdefault(_shape(history), []).append(history)
    for number, same in enumerate(alike.values(), 1):
        graph = Graph(same[0].flushes)
        flushes = count(len(graph.flushes), "flush", "flushes")
        title = f"{_numbers(same)}: {count(len(graph), 'op')}, {flushes}"
        if number > _PICTURES:
            yield f"<p>{escaped(title)}: not drawn</p>"
            continue
        drawn = svg_of(graph.first(most) if len(graph) > most else graph, scope=f"-{number}")
        is_open = " open" if number == 1 else ""
        yield (
            f"<details{is_open}><summary>{escaped(title)}</summary>"
            f'<div class="picture" tabindex="0">{drawn}</div></details>'
        )


def _shape(history: History) -> tuple[object, ...]:
    """What two pipelines have in common whose pictures are the same."""
    first = min((n.number for f in history.flushes for n in f.nodes), default=0)
    groups = [n.group for f in history.flushes for n in f.nodes if n.group is not None]
    low = min(groups, default=0)
    return tuple(
        (
            f.reason, n.op, n.results, n.constants, n.location, n.dropped, n.failed,
            None if n.group is None else n.group - low,
            *(source - first for use in n.reads for source in use.sources),
        )
        for f in history.flushes
        for n in f.nodes
    )  # fmt: skip


def _numbers(same: list[History]) -> str:
    if len(same) == 1:
        return f"pipeline {same[0].number}"
    shown = ", ".join(str(history.number) for history in same[:8])
    return (
        f"pipelines {shown}{f' and {len(same) - 8} more' if len(same) > 8 else ''}, which are alike"
    )
