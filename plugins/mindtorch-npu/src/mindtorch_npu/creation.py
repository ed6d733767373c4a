"""Making tensors on NPUs: numbers everywhere, numbers in order, unit matrices."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import (
    FLOATING,
    Tensor,
    checked_number,
    checked_size,
    concrete_device,
    get_default_dtype,
    int64,
    numel,
    of_number,
)

from .ops.operands import cast, empty, is_zero, number, parts, takes
from .ops.steps import MOST_DIMS, Call, Work, rule_of, steps

__all__ = ["arange", "eye", "fill", "full", "linspace", "ones", "zeros"]


def fill(target: Tensor, value: Any) -> list[Call]:
    """The calls that write a number everywhere."""
    if not numel(target.raw_shape):
        return []
    d = target.raw_dtype
    if len(target.raw_shape) > MOST_DIMS:
        return [call for (part,) in parts(target) for call in fill(part, value)]
    if is_zero(value) and takes("InplaceZero", d):
        return [("InplaceZero", (target,))]
    return [("InplaceFillScalar", (target, number(value, d)))]


def _filled(size: Any, value: Any, d: Any, on: Any) -> Work:
    result = empty(checked_size(size), d, concrete_device(on))
    return result, fill(result, value)


@steps("aten::zeros")
def zeros(size: Any, *, dtype: Any = None, device: Any = None) -> Work | None:
    """Zeros."""
    return _filled(size, 0, dtype or get_default_dtype(), device)


@steps("aten::ones")
def ones(size: Any, *, dtype: Any = None, device: Any = None) -> Work | None:
    """Ones."""
    return _filled(size, 1, dtype or get_default_dtype(), device)


@steps("aten::full")
def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Work | None:
    """One number everywhere."""
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    d = dtype or of_number(fill_value)
    return _filled(size, checked_number(fill_value, d), d, device)


@steps("aten::arange.start")
def arange(
    start: Any, end: Any, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Work | None:
    """Numbers a step apart."""
    spec = rule_of("arange.start")(start, end, step, dtype=dtype)
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    (count,), d, on = spec.shape, spec.dtype, concrete_device(device)
    if d.category < FLOATING:
        start, step = int(start), int(step)
        end = start + count * step
    computed = d if takes("Arange", d, "out") else int64
    if (d.category >= FLOATING and computed is not d) or not step:
        return None
    result, calls = empty(spec.shape, computed, on), list[Call]()
    if count:
        calls.append(("Arange", (start, end, step, result)))
    return cast(result, d, calls), calls


@steps("aten::linspace")
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None
) -> Work | None:
    """Numbers evenly from one to another, both included."""
    d = dtype or get_default_dtype()
    real = isinstance(start, int | float) and isinstance(end, int | float)
    if not real or steps < 2 or d.category != FLOATING or not takes("Linspace", d, "out"):
        return None
    result = empty((steps,), d, concrete_device(device))
    return result, [("Linspace", (float(start), float(end), steps, result))]


@steps("aten::eye")
def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None) -> Work | None:
    """Ones on the diagonal, zeros elsewhere."""
    d, columns = dtype or get_default_dtype(), n if m is None else m
    if n < 0 or columns < 0 or not takes("Eye", d, "out"):
        return None
    result = empty((n, columns), d, concrete_device(device))
    return result, [("Eye", (n, columns, result))] if n and columns else []
