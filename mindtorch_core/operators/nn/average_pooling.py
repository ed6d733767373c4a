"""Average pooling and power-average pooling."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...dispatch.functions import fn, fn_nn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.formats import in_format
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, FLOATING
from ...values.shapes import Shape, numel, show
from ..elementwise.composed import widened
from .pooling import pool_sizes
from .windows import spread

__all__ = ["divisors"]


class Averaging:
    """The checked options of an average pooling over ``n`` dimensions.

    Attributes:
        kernel, stride, padding: one number per dimension.
        count: number of windows along each.
        divisor: what sums are divided by, or None for each window's size.
        include: whether windows count the elements of the padding.
        sizes: the input's spatial shape.
    """

    def __init__(
        self, n: int, input: Tensor, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
        include: bool, divisor: int | None, name: str,
    ) -> None:  # fmt: skip
        if divisor == 0:
            raise RuntimeError("divisor must be not zero")
        found = pool_sizes(n, input, kernel, stride, padding, 1, ceil_mode, name)
        self.kernel, self.stride, self.padding, _, self.count = found
        self.divisor = divisor
        self.include = include
        self.sizes = input._shape[-n:]

    def reach(self, i: int) -> int:
        """Elements from the first window's start to the last one's end in a dimension."""
        return (self.count[i] - 1) * self.stride[i] + self.kernel[i]


def divisors(at: Averaging) -> list[list[int]] | int:
    """How many elements count in each window, as factors by dimension; one number if all agree."""
    if at.divisor is not None:
        return at.divisor
    return _sizes_of_windows(at.count, at.kernel, at.stride, at.padding, at.sizes, bool(at.include))


@functools.lru_cache(256)
def _sizes_of_windows(
    count: Shape, kernel: Shape, stride: Shape, padding: Shape, sizes: Shape, include: bool
) -> list[list[int]] | int:
    factors = []
    for n, size_of, step, pad, size in zip(count, kernel, stride, padding, sizes, strict=True):
        starts = [o * step - pad for o in range(n)]
        if include:
            factors.append([min(s + size_of, size + pad) - s for s in starts])
        else:
            factors.append([min(s + size_of, size) - max(s, 0) for s in starts])
    if all(len(set(f)) == 1 for f in factors):
        return numel(tuple(f[0] for f in factors))
    return factors


def _divided(t: Any, at: Averaging) -> Any:
    by: Any = divisors(at)
    if not isinstance(by, int):
        n = len(by)
        product: Any = 1
        for i, factors in enumerate(by):
            vector = fn.zeros((len(factors),), dtype=t._dtype, device=t._device)
            for value in set(factors):  # few: windows at the borders are smaller
                first = factors.index(value)
                last = len(factors) - factors[::-1].index(value)
                vector.narrow(0, first, last - first).fill_(value)
            product = vector.view(-1, *(1,) * (n - 1 - i)) * product
        by = product
    return t / by if t._dtype.category >= FLOATING else t.div(by, rounding_mode="trunc")


def _sums(x: Any, at: Averaging) -> Any:
    """Sums over windows, dimension by dimension."""
    n = len(at.count)
    for i in range(n):
        dim = len(x._shape) - n + i
        strides, offset = x._geometry()
        shape = (*x._shape[:dim], at.count[i], *x._shape[dim + 1 :], at.kernel[i])
        steps = (*strides[:dim], strides[dim] * at.stride[i], *strides[dim + 1 :], strides[dim])
        x = x.as_strided(shape, steps, offset).sum(-1, dtype=x._dtype)
    return x


def _spread(g: Any, at: Averaging, shape: Shape) -> Any:
    """Every window's element added to all elements of the window; transpose of `_sums`."""
    n = len(at.count)
    for i in range(n):
        dim = len(shape) - n + i
        whole = max(at.reach(i), at.sizes[i] + at.padding[i])
        out = g.new_zeros((*g._shape[:dim], whole, *g._shape[dim + 1 :]))
        for k in range(at.kernel[i]):
            last = k + (at.count[i] - 1) * at.stride[i] + 1
            fn.slice(out, dim, k, last, at.stride[i]).add_(g)
        g = out.narrow(dim, at.padding[i], at.sizes[i])
    return g.contiguous()


class _Pooling(NamedTuple):
    """What average pooling over some number of spatial dimensions computes."""

    rule: Callable[..., TensorSpec]
    forward: Callable[..., Any]
    back: Callable[..., Any]


def _pooling(n: int, name: str) -> _Pooling:
    """The rule, the mean of each window, and what takes its gradient to the elements."""

    def options(
        self: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Averaging:  # fmt: skip
        if self._dtype.category in (BOOL, COMPLEX):
            raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
        return Averaging(
            n, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override,
            name,
        )  # fmt: skip

    def rule(self: Tensor, *args: Any, **kwargs: Any) -> TensorSpec:
        at = options(self, *args, **kwargs)
        return TensorSpec((*self._shape[:-n], *at.count), self._dtype)

    def forward(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        at = options(self, *args, **kwargs)
        sides: list[int] = []
        for i in reversed(range(n)):
            sides += [at.padding[i], max(at.reach(i) - at.padding[i] - at.sizes[i], 0)]
        x = widened(self)
        x = fn.constant_pad_nd(x, sides) if any(sides) else x.contiguous()
        return _divided(_sums(x, at), at).to(self._dtype)

    def back(grad_output: Tensor, self: Tensor, *args: Any) -> Any:
        at = options(self, *args)
        if grad_output._shape[-n:] != at.count:
            raise RuntimeError(
                f"Expected grad_output of spatial shape {show(at.count)}, but got shape "
                f"{show(grad_output._shape)}"
            )
        g = _divided(widened(grad_output), at)
        return _spread(g, at, self._shape).to(grad_output._dtype)

    return _Pooling(rule, forward, back)


def _average_pool(n: int) -> None:
    """Define average pooling over ``n`` spatial dimensions."""
    name = f"avg_pool{n}d"
    pooling = _pooling(n, name)
    laid = in_format if n == 2 else lambda make, _=0: make
    args = (
        f"int[{n}] kernel_size, int[{n}] stride=[], int[{n}] padding=0, bool ceil_mode=False, bool "
        f"count_include_pad=True"
    )
    if n > 1:
        args += ", int? divisor_override=None"

    def again(g: Any, self: Any, *rest: Any) -> Any:
        return getattr(fn, f"{name}_backward")(g, self, *rest)

    grad: dict[str, Any]
    if n > 1:
        grad = {
            "self": lambda g, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override: again(
                g, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            )
        }  # fmt: skip
    else:
        grad = {
            "self": lambda g, self, kernel_size, stride, padding, ceil_mode, count_include_pad: (
                again(g, self, kernel_size, stride, padding, ceil_mode, count_include_pad, None)
            )
        }
    op(
        f"{name}(Tensor self, {args}) -> Tensor",
        doc="Mean of each window; zeros of the padding count unless told otherwise.",
        rule=laid(pooling.rule),
        grad=grad,
        decomposition=laid(pooling.forward),
        out=n > 1,
        namespaces=("torch", "nn") if n == 1 else ("nn",),
    )

    def forward_again(g: Any, *rest: Any) -> Any:
        return getattr(fn_nn, name)(g, *(rest if n > 1 else rest[:-1]))

    op(
        f"{name}_backward(Tensor grad_output, Tensor self, int[{n}] kernel_size, int[{n}] stride, "
        f"int[{n}] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
        doc=f"Gradient of `{name}`.",
        rule=laid(lambda grad_output, self, *_: TensorSpec(self._shape, grad_output._dtype), 1),
        grad={
            "grad_output": lambda g, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override: forward_again(
                g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            ),
            "self": lambda self: fn.zeros_like(self),
        },
        decomposition=laid(pooling.back, 1),
        namespaces=("torch",),
    )  # fmt: skip


for _n in (1, 2, 3):
    _average_pool(_n)


# ---- as users call them -------------------------------------------------------------------------


def _power_pool(n: int) -> Callable[..., Tensor]:
    @public("nn", name=f"lp_pool{n}d")
    def pool(
        input: Tensor,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        """The p-norm of each window.

        Args:
            input: (N, C, ...) or (C, ...).
            norm_type: p; infinity for the largest magnitude.
            kernel_size: the window's size.
            stride: from one window to the next; by default they touch.
            ceil_mode: whether the last window may reach over the end.

        Returns:
            (N, C, windows, windows) or without the batch.

        Example:
            >>> torch.nn.functional.lp_pool2d(torch.tensor([[[3.0, 4.0]]]), 2, (1, 2))
            tensor([[[5.]]])
        """
        sizes = spread(kernel_size, n, "kernel_size")
        steps = () if stride is None else stride
        if abs(norm_type) == math.inf:
            largest = getattr(fn_nn, f"max_pool{n}d")
            sign = 1 if norm_type > 0 else -1
            return sign * largest(sign * input.abs(), sizes, steps, 0, 1, ceil_mode)  # type: ignore[no-any-return]
        mean: Any = getattr(fn_nn, f"avg_pool{n}d")(input**norm_type, sizes, steps, 0, ceil_mode)
        positive = mean.sign() * mean.abs().relu()
        return (positive * numel(sizes)) ** (1.0 / norm_type)  # type: ignore[no-any-return]

    return pool


lp_pool1d, lp_pool2d, lp_pool3d = map(_power_pool, (1, 2, 3))
