"""Compiled functions that are bound to the shapes they ran on, for those who call and those who make them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

__all__ = ["CALLS", "LATER", "LOOPS", "Trace"]

Trace = Callable[..., Sequence[Any]]

# By key, shape and number of the dtype of the first array, and how arrays lie, where that is told, or None.
# What changes whether kernels are used empties it, and the next.
CALLS: Final[dict[Hashable, Callable[..., bool]]] = {}
# Loops of `native.walks` by name and number of the dtype.
LOOPS: Final[dict[tuple[str, int], Callable[..., bool]]] = {}
# By the keys of `CALLS`, calls without a kernel since the compiler has last made one: not each looks again.
LATER: Final[Counter[Hashable]] = Counter()
