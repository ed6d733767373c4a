"""Creation of tensors: filled and counted ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.autograd_state import BORN, born
from ...tensors.tensor import Tensor
from ...values.devices import TABLE, concrete
from ...values.dtypes import (
    BOOL,
    COMPLEX,
    FLOATING,
    checked_number,
    dtype,
    float32,
    float64,
    get_default_dtype,
    int64,
    of_number,
)
from ...values.memory_formats import format_strides, like_strides, memory_format
from ...values.shapes import contiguous_strides, show, strides_in_order

OPTIONS = (
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, "
    "bool requires_grad=False"
)
LIKE_OPTIONS = f"{OPTIONS}, MemoryFormat? memory_format=None"


def checked_size(size: Sequence[int]) -> tuple[int, ...]:
    """A shape of non-negative sizes.

    Raises:
        RuntimeError: if a size is negative.
        TypeError: if one is not an int, or they are no list or tuple.
    """
    if not isinstance(size, list | tuple):
        raise TypeError(f"sizes are a tuple of ints, not {type(size).__name__}")
    shape = tuple(size)
    for n in shape:
        if n.__class__ is not int:
            return checked_size([v.__index__() for v in shape])
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: [{', '.join(map(str, shape))}]"
            )
    return shape


def fresh(made: Tensor) -> Tensor:
    """What an op has made in several steps: nobody has seen it, so its version is 0."""
    if made._storage is not None:
        made._storage.version = 0
    return made


def _filled_rule(size: Sequence[int], *_: Any, dtype: Any = None, **__: Any) -> TensorSpec:
    return TensorSpec(checked_size(size), dtype or get_default_dtype())


def _empty_rule(
    size: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    memory_format: memory_format | None = None,
) -> TensorSpec:
    shape = checked_size(size)
    strides = None if memory_format is None else format_strides(shape, memory_format)
    return TensorSpec(shape, dtype or get_default_dtype(), strides)


def _empty(
    size: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    memory_format: memory_format | None = None,
) -> Tensor:
    on = concrete(device)
    shape, strides = checked_size(size), None
    if memory_format is not None:
        strides = _if_permuted(shape, format_strides(shape, memory_format))
    made = TABLE[on.type].runtime.empty(shape, strides, dtype or get_default_dtype(), on)
    return born(made, own=True) if BORN else made


def _if_permuted(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...] | None:
    """Strides, or None where they are row-major, which is cheaper to make."""
    return None if strides == contiguous_strides(shape) else strides


op(
    f"empty(int[] size, {LIKE_OPTIONS}) -> Tensor",
    overloads=("memory_format",),
    doc="A tensor with undefined elements.",
    rule=_empty_rule,
    grad="nondiff",
    decomposition=_empty,
    undefined=True,
    varargs="size",
    out=True,
    namespaces=("torch",),
)


def _strided_rule(size: Any, stride: Any, *, dtype: Any = None, device: Any = None) -> TensorSpec:
    shape, strides = checked_size(size), tuple(stride)
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    if any(s < 0 for s in strides):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={show(shape)} and strides={show(strides)}"
        )
    return TensorSpec(shape, dtype or get_default_dtype(), strides)


def _empty_strided(size: Any, stride: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    spec = _strided_rule(size, stride, dtype=dtype)
    on = concrete(device)
    strides = _if_permuted(spec.shape, tuple(stride))
    made = TABLE[on.type].runtime.empty(spec.shape, strides, spec.dtype, on)
    return born(made, own=True) if BORN else made


op(
    f"empty_strided(int[] size, int[] stride, {OPTIONS}) -> Tensor",
    doc="A tensor with undefined elements and the given strides.",
    rule=_strided_rule,
    grad="nondiff",
    decomposition=_empty_strided,
    undefined=True,
    namespaces=("torch",),
)


def _empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, device: Any = None
) -> Tensor:
    shape, order = checked_size(size), tuple(physical_layout)
    rank = len(shape)
    if len(order) != rank:
        raise RuntimeError(
            f"Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {rank} is not equal to len(physical_layout) = {len(order)}"
        )
    for i, dim in enumerate(order):
        if not 0 <= dim < rank:
            raise RuntimeError(
                f"Dimension out of range (expected to be between 0 and {rank - 1}, but got {dim} at "
                f"index {i}). Negative dims are not supported here."
            )
    if len(set(order)) != rank:
        raise RuntimeError("Duplicate dim not allowed")
    lying = strides_in_order(tuple(n or 1 for n in shape), order[::-1])
    return fn.empty_strided(shape, lying, dtype=dtype, device=device)


op(
    f"empty_permuted(int[] size, int[] physical_layout, {OPTIONS}) -> Tensor",
    doc="A dense tensor with undefined elements whose dimensions lie in memory in the given order.",
    decomposition=_empty_permuted,
    undefined=True,
    out=True,
    namespaces=("torch",),
)


def _constant(name: str, value: int) -> None:
    op(
        f"{name}(int[] size, {OPTIONS}) -> Tensor",
        doc=f"A tensor of {name}.",
        rule=_filled_rule,
        grad="nondiff",
        decomposition=lambda size, *, dtype=None, device=None: _empty(
            size, dtype=dtype, device=device
        ).fill_(value),
        varargs="size",
        out=True,
        namespaces=("torch",),
    )


_constant("zeros", 0)
_constant("ones", 1)


def _full_rule(
    size: Sequence[int], fill_value: Any, *, dtype: Any = None, device: Any = None
) -> TensorSpec:
    return TensorSpec(checked_size(size), dtype or of_number(fill_value))


def _full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    if hasattr(fill_value, "_keys"):
        fill_value = fill_value.item()
    made = _empty(size, dtype=dtype or of_number(fill_value), device=device)
    return made.fill_(fill_value)


op(
    f"full(int[] size, Scalar fill_value, {OPTIONS}) -> Tensor",
    doc="A tensor of one value; its dtype is the value's unless given.",
    rule=_full_rule,
    grad="nondiff",
    decomposition=_full,
    free_numbers=True,
    out=True,
    namespaces=("torch",),
)


def _like(name: str, fill: str = "", extra: str = "") -> None:
    """Define ``name_like(self, ...)``: as ``name``, in the layout of ``self``.

    Args:
        name: the factory.
        fill: the in-place method that makes of an empty tensor what the factory makes.
        extra: the factory's arguments besides the size.
    """

    def like(
        self: Tensor,
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        memory_format: memory_format | None = None,
    ) -> Tensor:
        d, on, shape = dtype or self._dtype, device or self._device, self._shape
        strides = plain = contiguous_strides(shape)
        if memory_format is not None or (len(shape) > 1 and self._geometry()[0] != plain):
            strides = like_strides(shape, self._geometry()[0], memory_format)
        if strides == plain:
            return getattr(fn, name)(shape, *args, dtype=d, device=on)  # type: ignore[no-any-return]
        made = fn.empty_strided(shape, strides, dtype=d, device=on)
        return fresh(getattr(made, fill)(*args or default)) if fill else made

    default = (1,) if name == "ones" else ()
    op(
        f"{name}_like(Tensor self{extra}, {LIKE_OPTIONS}) -> Tensor",
        doc=f"As `{name}`, in the shape, dtype and layout of ``input`` and on its device.",
        grad="nondiff",
        decomposition=like,
        undefined=name == "empty",
        namespaces=("torch",),
    )


_like("empty")
_like("zeros", "zero_")
_like("ones", "fill_")
_like("full", "fill_", ", Scalar fill_value")


def _new(name: str, extra: str = "") -> None:
    def new(
        self: Tensor, size: Sequence[int], *args: Any, dtype: Any = None, device: Any = None
    ) -> Tensor:
        options = {"dtype": dtype or self._dtype, "device": device or self._device}
        made: Tensor = getattr(fn, name)(size, *args, **options)
        return made

    op(
        f"new_{name}(Tensor self, int[] size{extra}, {OPTIONS}) -> Tensor",
        doc=f"As `{name}`, in the dtype of ``self`` and on its device.",
        grad="nondiff",
        decomposition=new,
        undefined=name == "empty",
        namespaces=("Tensor",),
        varargs="" if extra else "size",
    )


_new("empty")
_new("zeros")
_new("ones")
_new("full", ", Scalar fill_value")
op(
    f"new_empty_strided(Tensor self, int[] size, int[] stride, {OPTIONS}) -> Tensor",
    doc="As `empty_strided`, in the dtype of ``self`` and on its device.",
    grad="nondiff",
    decomposition=lambda self, size, stride, *, dtype=None, device=None: fn.empty_strided(
        size, stride, dtype=dtype or self._dtype, device=device or self._device
    ),
    undefined=True,
    namespaces=("Tensor",),
)

# ---- counting -----------------------------------------------------------------------------------


def _truncated(start: Any, end: Any, step: Any) -> tuple[int, int, int]:
    """Bounds and step of int64 numbers; those of shorter integers keep their fractions.

    Raises:
        ValueError: if nothing is left of the step.
    """
    if not int(step):
        raise ValueError(f"step must be nonzero, but as an integer {step} is 0")
    return int(start), int(end), int(step)


_COUNTED: Final = (1 << 63) - 1  # the largest number of int64


def _arange_rule(
    start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> TensorSpec:
    if dtype is not None and dtype.category in (BOOL, COMPLEX):
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{dtype.label}'")
    if (
        start.__class__ is end.__class__ is step.__class__ is int
        and step == 1
        and 0 <= start <= end <= _COUNTED
    ):
        return TensorSpec((end - start,), dtype or int64)
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    for v in (start, end, step):
        if isinstance(v, int | complex):
            checked_number(v, float64 if isinstance(v, complex) else int64)
    if not (step > 0 or step < 0):
        raise RuntimeError(f"step must be nonzero, got {step}")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if math.isinf(step) and dtype is not None and dtype.category < FLOATING:
        checked_number(step, int64)
    if (end - start) * step < 0:
        raise RuntimeError(
            "upper bound and lower bound inconsistent with step sign"
            f" (start={start}, end={end}, step={step})"
        )
    if dtype is int64 and not (start.__class__ is end.__class__ is step.__class__ is int):
        start, end, step = _truncated(start, end, step)
    whole = all(isinstance(v, int) for v in (start, end, step))
    length = -((start - end) // step) if whole else math.ceil((end - start) / step)
    return TensorSpec((max(length, 0),), dtype or (int64 if whole else get_default_dtype()))


op(
    f"arange.start(Scalar start, Scalar end, Scalar step=1, {OPTIONS}) -> Tensor",
    doc="Numbers from ``start`` up to but not including ``end``, ``step`` apart.",
    rule=_arange_rule,
    grad="nondiff",
    primitive=True,
    out=True,
    namespaces=("torch",),
)
op(
    f"arange(Scalar end, {OPTIONS}) -> Tensor",
    doc="Numbers from 0 up to but not including ``end``.",
    decomposition=lambda end, *, dtype=None, device=None: fn.arange(
        0, end, 1, dtype=dtype, device=device
    ),
    out=True,
    namespaces=("torch",),
)


def _is_complex(end: Any) -> bool:
    return end._dtype.category == COMPLEX if isinstance(end, Tensor) else isinstance(end, complex)


def spaced(name: str, start: Any, end: Any, steps: int, dtype: Any) -> TensorSpec:
    """What numbers between two ends are like: of the default dtype unless one is given.

    Raises:
        RuntimeError: if an end is a tensor with dimensions, ``steps`` is negative, or the dtype is real
            and an end complex.
    """
    for word, end_ in (("start", start), ("end", end)):
        if isinstance(end_, Tensor) and end_._shape:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {word} with "
                f"{len(end_._shape)} dimension(s)."
            )
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    d = dtype or get_default_dtype()
    if d.category == BOOL:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
    if (_is_complex(start) or _is_complex(end)) and d.category != COMPLEX:
        inferred = get_default_dtype().to_complex()
        if dtype is not None:
            raise RuntimeError(
                f"torch.{name}(): inferred dtype {inferred.label} can't be safely cast to passed dtype "
                f"{dtype.label}"
            )
        d = inferred
    return TensorSpec((steps,), d)


def numbers_of(start: Any, end: Any, device: Any) -> tuple[Any, Any, Any]:
    """Two ends as numbers, no bools, and the device: that asked for, else that of a tensor among them."""
    for v in (end, start):
        if isinstance(v, Tensor) and device is None:
            device = v._device
    start, end = (+(v.item() if isinstance(v, Tensor) else v) for v in (start, end))
    return start, end, device


def held(value: Any, d: Any) -> Any:
    """An end as a dtype holds it, cut off where that holds whole numbers.

    Raises:
        RuntimeError: if it does not.
    """
    cut = d.category < FLOATING and math.isfinite(value)
    return checked_number(int(value) if cut else value, d)


def _linspace_rule(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None
) -> TensorSpec:
    return spaced("linspace", start, end, steps, dtype)


def _linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None) -> Tensor:
    d = spaced("linspace", start, end, steps, dtype).dtype
    start, end, device = numbers_of(start, end, device)
    if steps < 2:
        return fn.full((steps,), start if steps else 0, dtype=d, device=device)
    start, end = held(start, d), held(end, d)
    if d.category == FLOATING and d is not float64:
        return _rounded_line(start, end, steps, d, device)
    # Numbers between whole ones are cut off.
    wide = d.to_real() if d.category == COMPLEX else float64
    at = fn.arange(0, steps, 1, dtype=wide, device=device)
    step = (end - start) / (steps - 1)
    # From both ends, so that the last element is exactly `end`.
    line = fn.where(at < steps // 2, at * step + start, end - (steps - 1 - at) * step)
    return line.to(d)


def _rounded_line(start: Any, end: Any, steps: int, d: dtype, device: Any) -> Tensor:
    """A line whose ends and step are rounded to its dtype, to PyTorch's last bit.

    float32 rounds the sum of an end and the way from it once, as a fused multiplication does; halves round
    every step.
    """
    first, last = (fn.full((), x, dtype=d, device=device) for x in (start, end))
    gaps = fn.full((), steps - 1, dtype=int64, device=device)
    step, wide = (last - first) / gaps.to(d), float64 if d is float32 else d
    at = fn.arange(0, steps, 1, dtype=int64, device=device)
    first, last, step = first.to(wide), last.to(wide), step.to(wide)
    after, before = at.to(wide) * step, (steps - 1 - at).to(wide) * step
    return fn.where(at < steps // 2, first + after, last - before).to(d)


# Overloads of what is spaced between two ends, each of them a number or a tensor.
OF_ENDS: Final = (
    ("", "Scalar", "Scalar"),
    (".Tensor_Tensor", "Tensor", "Tensor"),
    (".Tensor_Scalar", "Tensor", "Scalar"),
    (".Scalar_Tensor", "Scalar", "Tensor"),
)

for _overload, _start, _end in OF_ENDS:
    op(
        f"linspace{_overload}({_start} start, {_end} end, int steps, {OPTIONS}) -> Tensor",
        doc="``steps`` numbers evenly from ``start`` to ``end``, both included.",
        rule=_linspace_rule,
        decomposition=_linspace,
        out=True,
        namespaces=("torch",),
    )


def _eye_rule(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None) -> TensorSpec:
    for which, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"{which} must be greater or equal to 0, got {size}")
    return TensorSpec((n, n if m is None else m), dtype or get_default_dtype())


def _eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None) -> Tensor:
    spec = _eye_rule(n, m, dtype=dtype)
    rows, columns = (fn.arange(0, size, 1, device=device) for size in spec.shape)
    return (rows.unsqueeze(1) == columns).to(spec.dtype)


op(
    f"eye(int n, int? m=None, {OPTIONS}) -> Tensor",
    overloads=("", "m"),
    doc="Ones on the diagonal, zeros elsewhere.",
    rule=_eye_rule,
    decomposition=_eye,
    out=True,
    namespaces=("torch",),
)
