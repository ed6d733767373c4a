"""Sums and maxima of groups of rows, one row after the other.

NumPy reads and writes what it has found once for each row; here that of some columns stays in registers while
the rows of a group are gone through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes, vector_registers

__all__ = ["grouped", "of_groups"]

# What is found of a group, and the arrays that it is found of.
_ARRAYS: Final = {"sums": ("GIVEN",), "dots": ("GIVEN", "OTHER"), "tops": ("GIVEN",)}


def of_groups(how: str) -> Callable[[str], str]:
    """What makes the text of a loop over groups of dense rows of more than one element.

    Args:
        how: ``sums`` and ``dots`` as ``np.add.reduce`` makes them, from 0, of one array or of the product of
            two; ``tops``, maxima, where NaN is the largest and zeros are alike.
    """

    def write(code: str) -> str:
        arrays = _ARRAYS[how]
        w = Code(("OUT", *arrays, "blocks", "far", "step", "groups", "rows", "width"))
        kind, size = TYPES[code], int(code[1])
        lanes, chains = vector_bytes() // size, vector_registers() // 2

        def some(at: str, out: str, count: int, lanes: int) -> None:
            """Go through ``count`` vectors of columns."""
            each = f"<{lanes} x {kind}>"
            found = [w.variable(each, _first(how, kind, lanes)) for _ in range(count)]

            def places(base: str) -> Iterator[str]:
                for n in range(count):
                    yield w.set(f"getelementptr {kind}, ptr {base}, i64 {n * lanes}")

            def row(r: str) -> None:
                here = w.sum(at, w.times(r, "%step"))
                bases = [w.set(f"getelementptr {kind}, ptr %{a}, i64 {here}") for a in arrays]
                for variable, *where in zip(found, *map(places, bases), strict=True):
                    given = [w.set(f"load {each}, ptr {p}, align {size}") for p in where]
                    before = w.set(f"load {each}, ptr {variable}")
                    now = _next(w, how, each, lanes, before, given)
                    w.put(f"store {each} {now}, ptr {variable}")

            w.loop("%rows", row)
            for variable, place in zip(found, places(out), strict=True):
                now = w.set(f"load {each}, ptr {variable}")
                w.put(f"store {each} {now}, ptr {place}, align {size}")

        def group(b: str, g: str) -> None:
            begin = w.sum(w.times(b, "%far"), w.times(g, "%rows", "%step"))
            made = w.times(w.sum(w.times(b, "%groups"), g), "%width")

            def columns(at: str, count: int, of: int) -> None:
                out = w.set(f"getelementptr {kind}, ptr %OUT, i64 {w.sum(made, at)}")
                some(w.sum(begin, at), out, count, of)

            w.over_columns(chains, lanes, columns)

        w.loop("%blocks", lambda b: w.loop("%groups", lambda g: group(b, g)))
        return w.text()

    return write


def _first(how: str, kind: str, lanes: int) -> str:
    """What there is before the first row."""
    if how != "tops":
        return "zeroinitializer"
    return f"<{', '.join([f'{kind} 0xFFF0000000000000'] * lanes)}>"  # -inf


def _next(w: Code, how: str, each: str, lanes: int, before: str, given: list[str]) -> str:
    """What was found before, with another row."""
    x = given[0]
    if how == "tops":
        larger = w.set(f"fcmp ogt {each} {x}, {before}")
        none = w.set(f"fcmp uno {each} {x}, {x}")
        taken = w.set(f"or <{lanes} x i1> {larger}, {none}")
        return w.set(f"select <{lanes} x i1> {taken}, {each} {x}, {each} {before}")
    if how == "dots":
        x = w.set(f"fmul {each} {x}, {given[1]}")
    return w.set(f"fadd {each} {before}, {x}")


def grouped(how: str) -> Callable[[Any, Any], Any]:
    """What makes a case of groups, and rows behind them that belong to none."""

    def make(d: Any, random: Any) -> Any:
        width = int(random.choice((2, 131, 277)))
        given = random.normal(0, 1, (3, 50, width + 3)) * np.exp2(random.integers(-20, 20, (50, 1)))
        if how != "tops":
            given[0, 0], given[1, :32] = -0.0, -0.0
        else:
            given[0, 5, 0], given[1, :32, 1] = np.nan, -np.inf
        given = given.astype(d)
        seen = given[:, :48, :width].reshape(3, 3, 16, width)
        others = () if how != "dots" else (given[::-1].copy(),)
        for other in others:
            seen = seen * other[:, :48, :width].reshape(seen.shape)
        wanted = np.maximum.reduce(seen, 2) if how == "tops" else np.add.reduce(seen, 2)
        out = np.zeros_like(wanted)
        steps = 50 * (width + 3), width + 3
        return (out, given, *others, 3, *steps, 3, 16, width), out, wanted

    return make
