"""Loops that go from place to place: picking, adding up by positions, running totals.

They are no programs of element-wise operations; each is written here, for the dtype it is asked for, and
compiled, checked and kept as kernels of programs are. A walk is a function of the address of its arguments,
eight bytes each. It answers 1, with nothing written, where a position is out of range.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address
from ..addresses import arguments as words_of
from ..workers import at_work, in_parts, of_a_part
from . import compiler
from .code_of_walks import TYPES, Code
from .columns import grouped, of_groups
from .draws import drawn_bits, drawn_singles, kept, singles
from .extremes import first_extremes, placed_extremes, running_extremes, running_extremes_of
from .padding import padded_lines, padding
from .pool import pool
from .program import DTYPES
from .radix import by_digits, in_order
from .ranks import first_by_rank, ranked
from .running import codes_of, running, totals
from .sampling import sampled, sampled_images
from .shuffling import exchanged, exchanges
from .summing import added_rows, multiplied_rows, row_dots, row_sums
from .summing_up import added_up, whole_sum
from .turning import mirrored_rows, mirroring, turned_matrices, turning
from .windows import (
    averaged,
    averaged_along,
    largest_of_windows,
    means_along,
    means_of_windows,
    placed,
)

__all__ = ["WALKS", "Walk", "WalkKernel", "text_of_walk", "wrong_walk"]

_CALL: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class Walk(NamedTuple):
    """One of the loops.

    Attributes:
        name: see `WALKS`.
        code: the dtype's short name.
    """

    name: str
    code: str


class WalkKernel:
    """A compiled walk.

    Attributes:
        program: which.
        name: of both.
        seconds, source: as a `Kernel`'s.
    """

    __slots__ = ("_call", "_code", "name", "program", "seconds", "source")

    def __init__(self, walk: Walk, code: compiler.Loaded, source: str) -> None:
        self.program = walk
        self.name = "_".join(walk)
        self._code = code
        self._call: Any = _CALL(code.address)
        self.seconds = 0.0
        self.source = source

    def __call__(self, *arguments: Any) -> bool:
        """Run it on row-major arrays and numbers; False if a position is out of range."""
        return not self._call(words_of(*arguments))

    def shared(self, count: int, parts: Callable[[int, int], Sequence[Any]], least: int) -> bool:
        """Run it on parts of ``count`` things, shared out over threads; False where one call answers so.

        Args:
            count: how many there are.
            parts: arguments for those from a first to a last.
            least: how many a part has at least.
        """
        if count <= least or get_num_threads() == 1 or at_work():
            return self(*parts(0, count))
        threads = pool()
        if threads is None:
            refused = []

            def some(first: int, last: int) -> None:
                if not self(*parts(first, last)):
                    refused.append(first)

            in_parts(some, count, least)
            return not refused
        step = of_a_part(count, least)
        given = [parts(i, min(i + step, count)) for i in range(0, count, step)]
        words = np.frombuffer(b"".join(words_of(*each) for each in given), np.int64)
        size = len(words) // len(given)
        seats = threads.seats()
        return not threads.run(
            seats, self._code.address, address(words), 8 * size, 1, len(given), answers=1
        )


def text_of_walk(walk: Walk) -> str:
    """LLVM's text of a walk."""
    return WALKS[walk.name].write(walk.code)


def _placed(w: Code, p: str, o: str, i: str) -> str:
    """Where the element of a position lies: along a dimension between others."""
    j = w.load("i64", "%INDEX", p)
    return w.sum(w.times(o, "%outside"), w.times(j, "%along"), w.times(i, "%inside"))


def _over_positions(w: Code, body: Callable[[str, str, str], None]) -> None:
    """For all positions: their number, and what they count along the dimensions around and inside."""
    per = w.times("%some", "%each")

    def outer(o: str) -> None:
        first = w.times(o, per)

        def middle(k: str) -> None:
            start = w.sum(first, w.times(k, "%each"))
            w.loop("%each", lambda i: body(w.sum(start, i), o, i))

        w.loop("%some", middle)

    w.loop("%blocks", outer)


_POSITIONED: Final = ("blocks", "some", "each", "size", "outside", "along", "inside")


def _gather(code: str) -> str:
    """Elements at positions along a dimension."""
    w, kind = Code(("OUT", "GIVEN", "INDEX", *_POSITIONED)), TYPES[code]
    w.check(w.times("%blocks", "%some", "%each"), "%size")
    _over_positions(
        w,
        lambda p, o, i: w.store(kind, w.load(kind, "%GIVEN", _placed(w, p, o, i)), "%OUT", p),
    )
    return w.text()


def _scatter_add(code: str) -> str:
    """Elements added at positions along a dimension, in place."""
    w, kind = Code(("OUT", "GIVEN", "INDEX", *_POSITIONED)), TYPES[code]
    add = "fadd" if code[0] == "f" else "add"
    w.check(w.times("%blocks", "%some", "%each"), "%size")

    def each(p: str, o: str, i: str) -> None:
        at = _placed(w, p, o, i)
        before = w.load(kind, "%OUT", at)
        w.store(kind, w.set(f"{add} {kind} {before}, {w.load(kind, '%GIVEN', p)}"), "%OUT", at)

    _over_positions(w, each)
    return w.text()


def _rows(join: Callable[[Code, str, str, str], str]) -> Callable[[str], str]:
    """Rows combined with those of positions, in place; the arrays do not overlap."""

    def write(code: str) -> str:
        w, kind = Code(("OUT", "GIVEN", "INDEX", "rows", "size", "width")), TYPES[code]
        w.check("%rows", "%size")

        def row(r: str) -> None:
            to = w.times(w.load("i64", "%INDEX", r), "%width")
            start = w.times(r, "%width")

            def each(i: str) -> None:
                at = w.sum(to, i)
                found = w.load(kind, "%GIVEN", w.sum(start, i))
                w.store(kind, join(w, kind, w.load(kind, "%OUT", at), found), "%OUT", at)

            w.loop("%width", each)

        w.loop("%rows", row)
        return w.text()

    return write


def _added_to(w: Code, kind: str, before: str, found: str) -> str:
    return w.set(f"{'add' if kind[0] == 'i' else 'fadd'} {kind} {before}, {found}")


def _further(order: str) -> Callable[[Code, str, str, str], str]:
    """The larger (``gt``) or smaller (``lt``); the second of equal ones, as of zeros, and NaN before all."""

    def join(w: Code, kind: str, before: str, found: str) -> str:
        if kind[0] == "i":
            stays = w.set(f"icmp s{order} {kind} {before}, {found}")
        else:
            none = w.set(f"fcmp uno {kind} {before}, {before}")
            stays = w.set(f"or i1 {none}, {w.set(f'fcmp o{order} {kind} {before}, {found}')}")
        return w.set(f"select i1 {stays}, {kind} {before}, {kind} {found}")

    return join


# ---- what they are checked against --------------------------------------------------------------


def _picked(d: Any, random: Any) -> Any:
    given = random.integers(-50, 50, (3, 7, 5)).astype(d)
    index = random.integers(0, 7, (3, 9, 5))
    out = np.zeros(index.shape, d)
    arguments = (out, given, index, 3, 9, 5, 7, 35, 5, 1)
    return arguments, out, np.take_along_axis(given, index, 1)


def _added(d: Any, random: Any) -> Any:
    given = random.normal(0, 9, (3, 9, 5)).astype(d)
    index = random.integers(0, 7, given.shape)
    out = random.normal(0, 9, (3, 7, 5)).astype(d)
    wanted = out.copy()
    np.add.at(wanted, (np.arange(3)[:, None, None], index, np.arange(5)), given)
    return (out, given, index, 3, 9, 5, 7, 35, 5, 1), out, wanted


def _rows_at(ufunc: Any) -> Callable[[Any, Any], Any]:
    def case(d: Any, random: Any) -> Any:
        given, index = random.normal(0, 9, (90, 21)).astype(d), random.integers(0, 7, 90)
        out = random.normal(0, 9, (7, 21)).astype(d)
        if ufunc is not np.add:
            given[:, :3], given[:, 5:9:2], out[:, 2:4], out[:3, 1] = 0, -out[:1, :2], -0.0, 0
            if d.kind == "f":
                given[::2, 0], given[1::3, 4], out[5, 6] = -0.0, np.nan, np.nan
        wanted = out.copy()
        line, places = wanted.reshape(-1), index[:, None] * 21 + np.arange(21)
        with np.errstate(all="ignore"):
            ufunc.at(line, places.reshape(-1), given.reshape(-1))
        return (out, given, index, 90, 7, 21), out, wanted

    return case


class _Row(NamedTuple):
    """What there is of a walk.

    Attributes:
        write: makes its text for a dtype.
        case: makes arguments, the result among them, and what it should be.
        codes: the dtypes that it serves.
        cases: how many are compared.
        optional: whether NumPy may compute otherwise, as BLAS adds; then there is no such walk.
    """

    write: Callable[[str], str]
    case: Callable[[Any, Any], Any]
    codes: tuple[str, ...]
    cases: int = 1
    optional: bool = False


_NUMBERS: Final = ("f4", "f8", "i8", "i4")
WALKS: Final[dict[str, _Row]] = {
    "gather": _Row(_gather, _picked, (*_NUMBERS, "i2", "i1")),
    "scatter_add": _Row(_scatter_add, _added, _NUMBERS),
    "rows_add": _Row(_rows(_added_to), _rows_at(np.add), _NUMBERS),
    "rows_most": _Row(_rows(_further("gt")), _rows_at(np.maximum), _NUMBERS, 3, True),
    "rows_least": _Row(_rows(_further("lt")), _rows_at(np.minimum), _NUMBERS, 3, True),
    "kept": _Row(kept, drawn_bits, ("f4", "f8")),
    "singles": _Row(singles, drawn_singles, ("f4",)),
    **{
        name: _Row(running(name), totals(name), codes_of(name), 6)
        for name in ("cumsum", "cumprod", "cumsum_in_single", "cumprod_in_single")
    },
    "group_sums": _Row(of_groups("sums"), grouped("sums"), ("f4", "f8"), 6),
    "group_dots": _Row(of_groups("dots"), grouped("dots"), ("f4", "f8"), 6),
    "group_tops": _Row(of_groups("tops"), grouped("tops"), ("f4", "f8"), 6),
    "most_placed": _Row(first_extremes("most"), placed_extremes("most"), _NUMBERS, 6),
    "least_placed": _Row(first_extremes("least"), placed_extremes("least"), _NUMBERS, 6),
    **{
        f"running_{name}": _Row(
            running_extremes(name), running_extremes_of(name), _NUMBERS, 6, True
        )
        for name in ("most", "least")
    },
    "largest_first": _Row(first_by_rank("largest"), ranked("largest"), _NUMBERS, 12),
    "smallest_first": _Row(first_by_rank("smallest"), ranked("smallest"), _NUMBERS, 12),
    "by_digits": _Row(by_digits, in_order, ("i8",), 6),
    "largest_of_windows": _Row(largest_of_windows, placed, _NUMBERS, 3),
    "means_of_windows": _Row(means_of_windows, averaged, ("f4", "f8"), 3),
    "means_along": _Row(means_along, averaged_along, ("f4", "f8"), 6),
    "sampled": _Row(sampled, sampled_images, ("f4", "f8"), 6),
    "exchanged": _Row(exchanged, exchanges, ("i8",), 6),
    "turning": _Row(turning, turned_matrices, ("i8", "i4", "i2", "i1"), 12),
    "padding": _Row(padding, padded_lines, ("i8", "i4", "i2", "i1"), 12),
    "mirroring": _Row(mirroring, mirrored_rows, ("i8", "i4", "i2", "i1"), 12),
    "whole_sum": _Row(whole_sum, added_up, ("i8", "i4", "i2", "i1"), 6),
    "row_sums": _Row(row_sums, added_rows, ("f4", "f8"), 12, True),
    "row_dots": _Row(row_dots, multiplied_rows, ("f4", "f8"), 24, True),
}


def wrong_walk(kernel: WalkKernel) -> str | None:
    """What a walk computes otherwise than NumPy, or None."""
    name, code = kernel.program
    random = np.random.Generator(np.random.PCG64(1))
    for _ in range(WALKS[name].cases):
        arguments, out, wanted = WALKS[name].case(DTYPES[code], random)
        if not kernel(*arguments) or out.tobytes() != wanted.tobytes():
            return f"{name} of {code}"
    return None
