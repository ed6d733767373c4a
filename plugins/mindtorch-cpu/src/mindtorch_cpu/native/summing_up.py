"""The sum of whole numbers, with 64 bits: in whatever order, it is the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from .code_of_walks import TYPES, Code

__all__ = ["added_up", "whole_sum"]


def whole_sum(code: str) -> str:
    """The sum of ``count`` elements."""
    w, kind = Code(("OUT", "GIVEN", "count")), TYPES[code]
    total = w.variable("i64", "0")

    def add(i: str) -> None:
        found = w.load(kind, "%GIVEN", i)
        wide = found if kind == "i64" else w.set(f"sext {kind} {found} to i64")
        before = w.set(f"load i64, ptr {total}")
        w.put(f"store i64 {w.set(f'add i64 {before}, {wide}')}, ptr {total}")

    w.loop("%count", add)
    w.store("i64", w.set(f"load i64, ptr {total}"), "%OUT", "0")
    return w.text()


def added_up(d: Any, random: Any) -> Any:
    """Arguments of `whole_sum`, its result among them, and what that should be."""
    bounds = np.iinfo(d)
    count = int(random.integers(1, 3000))
    given = random.integers(bounds.min, bounds.max, count, d, endpoint=True)
    out = np.zeros(1, np.int64)
    return (out, given, count), out, np.add.reduce(given, keepdims=True, dtype=np.int64)
