"""Sums of groups of rows, added one row after the other.

NumPy reads and writes the sums once for each row; here those of some columns stay in registers while the
rows of a group are added to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes, vector_registers

__all__ = ["added_groups", "group_sums"]


def group_sums(code: str) -> str:
    """Sums of groups of dense rows of more than one element, as ``np.add.reduce`` makes them, from 0."""
    w = Code(("OUT", "GIVEN", "blocks", "far", "groups", "rows", "width"))
    kind, size = TYPES[code], int(code[1])
    lanes, chains = vector_bytes() // size, vector_registers() // 2

    def some(first: str, out: str, count: int, lanes: int) -> None:
        """Add up ``count`` vectors of columns."""
        each = f"<{lanes} x {kind}>"

        totals = [w.variable(each, "zeroinitializer") for _ in range(count)]

        def places(base: str) -> Iterator[tuple[str, str]]:
            for n, total in enumerate(totals):
                yield total, w.set(f"getelementptr {kind}, ptr {base}, i64 {n * lanes}")

        def row(r: str) -> None:
            base = w.set(f"getelementptr {kind}, ptr {first}, i64 {w.times(r, '%width')}")
            for total, place in places(base):
                before = w.set(f"load {each}, ptr {total}")
                x = w.set(f"load {each}, ptr {place}, align {size}")
                w.put(f"store {each} {w.set(f'fadd {each} {before}, {x}')}, ptr {total}")

        w.loop("%rows", row)
        for total, place in places(out):
            w.put(f"store {each} {w.set(f'load {each}, ptr {total}')}, ptr {place}, align {size}")

    def group(b: str, g: str) -> None:
        begin = w.sum(w.times(b, "%far"), w.times(g, "%rows", "%width"))
        made, done = w.times(w.sum(w.times(b, "%groups"), g), "%width"), "0"
        for count, of in ((chains, lanes), (1, lanes), (1, 1)):
            left = w.set(f"sub i64 %width, {done}")
            whole = w.set(f"sub i64 {left}, {w.set(f'urem i64 {left}, {count * of}')}")

            def columns(j: str, done: str = done, count: int = count, of: int = of) -> None:
                at = w.sum(done, j)
                first = w.set(f"getelementptr {kind}, ptr %GIVEN, i64 {w.sum(begin, at)}")
                out = w.set(f"getelementptr {kind}, ptr %OUT, i64 {w.sum(made, at)}")
                some(first, out, count, of)

            w.loop(whole, columns, count * of)
            done = w.sum(done, whole)

    w.loop("%blocks", lambda b: w.loop("%groups", lambda g: group(b, g)))
    return w.text()


def added_groups(d: Any, random: Any) -> Any:
    """A case of groups that are added, and rows behind them that are not."""
    width = int(random.choice((2, 131, 700, 1025)))
    given = random.normal(0, 1, (3, 50, width)) * np.exp2(random.integers(-20, 20, (50, 1)))
    given[0, 0], given[1, :32] = -0.0, -0.0
    given = given.astype(d)
    wanted = np.add.reduce(given[:, :48].reshape(3, 3, 16, width), 2)
    out = np.zeros_like(wanted)
    return (out, given, 3, 50 * width, 3, 16, width), out, wanted
