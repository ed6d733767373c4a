"""Sums of rows in the order in which OpenBLAS adds.

NumPy calls BLAS for each row, and between calls the processor fetches no memory ahead. Here one call adds
many rows. The order is that of OpenBLAS's kernels for AVX-512, or for AVX2 where the processor has not that:
where BLAS adds otherwise, there is no such loop.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code
from .compiler import vector_bytes

__all__ = ["added_rows", "blas_function", "multiplied_rows", "row_dots", "row_sums"]

# Vectors that BLAS adds to in turn, each of so many bytes; of AVX-512 as many of twice the bytes before.
_CHAINS: Final = 4
_BYTES: Final = 32


def row_sums(code: str) -> str:
    """Sums of rows, whose elements are dense, as ``np.vecdot`` makes them with ones."""
    w = Code(("OUT", "GIVEN", "blocks", "rows", "width", "far", "step"))
    ends = _ends(w, code)

    def row(b: str, r: str) -> None:
        place = w.sum(w.times(b, "%far"), w.times(r, "%step"))
        first = w.set(f"getelementptr {TYPES[code]}, ptr %GIVEN, i64 {place}")
        _row(w, code, [first], ends, w.sum(w.times(b, "%rows"), r))

    w.loop("%blocks", lambda b: w.loop("%rows", lambda r: row(b, r)))
    return w.text()


def blas_function(code: str, declared: set[str], of: str) -> tuple[str, str]:
    """The name and text of a function of ``GIVEN, OTHER, rows, step, width, OUT``.

    It writes sums of dense rows that lie ``step`` elements apart.

    Args:
        code: their dtype.
        declared: what it calls of LLVM's is added to these.
        of: ``sums`` of rows of ``GIVEN``, or of their ``squares``, or of ``products`` of rows of both.
    """
    w = Code((), declared)
    ends = _ends(w, code)

    def row(r: str) -> None:
        place = w.times(r, "%step")
        given = {"sums": ("GIVEN",), "squares": ("GIVEN",) * 2, "products": ("GIVEN", "OTHER")}[of]
        rows = [w.set(f"getelementptr {TYPES[code]}, ptr %{a}, i64 {place}") for a in given]
        _row(w, code, rows, ends, r)

    w.loop("%rows", row)
    name = f"{of}_{code}"
    parameters = "ptr %GIVEN, ptr %OTHER, i64 %rows, i64 %step, i64 %width, ptr %OUT"
    return name, w.function(name, parameters)


def row_dots(code: str) -> str:
    """Sums of rows and, behind them, of the products of rows of two arrays: what `blas_function` makes."""
    declared: set[str] = set()
    w = Code(("OUT", "GIVEN", "OTHER", "rows", "width", "step"), declared)
    behind = w.set(f"getelementptr {TYPES[code]}, ptr %OUT, i64 %rows")
    functions = [blas_function(code, declared, of) for of in ("sums", "products")]
    for (name, _), out in zip(functions, ("%OUT", behind), strict=True):
        given = "ptr %GIVEN, ptr %OTHER, i64 %rows, i64 %step, i64 %width"
        w.put(f"call void @{name}({given}, ptr {out})")
    return "\n".join([*(text for _, text in functions), w.text()])


def _ends(w: Code, code: str) -> tuple[str, str]:
    """How many elements of a row are added in the widest vectors, and how many in vectors."""
    lanes = _BYTES // int(code[1])
    whole = w.set(f"and i64 %width, -{_CHAINS * lanes}")
    wide = vector_bytes() == 2 * _BYTES
    return w.set(f"and i64 %width, -{2 * _CHAINS * lanes}") if wide else "0", whole


def _row(w: Code, code: str, rows: list[str], ends: tuple[str, str], at: str) -> None:
    """Write the sum of a row, or of the products of two, as an element of ``OUT``."""
    kind, lanes, wide = TYPES[code], _BYTES // int(code[1]), vector_bytes() == 2 * _BYTES
    before, whole = ends
    chains = ["zeroinitializer"] * _CHAINS
    if wide:
        vectors = _added(w, code, 2 * lanes, chains, rows, before)
        chains = [_halved(w, kind, 2 * lanes, v) for v in vectors]
    rest = [w.set(f"getelementptr {kind}, ptr {row}, i64 {before}") for row in rows]
    chains = _added(w, code, lanes, chains, rest, w.set(f"sub i64 {whole}, {before}"))
    found = (_joined_in_turn if wide else _joined)(w, kind, lanes, chains)
    _rest(w, code, rows, whole, found, at)


def _added(
    w: Code, code: str, lanes: int, begin: list[str], rows: list[str], count: str
) -> list[str]:
    """Vectors to which those of ``count`` elements are added in turn."""
    kind = TYPES[code]
    vector = f"<{lanes} x {kind}>"
    chains = [w.variable(vector, value) for value in begin]

    def some(i: str) -> None:
        for n, chain in enumerate(chains):
            given = []
            for row in rows:
                at = w.set(f"getelementptr {kind}, ptr {row}, i64 {w.sum(i, str(n * lanes))}")
                given.append(w.set(f"load {vector}, ptr {at}, align {code[1]}"))
            before = w.set(f"load {vector}, ptr {chain}")
            w.put(f"store {vector} {_plus_product(w, vector, before, given)}, ptr {chain}")

    w.loop(count, some, len(chains) * lanes)
    return [w.set(f"load {vector}, ptr {c}") for c in chains]


def _plus_product(w: Code, kind: str, before: str, given: list[str]) -> str:
    """A value and another one, or the product of two, rounded once."""
    if len(given) == 1:
        return w.set(f"fadd {kind} {before}, {given[0]}")
    return w.intrinsic("fma", kind, *given, before)


def _picked(w: Code, kind: str, count: int, vector: str, at: range) -> str:
    """Some elements of a vector."""
    mask = ", ".join(f"i32 {i}" for i in at)
    both = f"<{count} x {kind}> {vector}, <{count} x {kind}> poison"
    return w.set(f"shufflevector {both}, <{len(at)} x i32> <{mask}>")


def _plus(w: Code, kind: str, count: int, a: str, b: str) -> str:
    return w.set(f"fadd <{count} x {kind}> {a}, {b}")


def _halved(w: Code, kind: str, lanes: int, vector: str) -> str:
    """The sum of a vector's halves."""
    half = lanes // 2
    low, high = (_picked(w, kind, lanes, vector, at) for at in (range(half), range(half, lanes)))
    return _plus(w, kind, half, low, high)


def _joined(w: Code, kind: str, lanes: int, chains: list[str]) -> str:
    """The sum of the vectors' elements: halves, vectors, neighbours."""
    half = lanes // 2
    a, b, c, d = (_halved(w, kind, lanes, v) for v in chains)
    first, second = _plus(w, kind, half, a, b), _plus(w, kind, half, c, d)
    return _of_neighbours(w, kind, half, _plus(w, kind, half, first, second))


def _joined_in_turn(w: Code, kind: str, lanes: int, chains: list[str]) -> str:
    """The same in another order: vectors, halves, neighbours."""
    found = chains[0]
    for chain in chains[1:]:
        found = _plus(w, kind, lanes, found, chain)
    return _of_neighbours(w, kind, lanes // 2, _halved(w, kind, lanes, found))


def _of_neighbours(w: Code, kind: str, count: int, found: str) -> str:
    """The sum of a vector's elements, neighbours first."""
    while count > 1:
        even, odd = (_picked(w, kind, count, found, range(first, count, 2)) for first in (0, 1))
        count //= 2
        found = _plus(w, kind, count, even, odd)
    return w.set(f"extractelement <1 x {kind}> {found}, i64 0")


def _rest(w: Code, code: str, rows: list[str], whole: str, found: str, at: str) -> None:
    """Add what is left of a row in float64, of float32 beginning with 0, and write the sum."""
    kind = TYPES[code]
    total = w.variable("double", "0.0" if code == "f4" else found)

    def one(i: str) -> None:
        given = [w.load(kind, row, w.sum(whole, i)) for row in rows]
        before = w.set(f"load double, ptr {total}")
        if code == "f4":
            x = given[0] if len(given) == 1 else w.set(f"fmul float {given[0]}, {given[1]}")
            given = [w.set(f"fpext float {x} to double")]
        w.put(f"store double {_plus_product(w, 'double', before, given)}, ptr {total}")

    w.loop(w.set(f"sub i64 %width, {whole}"), one)
    now = w.set(f"load double, ptr {total}")
    if code == "f4":
        wide = w.set(f"fpext float {found} to double")
        now = w.set(f"fptrunc double {w.set(f'fadd double {now}, {wide}')} to float")
    w.store(kind, now, "%OUT", at)


# ---- what they are checked against --------------------------------------------------------------

_WIDTHS: Final = (1024, 527, 45, 17, 5)


def added_rows(d: Any, random: Any) -> Any:
    """A case of rows that are added as BLAS does; of some the last elements count little."""
    width = int(random.choice(_WIDTHS))
    given = random.normal(0, 1, (4, 11, width + 3)) * np.exp2(random.integers(-9, 9, width + 3))
    given[::3, :, 32:width] *= 2.0**-24
    given = given.astype(d)
    wanted = np.vecdot(given[:, :10, :width], np.ones(width, d))
    out = np.zeros_like(wanted)
    return (out, given, 4, 10, width, 11 * (width + 3), width + 3), out, wanted


def multiplied_rows(d: Any, random: Any) -> Any:
    """A case of `row_dots`."""
    width = int(random.choice(_WIDTHS))
    given, other = random.normal(0, 1, (2, 10, width + 3)) * np.exp2(
        random.integers(-9, 9, width + 3)
    )
    given[::3, 32:width] *= 2.0**-24
    given, other = given.astype(d), other.astype(d)
    seen = given[:, :width]
    wanted = np.stack([np.vecdot(seen, np.ones(width, d)), np.vecdot(seen, other[:, :width])])
    out = np.zeros_like(wanted)
    return (out, given, other, 10, width, width + 3), out, wanted
