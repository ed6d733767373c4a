"""Kernels of the device 'zed', in plain Python.

Copies and fills of all dtypes, and a little arithmetic of float32, which is all that zed is good
at. What is of other dtypes, or has no kernel, is computed on the CPU.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

from mindtorch_core import Tensor, float32
from mindtorch_core.backend import checked_number, exact_integers, pack, source_for, unpack
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback

from .runtime import RUNTIME

__all__ = ["KERNELS"]


def starts(t: Any) -> list[int]:
    """Where the elements of a tensor begin in its memory, in bytes, row by row."""
    size = t.dtype.itemsize
    found = [t.storage_offset() * size]
    for length, step in zip(t.shape, t.stride(), strict=True):
        found = [start + i * step * size for start in found for i in range(length)]
    return found


def read(t: Any) -> bytes:
    """The bytes of a tensor's elements, row by row."""
    data, size = t.untyped_storage().memory.data, t.dtype.itemsize
    return b"".join(data[start : start + size] for start in starts(t))


def write(t: Any, elements: bytes) -> Any:
    """Replace a tensor's elements; returns the tensor."""
    data, size = t.untyped_storage().memory.data, t.dtype.itemsize
    for i, start in enumerate(starts(t)):
        data[start : start + size] = elements[i * size : (i + 1) * size]
    return t


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Every copy onto the device, on it and off it, and every conversion of dtypes."""
    if self.device is not src.device:
        return self.copy_(src.to(self.device))  # its bytes come through the host
    if self.dtype is not src.dtype:
        src = src.cpu().to(self.dtype).to(self.device)
    return write(self, read(src.expand(self.shape)))


def fill_(self: Any, value: Any) -> Any:
    """One number in all elements."""
    return write(self, pack([checked_number(value, self.dtype)], self.dtype) * self.numel())


def rule_of(name: str) -> Any:
    """The op's rule: checks the arguments, and says what the result is like."""
    definition: Any = registry.entry(name).definition
    return definition.rule


def numbers_of(t: Any, shape: Any) -> list[float]:
    """The elements of a tensor, row by row, when it is broadcast to a shape."""
    found: list[float] = unpack(read(t.expand(shape)), t.dtype)
    return found


def in_float32(name: str, values: Callable[..., Iterable[float]]) -> Callable[..., Any]:
    """A kernel for tensors of float32; others are left to the CPU.

    Args:
        name: of the op.
        values: the result's elements, from its shape and the op's arguments.
    """
    rule = rule_of(name)

    def kernel(*args: Any, **options: Any) -> Any:
        if any(t.dtype is not float32 for t in args if isinstance(t, Tensor)):
            return cpu_fallback(f"aten::{name}", *args, **options)
        spec = rule(*args, **options)
        if spec.dtype is not float32:
            return cpu_fallback(f"aten::{name}", *args, **options)
        result = RUNTIME.empty(tuple(spec.shape), spec.strides, float32, args[0].device)
        return write(result, pack(values(spec.shape, *args, **options), float32))

    return kernel


def pointwise(fn: Callable[..., float]) -> Callable[..., Iterable[float]]:
    """Element by element."""
    return lambda shape, *tensors: map(fn, *(numbers_of(t, shape) for t in tensors))


def scaled(fn: Callable[[float, float], float]) -> Callable[..., Iterable[float]]:
    """Element by element, the second operand times a number."""

    def values(shape: Any, a: Any, b: Any, *, alpha: float = 1) -> Iterable[float]:
        return map(lambda x, y: fn(x, alpha * y), numbers_of(a, shape), numbers_of(b, shape))

    return values


def products(shape: Any, a: Any, b: Any) -> Iterable[float]:
    """Rows times columns."""
    n = a.shape[1]
    left, right = numbers_of(a, a.shape), numbers_of(b.t(), b.t().shape)
    rows = [left[i * n : (i + 1) * n] for i in range(shape[0])]
    columns = [right[i * n : (i + 1) * n] for i in range(shape[1])]
    return (sum(map(operator.mul, row, column)) for row in rows for column in columns)


def random_(self: Any, low: int = 0, high: int | None = None, *, generator: Any = None) -> Any:
    """Integers below a bound. Other random ops are left to the CPU, whose seed is drawn by this."""
    definition: Any = registry.entry("random.from").definition
    definition.rule(self, low, high)
    numbers = source_for(generator, self.device).numbers
    last = exact_integers(self.dtype) if high is None else high - 1
    drawn = [numbers.randint(low, last) for _ in range(self.numel())]
    return write(self, pack(drawn, self.dtype))


KERNELS: Final[dict[str, Callable[..., Any]]] = {
    "copy_": copy_,
    "fill_.Scalar": fill_,
    "random_.from": random_,
    "add": in_float32("add", scaled(operator.add)),
    "sub": in_float32("sub", scaled(operator.sub)),
    "mul": in_float32("mul", pointwise(operator.mul)),
    "neg": in_float32("neg", pointwise(operator.neg)),
    "relu": in_float32("relu", pointwise(lambda v: max(v, 0.0))),
    "mm": in_float32("mm", products),
}
