"""Pipes of chosen samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..datapipe import IterDataPipe, functional_datapipe

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples for which a function of them, or of columns, is true."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., Any], input_col: Any = None) -> None:
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            if self.input_col is None:
                given = [sample]
            elif isinstance(self.input_col, list | tuple):
                given = [sample[c] for c in self.input_col]
            else:
                given = [sample[self.input_col]]
            if self.filter_fn(*given):
                yield sample
