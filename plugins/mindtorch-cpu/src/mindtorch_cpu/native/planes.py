"""LLVM's text for convolutions of one channel with one filter, plane by plane.

A plane is copied into scratch memory with its padding, which stays in the cache while all its windows are
computed; results go where they belong. Strides along a line split it into phases in which they are 1, and
where gradients are slid backwards, elements are set apart with zeros between.
"""

from __future__ import annotations

from typing import NamedTuple

from .writing import Function

__all__ = ["HEAD", "Plane", "PlaneGradient", "plane_gradient_text", "plane_text"]

# Arguments that say how a plane is laid out: bytes of a plane, of a line, of a line in scratch, how many
# lines there are, the address and the number of its phases (bytes before the first element in a line, the
# same in scratch, elements).
HEAD = 6


class Plane(NamedTuple):
    """``out[n, c, i] = bias[c] + sum over k of weights[c, k] * x[n, c][shift[k] + i]``.

    Arguments: `HEAD`, then addresses of x, weights (c, k), shifts in scratch in bytes, bias and out; the
    number of channels, of lines of results, bytes from one of them to the next in scratch, bytes of a line
    of results, tiles of a line, and where in scratch a line fits behind everything. An item is a plane.

    Attributes:
        dtype: of all numbers.
        taps: elements of a filter.
        vectors: of a tile.
        taken: every how many-th element of a line goes into a phase.
        apart: how far elements are set apart in scratch.
    """

    dtype: str
    taps: int
    vectors: int
    taken: int
    apart: int


class PlaneGradient(NamedTuple):
    """``out[c, k] = sum over n and i of x[n, c][shift[k] + i] * y[n, c, i]``.

    Arguments: `HEAD`, then addresses of x, shifts in scratch in bytes, y and out (c, k); the number of
    channels, of images, of lines of y, bytes from one of them to the next in scratch, elements of a line
    of y, where in scratch a line fits behind everything, and images added up in one vector. An item is a
    channel.

    Attributes:
        dtype: of all numbers.
        taps: elements of a filter.
        taken: every how many-th element of a line goes into a phase.
    """

    dtype: str
    taps: int
    taken: int


class _Scratch:
    """Copies planes of x into scratch memory."""

    def __init__(self, w: Function, taken: int, apart: int) -> None:
        self._w = w
        self._taken, self._apart = taken, apart
        self._bytes, self._line, self._own, self._lines = (w.argument(i) for i in range(4))
        self._phases, self._count = w.argument(4, "ptr"), w.argument(5)

    def fill(self, x: str, plane: str) -> None:
        """Copy a plane."""
        w = self._w
        base = w.at(x, w.integer("mul", plane, self._bytes))
        with w.loop(0, self._lines) as i:
            source = w.at(base, w.integer("mul", i, self._line))
            target = w.at("%scratch", w.integer("mul", i, self._own))
            with w.loop(0, self._count) as phase:
                row = w.at(self._phases, w.integer("mul", phase, 24))
                before, behind, elements = (w.load("i64", w.at(row, 8 * k)) for k in range(3))
                self._copy(w.at(target, behind), w.at(source, before), elements)

    def _copy(self, target: str, source: str, count: str) -> None:
        w = self._w
        if self._taken == self._apart == 1:
            w.copy(target, source, w.integer("mul", count, w.size))
            return
        done = "0"
        if (self._taken, self._apart) == (
            2,
            1,
        ):  # not the last one: what is behind it may not be there
            vectors = w.integer("sdiv", w.integer("sub", count, 1), w.lanes)
            done = w.integer("mul", vectors, w.lanes)
            with w.loop(0, vectors) as i:
                here = w.at(source, w.integer("mul", i, 2 * w.lanes * w.size))
                seen = (w.load(w.vector, w.at(here, k * w.lanes * w.size)) for k in range(2))
                place = w.at(target, w.integer("mul", i, w.lanes * w.size))
                w.store(w.vector, w.every_other(*seen), place)
        with w.loop(done, count) as i:
            value = w.load(w.element, w.at(source, w.integer("mul", i, self._taken * w.size)))
            w.store(w.element, value, w.at(target, w.integer("mul", i, self._apart * w.size)))


def plane_text(kind: Plane) -> str:
    """The module of a `Plane`."""
    w = Function(kind.dtype)
    scratch = _Scratch(w, kind.taken, kind.apart)
    size, wide = w.size, w.size * w.lanes
    x, weights, shifts, bias, out = (w.argument(HEAD + i, "ptr") for i in range(5))
    channels, lines, step, bytes_of_line, tiles, spare = (
        w.argument(HEAD + i) for i in range(5, 11)
    )
    steps = [w.load("i64", w.at(shifts, 8 * k)) for k in range(kind.taps)]
    bytes_of_plane = w.integer("mul", lines, bytes_of_line)
    reach = w.integer("mul", tiles, kind.vectors * wide)
    with w.loop("%low", "%high") as plane:
        scratch.fill(x, plane)
        channel = w.integer("urem", plane, channels)
        first = w.spread(w.load(w.element, w.at(bias, w.integer("mul", channel, size))))
        row = w.at(weights, w.integer("mul", channel, kind.taps * size))
        factors = [w.spread(w.load(w.element, w.at(row, k * size))) for k in range(kind.taps)]
        whole = w.at(out, w.integer("mul", plane, bytes_of_plane))
        with w.loop(0, lines) as line:
            seen = w.at("%scratch", w.integer("mul", line, step))
            before = w.integer("mul", line, bytes_of_line)
            target = w.at(whole, before)
            # Tiles may reach beyond a line, whose successor overwrites that; not beyond the plane.
            end = w.integer("add", before, reach)
            beyond = w.set(f"icmp sgt i64 {end}, {bytes_of_plane}")
            aside = w.at("%scratch", spare)
            into = w.set(f"select i1 {beyond}, ptr {aside}, ptr {target}")
            with w.loop(0, tiles) as tile:
                along = w.integer("mul", tile, kind.vectors * wide)
                here, there = w.at(seen, along), w.at(into, along)
                sums = [first] * kind.vectors
                for factor, shift in zip(factors, steps, strict=True):
                    at = w.at(here, shift)
                    for j in range(kind.vectors):
                        sums[j] = w.fused(factor, w.load(w.vector, w.at(at, j * wide)), sums[j])
                for j, found in enumerate(sums):
                    w.store(w.vector, found, w.at(there, j * wide))
            with w.when(beyond):
                w.copy(target, aside, bytes_of_line)
    return w.text()


def plane_gradient_text(kind: PlaneGradient) -> str:
    """The module of a `PlaneGradient`."""
    return _PlaneGradient(kind).text()


class _PlaneGradient:
    """Writes the kernel of a `PlaneGradient`."""

    def __init__(self, kind: PlaneGradient) -> None:
        self._kind = kind
        self._w = w = Function(kind.dtype)
        self._scratch = _Scratch(w, kind.taken, 1)
        self._x, shifts, self._y, self._out = (w.argument(HEAD + i, "ptr") for i in range(4))
        self._channels, self._images, self._lines, self._step, width, spare, self._together = (
            w.argument(HEAD + i) for i in range(4, 11)
        )
        self._shifts = [w.load("i64", w.at(shifts, 8 * k)) for k in range(kind.taps)]
        self._bytes = w.integer("mul", width, w.size)
        self._plane = w.integer("mul", self._lines, self._bytes)
        self._full, rest = w.integer("udiv", width, w.lanes), w.integer("urem", width, w.lanes)
        self._tail = w.set(f"icmp ne i64 {rest}, 0")
        self._behind = w.integer("mul", self._full, w.size * w.lanes)
        self._reach = w.integer("add", self._behind, w.size * w.lanes)
        self._mask = _below(w, rest)
        self._aside = w.at("%scratch", spare)
        self._sums: list[str] = []

    def text(self) -> str:
        """The module."""
        w, taps = self._w, range(self._kind.taps)
        more = w.integer("add", self._images, w.integer("sub", self._together, 1))
        groups = w.integer("udiv", more, self._together)
        with w.loop("%low", "%high") as channel:
            totals = [w.variable("double", "0.0") for _ in taps]
            with w.loop(0, groups) as group:
                self._sums = [w.variable(w.vector, "zeroinitializer") for _ in taps]
                self._group(channel, group)
                for place, total in zip(self._sums, totals, strict=True):
                    found = w.total(w.load(w.vector, place))
                    found = found if w.size == 8 else w.set(f"fpext float {found} to double")
                    found = w.set(f"fadd double {w.load('double', total)}, {found}")
                    w.store("double", found, total)
            row = w.at(self._out, w.integer("mul", channel, len(totals) * w.size))
            for k, total in enumerate(totals):
                found = w.load("double", total)
                found = found if w.size == 8 else w.set(f"fptrunc double {found} to float")
                w.store(w.element, found, w.at(row, k * w.size))
        return w.text()

    def _group(self, channel: str, group: str) -> None:
        """Add up the images of a group."""
        w = self._w
        start = w.integer("mul", group, self._together)
        stop = w.integer("add", start, self._together)
        with w.loop(start, w.least(stop, self._images)) as image:
            plane = w.integer("add", w.integer("mul", image, self._channels), channel)
            self._scratch.fill(self._x, plane)
            whole = w.at(self._y, w.integer("mul", plane, self._plane))
            with w.loop(0, self._lines) as line:
                self._line(whole, line)

    def _line(self, whole: str, line: str) -> None:
        """Add up a line of a plane: vectors, and what is left of one."""
        w, wide = self._w, self._w.size * self._w.lanes
        seen = w.at("%scratch", w.integer("mul", line, self._step))
        before = w.integer("mul", line, self._bytes)
        given = w.at(whole, before)
        # The last vector may reach beyond a line, not beyond the plane.
        end = w.integer("add", before, self._reach)
        beyond = w.set(f"icmp sgt i64 {end}, {self._plane}")
        with w.when(beyond):
            w.copy(self._aside, given, self._bytes)
        source = w.set(f"select i1 {beyond}, ptr {self._aside}, ptr {given}")
        with w.loop(0, self._full) as tile:
            along = w.integer("mul", tile, wide)
            self._vectors(w.at(source, along), w.at(seen, along), "")
        with w.when(self._tail):
            self._vectors(w.at(source, self._behind), w.at(seen, self._behind), self._mask)

    def _vectors(self, source: str, seen: str, mask: str) -> None:
        w = self._w
        own = self._masked(w.load(w.vector, source), mask)
        for place, shift in zip(self._sums, self._shifts, strict=True):
            other = self._masked(w.load(w.vector, w.at(seen, shift)), mask)
            w.store(w.vector, w.fused(own, other, w.load(w.vector, place)), place)

    def _masked(self, vector: str, mask: str) -> str:
        """A vector, zeros where a mask forbids."""
        w = self._w
        if not mask:
            return vector
        return w.set(f"select {mask}, {w.vector} {vector}, {w.vector} zeroinitializer")


def _below(w: Function, count: str) -> str:
    """A mask of the vector's first elements, with its type."""
    n = w.lanes
    number = w.set(f"trunc i64 {count} to i32")
    one = w.set(f"insertelement <{n} x i32> poison, i32 {number}, i64 0")
    all_of = w.set(
        f"shufflevector <{n} x i32> {one}, <{n} x i32> poison, <{n} x i32> zeroinitializer"
    )
    places = ", ".join(f"i32 {i}" for i in range(n))
    return f"<{n} x i1> {w.set(f'icmp ult <{n} x i32> <{places}>, {all_of}')}"
