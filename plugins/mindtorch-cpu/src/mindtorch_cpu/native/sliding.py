"""LLVM's text for convolutions whose operands lie flat: products of a small matrix with shifted rows.

Both kernels keep a block of results in registers, as many vectors wide as its rows leave room for, and add
up to it without anything between. What differs from one convolution to the next (sizes, strides, shifts)
is an argument, so a kernel serves every convolution with its numbers of channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .compiler import vector_registers
from .writing import Function

__all__ = [
    "Gradient",
    "Product",
    "Turn",
    "accumulate",
    "gradient_text",
    "product_text",
    "turn_square",
    "turn_text",
    "vectors_beside",
]


def vectors_beside(rows: int) -> int:
    """How many vectors wide a block of so many rows can be."""
    return max(1, min(8, (vector_registers() - 1) // (rows + 1)))


class Product(NamedTuple):
    """``out[i, p] = bias[i] + sum over r of weights[i, place[r]] * x[shift[r] + p]``.

    Arguments: addresses of x and weights; of shifts and places, in bytes; of bias and out; the number of r,
    bytes from one row of out to the next, of rows, and bytes from one row of weights to the next; whether
    sums go on from what out holds, not from bias; where in scratch memory the vectors of a tile are copied
    for each r, in bytes (0 if they are read where they are); the numbers of tiles along p and of those of
    an item, which is one if they are copied; and for each r the address of bits, a whole number of bytes for
    each vector, and how many bytes there are before the first one's: elements without a bit are copied as
    zeros (0 if all are copied); the number of items of a group, and how many bytes further x, weights, bias
    and out of the next group lie: items of all groups follow each other. An item computes all blocks of rows
    for its tiles. The last block's rows behind the last one repeat it: out has room for them, and bias
    numbers.

    Attributes:
        dtype: of all numbers; with ``bf`` x and weights hold pairs of bfloat16 in place of each float32,
            of which both products are added.
        rows: of a block.
        vectors: of a tile.
    """

    dtype: str
    rows: int
    vectors: int


def product_text(kind: Product) -> str:
    """The module of a `Product`."""
    paired = kind.dtype == "bf"
    w = Function("f4" if paired else kind.dtype)
    size, wide = w.size, w.size * w.lanes
    of_all = [w.argument(i, "ptr") for i in range(6)]
    count, pitch, rows, step, further = (w.argument(i) for i in range(6, 11))
    copies, tiles, together = w.argument(11, "ptr"), w.argument(12), w.argument(13)
    marks, skipped, per = w.argument(14, "ptr"), w.argument(15), w.argument(16)
    further_on = [w.argument(i) for i in range(17, 21)]
    last, begun = w.integer("sub", rows, 1), w.set(f"icmp ne i64 {further}, 0")
    blocks = w.integer("udiv", w.integer("add", rows, kind.rows - 1), kind.rows)
    copied = w.set(f"icmp ne ptr {copies}, null")
    shifts, places = of_all[2:4]
    table = w.set(f"select i1 {copied}, ptr {copies}, ptr {shifts}")
    behind = range(0, kind.vectors * wide, wide)
    with w.loop("%low", "%high") as whole:
        group, item = (w.integer(op, whole, per) for op in ("udiv", "urem"))
        x, weights, bias, out = (
            w.at(of_all[i], w.integer("mul", group, bytes_))
            for i, bytes_ in zip((0, 1, 4, 5), further_on, strict=True)
        )
        begin = w.integer("mul", item, together)
        end = w.least(w.integer("add", begin, together), tiles)
        with w.when(copied):
            own = w.at(x, w.integer("mul", begin, kind.vectors * wide))
            _copy(w, kind, (own, shifts, copies, count), (marks, skipped, begin))
        with w.loop(0, blocks) as block, w.loop(begin, end) as tile:
            along = w.integer("mul", tile, kind.vectors * wide)
            source = w.set(f"select i1 {copied}, ptr %scratch, ptr {w.at(x, along)}")
            first = w.integer("mul", block, kind.rows)
            given = w.at(bias, w.integer("mul", first, size))
            targets = [w.at(w.at(out, w.integer("mul", first, pitch)), along)]
            sums, factors = [], []
            for i in range(kind.rows):
                number = w.spread(w.load(w.element, w.at(given, i * size)))
                sums.append([w.variable(w.vector, number) for _ in behind])
                row = w.least(w.integer("add", first, i), last)
                factors.append(w.at(weights, w.integer("mul", row, step)))
                targets.append(w.at(targets[-1], pitch))
            results = [
                (w.at(t, j), s)
                for t, ss in zip(targets, sums, strict=False)
                for j, s in zip(behind, ss, strict=True)
            ]
            with w.when(begun):
                for target, place in results:
                    w.store(w.vector, w.load(w.vector, target), place)
            with w.loop(0, count) as r:
                number = w.integer("mul", r, 8)
                line = w.at(source, w.load("i64", w.at(table, number)))
                place = w.load("i64", w.at(places, number))
                seen = [w.load(w.vector, w.at(line, j)) for j in behind]
                numbers = [w.at(factor, place) for factor in factors]
                accumulate(w, sums, seen, numbers, w.paired if paired else w.fused)
            for target, place in results:
                w.store(w.vector, w.load(w.vector, place), target)
    return w.text()


def _copy(w: Function, kind: Product, given: Sequence[str], masks: tuple[str, str, str]) -> None:
    """Copy a tile's vectors for each r to scratch memory, all elements or those with a bit."""
    (own, shifts, copies, count), (marks, skipped, tile) = given, masks
    wide, each = w.size * w.lanes, -(-w.lanes // 8)
    bits = w.integer("add", skipped, w.integer("mul", tile, kind.vectors * each))
    for some in (False, True):
        with (
            w.when(w.set(f"icmp {'ne' if some else 'eq'} ptr {marks}, null")),
            w.loop(0, count) as r,
        ):
            number = w.integer("mul", r, 8)
            here, there = (w.load("i64", w.at(t, number)) for t in (shifts, copies))
            seen = w.at(w.load("ptr", w.at(marks, number)), bits) if some else ""
            for j in range(kind.vectors):
                place = w.at(w.at(own, here), j * wide)
                vector = (
                    w.load_some(w.at(seen, j * each), place) if some else w.load(w.vector, place)
                )
                w.store(w.vector, vector, w.at(w.at("%scratch", there), j * wide))


def accumulate(
    w: Function, sums: list[list[str]], vectors: list[str], numbers: list[str],
    multiply: Callable[[str, str, str], str],
) -> None:  # fmt: skip
    """Add the products of numbers, which lie at addresses, and vectors to a block."""
    for own, address in zip(sums, numbers, strict=True):
        number = w.spread(w.load(w.element, address))
        for place, vector in zip(own, vectors, strict=True):
            w.store(w.vector, multiply(number, vector, w.load(w.vector, place)), place)


class Gradient(NamedTuple):
    """``out[i, o] += sum over lines and p of x[shift[i] + line + p] * y[line * width + p, o]``.

    Arguments: addresses of x, shifts in bytes, y and out; addresses of the lines' places in x, in bytes;
    the number of lines, elements of a line, bytes from one tile of y along o to the next, bytes of a row of
    out, the number of blocks of rows, and how many lines all items add up before the next ones. An item is a
    tile and a block of rows, the block counted first.

    Attributes:
        dtype: of all numbers.
        rows: of a block.
        vectors: of a tile, in which those of y follow each other.
    """

    dtype: str
    rows: int
    vectors: int


def gradient_text(kind: Gradient) -> str:
    """The module of a `Gradient`."""
    w = Function(kind.dtype)
    x, shifts, y, out, places = (w.argument(i, "ptr") for i in range(5))
    lines, width, apart, pitch, blocks, most = (w.argument(i) for i in range(5, 11))
    parts = w.integer("sdiv", w.integer("add", lines, w.integer("sub", most, 1)), most)
    behind = w.integer("mul", width, kind.vectors * w.size * w.lanes)
    with w.loop(0, parts) as part, w.loop("%low", "%high") as item:
        line = w.integer("mul", part, most)
        here = w.at(y, w.integer("mul", line, behind))
        table = w.at(places, w.integer("mul", line, 8))
        count = w.least(w.integer("sub", lines, line), most)
        _add_lines(
            w, kind, item, (x, shifts, here, out, table), (count, width, apart, pitch, blocks)
        )
    return w.text()


def _add_lines(
    w: Function, kind: Gradient, item: str, addresses: Sequence[str], numbers: Sequence[str]
) -> None:
    """Add what lines give to an item's rows."""
    size, wide = w.size, w.size * w.lanes
    (x, shifts, y, out, places), (lines, width, apart, pitch, blocks) = addresses, numbers
    first = w.integer("mul", w.integer("urem", item, blocks), kind.rows)
    tile = w.integer("udiv", item, blocks)
    table = w.at(shifts, w.integer("mul", first, 8))
    rows = [w.at(x, w.load("i64", w.at(table, 8 * i))) for i in range(kind.rows)]
    begin = w.at(
        w.at(out, w.integer("mul", first, pitch)), w.integer("mul", tile, kind.vectors * wide)
    )
    targets = [begin]
    for _ in range(1, kind.rows):
        targets.append(w.at(targets[-1], pitch))
    zeros = "zeroinitializer"
    sums = [[w.variable(w.vector, zeros) for _ in range(kind.vectors)] for _ in targets]
    seen = w.variable("ptr", w.at(y, w.integer("mul", tile, apart)))
    with w.loop(0, lines) as line:
        place = w.load("i64", w.at(places, w.integer("mul", line, 8)))
        starts = [w.at(row, place) for row in rows]
        with w.loop(0, width) as p:
            here = w.load("ptr", seen)
            vectors = [w.load(w.vector, w.at(here, j * wide)) for j in range(kind.vectors)]
            behind = w.integer("mul", p, size)
            accumulate(w, sums, vectors, [w.at(start, behind) for start in starts], w.fused)
            w.store("ptr", w.at(here, kind.vectors * wide), seen)
    for target, own in zip(targets, sums, strict=True):
        for j, place in enumerate(own):
            here = w.at(target, j * wide)
            before = w.load(w.vector, here)
            found = w.set(f"fadd {w.vector} {before}, {w.load(w.vector, place)}")
            w.store(w.vector, found, here)


class Turn(NamedTuple):
    """``out[j, i] = in[i, j]``, square by square.

    Arguments: addresses of in and out; rows and columns of in; bytes from one row to the next of in and of
    out. An item is as many rows as a vector has elements.

    Attributes:
        dtype: of all numbers.
    """

    dtype: str


def turn_text(kind: Turn) -> str:
    """The module of a `Turn`."""
    w = Function(kind.dtype)
    given, out = (w.argument(i, "ptr") for i in range(2))
    rows, columns, step, pitch = (w.argument(i) for i in range(2, 6))
    with w.loop("%low", "%high") as item:
        first = w.integer("mul", item, w.lanes)
        source = w.at(given, w.integer("mul", first, step))
        target = w.at(out, w.integer("mul", first, w.size))
        left = w.least(w.integer("sub", rows, first), str(w.lanes))
        whole = w.set(f"icmp eq i64 {left}, {w.lanes}")
        squares = w.set(f"select i1 {whole}, i64 {w.integer('udiv', columns, w.lanes)}, i64 0")
        with w.loop(0, squares) as square:
            here = w.at(source, w.integer("mul", square, w.lanes * w.size))
            behind = w.integer("mul", w.integer("mul", square, w.lanes), pitch)
            turn_square(w, here, step, w.at(target, behind), pitch)
        with w.loop(w.integer("mul", squares, w.lanes), columns) as j:
            here = w.at(source, w.integer("mul", j, w.size))
            there = w.at(target, w.integer("mul", j, pitch))
            with w.loop(0, left) as i:
                value = w.load(w.element, w.at(here, w.integer("mul", i, step)))
                w.store(w.element, value, w.at(there, w.integer("mul", i, w.size)))
    return w.text()


def turn_square(w: Function, source: str, step: str, target: str, pitch: str) -> None:
    """Turn as many rows as a vector has elements: rows that lie half of them apart meet, again and again."""
    n = w.lanes
    vectors = []
    for _ in range(n):
        vectors.append(w.load(w.vector, source))
        source = w.at(source, step)
    for _ in range(n.bit_length() - 1):
        met = []
        for one, other in zip(vectors[: n // 2], vectors[n // 2 :], strict=True):
            met += [w.woven(one, other, 0), w.woven(one, other, n // 2)]
        vectors = met
    for vector in vectors:
        w.store(w.vector, vector, target)
        target = w.at(target, pitch)
