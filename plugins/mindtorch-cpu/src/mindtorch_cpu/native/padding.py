"""Padding lines by elements of their own: some before, the line, some behind, from any line of a plane."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes

__all__ = ["padded_lines", "padding"]

_LANES: Final = 16  # of a vector, at most


def padding(code: str) -> str:
    """Lines of ``before + width + after`` elements, each from the line of ``GIVEN`` that ``LINES`` says.

    ``EDGES`` says which elements of that line stand before and behind it. Other arguments: how many planes
    there are, lines of one that is given, and of one that is made.
    """
    names = "OUT", "GIVEN", "LINES", "EDGES", "planes", "high", "lines", "before", "after", "width"
    w, kind = Code(names), TYPES[code]
    lanes = min(_LANES, vector_bytes() // int(code[1]))
    each, size = f"<{lanes} x {kind}>", int(code[1])
    whole = w.sum("%before", "%width", "%after")

    def plane(n: str) -> None:
        first = w.times(n, "%high")

        def line(i: str) -> None:
            given = w.times(w.sum(first, w.load("i64", "%LINES", i)), "%width")
            made = w.times(w.sum(w.times(n, "%lines"), i), whole)
            inner = w.sum(made, "%before")
            behind = w.sum(inner, "%width")

            def edge(to: str, number: str) -> None:
                at = w.sum(given, w.load("i64", "%EDGES", number))
                w.store(kind, w.load(kind, "%GIVEN", at), "%OUT", to)

            def columns(c: str, count: int, of: int) -> None:
                if of == 1:
                    w.store(kind, w.load(kind, "%GIVEN", w.sum(given, c)), "%OUT", w.sum(inner, c))
                    return
                place = w.set(f"getelementptr {kind}, ptr %GIVEN, i64 {w.sum(given, c)}")
                x = w.set(f"load {each}, ptr {place}, align {size}")
                place = w.set(f"getelementptr {kind}, ptr %OUT, i64 {w.sum(inner, c)}")
                w.put(f"store {each} {x}, ptr {place}, align {size}")

            w.loop("%before", lambda j: edge(w.sum(made, j), j))
            w.over_columns(1, lanes, columns)
            w.loop("%after", lambda j: edge(w.sum(behind, j), w.sum("%before", j)))

        w.loop("%lines", line)

    w.loop("%planes", plane)
    return w.text()


def padded_lines(d: Any, random: Any) -> Any:
    """A case: lines with and without whole vectors, with and without edges."""
    width = int(random.choice((1, 15, 16, 37, 130)))
    before, after = (int(n) for n in random.integers(0, 4, 2))
    given = random.integers(-128, 128, (3, 4, width)).astype(d)
    lines, edges = random.integers(0, 4, 6), random.integers(0, width, before + after)
    places = np.concatenate([edges[:before], np.arange(width), edges[before:]])
    wanted = np.array(given[:, lines][:, :, places], order="C")
    out = np.zeros_like(wanted)
    numbers = 3, 4, len(lines), before, after, width
    return (out, given, lines.astype(np.int64), edges.astype(np.int64), *numbers), out, wanted
