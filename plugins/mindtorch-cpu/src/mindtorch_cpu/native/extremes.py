"""Extremes of columns and the rows in which they first stand, in one pass.

NumPy turns an array around before it looks for places along other dimensions than the last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes, vector_registers

__all__ = ["first_extremes", "placed_extremes", "running_extremes", "running_extremes_of"]

# Comparisons of what comes with what was found before: of floats also true where one is NaN.
_FURTHER: Final = {"most": ("ugt", "sgt"), "least": ("ult", "slt")}


def first_extremes(how: str) -> Callable[[str], str]:
    """What makes the text of a loop over dense rows, one block of them after the other.

    Args:
        how: ``most`` or ``least``; NaN is further than all.
    """

    def write(code: str) -> str:
        w = Code(("OUT", "PLACES", "GIVEN", "blocks", "far", "step", "rows", "width"))
        size = int(code[1])
        lanes, chains = vector_bytes() // size, vector_registers() // 4

        def block(b: str) -> None:
            begin, made = w.times(b, "%far"), w.times(b, "%width")

            def columns(at: str, count: int, of: int) -> None:
                _columns(w, how, code, w.sum(begin, at), w.sum(made, at), count, of)

            w.over_columns(chains, lanes, columns)

        w.loop("%blocks", block)
        return w.text()

    return write


def _columns(w: Code, how: str, code: str, at: str, out: str, count: int, lanes: int) -> None:
    """Go through ``count`` vectors of columns."""
    kind, size = TYPES[code], int(code[1])
    each, place = f"<{lanes} x {kind}>", f"<{lanes} x i{8 * size}>"
    first = ", ".join([f"{kind} {_first(how, code)}"] * lanes)
    found = [w.variable(each, f"<{first}>") for _ in range(count)]
    places = [w.variable(place, "zeroinitializer") for _ in range(count)]

    def row(r: str) -> None:
        here = w.sum(at, w.times(r, "%step"))
        number = _repeated(w, r, lanes, 8 * size)
        for n in range(count):
            where = w.set(f"getelementptr {kind}, ptr %GIVEN, i64 {w.sum(here, str(n * lanes))}")
            x = w.set(f"load {each}, ptr {where}, align {size}")
            before = w.set(f"load {each}, ptr {found[n]}")
            taken = _further(w, how, code, lanes, x, before)
            now = w.set(f"select <{lanes} x i1> {taken}, {each} {x}, {each} {before}")
            w.put(f"store {each} {now}, ptr {found[n]}")
            there = w.set(f"load {place}, ptr {places[n]}")
            now = w.set(f"select <{lanes} x i1> {taken}, {place} {number}, {place} {there}")
            w.put(f"store {place} {now}, ptr {places[n]}")

    w.loop("%rows", row)
    for n in range(count):
        to = w.sum(out, str(n * lanes))
        x = w.set(f"load {each}, ptr {found[n]}")
        where = w.set(f"getelementptr {kind}, ptr %OUT, i64 {to}")
        w.put(f"store {each} {x}, ptr {where}, align {size}")
        there = w.set(f"load {place}, ptr {places[n]}")
        if size < 8:
            there = w.set(f"zext {place} {there} to <{lanes} x i64>")
        where = w.set(f"getelementptr i64, ptr %PLACES, i64 {to}")
        w.put(f"store <{lanes} x i64> {there}, ptr {where}, align 8")


def _first(how: str, code: str) -> str:
    """What all numbers are as far as; it stands in the first row if in all."""
    if code[0] == "f":
        return "0xFFF0000000000000" if how == "most" else "0x7FF0000000000000"
    bits = 8 * int(code[1]) - 1
    return str(-(1 << bits) if how == "most" else (1 << bits) - 1)


def _repeated(w: Code, number: str, lanes: int, bits: int) -> str:
    """A vector of one integer."""
    short = number if bits == 64 else w.set(f"trunc i64 {number} to i{bits}")
    kind = f"<{lanes} x i{bits}>"
    one = w.set(f"insertelement {kind} poison, i{bits} {short}, i64 0")
    return w.set(f"shufflevector {kind} {one}, {kind} poison, <{lanes} x i32> zeroinitializer")


def _further(w: Code, how: str, code: str, lanes: int, x: str, before: str) -> str:
    """Which elements are further than those before; none is further than NaN."""
    each = f"<{lanes} x {TYPES[code]}>"
    of_floats, of_integers = _FURTHER[how]
    if code[0] != "f":
        return w.set(f"icmp {of_integers} {each} {x}, {before}")
    further = w.set(f"fcmp {of_floats} {each} {x}, {before}")
    some = w.set(f"fcmp ord {each} {before}, {before}")
    return w.set(f"and <{lanes} x i1> {further}, {some}")


def placed_extremes(how: str) -> Callable[[Any, Any], Any]:
    """What makes a case: extremes that stand twice, NaN, infinities and zeros of both signs."""
    find: Any = np.argmax if how == "most" else np.argmin

    def make(d: Any, random: Any) -> Any:
        width = int(random.choice((1, 3, 131, 700)))
        given = random.integers(-20, 20, (3, 50, width + 3)).astype(d)
        if d.kind == "f":
            given[0, ::7, 0], given[1, 3:5, 0], given[2, :, 0] = np.nan, (np.inf, -np.inf), -0.0
            given[2, 7, 0] = 0.0
        else:
            ends = np.iinfo(d)
            given[0, 3, 0], given[0, 5, 0], given[1, :, 0] = ends.max, ends.min, ends.min
        seen = given[:, :48, :width]
        wanted = find(seen, 1)
        memory = np.zeros((d.itemsize + 8) * wanted.size, np.uint8)  # of both results
        out, places = (
            part.view(t)
            for part, t in zip(np.split(memory, [-8 * wanted.size]), (d, "i8"), strict=True)
        )
        arguments = (out, places, given, 3, 50 * (width + 3), width + 3, 48, width)
        values = np.take_along_axis(seen, wanted[:, None], 1)
        both = np.frombuffer(values.tobytes() + wanted.tobytes(), np.uint8)
        return arguments, memory, both

    return make


# ---- running ones -------------------------------------------------------------------------------


def running_extremes(name: str) -> Callable[[str], str]:
    """What makes the text of a loop over blocks of rows: extremes so far, and the last row that has them.

    NaN is further than all, and stays.
    """
    order = {"most": "ge", "least": "le"}[name]

    def write(code: str) -> str:
        w, kind = Code(("OUT", "PLACES", "GIVEN", "blocks", "rows", "width")), TYPES[code]
        floats = code[0] == "f"

        def step(at: str, row: str) -> None:
            last = w.set(f"sub i64 {at}, %width")
            before, x = w.load(kind, "%OUT", last), w.load(kind, "%GIVEN", at)
            taken = w.set(f"{'fcmp o' if floats else 'icmp s'}{order} {kind} {x}, {before}")
            stays = w.set(f"xor i1 {taken}, true")
            if floats:
                taken = w.set(f"or i1 {taken}, {w.set(f'fcmp uno {kind} {x}, {x}')}")
                none = w.set(f"fcmp uno {kind} {before}, {before}")
                stays = w.set(f"or i1 {none}, {w.set(f'xor i1 {taken}, true')}")
            w.store(kind, w.set(f"select i1 {stays}, {kind} {before}, {kind} {x}"), "%OUT", at)
            place = w.load("i64", "%PLACES", last)
            w.store("i64", w.set(f"select i1 {taken}, i64 {row}, i64 {place}"), "%PLACES", at)

        def block(b: str) -> None:
            begin = w.times(b, "%rows", "%width")

            def first(j: str) -> None:
                at = w.sum(begin, j)
                w.store(kind, w.load(kind, "%GIVEN", at), "%OUT", at)
                w.store("i64", "0", "%PLACES", at)

            def further(r: str) -> None:
                row = w.sum(r, "1")
                start = w.sum(begin, w.times(row, "%width"))
                w.loop("%width", lambda j: step(w.sum(start, j), row))

            w.loop("%width", first)
            w.loop(w.set("sub i64 %rows, 1"), further)

        w.loop("%blocks", block)
        return w.text()

    return write


def running_extremes_of(name: str) -> Callable[[Any, Any], Any]:
    """What makes a case of them."""
    ufunc: Any = {"most": np.maximum, "least": np.minimum}[name]

    def make(d: Any, random: Any) -> Any:
        shape = 4, 29, int(random.choice((1, 3, 75)))
        given = random.integers(-5, 6, shape).astype(d)
        if d.kind == "f":
            given[0, :2], given[1, 1::2], given[2, 9], given[2, 12] = 0, -0.0, np.nan, np.nan
        with np.errstate(all="ignore"):
            values = ufunc.accumulate(given, 1)
        attained = (given == values) | (given != given)
        places = np.maximum.accumulate(attained * np.arange(shape[1])[:, None], 1)
        memory = np.zeros((d.itemsize + 8) * given.size, np.uint8)  # of both results
        out, at = (
            part.view(t)
            for part, t in zip(np.split(memory, [d.itemsize * given.size]), (d, "i8"), strict=True)
        )
        wanted = values.tobytes() + places.astype(np.int64).tobytes()
        return (out, at, given, *shape), memory, np.frombuffer(wanted, np.uint8)

    return make
