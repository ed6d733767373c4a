"""Bars of progress: those of the package tqdm, or silent ones where it is not installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Self

__all__ = ["tqdm"]


class _Silent:
    """Counts, and shows nothing."""

    def __init__(self, iterable: Iterable[Any] = (), *args: Any, **options: Any) -> None:
        self.iterable = iterable
        self.n = 0

    def update(self, n: int = 1) -> None:
        """Count."""
        self.n += n

    def close(self) -> None:
        """Do nothing."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


tqdm: Any
try:
    tqdm = import_module("tqdm").tqdm
except ModuleNotFoundError:
    tqdm = _Silent
