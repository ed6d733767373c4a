"""Matrices written the other way around, and rows from their ends, in vector registers.

NumPy copies such arrays element by element, and BLAS packs them so.
"""

from __future__ import annotations

from typing import Any, Final

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes

__all__ = ["mirrored_rows", "mirroring", "turned_matrices", "turning"]

# Rows and columns that are gone through before those beside them: their lines of the cache stay there.
_BLOCK: Final = 64
_LANES: Final = 16  # of a tile, at most


def turning(code: str) -> str:
    """``OUT[b, c, r] = GIVEN[b, r, c]``: dense results of matrices whose rows are apart.

    Arguments: both arrays, how many matrices there are, elements from one to the next one given, rows,
    elements from one row to the next, and columns.
    """
    w, kind = Code(("OUT", "GIVEN", "blocks", "far", "rows", "step", "width")), TYPES[code]
    lanes = min(_LANES, vector_bytes() // int(code[1]))
    whole_rows, whole_columns = (w.set(f"and i64 {n}, -{lanes}") for n in ("%rows", "%width"))

    def matrix(b: str) -> None:
        given, made = w.times(b, "%far"), w.times(b, "%rows", "%width")

        def single(r: str, c: str) -> None:
            value = w.load(kind, "%GIVEN", w.sum(given, w.times(r, "%step"), c))
            w.store(kind, value, "%OUT", w.sum(made, w.times(c, "%rows"), r))

        def rows(first: str) -> None:
            last = _smaller(w, w.sum(first, str(_BLOCK)), whole_rows)

            def columns(start: str) -> None:
                end = _smaller(w, w.sum(start, str(_BLOCK)), whole_columns)

                def across(c: str) -> None:
                    at = w.sum(start, c)
                    w.loop(
                        w.set(f"sub i64 {last}, {first}"),
                        lambda r: _tile(w, kind, lanes, given, made, w.sum(first, r), at),
                        lanes,
                    )

                w.loop(w.set(f"sub i64 {end}, {start}"), across, lanes)

            w.loop(whole_columns, columns, _BLOCK)

        w.loop(whole_rows, rows, _BLOCK)
        beside = w.set(f"sub i64 %width, {whole_columns}")
        below = w.set(f"sub i64 %rows, {whole_rows}")
        w.loop(beside, lambda c: w.loop(whole_rows, lambda r: single(r, w.sum(whole_columns, c))))
        w.loop("%width", lambda c: w.loop(below, lambda r: single(w.sum(whole_rows, r), c)))

    w.loop("%blocks", matrix)
    return w.text()


def _smaller(w: Code, a: str, b: str) -> str:
    return w.set(f"select i1 {w.set(f'icmp slt i64 {a}, {b}')}, i64 {a}, i64 {b}")


def _tile(w: Code, kind: str, lanes: int, given: str, made: str, r: str, c: str) -> None:
    """As many rows as columns: of each two vectors, halves change places, then quarters, and so on."""
    each, size = f"<{lanes} x {kind}>", int(kind[1:]) // 8
    vectors = []
    for n in range(lanes):
        at = w.sum(given, w.times(w.sum(r, str(n)), "%step"), c)
        place = w.set(f"getelementptr {kind}, ptr %GIVEN, i64 {at}")
        vectors.append(w.set(f"load {each}, ptr {place}, align {size}"))
    apart = 1
    while apart < lanes:
        for i in range(lanes):
            if not i & apart:
                a, b = vectors[i], vectors[i | apart]
                first = [k if not k & apart else lanes + k - apart for k in range(lanes)]
                second = [k + apart if not k & apart else lanes + k for k in range(lanes)]
                vectors[i], vectors[i | apart] = (
                    w.set(f"shufflevector {each} {a}, {each} {b}, <{lanes} x i32> <{chosen}>")
                    for chosen in (", ".join(f"i32 {k}" for k in ks) for ks in (first, second))
                )
        apart *= 2
    for n in range(lanes):
        at = w.sum(made, w.times(w.sum(c, str(n)), "%rows"), r)
        place = w.set(f"getelementptr {kind}, ptr %OUT, i64 {at}")
        w.put(f"store {each} {vectors[n]}, ptr {place}, align {size}")


def mirroring(code: str) -> str:
    """``OUT[r, c] = GIVEN[r, width - 1 - c]``, of rows that may lie apart in what is given."""
    w, kind = Code(("OUT", "GIVEN", "rows", "step", "width")), TYPES[code]
    lanes = min(_LANES, vector_bytes() // int(code[1]))
    each, size = f"<{lanes} x {kind}>", int(code[1])
    back = ", ".join(f"i32 {lanes - 1 - k}" for k in range(lanes))

    def row(r: str) -> None:
        end, made = w.sum(w.times(r, "%step"), "%width"), w.times(r, "%width")

        def columns(c: str, count: int, of: int) -> None:
            at = w.set(f"sub i64 {end}, {w.sum(c, str(of))}")
            if of == 1:
                w.store(kind, w.load(kind, "%GIVEN", at), "%OUT", w.sum(made, c))
                return
            place = w.set(f"getelementptr {kind}, ptr %GIVEN, i64 {at}")
            x = w.set(f"load {each}, ptr {place}, align {size}")
            x = w.set(f"shufflevector {each} {x}, {each} poison, <{lanes} x i32> <{back}>")
            place = w.set(f"getelementptr {kind}, ptr %OUT, i64 {w.sum(made, c)}")
            w.put(f"store {each} {x}, ptr {place}, align {size}")

        w.over_columns(1, lanes, columns)

    w.loop("%rows", row)
    return w.text()


def mirrored_rows(d: Any, random: Any) -> Any:
    """A case: rows with and without whole vectors, which lie apart."""
    width = int(random.choice((1, 15, 16, 37, 130)))
    given = random.integers(-128, 128, (7, width + 3)).astype(d)
    wanted = given[:, :width][:, ::-1].copy()
    out = wanted.copy()
    out.fill(0)
    return (out, given, 7, width + 3, width), out, wanted


def turned_matrices(d: Any, random: Any) -> Any:
    """A case: matrices with and without whole tiles, from rows that lie apart."""
    rows, width = (int(n) for n in random.choice((1, 15, 16, 37, 130), 2))
    given = random.integers(-128, 128, (3, rows, width + 5)).astype(d)
    wanted = given[:, :, :width].swapaxes(1, 2).copy()
    out = wanted.copy()
    out.fill(0)
    return (out, given, 3, rows * (width + 5), rows, width + 5, width), out, wanted
