"""Words put in order digit by digit, the lowest first: each pass keeps the order of equal digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from .code_of_walks import Code

__all__ = ["by_digits", "in_order"]


def by_digits(code: str) -> str:
    """The text of a loop over rows of words whose bits from ``low`` on count, in place.

    ``ROOM`` is for a row, ``COUNTS`` has zeros, one for each value of a digit of ``bits`` bits.
    """
    w = Code(("WORDS", "ROOM", "COUNTS", "rows", "count", "low", "bits", "passes"))
    values = w.set("shl i64 1, %bits")
    mask = w.set(f"sub i64 {values}, 1")
    given, made = w.variable("ptr", "%WORDS"), w.variable("ptr", "%ROOM")

    def row(r: str) -> None:
        own = w.set(f"getelementptr i64, ptr %WORDS, i64 {w.times(r, '%count')}")
        w.put(f"store ptr {own}, ptr {given}")
        w.put(f"store ptr %ROOM, ptr {made}")
        w.loop("%passes", lambda number: _pass(w, given, made, w.times(number, "%bits"), mask))
        last = w.set(f"load ptr, ptr {given}")

        def back() -> None:
            w.loop("%count", lambda i: w.store("i64", w.load("i64", last, i), own, i))

        w.when(w.set(f"icmp ne ptr {last}, {own}"), back)

    w.loop("%rows", row)
    return w.text()


def _pass(w: Code, given: str, made: str, place: str, mask: str) -> None:
    """Put words in order of a digit, from one memory into the other, and exchange these."""
    source, target = (w.set(f"load ptr, ptr {pointer}") for pointer in (given, made))
    shift, values = w.sum("%low", place), w.sum(mask, "1")
    before = w.variable("i64", "0")

    def digit(word: str) -> str:
        return w.set(f"and i64 {w.set(f'lshr i64 {word}, {shift}')}, {mask}")

    def count(i: str) -> None:
        at = digit(w.load("i64", source, i))
        w.store("i64", w.sum(w.load("i64", "%COUNTS", at), "1"), "%COUNTS", at)

    def begin(at: str) -> None:
        first = w.set(f"load i64, ptr {before}")
        w.put(f"store i64 {w.sum(first, w.load('i64', '%COUNTS', at))}, ptr {before}")
        w.store("i64", first, "%COUNTS", at)

    def put(i: str) -> None:
        word = w.load("i64", source, i)
        at = digit(word)
        to = w.load("i64", "%COUNTS", at)
        w.store("i64", w.sum(to, "1"), "%COUNTS", at)
        w.store("i64", word, target, to)

    w.loop("%count", count)
    w.loop(values, begin)
    w.loop("%count", put)
    w.loop(values, lambda at: w.store("i64", "0", "%COUNTS", at))
    w.put(f"store ptr {target}, ptr {given}")
    w.put(f"store ptr {source}, ptr {made}")


def in_order(d: Any, random: Any) -> Any:
    """A case: words whose lower bits are in order already."""
    low, bits, passes = (int(random.choice(some)) for some in ((0, 9), (3, 8, 10), (2, 3, 5)))
    count = int(random.choice((1, 50, 500)))
    words = random.integers(0, 1 << min(bits * passes, 62 - low), (3, count)) << low
    words |= np.arange(count) if low else 0
    arguments = words, np.zeros(count, d), np.zeros(1 << bits, d), 3, count, low, bits, passes
    return arguments, words, np.sort(words)
