"""Places that change with later ones, one after the other (Fisher and Yates)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .code_of_walks import Code

__all__ = ["exchanged", "exchanges"]


def exchanged(code: str) -> str:
    """``OUT[i]`` changes with ``OUT[i + WORDS[i] % (count - i)]``, for i = 0, 1 and so on; 32-bit words."""
    w = Code(("OUT", "WORDS", "count"))

    def one(i: str) -> None:
        left = w.set(f"trunc i64 {w.set(f'sub i64 %count, {i}')} to i32")
        further = w.set(f"urem i32 {w.load('i32', '%WORDS', i)}, {left}")
        j = w.sum(i, w.set(f"zext i32 {further} to i64"))
        here, there = w.load("i64", "%OUT", i), w.load("i64", "%OUT", j)
        w.store("i64", there, "%OUT", i)
        w.store("i64", here, "%OUT", j)

    w.loop(w.set("sub i64 %count, 1"), one)
    return w.text()


def exchanges(d: Any, random: Any) -> Any:
    """A case: few places, or many."""
    n = int(random.choice((2, 3, 700)))
    words = random.integers(0, 1 << 32, n - 1, np.uint32)
    out = np.arange(n, dtype=d)
    order = list(range(n))
    for i, word in enumerate(words.tolist()):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return (out, words, n), out, np.array(order, d)
