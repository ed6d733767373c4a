"""LLVM's text for attention, head by head: what stands between lies in scratch memory that fits the cache.

A head's keys (and values, for gradients) are copied there as rows and turned as columns; then some rows of
scores at a time are computed, made weights, and multiplied. All products are one function's, which keeps a
block of results in registers. Numbers behind the last column of a row are zeros, or are made weights of zero.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from .quick import EXP_PARTS
from .sliding import accumulate, turn_square
from .writing import Function

__all__ = [
    "GRADIENT_TENSORS",
    "NUMBERS",
    "TENSORS",
    "Attention",
    "AttentionGradient",
    "attention_gradient_text",
    "attention_text",
]

# Each an address and bytes from one element of the batch, head and row to the next. Of sums there is one
# for each row: of exponentials, and the number taken off before, or the logarithm of both.
TENSORS: Final = ("q", "k", "v", "mask", "out", "total", "highest")
GRADIENT_TENSORS: Final = ("q", "k", "v", "mask", "out", "total", "g", "by_q", "by_k", "by_v")
# Behind them: the number of heads, of rows, of columns, of features; the scale; whether rows see no column
# with a higher number; whether there is a mask, which is added; rows of a block; bytes of a row of features
# and of a row of scores in scratch memory.
NUMBERS: Final = (
    "heads", "rows", "columns", "width", "scale", "causal", "masked", "block", "narrow", "wide",
)  # fmt: skip
_PARAMETERS: Final = (
    "ptr %a, i64 %row, i64 %step, ptr %b, i64 %line, ptr %c, i64 %pitch, i64 %rows, i64 %tiles, "
    "i64 %depth, i1 %further"
)


class Attention(NamedTuple):
    """Weighted values, not more; an item is a head of an element of the batch.

    Scratch memory has keys (as rows; values follow in the same place), keys turned, and of a block of rows
    queries and scores.

    Attributes:
        dtype: of all numbers.
        rows: of a block of a product.
        vectors: of a tile of one.
    """

    dtype: str
    rows: int
    vectors: int


class AttentionGradient(NamedTuple):
    """Gradients of queries, keys and values; an item is a head of an element of the batch.

    Scratch memory has keys, keys turned, values turned, gradients of both, and of a block of rows queries,
    gradients of outputs, of queries, scores and slopes.

    Attributes:
        dtype: of all numbers.
        rows: of a block of a product.
        vectors: of a tile of one.
    """

    dtype: str
    rows: int
    vectors: int


Kind = Attention | AttentionGradient


def _product_text(kind: Kind) -> Function:
    """``c[i, j] = sum over k of a[i, k] * b[k, j]``, or added to what is there."""
    w = Function(kind.dtype, "product", _PARAMETERS)
    wide = w.size * w.lanes
    last = w.integer("sub", "%rows", 1)
    blocks = w.integer("udiv", w.integer("add", "%rows", kind.rows - 1), kind.rows)
    with w.loop(0, "%tiles") as tile:
        along = w.integer("mul", tile, kind.vectors * wide)
        right, target = w.at("%b", along), w.at("%c", along)
        with w.loop(0, blocks) as block:
            first = w.integer("mul", block, kind.rows)
            # Rows behind the last one repeat it.
            rows = [w.least(w.integer("add", first, i), last) for i in range(kind.rows)]
            left = [w.at("%a", w.integer("mul", row, "%row")) for row in rows]
            results = [w.at(target, w.integer("mul", row, "%pitch")) for row in rows]
            zeros = "zeroinitializer"
            sums = [[w.variable(w.vector, zeros) for _ in range(kind.vectors)] for _ in rows]
            with w.when("%further"):
                for result, own in zip(results, sums, strict=True):
                    for j, place in enumerate(own):
                        w.store(w.vector, w.load(w.vector, w.at(result, j * wide)), place)
            with w.loop(0, "%depth") as k:
                line = w.at(right, w.integer("mul", k, "%line"))
                vectors = [w.load(w.vector, w.at(line, j * wide)) for j in range(kind.vectors)]
                behind = w.integer("mul", k, "%step")
                accumulate(w, sums, vectors, [w.at(row, behind) for row in left], w.fused)
            for result, own in zip(results, sums, strict=True):
                for j, place in enumerate(own):
                    w.store(w.vector, w.load(w.vector, place), w.at(result, j * wide))
    return w


class _Head:
    """Writes what both kernels do with a head."""

    def __init__(self, kind: Kind, tensors: tuple[str, ...]) -> None:
        self.w = w = Function(kind.dtype)
        self.kind, self.vector_size = kind, w.size * w.lanes
        self._address = {t: w.argument(4 * i, "ptr") for i, t in enumerate(tensors)}
        self._steps = {t: [w.argument(4 * i + j) for j in (1, 2, 3)] for i, t in enumerate(tensors)}
        self._bases: dict[str, str] = {}
        number = {n: w.argument(4 * len(tensors) + i) for i, n in enumerate(NUMBERS)}
        self.heads, self.rows, self.columns = number["heads"], number["rows"], number["columns"]
        self.width, self.block = number["width"], number["block"]
        self.narrow, self.wide = number["narrow"], number["wide"]
        bits = w.set(f"trunc i64 {number['scale']} to i32")
        self.scale = w.spread(w.set(f"bitcast i32 {bits} to float"))
        self.causal, self.masked = (
            w.set(f"icmp ne i64 {number[n]}, 0") for n in ("causal", "masked")
        )
        self._full = w.integer("udiv", self.width, w.lanes)
        self._of_width = self.tiles(self.width)
        self.room = w.integer("mul", self.tiles(self.columns), kind.vectors * w.lanes)
        self._free = "%scratch"

    def tiles(self, count: str) -> str:
        """How many tiles hold so many numbers."""
        each = self.kind.vectors * self.w.lanes
        return self.w.integer("udiv", self.w.integer("add", count, each - 1), each)

    def take(self, rows: str, size: str) -> str:
        """Scratch memory for rows of so many bytes."""
        mine = self._free
        self._free = self.w.at(mine, self.w.integer("mul", rows, size))
        return mine

    def begin(self, item: str) -> None:
        """Find a head."""
        w = self.w
        at, head = w.integer("udiv", item, self.heads), w.integer("urem", item, self.heads)
        for name, (outer, inner, _) in self._steps.items():
            of_batch = w.at(self._address[name], w.integer("mul", at, outer))
            self._bases[name] = w.at(of_batch, w.integer("mul", head, inner))

    def row(self, name: str, i: str) -> str:
        """Where a row of a tensor's head begins."""
        return self.w.at(self._bases[name], self.w.integer("mul", i, self._steps[name][2]))

    def take_in(
        self, name: str, first: str | int, count: str, target: str, factor: str = ""
    ) -> None:
        """Copy rows of a tensor, times a factor, to scratch memory."""
        w = self.w
        with w.loop(0, count) as i:
            source = self.row(name, w.integer("add", i, first))
            self.copy(source, w.at(target, w.integer("mul", i, self.narrow)), factor)

    def give(self, name: str, first: str | int, count: str, source: str, factor: str = "") -> None:
        """Copy rows from scratch memory to a tensor, times a factor."""
        w = self.w
        with w.loop(0, count) as i:
            target = self.row(name, w.integer("add", i, first))
            self.copy(w.at(source, w.integer("mul", i, self.narrow)), target, factor)

    def copy(self, source: str, target: str, factor: str) -> None:
        """Copy the numbers of a row."""
        w = self.w

        def made(kind: str, value: str, by: str) -> str:
            return w.set(f"fmul {kind} {value}, {by}") if factor else value

        with w.loop(0, self._full) as j:
            at = w.integer("mul", j, self.vector_size)
            value = made(w.vector, w.load(w.vector, w.at(source, at)), factor)
            w.store(w.vector, value, w.at(target, at))
        one = factor and w.set(f"extractelement {w.vector} {factor}, i64 0")
        with w.loop(w.integer("mul", self._full, w.lanes), self.width) as j:
            at = w.integer("mul", j, w.size)
            value = made(w.element, w.load(w.element, w.at(source, at)), one)
            w.store(w.element, value, w.at(target, at))

    def turn(self, source: str, target: str) -> None:
        """Turn rows of features into columns."""
        w = self.w
        across = w.integer("udiv", w.integer("add", self.width, w.lanes - 1), w.lanes)
        with w.loop(0, w.integer("udiv", self.room, w.lanes)) as i:
            here = w.at(source, w.integer("mul", w.integer("mul", i, w.lanes), self.narrow))
            there = w.at(target, w.integer("mul", i, self.vector_size))
            with w.loop(0, across) as j:
                behind = w.integer("mul", w.integer("mul", j, w.lanes), self.wide)
                square = w.at(here, w.integer("mul", j, self.vector_size))
                turn_square(w, square, self.narrow, w.at(there, behind), self.wide)

    def multiply(self, a: str, steps: tuple[str, str], b: str, c: str, sizes: tuple[str, str],
                 further: bool = False) -> None:  # fmt: skip
        """A product, of rows of features; ``steps`` from one row of a to the next, and along it."""
        self._call(
            a, steps, b, self.narrow, c, self.narrow, (sizes[0], self._of_width, sizes[1]), further
        )

    def score(self, a: str, b: str, c: str, rows: str, seen: str) -> None:
        """A product of features with columns, of which some are seen."""
        steps = self.narrow, str(self.w.size)
        self._call(
            a, steps, b, self.wide, c, self.wide, (rows, self.tiles(seen), self.width), False
        )

    def _call(self, a: str, steps: tuple[str, str], b: str, line: str, c: str, pitch: str,
              sizes: tuple[str, str, str], further: bool) -> None:  # fmt: skip
        rows, tiles, depth = sizes
        self.w.put(
            f"call void @product(ptr {a}, i64 {steps[0]}, i64 {steps[1]}, ptr {b}, i64 {line}, ptr {c}, "
            f"i64 {pitch}, i64 {rows}, i64 {tiles}, i64 {depth}, i1 {int(further)})"
        )

    def blocks(self) -> str:
        """How many blocks of rows there are."""
        w = self.w
        more = w.integer("add", self.rows, w.integer("sub", self.block, 1))
        return w.integer("udiv", more, self.block)

    def seen(self, last: str) -> str:
        """How many columns rows before one see at most."""
        w = self.w
        return w.set(
            f"select i1 {self.causal}, i64 {w.least(last, self.columns)}, i64 {self.columns}"
        )

    def add_mask(self, first: str, count: str, scores: str) -> None:
        """Add the mask to scores."""
        w = self.w
        with w.when(self.masked), w.loop(0, count) as i:
            mask = self.row("mask", w.integer("add", first, i))
            row = w.at(scores, w.integer("mul", i, self.wide))
            with w.loop(0, self.columns) as j:
                at = w.integer("mul", j, w.size)
                place = w.at(row, at)
                value = w.load(w.element, w.at(mask, at))
                found = w.set(f"fadd {w.element} {w.load(w.element, place)}, {value}")
                w.store(w.element, found, place)

    def along(
        self, row: str, columns: str, seen: str, body: Callable[[str, str, str], None]
    ) -> None:
        """Do something with a row's vectors: with where they are, and a mask of which is seen."""
        w, n = self.w, self.w.lanes
        vectors = w.integer("mul", self.tiles(columns), self.kind.vectors)
        places = ", ".join(f"i32 {i}" for i in range(n))
        with w.loop(0, vectors) as j:
            left = w.integer("sub", seen, w.integer("mul", j, n))
            one = w.set(f"trunc i64 {left} to i32")
            some = w.set(f"insertelement <{n} x i32> poison, i32 {one}, i64 0")
            zeros = f"<{n} x i32> zeroinitializer"
            every = w.set(f"shufflevector <{n} x i32> {some}, <{n} x i32> poison, {zeros}")
            inside = w.set(f"icmp slt <{n} x i32> <{places}>, {every}")
            at = w.integer("mul", j, self.vector_size)
            body(w.at(row, at), f"<{n} x i1> {inside}", at)

    def exp(self, x: str) -> str:
        """The exponential of a vector; 0 where it would be subnormal."""
        w, n, v = self.w, self.w.lanes, self.w.vector
        high, low, whole, bits, parts = EXP_PARTS
        few = w.set(f"fcmp olt {v} {x}, {self.number(-87.3)}")
        least = w.set(f"select <{n} x i1> {few}, {v} {self.number(-87.3)}, {v} {x}")
        many = w.set(f"fcmp ogt {v} {least}, {self.number(89.0)}")
        x = w.set(f"select <{n} x i1> {many}, {v} {self.number(89.0)}, {v} {least}")
        t = w.fused(x, self.number(1.4426950408889634), self.number(whole))
        k = w.set(f"fsub {v} {t}, {self.number(whole)}")
        r = w.fused(k, self.number(-low), w.fused(k, self.number(-high), x))
        found = self.number(parts[-1])
        for part in parts[-2::-1]:
            found = w.fused(found, r, self.number(part))
        square = w.set(f"fmul {v} {r}, {r}")
        found = w.set(f"fadd {v} {w.fused(square, found, r)}, {self.number(1)}")
        whole_type = f"<{n} x i32>"
        exponent = w.set(f"bitcast {v} {t} to {whole_type}")
        offset = self._whole(127 - bits)
        exponent = w.set(f"add {whole_type} {exponent}, {offset}")
        exponent = w.set(f"shl {whole_type} {exponent}, {self._whole(23)}")
        power = w.set(f"bitcast {whole_type} {exponent} to {v}")
        found = w.set(f"fmul {v} {found}, {power}")
        return w.set(f"select <{n} x i1> {few}, {v} zeroinitializer, {v} {found}")

    def number(self, value: float) -> str:
        """A vector of a constant."""
        rounded = struct.unpack("f", struct.pack("f", value))[0]
        text = f"0x{struct.unpack('Q', struct.pack('d', rounded))[0]:016X}"
        return f"<{', '.join([f'{self.w.element} {text}'] * self.w.lanes)}>"

    def _whole(self, value: int) -> str:
        return f"<{', '.join([f'i32 {value}'] * self.w.lanes)}>"

    def highest(self, place: str) -> str:
        """The highest number of a vector variable."""
        w = self.w
        return w.reduced("fmax", w.load(w.vector, place))


def attention_text(kind: Attention) -> str:
    """The module of an `Attention`."""
    h = _Head(kind, TENSORS)
    w = h.w
    rows, turned = h.take(h.room, h.narrow), h.take(w.integer("add", h.width, w.lanes), h.wide)
    queries, scores = h.take(h.block, h.narrow), h.take(h.block, h.wide)
    blocks = h.blocks()
    with w.loop("%low", "%high") as item:
        h.begin(item)
        h.take_in("k", 0, h.columns, rows)
        h.turn(rows, turned)
        h.take_in("v", 0, h.columns, rows)
        with w.loop(0, blocks) as block:
            first = w.integer("mul", block, h.block)
            count = w.least(h.block, w.integer("sub", h.rows, first))
            seen = h.seen(w.integer("add", first, count))
            h.take_in("q", first, count, queries, h.scale)
            h.score(queries, turned, scores, count, seen)
            h.add_mask(first, count, scores)
            with w.loop(0, count) as i:
                _weigh(
                    h, w.integer("add", first, i), w.at(scores, w.integer("mul", i, h.wide)), seen
                )
            steps = h.wide, str(w.size)
            h.multiply(scores, steps, rows, queries, (count, seen))
            with w.loop(0, count) as i:
                row = w.integer("add", first, i)
                total = w.load(w.element, h.row("total", row))
                nothing = w.set(f"fcmp oeq {w.element} {total}, 0.0")
                total = w.set(f"select i1 {nothing}, {w.element} 1.0, {w.element} {total}")
                part = w.set(f"fdiv {w.vector} {h.number(1)}, {w.spread(total)}")
                source = w.at(queries, w.integer("mul", i, h.narrow))
                h.copy(source, h.row("out", row), part)
    return w.text(_product_text(kind))


def _weigh(h: _Head, row: str, scores: str, columns: str) -> None:
    """Make exponentials of a row's scores; their sum, and what was taken off."""
    w, v, n = h.w, h.w.vector, h.w.lanes
    seen = h.seen(w.integer("add", row, 1))
    least = h.number(float("-inf"))
    most, total = w.variable(v, least), w.variable(v, "zeroinitializer")

    def look(place: str, inside: str, _: str) -> None:
        x = w.set(f"select {inside}, {v} {w.load(v, place)}, {v} {least}")
        w.store(v, x, place)
        before = w.load(v, most)
        more = w.set(f"fcmp ogt {v} {x}, {before}")
        w.store(v, w.set(f"select <{n} x i1> {more}, {v} {x}, {v} {before}"), most)

    h.along(scores, columns, seen, look)
    highest = h.highest(most)
    hidden = w.set(f"fcmp oeq {w.element} {highest}, 0xFFF0000000000000")
    hidden = w.set(f"and i1 {hidden}, {h.masked}")
    highest = w.set(f"select i1 {hidden}, {w.element} 0.0, {w.element} {highest}")
    taken = w.spread(highest)

    def weigh(place: str, inside: str, _: str) -> None:
        found = h.exp(w.set(f"fsub {v} {w.load(v, place)}, {taken}"))
        w.store(v, found, place)
        w.store(v, w.set(f"fadd {v} {w.load(v, total)}, {found}"), total)

    h.along(scores, columns, seen, weigh)
    w.store(w.element, w.total(w.load(v, total)), h.row("total", row))
    w.store(w.element, highest, h.row("highest", row))


def attention_gradient_text(kind: AttentionGradient) -> str:
    """The module of an `AttentionGradient`."""
    h = _Head(kind, GRADIENT_TENSORS)
    w = h.w
    lines = w.integer("add", h.width, w.lanes)
    keys, turned, values = h.take(h.room, h.narrow), h.take(lines, h.wide), h.take(lines, h.wide)
    by_k, by_v = h.take(h.room, h.narrow), h.take(h.room, h.narrow)
    q, g, made, by_q = (h.take(h.block, h.narrow) for _ in range(4))
    weights, slopes = h.take(h.block, h.wide), h.take(h.block, h.wide)
    size, blocks = str(w.size), h.blocks()
    with w.loop("%low", "%high") as item:
        h.begin(item)
        h.take_in("v", 0, h.columns, keys)
        h.turn(keys, values)
        h.take_in("k", 0, h.columns, keys)
        h.turn(keys, turned)
        for total in (by_k, by_v):
            w.clear(total, w.integer("mul", h.room, h.narrow))
        with w.loop(0, blocks) as block:
            first = w.integer("mul", block, h.block)
            count = w.least(h.block, w.integer("sub", h.rows, first))
            seen = h.seen(w.integer("add", first, count))
            h.take_in("q", first, count, q, h.scale)
            h.take_in("g", first, count, g)
            h.take_in("out", first, count, made)
            h.score(q, turned, weights, count, seen)
            h.add_mask(first, count, weights)
            h.score(g, values, slopes, count, seen)
            with w.loop(0, count) as i:
                at, far = w.integer("mul", i, h.narrow), w.integer("mul", i, h.wide)
                along = _dot(h, w.at(g, at), w.at(made, at))
                row = w.integer("add", first, i)
                _slope(h, row, w.at(weights, far), w.at(slopes, far), along, seen)
            h.multiply(weights, (size, h.wide), g, by_v, (seen, count), True)
            h.multiply(slopes, (size, h.wide), q, by_k, (seen, count), True)
            h.multiply(slopes, (h.wide, size), keys, by_q, (count, seen))
            h.give("by_q", first, count, by_q, h.scale)
        h.give("by_k", 0, h.columns, by_k)
        h.give("by_v", 0, h.columns, by_v)
    return w.text(_product_text(kind))


def _dot(h: _Head, a: str, b: str) -> str:
    """The sum of the products of two rows of features, spread out."""
    w, v = h.w, h.w.vector
    total = w.variable(v, "zeroinitializer")
    count = w.integer("udiv", w.integer("add", h.width, w.lanes - 1), w.lanes)
    with w.loop(0, count) as j:
        at = w.integer("mul", j, h.vector_size)
        x, y = w.load(v, w.at(a, at)), w.load(v, w.at(b, at))
        w.store(v, w.fused(x, y, w.load(v, total)), total)
    return w.spread(w.total(w.load(v, total)))


def _slope(h: _Head, row: str, weights: str, slopes: str, along: str, columns: str) -> None:
    """Make weights of a row's scores, and gradients of scores of those of weights."""
    w, v = h.w, h.w.vector
    seen = h.seen(w.integer("add", row, 1))
    total = w.spread(w.load(w.element, h.row("total", row)))

    def each(place: str, inside: str, at: str) -> None:
        found = h.exp(w.set(f"fsub {v} {w.load(v, place)}, {total}"))
        found = w.set(f"select {inside}, {v} {found}, {v} zeroinitializer")
        w.store(v, found, place)
        slope = w.at(slopes, at)
        less = w.set(f"fsub {v} {w.load(v, slope)}, {along}")
        product = w.set(f"fmul {v} {less}, {found}")
        w.store(v, w.set(f"select {inside}, {v} {product}, {v} zeroinitializer"), slope)

    h.along(weights, columns, seen, each)
