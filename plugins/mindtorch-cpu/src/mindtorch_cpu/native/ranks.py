"""The first elements of rows by rank, in order, and where they stand.

A row is gone through once. Most vectors hold nothing that is further than the last of those found before;
what is goes to its place among them, and the last one leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes

__all__ = ["first_by_rank", "ranked"]


def first_by_rank(how: str) -> Callable[[str], str]:
    """What makes the text of a loop over rows of more elements than are sought.

    It counts in ``COUNT`` how many elements went to a place, and leaves the rest alone once they are more
    than ``most``.

    Args:
        how: ``largest`` or ``smallest``; NaN is the largest, and of equal ones the first is first.
    """

    def write(code: str) -> str:
        w = Code(("OUT", "PLACES", "GIVEN", "COUNT", "rows", "width", "k", "most"))
        return _Ranks(w, how, code).text()

    return write


class _Ranks:
    """The parts of the loop."""

    def __init__(self, w: Code, how: str, code: str) -> None:
        self.w, self.how, self.code, self.kind = w, how, code, TYPES[code]
        self.lanes = vector_bytes() // int(code[1])
        self.value = w.variable(self.kind, "0" if code[0] == "i" else "0.0")
        self.place = w.variable("i64", "0")

    def text(self) -> str:
        self.w.loop("%rows", self._row)
        return self.w.text()

    def _row(self, r: str) -> None:
        w = self.w
        given, made = w.times(r, "%width"), w.times(r, "%k")
        last = w.set(f"sub i64 {w.sum(made, '%k')}, 1")

        def begin(i: str) -> None:
            self._carry(given, i)
            self._insert(made, i)
            at = w.sum(made, i)
            w.store(self.kind, w.set(f"load {self.kind}, ptr {self.value}"), "%OUT", at)
            w.store("i64", w.set(f"load i64, ptr {self.place}"), "%PLACES", at)

        def one(i: str) -> None:
            x, bound = w.load(self.kind, "%GIVEN", w.sum(given, i)), w.load(self.kind, "%OUT", last)
            count = w.load("i64", "%COUNT", "0")
            few = w.set(f"icmp slt i64 {count}, %most")
            further = self._further(x, bound, 1)

            def take() -> None:
                w.store("i64", w.sum(count, "1"), "%COUNT", "0")
                self._carry(given, i)
                self._insert(made, "%k")

            w.when(w.set(f"and i1 {few}, {further}"), take)

        def vector(i: str) -> None:
            first = w.sum("%k", i)
            each = f"<{self.lanes} x {self.kind}>"
            bound = w.load(self.kind, "%OUT", last)
            where = w.set(f"getelementptr {self.kind}, ptr %GIVEN, i64 {w.sum(given, first)}")
            x = w.set(f"load {each}, ptr {where}, align {self.code[1]}")
            bound = w.set(f"insertelement {each} poison, {self.kind} {bound}, i64 0")
            zeros = f"<{self.lanes} x i32> zeroinitializer"
            bound = w.set(f"shufflevector {each} {bound}, {each} poison, {zeros}")
            bits = self._further(x, bound, self.lanes)
            word = w.set(f"bitcast <{self.lanes} x i1> {bits} to i{self.lanes}")
            some = w.set(f"icmp ne i{self.lanes} {word}, 0")
            w.when(some, lambda: w.loop(str(self.lanes), lambda j: one(w.sum(first, j))))

        w.loop("%k", begin)
        rest = w.set("sub i64 %width, %k")
        whole = w.set(f"and i64 {rest}, -{self.lanes}")
        w.loop(whole, vector, self.lanes)
        left = w.set(f"sub i64 {rest}, {whole}")
        w.loop(left, lambda j: one(w.sum("%k", whole, j)))

    def _carry(self, given: str, i: str) -> None:
        """Take up an element."""
        w = self.w
        x = w.load(self.kind, "%GIVEN", w.sum(given, i))
        w.put(f"store {self.kind} {x}, ptr {self.value}")
        w.put(f"store i64 {i}, ptr {self.place}")

    def _insert(self, made: str, count: str) -> None:
        """Put what was taken up before those that it is further than; what is last is taken up then."""
        w = self.w
        taken = w.set(f"load {self.kind}, ptr {self.value}")

        def pass_by(j: str) -> None:
            at = w.sum(made, j)
            further = self._further(taken, w.load(self.kind, "%OUT", at), 1)
            for kind, base, variable in (
                (self.kind, "%OUT", self.value),
                ("i64", "%PLACES", self.place),
            ):
                there, held = w.load(kind, base, at), w.set(f"load {kind}, ptr {variable}")
                stays = w.set(f"select i1 {further}, {kind} {held}, {kind} {there}")
                leaves = w.set(f"select i1 {further}, {kind} {there}, {kind} {held}")
                w.store(kind, stays, base, at)
                w.put(f"store {kind} {leaves}, ptr {variable}")

        w.loop(count, pass_by)

    def _further(self, x: str, other: str, lanes: int) -> str:
        """Whether elements come before others."""
        w, largest = self.w, self.how == "largest"
        kind, bit = (
            (self.kind, "i1") if lanes == 1 else (f"<{lanes} x {self.kind}>", f"<{lanes} x i1>")
        )
        if self.code[0] == "i":
            return w.set(f"icmp {'sgt' if largest else 'slt'} {kind} {x}, {other}")
        further = w.set(f"fcmp {'ugt' if largest else 'ult'} {kind} {x}, {other}")
        number = other if largest else x
        return w.set(f"and {bit} {further}, {w.set(f'fcmp ord {kind} {number}, {number}')}")


def ranked(how: str) -> Callable[[Any, Any], Any]:
    """What makes a case: equal elements, NaN, infinities and zeros of both signs."""

    def make(d: Any, random: Any) -> Any:
        width, k = int(random.choice((40, 131, 700))), int(random.choice((1, 7, 39)))
        given = random.integers(-200, 200, (5, width)).astype(d)
        if d.kind == "f":
            given[1, ::9], given[2, :5], given[3] = np.nan, (np.inf, -np.inf, 0, -0.0, 0), -0.0
            given[3, ::2] = 0
        else:
            given[1, ::9], given[2, ::9] = np.iinfo(d).max, np.iinfo(d).min
        none = given != given
        ranks = np.unique(np.where(none, 0, given), return_inverse=True)[1].reshape(given.shape)
        ranks = np.where(none, given.size, ranks)
        order = np.argsort(-ranks if how == "largest" else ranks, 1, "stable")[:, :k]
        memory = np.zeros((d.itemsize + 8) * order.size, np.uint8)  # of both results
        out, places = (
            part.view(t)
            for part, t in zip(np.split(memory, [-8 * order.size]), (d, "i8"), strict=True)
        )
        values = np.take_along_axis(given, order, 1)
        wanted = np.frombuffer(values.tobytes() + order.tobytes(), np.uint8)
        return (out, places, given, np.zeros(1, np.int64), 5, width, k, 1 << 40), memory, wanted

    return make
