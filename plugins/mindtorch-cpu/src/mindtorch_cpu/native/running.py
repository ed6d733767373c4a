"""Running totals along the second of three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes

__all__ = ["codes_of", "running", "totals"]

# Running totals of so many rows are kept at a time, or of columns vectors: each waits for its last addition.
_CHAINS: Final = 8
_VECTORS: Final = 4
_STEPS: Final = {"cumsum": "add", "cumprod": "mul"}
_SINGLE: Final = "_in_single"
# What they begin with: sums at 0, so that there is no -0.0.
_NEUTRAL: Final = {"add": ("0.0", "0"), "mul": ("1.0", "1")}


def codes_of(name: str) -> tuple[str, ...]:
    """The dtypes that a loop serves."""
    return ("f4",) if name.endswith(_SINGLE) else ("f4", "f8", "i8")


class _Step:
    """How totals are kept: in float64 or int64, or in float32 where the loop's name says so."""

    def __init__(self, w: Code, name: str, code: str) -> None:
        self.w, self.kind, self.size = w, TYPES[code], int(code[1])
        self._narrow = code == "f4" and not name.endswith(_SINGLE)
        self.wide = "double" if self._narrow else self.kind
        op = _STEPS[name.removesuffix(_SINGLE)]
        self._instruction = f"f{op}" if code[0] == "f" else op
        self._start = _NEUTRAL[op][code[0] != "f"]

    def total(self, lanes: int) -> str:
        """A variable for totals of so many columns."""
        each = ", ".join([f"{self.wide} {self._start}"] * lanes)
        return self.w.variable(f"<{lanes} x {self.wide}>", f"<{each}>")

    def one(self, total: str, at: str, lanes: int) -> None:
        """Take elements from a place on into the totals, and write these."""
        w = self.w
        kind, wide = f"<{lanes} x {self.kind}>", f"<{lanes} x {self.wide}>"
        place = w.set(f"getelementptr {self.kind}, ptr %GIVEN, i64 {at}")
        x = w.set(f"load {kind}, ptr {place}, align {self.size}")
        x = w.set(f"fpext {kind} {x} to {wide}") if self._narrow else x
        now = w.set(f"{self._instruction} {wide} {w.set(f'load {wide}, ptr {total}')}, {x}")
        w.put(f"store {wide} {now}, ptr {total}")
        now = w.set(f"fptrunc {wide} {now} to {kind}") if self._narrow else now
        place = w.set(f"getelementptr {self.kind}, ptr %OUT, i64 {at}")
        w.put(f"store {kind} {now}, ptr {place}, align {self.size}")


def running(name: str) -> Callable[[str], str]:
    """What makes the text of a loop over blocks of rows, each a step from the one before.

    Where that is one element, several blocks are gone through at a time.
    """

    def write(code: str) -> str:
        w = Code(("OUT", "GIVEN", "blocks", "rows", "width", "step"))
        step = _Step(w, name, code)
        single = w.set("icmp eq i64 %step, 1")
        w.when(single, lambda: _rows(w, step))
        w.when(w.set(f"xor i1 {single}, true"), lambda: _columns(w, step))
        return w.text()

    return write


def _rows(w: Code, step: _Step) -> None:
    def chains(count: int) -> Callable[[str], None]:
        def rows(r: str) -> None:
            firsts = [w.times(w.sum(r, str(n)), "%rows") for n in range(count)]
            totals = [step.total(1) for _ in firsts]

            def each(k: str) -> None:
                for total, first in zip(totals, firsts, strict=True):
                    step.one(total, w.sum(first, k), 1)

            w.loop("%rows", each)

        return rows

    whole = w.set(f"and i64 %blocks, -{_CHAINS}")
    w.loop(whole, chains(_CHAINS), _CHAINS)
    left = w.set(f"sub i64 %blocks, {whole}")
    w.loop(left, lambda r: chains(1)(w.sum(r, whole)))


def _columns(w: Code, step: _Step) -> None:
    lanes = vector_bytes() // 8

    def block(b: str) -> None:
        begin = w.times(b, "%rows", "%step")

        def columns(at: str, count: int, of: int) -> None:
            first = w.sum(begin, at)
            totals = [step.total(of) for _ in range(count)]

            def row(r: str) -> None:
                here = w.sum(first, w.times(r, "%step"))
                for n, total in enumerate(totals):
                    step.one(total, w.sum(here, str(n * of)), of)

            w.loop("%rows", row)

        w.over_columns(_VECTORS, lanes, columns)

    w.loop("%blocks", block)


def totals(name: str) -> Callable[[Any, Any], Any]:
    """What makes a case: rows, and columns in all numbers of vectors."""
    ufunc: Any = {"cumsum": np.add, "cumprod": np.multiply}[name.removesuffix(_SINGLE)]

    def make(d: Any, random: Any) -> Any:
        width = int(random.choice((1, 3, 75)))
        given = (random.normal(0, 2, (_CHAINS + 3, 29, width)) * 1.5).astype(d)
        given[1, :2], given[2, :3] = 0, -0.0
        out = np.zeros_like(given)
        single = name.endswith(_SINGLE)
        wide = np.int64 if d.kind == "i" else np.float32 if single else np.float64
        with np.errstate(all="ignore"):
            wanted = ufunc.accumulate(given.astype(wide), 1).astype(d)
        if ufunc is np.add:
            wanted += d.type(0)
        return (out, given, *given.shape, width), out, wanted

    return make
