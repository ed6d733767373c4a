"""Eager ops as compiled kernels: what takes NumPy several passes over memory takes one.

A function of arrays is traced by what identifies it, and its numbers; the kernel is there some calls later.
Until then, and where there is no compiler, NumPy computes the same bits. Once a kernel has run on arrays of a
shape, a function bound to that shape runs it the next time.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np

from ..bound_calls import CALLS, LOOPS, Trace
from .kernels import KERNELS
from .launch import packed
from .preparing import Unservable, prepared_rows
from .preparing import prepared as launched
from .program import DTYPES, Graph, code_of
from .tracing import Traced, Tracer, Untraceable
from .walks import WALKS, Walk

__all__ = ["prepared", "walk"]

_KNOWN: Final = 1024
_BOUND: Final = 4096
# By what identifies a function, its operands' dtypes and which are arrays: its graph and numbers, or None if
# it has none.
_GRAPHS: Final[dict[Hashable, tuple[Graph, Any] | None]] = {}


def _graph(key: Hashable, trace: Trace, arrays: Sequence[Any]) -> tuple[Graph, Any] | None:
    """What a function computes of arrays, kept by its key."""
    full = (key, *[(a.dtype, a.ndim > 0) for a in arrays])
    found = _GRAPHS.get(full, False)
    if found is not False:
        return found  # type: ignore[return-value]
    if len(_GRAPHS) >= _KNOWN:
        _GRAPHS.clear()
    tracer = Tracer()
    made: tuple[Graph, Any] | None = None
    try:
        # One number has no dimensions in the trace either: functions may ask for its value.
        results = trace(tracer, *[tracer.input(a.dtype, a.ndim > 0) for a in arrays])
        graph, inputs, numbers = tracer.finish(results)
        if len(inputs) == len(arrays) and all(type(r) is Traced for r in results):
            made = graph, packed(numbers)
    except Untraceable:
        pass
    _GRAPHS[full] = made
    return made


def prepared(
    known: tuple[Hashable, ...],
    trace: Trace,
    arrays: Sequence[Any],
    out: Sequence[Any],
    *,
    rows: bool,
) -> bool:
    """Whether a kernel computed a function of arrays, see `compiled.computed`; the next call is direct.

    ``known`` is what it is found by then, see `CALLS`.
    """
    if not arrays[0].size or not KERNELS.usable:
        return False
    every = (*arrays, *out)
    found = _graph(known[0], trace, arrays)
    if found is None or found[0].arrays != tuple([code_of(a.dtype) for a in every]):
        return False
    folded = found[0].folded
    shape = np.broadcast_shapes(*(a.shape for i, a in enumerate(every) if i not in folded))
    try:
        spread = [a if i in folded else np.broadcast_to(a, shape) for i, a in enumerate(every)]
        if rows:
            launch = prepared_rows(found[0], spread, found[1], 1, 1)
        else:
            launch = launched(found[0], spread, found[1])
    except Unservable:
        return False
    if launch is None:
        return False
    launch.run()
    if len(CALLS) >= _BOUND:
        CALLS.clear()
    call = launch.bound(every)
    if call is not None and KERNELS.enabled:
        CALLS[known] = call
    return True


def walk(name: str, d: Any, elements: int) -> Any:
    """A walk over elements of a dtype, see `compiled.walk`."""
    known = _walk(name, d.num)
    found = KERNELS.get(known, elements) if known is not None and KERNELS.usable else None
    if found is not None and KERNELS.enabled:
        LOOPS[name, d.num] = found
    return found


@functools.cache
def _walk(name: str, number: int) -> Walk | None:
    """A walk over elements of the dtype of a number; None where there is none."""
    code = next((code for code in WALKS[name].codes if DTYPES[code].num == number), None)
    return None if code is None else Walk(name, code)
