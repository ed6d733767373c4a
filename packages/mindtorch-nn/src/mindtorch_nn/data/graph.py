"""Which pipes a pipe is made of: the names of ``torch.utils.data.graph``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch_core.utils._own_frames import warn_user

from .datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]

Graph = dict[int, tuple[Any, Any]]  # by identity a pipe, and the graph of those that it is made of


def traverse_dps(datapipe: Any) -> Graph:
    """The graph of a pipe: by identity the pipe, with the graphs of those that it is made of.

    Raises:
        RuntimeError: for what is no pipe.
    """
    return _graph_of(datapipe, frozenset())


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> Graph:
    """`traverse_dps` under a name of old.

    Args:
        datapipe: the pipe.
        only_datapipe: accepted: what pipes hold beside lists, tuples and dicts is not looked into.
    """
    warn_user("`traverse` is deprecated: use `traverse_dps`", FutureWarning)
    return traverse_dps(datapipe)


def _graph_of(datapipe: Any, above: frozenset[int]) -> Graph:
    if not isinstance(datapipe, IterDataPipe | MapDataPipe):
        raise RuntimeError(
            f"Expected `IterDataPipe` or `MapDataPipe`, but {type(datapipe)} is found"
        )
    if id(datapipe) in above:
        return {}
    above |= {id(datapipe)}
    inner: Graph = {}
    for each in _inside([*vars(datapipe).values()]):
        inner |= _graph_of(each, above)
    return {id(datapipe): (datapipe, inner)}


def _inside(value: Any) -> Iterator[Any]:
    """The pipes in lists, tuples and dicts."""
    if isinstance(value, IterDataPipe | MapDataPipe):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _inside(each)
