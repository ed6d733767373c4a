"""Pipes of what functions make of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..._utils.collate import default_collate
from ..datapipe import IterDataPipe, functional_datapipe
from .utils import sized

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """What a function makes of each sample, or of columns of it.

    Args:
        datapipe: the source.
        fn: the function.
        input_col: which column it gets, or a list of them; None: the sample.
        output_col: which column its result replaces; -1 adds one. By default the first input's.
    """

    def __init__(
        self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None
    ) -> None:
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        self.datapipe, self.fn = datapipe, fn
        self.input_col, self.output_col = input_col, output_col

    def _apply(self, sample: Any) -> Any:
        if self.input_col is None:
            return self.fn(sample)
        several = isinstance(self.input_col, list | tuple)
        columns = list(self.input_col) if several else [self.input_col]
        found = self.fn(*(sample[c] for c in columns))
        parts = sample.copy() if isinstance(sample, dict) else list(sample)
        if self.output_col is None:
            parts[columns[0]] = found
            for c in sorted(columns[1:], reverse=True):
                del parts[c]
        elif self.output_col == -1 and isinstance(parts, list):
            parts.append(found)
        else:
            parts[self.output_col] = found
        return tuple(parts) if isinstance(sample, tuple) else parts

    def __iter__(self) -> Iterator[Any]:
        return map(self._apply, self.datapipe)

    def __len__(self) -> int:
        return sized(self.datapipe, self)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as what a function makes of their samples, by default as tensors.

    Args:
        datapipe: of batches.
        conversion: the function.
        collate_fn: the function by its other name, which goes before.
    """

    def __init__(
        self,
        datapipe: Any,
        conversion: Callable[[Any], Any] = default_collate,
        collate_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(datapipe, collate_fn or conversion)
