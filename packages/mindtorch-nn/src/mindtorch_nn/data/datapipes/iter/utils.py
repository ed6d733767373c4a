"""Anything that can be iterated as a pipe, and lengths of pipes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..datapipe import IterDataPipe, copied

__all__ = ["IterableWrapperIterDataPipe", "sized"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """Anything that can be iterated as a pipe.

    Args:
        iterable: of samples.
        deepcopy: whether each pass is over a copy.
    """

    def __init__(self, iterable: Any, deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        yield from copied(self.iterable, "iterable") if self.deepcopy else self.iterable

    def __len__(self) -> int:
        return len(self.iterable)


def sized(datapipe: Any, of: Any) -> int:
    """The length of a pipe's source.

    Raises:
        TypeError: if it has none.
    """
    try:
        return len(datapipe)
    except TypeError:
        raise TypeError(f"{type(of).__name__} instance doesn't have valid length") from None
