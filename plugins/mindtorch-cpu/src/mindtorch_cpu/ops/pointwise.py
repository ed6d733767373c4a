"""Element-wise kernels, made from NumPy ufuncs.

The factories write the wrapping of results out (see `mindtorch_cpu.arrays.wrap`): on small tensors
a Python call costs as much as the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    FLOAT8,
    FLOATING,
    INTEGER,
    Tensor,
    broadcast_all,
    check_inplace_result,
    dtype,
    float32,
    float64,
    fresh,
    int64,
    result_type,
    to_floating,
)
from mindtorch_core.dispatch.registry import registry

from ..arrays import (
    CPU,
    KEYS,
    NUMPY_OF,
    QUIET,
    WIDER,
    array_of,
    as_operands_lie,
    ndarray,
    of_float8,
    operands,
    quietly,
    room_beside,
    scalar,
    wrap,
)
from ..broadcasting import in_long_runs, in_place, of_floats
from ..large import ARITHMETIC, LARGE, SOME, in_chunks, in_single, in_slabs, many
from ..powers import formula_of, power_of_number
from ..register import register
from ..remainders import left_over
from ..turned import laid_as_first
from .ufuncs import note

Ufunc = Callable[..., Any]


def served(name: str) -> tuple[bool, ...]:
    """By category of dtype, whether an op serves it."""
    definition = registry.entry(name).definition
    kinds = "bifc" if definition is None else definition.operands.kinds
    return tuple(kind in kinds for kind in "bifc")


def refuse(name: str, *args: Any) -> None:
    """Raise the error of the op's rule, for operands that it does not serve."""
    definition = registry.entry(name).definition
    if definition is not None and definition.rule is not None:
        definition.rule(*args)


_IN_FLOAT8: Final = frozenset({np.absolute, np.equal, np.isnan, np.not_equal})


def recover(error: Exception, ufunc: Ufunc, *arrays: Any) -> Any:
    """Explain a failed ufunc call, or repeat one that interrupted another of the same thread.

    NumPy refuses floats of 8 bits, of which PyTorch serves a few ops: these are repeated in float32.

    Raises:
        RuntimeError: if the shapes do not broadcast, in PyTorch's words and without NumPy's.
    """
    if isinstance(error, RuntimeError):
        return quietly(ufunc, *arrays)
    if isinstance(error, TypeError):
        d = FLOAT8.get((arrays[0].dtype.names or ("",))[0])
        if d is None or ufunc not in _IN_FLOAT8:
            raise error
        found = quietly(ufunc, *(of_float8(a, float32) for a in arrays))
        return of_float8(found, d) if ufunc is np.absolute else found
    try:
        broadcast_all(a.shape for a in arrays)
    except RuntimeError as refusal:
        refusal.__context__ = error.__context__  # what the caller is handling, if anything
        raise
    raise error


def subtracted_from(a: Any, b: Any) -> Any:
    """``b - a``, see `large`."""
    return np.subtract(b, a)


def large(ufunc: Ufunc, d: dtype, *arrays: Any) -> Any:
    """``ufunc(*arrays)`` for large operands: in chunks where they lie alike in memory."""
    ufunc, arrays = _simplest(ufunc, arrays)
    try:
        for way in (left_over, in_chunks, _in_one_order, of_floats, in_slabs, in_long_runs):
            data = way(ufunc, NUMPY_OF[d], *arrays)
            if data is not None:
                return data
        if ufunc in ARITHMETIC:
            out = room_beside(np.broadcast(*arrays).shape, NUMPY_OF[d], *arrays)
            return QUIET.run(ufunc, *arrays, out)
        run = QUIET.run if isinstance(ufunc, np.ufunc) else quietly
        return run(ufunc, *arrays)
    except (TypeError, ValueError, RuntimeError) as error:
        return recover(error, ufunc, *arrays)


def _in_one_order(ufunc: Ufunc, d: Any, *arrays: Any) -> Any:
    """``ufunc(*arrays)`` of two arrays, the second of which lies otherwise and is copied; None if in vain."""
    if ufunc not in ARITHMETIC or len(arrays) != 2 or arrays[0].shape != arrays[1].shape:
        return None
    alike = laid_as_first(arrays)
    made = None if alike is None else in_chunks(ufunc, d, *alike)
    if made is None or made.strides != room_beside(made.shape, d, *arrays).strides:
        return None
    return made


def _simplest(ufunc: Ufunc, arrays: tuple[Any, ...]) -> tuple[Ufunc, tuple[Any, ...]]:
    """A NumPy function that computes the same, and its operands, where there is one."""
    if ufunc is subtracted_from:
        return np.subtract, arrays[::-1]
    if ufunc is power_of_number:
        formula = formula_of(arrays[0].dtype, arrays[1])
        return (ufunc, arrays) if formula is None else (formula, arrays[:1])
    return ufunc, arrays


def _few(a: Any, b: Any, d: dtype) -> bool:
    """Whether two operands give too few elements for more than one call of NumPy's, or none."""
    if a.size >= LARGE or b.size >= LARGE:
        return False
    if a.shape == b.shape or not a.ndim or not b.ndim:
        return d not in WIDER or not (many(a) or many(b))
    try:
        return np.broadcast(a, b).size < (SOME if d in WIDER else LARGE)
    except ValueError:
        return True  # NumPy is to refuse them


# ---- two operands -------------------------------------------------------------------------------


def _no_option(self: Any, other: Any, option: Any) -> Any:
    """What an op without options makes of one; calls are checked against its schema before."""
    raise TypeError(f"unexpected option {option!r}")


def _served_as_they_are(
    allowed: tuple[bool, ...],
    compute: Callable[[dtype], dtype] | None,
    check: Callable[[dtype, Any, Any], None] | None,
) -> tuple[bool, ...]:
    """For each category of dtypes, whether operands of one dtype go to the ufunc without a look."""
    if check is not None or compute not in (None, to_floating):
        return (False,) * 4
    if compute is to_floating:
        return tuple(ok and c >= FLOATING for c, ok in enumerate(allowed))
    return allowed


def _numbers_as_they_are(
    plain: tuple[bool, ...], guard: Callable[[Any, Any], None] | None
) -> dict[type, tuple[dtype, ...]]:
    """By type of a number of Python's, beside which dtypes it is of the same; guards look at integers."""
    floating = (float32, float64) if plain[FLOATING] else ()
    whole = (int64,) if plain[INTEGER] else ()
    return {float: floating, int: (*floating, *whole) if guard is None else ()}


def _converting(
    name: str,
    allowed: tuple[bool, ...],
    compute: Callable[[dtype], dtype] | None,
    check: Callable[[dtype, Any, Any], None] | None,
    guard: Callable[[Any, Any], None] | None,
) -> Callable[[Any, Any], tuple[dtype, Any, Any]]:
    """What gives the dtype that two operands are computed in, and their arrays in it; see `binary`."""

    def converted(self: Any, other: Any) -> tuple[dtype, Any, Any]:
        if guard is not None:
            guard(self, other)
        d = result_type(self, other)
        if not allowed[d.category]:
            refuse(name, self, other)
        if compute is not None:
            d = compute(d)
        a, b = array_of(self, d), array_of(other, d)
        if check is not None:
            check(d, a, b)
        return d, a, b

    return converted


def binary(
    name: str,
    ufunc: Ufunc,
    *,
    result: dtype | None = None,
    compute: Callable[[dtype], dtype] | None = None,
    check: Callable[[dtype, Any, Any], None] | None = None,
    guard: Callable[[Any, Any], None] | None = None,
    single: bool = False,
    option: Callable[[Any, Any, Any], Any] = _no_option,
) -> Callable[..., Any]:
    """A kernel for ``ufunc(self, other)``.

    In the kernel options have a place, though calls name them: one that a call leaves out then costs
    2 ns, and 20 where it can be named only. A function around the kernel would cost 60.

    Args:
        name: the op.
        ufunc: the NumPy function.
        result: dtype of the result where it is not the operands' common one.
        compute: dtype to compute in, from the common one; also the result's.
        check: called with the common dtype and both arrays; raises where the op is refused.
        guard: called with the operands where they differ in dtype; raises as well.
        single: halves meet numbers in float32, so that these are not rounded first, as PyTorch's
            products and quotients do (but not its sums).
        option: the op with the option that it has, ``alpha`` or ``rounding_mode``; called with both
            operands and the option where a call gives one.
    """
    allowed, native = served(name), isinstance(ufunc, np.ufunc)  # others: see `_Quiet`
    note(name, ufunc if allowed[FLOATING] else None, refuses=check is not None)
    always = all(plain := _served_as_they_are(allowed, compute, check))
    numbers = _numbers_as_they_are(plain, guard)
    converted = _converting(name, allowed, compute, check, guard)

    def run(self: Any, other: Any, alpha: Any = None, rounding_mode: Any = None) -> Any:
        if alpha is not rounding_mode:  # one of them is given: no op has both
            return option(self, other, rounding_mode if alpha is None else alpha)
        d, kind = self.raw_dtype, other.__class__
        if (always or plain[d.category]) and kind is Tensor and other.raw_dtype is d:
            a, b = self.raw_data, other.raw_data
        elif kind in numbers and d in numbers[kind]:
            a, b = self.raw_data, scalar(other, d)
        elif (always or plain[d.category]) and isinstance(other, Tensor) and other.raw_dtype is d:
            a, b = self.raw_data, other.raw_data  # a parameter's
        else:
            d, a, b = converted(self, other)
            if single and d in WIDER and _is_number(other):
                return wrap(_in_single(ufunc, self, other, d), d)
        if (n := a.size) * b.size <= SOME or (n < SOME and a.shape == b.shape) or _few(a, b, d):
            try:
                data = QUIET.__dict__["run"](ufunc, a, b) if native else quietly(ufunc, a, b)
            except (TypeError, ValueError, RuntimeError) as error:
                data = recover(error, ufunc, a, b)
        else:
            data = large(ufunc, result or d, a, b)
        shape = data.shape
        if len(shape) > 1 and (
            not self.raw_data.flags.c_contiguous
            or (kind not in numbers and (kind is not Tensor or self.raw_shape != other.raw_shape))
        ):
            data = as_operands_lie(data, self, other)
        d = d if result is None else result
        if data.__class__ is not ndarray:
            data = np.array(data, NUMPY_OF[d])
        r = fresh()
        r.raw_data = data
        r.raw_shape = shape
        r.raw_layout = None
        r.raw_dtype = d
        r.raw_device = CPU
        r.raw_keys = KEYS
        r.raw_storage = None
        r.raw_base = None
        r.raw_autograd = None
        return r

    return run


def inplace(
    name: str,
    ufunc: Ufunc,
    *,
    result: dtype | None = None,
    compute: Callable[[dtype], dtype] | None = None,
    check: Callable[[dtype, Any, Any], None] | None = None,
    guard: Callable[[Any, Any], None] | None = None,
    single: bool = False,
    option: Callable[[Any, Any, Any], Any] = _no_option,
) -> Callable[..., Any]:
    """A kernel that writes ``ufunc(self, other)`` into ``self``."""
    allowed = served(name)
    native = isinstance(ufunc, np.ufunc)
    special = not all(allowed) or any(given is not None for given in (check, result, compute))
    numbers = _numbers_as_they_are(_served_as_they_are(allowed, compute, check), guard)

    def run(self: Any, other: Any, alpha: Any = None, rounding_mode: Any = None) -> Any:
        if alpha is not rounding_mode:  # one of them is given: no op has both
            return option(self, other, rounding_mode if alpha is None else alpha)
        out = self.raw_data
        d, kind = self.raw_dtype, other.__class__
        if kind is Tensor and other.raw_dtype is d and other.raw_shape == self.raw_shape:
            b = other.raw_data
        elif kind in numbers and d in numbers[kind]:
            b = scalar(other, d)
        else:
            if guard is not None:
                guard(self, other)
            a, b, d = operands(self, other)
            if not allowed[d.category]:
                refuse(name, self, other)
            if compute is not None:
                d = compute(d)
            if b.ndim or d is not self.raw_dtype or result is not None:
                shape = broadcast_all((self.raw_shape, b.shape))
                check_inplace_result(self, shape, result or d)
            if single and d in WIDER and d is self.raw_dtype and _is_number(other):
                return _copied(self, _in_single(ufunc, self, other, d), d)
            if a is not out:  # computed in a wider dtype than self's
                if check is not None:
                    check(d, a, b)
                return _copied(self, quietly(ufunc, a, b), result or d)
        if special:
            if not allowed[d.category]:
                refuse(name, self, other)
            if check is not None:
                check(d, out, b)
            made = result or (compute(d) if compute else self.raw_dtype)
            if result is not None or made is not self.raw_dtype:
                return _copied(self, quietly(ufunc, out, b), made)
        try:
            if many(out) and in_place(ufunc, out, b):
                return self
            (QUIET.__dict__["run"] if native else quietly)(ufunc, out, b, out)
        except RuntimeError as error:
            recover(error, ufunc, out, b, out)
        return self

    return run


def _copied(self: Any, data: Any, d: dtype) -> Any:
    """A tensor into which a result of a dtype has been written, if it may be."""
    check_inplace_result(self, self.raw_shape, d)
    np.copyto(self.raw_data, data, casting="unsafe")
    return self


def _is_number(other: Any) -> bool:
    """Whether the second operand is a number, or stands for one: it has no dimensions."""
    return other.__class__ is not Tensor or not other.raw_shape


def _in_single(ufunc: Ufunc, self: Any, other: Any, d: dtype) -> Any:
    """``ufunc`` of halves and a number, computed in float32 and rounded once."""
    data = quietly(in_single, ufunc, self.raw_data, array_of(other, float32), NUMPY_OF[d])
    return as_operands_lie(data, self, other)


def arithmetic(name: str, ufunc: Ufunc, **options: Any) -> None:
    """Register an op of two operands and its in-place form."""
    register(name, binary(name, ufunc, **options))
    register(f"{name}_", inplace(name, ufunc, **options))
