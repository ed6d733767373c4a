"""Is something what a trace has had: an operand, an argument, an instruction, the beginning of a block?"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any

from ...tensors.tensor import Tensor
from ..exactly import INEXACT, exactly
from ..programs.program import Number, Ref
from ..trace import TENSORS, Entry
from .known import Expected, Known, strides_of

__all__ = ["is_alias", "is_guarded", "retraced", "same", "stands_at"]


def retraced(
    known: Known, entries: Sequence[Entry]
) -> tuple[Expected, list[Any], list[Any]] | None:
    """What another trace expects next, with its values and numbers; None if it begins otherwise.

    Args:
        known: the trace.
        entries: what was followed, as entries.
    """
    values, numbers = known.blank.copy(), known.no_numbers.copy()
    e = known.first
    for entry in entries:
        if (
            e.op is not entry.op
            or not stands_at(e, entry.code, entry.instruction)
            or entry.kwargs.keys() != e.kwargs.keys()
            or not _fits(known, values, numbers, entry.args, e.args)
            or not all(
                _fits(known, values, numbers, v, e.kwargs[k]) for k, v in entry.kwargs.items()
            )
            or [(t._shape, t._dtype, strides_of(t)) for t in entry.outs] != e.results
        ):
            return None
        for n, t in zip(e.outs, entry.outs, strict=True):
            if values[n] is not None and values[n] is not t:
                return None
            values[n] = t
        e = e.next
    return e, values, numbers


def _fits(known: Known, values: list[Any], numbers: list[Any], value: Any, wanted: Any) -> bool:
    """Whether an argument of an entry is what a trace has at its place; fills in values and numbers."""
    kind = value.__class__
    if TENSORS[kind]:
        if wanted.__class__ is not Ref:
            return False
        if values[wanted] is None and is_guarded(known, wanted, value):
            values[wanted] = value
        return values[wanted] is value or is_alias(values[wanted], value)
    if kind is list or kind is tuple:
        return (
            kind is wanted.__class__
            and len(value) == len(wanted)
            and all(_fits(known, values, numbers, v, w) for v, w in zip(value, wanted, strict=True))
        )
    if wanted.__class__ is Number:
        numbers[wanted] = value
        return kind is known.kinds[wanted]
    return same(value, wanted)


def is_guarded(known: Known, place: int, t: Tensor) -> bool:
    """Whether a tensor is like the operand that a trace has had at a place."""
    guard = known.guards.get(place)
    return guard is not None and guard == (t._shape, t._dtype, t._device, t._geometry()[0])


def is_alias(have: Any, t: Tensor) -> bool:
    """Whether a tensor is another one over what was made, as autograd makes them of results it has saved."""
    s = t._storage
    return (
        s is not None
        and have is not None
        and s is have._storage
        and t._shape == have._shape
        and t._dtype is have._dtype
        and bool(t._geometry() == have._geometry())
    )


def same(value: Any, wanted: Any) -> bool:
    """Whether two arguments are the same: of the same types, and zeros of the same sign."""
    kind = value.__class__
    if kind is not wanted.__class__:
        return False
    if kind is list or kind is tuple:
        return len(value) == len(wanted) and all(map(same, value, wanted))
    if kind in INEXACT:
        return value is wanted or exactly(value) == exactly(wanted)
    return bool(value is wanted or value == wanted)


def stands_at(e: Expected, code: CodeType, instruction: int) -> bool:
    """Whether an instruction is the one from which an op is expected to be called.

    A call that the interpreter has come to specialise is found at the last word of its instruction.
    """
    if code is not e.code:
        return False
    if instruction != e.instruction:
        positions = [*code.co_positions()]
        if positions[instruction // 2] != positions[e.instruction // 2]:
            return False
        e.instruction = instruction
    return True
