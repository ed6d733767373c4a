"""Eager functions of arrays as compiled kernels: the short way to those that have run before.

A kernel is bound to the shapes that it ran on (`native.direct`), and found here by what identifies the
function and by a shape. All else is done by `native.eager`, which is imported when a function was called
often enough, or with enough elements, to be worth a kernel.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

import numpy as np

from .bound_calls import CALLS, LATER, LOOPS, Trace
from .memory_pool import POOL

__all__ = ["BY_SIZE", "FEWEST", "computed", "computed_rows", "one_pass", "turned", "walk"]

# Elements from which a kernel beats two calls of NumPy's.
FEWEST: Final = 64
# By op that has another formula for few elements: how many are not few. Whoever registers its kernel says so.
BY_SIZE: Final[dict[str, int]] = {}
# Calls with few elements after which a function gets one: a short program loads no compiler.
_PATIENCE: Final = 16
# Calls of one shape after which it is looked for: lengths that grow, as those of a cache, come once each.
_SIGHTS: Final = 2
_MANY: Final = 1 << 15
# Elements from which a loop beats NumPy.
_WALKED: Final = 1 << 12
_KNOWN: Final = 1024
_ASKED: Final[Counter[Hashable]] = Counter()
# By key, shape and number of the dtype of the first array.
_SEEN: Final[Counter[Hashable]] = Counter()


def computed(
    key: Hashable, trace: Trace, arrays: Sequence[Any], out: Sequence[Any], lies: Hashable = None
) -> bool:
    """Whether a kernel computed an element-wise function; else NumPy has to.

    Args:
        key: identifies the function, with its numbers.
        trace: makes the results of a `Tracer` and arrays of it.
        arrays: operands that broadcast to the shape of the results.
        out: where the results go, of their dtypes.
        lies: how arrays lie, where those of one shape often differ in it: each way has a function of its own.
    """
    first = arrays[0]
    known = key, first.shape, first.dtype.num, lies
    call = CALLS.get(known)
    if call is not None and call(*arrays, *out):
        return True
    return _first(known, trace, arrays, out, rows=False)


def computed_rows(key: Hashable, trace: Trace, arrays: Sequence[Any], out: Sequence[Any]) -> bool:
    """The same for arrays of (rows, width), (rows, 1) or (width,), whose rows may be reduced."""
    first = arrays[0]
    known = key, first.shape, first.dtype.num, None
    call = CALLS.get(known)
    if call is not None and call(*arrays, *out):
        return True
    return _first(known, trace, arrays, out, rows=True)


def one_pass(key: Hashable, trace: Trace, d: Any, *arrays: Any) -> Any:
    """What a kernel makes of arrays of one shape in row-major order; None where there is none.

    Args:
        key: see `computed`.
        trace: see there.
        d: NumPy dtype of the result.
        arrays: the operands; also in another order of dimensions, if it is that of all.
    """
    first = arrays[0]
    if first.size < FEWEST:
        return None
    out = POOL.empty(first.shape, d)
    known = key, first.shape, first.dtype.num, None
    call = CALLS.get(known)
    if call is not None and call(*arrays, out):
        return out
    if any(a.shape != first.shape or not a.flags.c_contiguous for a in arrays):
        alike = all(a.shape == first.shape for a in arrays)
        if alike and any(0 in a.strides for a in arrays):  # gradients of sums repeat one number
            return one_pass(key, trace, d, *map(np.ascontiguousarray, arrays))
        return turned(lambda *own: one_pass(key, trace, d, *own), arrays)
    return out if _first(known, trace, arrays, (out,), rows=False) else None


def turned(make: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """What is made of arrays of one shape that are row-major in one order of their dimensions.

    Args:
        make: called with views whose dimensions are in that order; gives an array of their shape, or None.
        arrays: the operands; those without dimensions stay as they are.

    Returns:
        The array with the dimensions as they were; None also where arrays lie otherwise.
    """
    full = [a for a in arrays if a.ndim]
    steps, shape = full[0].strides, full[0].shape
    axes = sorted(range(len(steps)), key=lambda i: -steps[i])
    if any(a.shape != shape or not a.transpose(axes).flags.c_contiguous for a in full):
        return None
    made = make(*[a.transpose(axes) if a.ndim else a for a in arrays])
    return None if made is None else made.transpose(sorted(range(len(axes)), key=axes.__getitem__))


def walk(name: str, d: Any, elements: int, least: int = _WALKED) -> Any:
    """A compiled loop of `native.walks` over elements of a NumPy dtype; None where there is none.

    Args:
        name: the loop's.
        d: the dtype.
        elements: how many there are.
        least: how many have to be there, for fewer are left to NumPy.
    """
    if elements < least:
        return None
    found = LOOPS.get((name, d.num))
    if found is not None:
        return found
    if elements < _MANY and not _at_once() and _one_more(_ASKED, name, _PATIENCE):
        return None
    return _eager().walk(name, d, elements)


@functools.cache
def _eager() -> Any:
    from .native import eager

    return eager


def _first(
    known: tuple[Hashable, ...],
    trace: Trace,
    arrays: Sequence[Any],
    out: Sequence[Any],
    *,
    rows: bool,
) -> bool:
    """Whether a kernel computed a function of arrays of shapes that are not known yet."""
    first = arrays[0]
    if type(first) is not np.ndarray:
        return False  # a kernel of a pipeline is being traced
    few = first.size < _MANY and not _at_once()
    if few and (_one_more(_ASKED, known[0], _PATIENCE) or _one_more(_SEEN, known, _SIGHTS)):
        return False
    if few and known in LATER and _one_more(LATER, known, _PATIENCE):
        return False
    done: bool = _eager().prepared(known, trace, arrays, out, rows=rows)
    if few and not done:
        # The second time has it compiled; it is on its way then, or there is none.
        LATER[known] = 0 if known in LATER else _PATIENCE
    return done


def _one_more(counts: Counter[Hashable], what: Hashable, enough: int) -> bool:
    """Whether something was asked for less often than enough; counts that it was."""
    count = counts.get(what, 0)
    if count >= enough:
        return False
    if len(counts) >= _KNOWN:
        counts.clear()
    counts[what] = count + 1
    return True


_WAITED_FOR: Final = os.environ.get("MINDTORCH_NATIVE", "").lower() in ("now", "fast")


def _at_once() -> bool:
    """Whether kernels are made when they are first asked for, see `native.kernels`."""
    if _WAITED_FOR and f"{__package__}.native.kernels" not in sys.modules:
        return True
    # Another thread may be importing it.
    kernels = getattr(sys.modules.get(f"{__package__}.native.kernels"), "KERNELS", None)
    return kernels is not None and kernels.mode == "now"
