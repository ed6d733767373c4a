"""Max pooling, with the positions of the maxima."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.formats import in_format
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, FLOATING, int64, uint8
from ...values.shapes import Shape, numel, show
from .windows import spread, window_count, windows_of

__all__ = [
    "flat_positions", "largest_of", "pool_sizes", "pooled_count", "spatial_gather", "spatial_scatter",
]  # fmt: skip


def pooled_count(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """Number of windows of a pooling; with ``ceil_mode`` the last may reach over the end."""
    if not ceil_mode:
        return window_count(size, kernel, stride, padding, dilation)
    count = -(-(size + 2 * padding - dilation * (kernel - 1) - 1) // stride) + 1
    if (count - 1) * stride >= size + padding:  # it would start in the padding behind
        count -= 1
    return count


def pool_sizes(
    n: int, self: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    name: str,
) -> tuple[Shape, Shape, Shape, Shape, Shape]:  # fmt: skip
    """Checked kernel, stride, padding and dilation of a pooling, and its windows' count.

    Raises:
        RuntimeError: if they do not fit each other or the input.
    """
    kernel = spread(kernel, n, "kernel_size")
    stride = kernel if stride in (None, (), []) else spread(stride, n, "stride")
    padding, dilation = spread(padding, n, "padding"), spread(dilation, n, "dilation")
    return _checked_sizes(n, self._shape, kernel, stride, padding, dilation, bool(ceil_mode), name)


@functools.lru_cache(256)
def _checked_sizes(
    n: int, shape: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool,
    name: str,
) -> tuple[Shape, Shape, Shape, Shape, Shape]:  # fmt: skip
    if len(shape) not in (n + 1, n + 2) or any(s == 0 for s in shape[-n - 1 :]):
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch "
            f"size for input, but got: {show(shape)}"
        )
    for what, values in (("kernel size", kernel), ("stride", stride), ("dilation", dilation)):
        if any(v <= 0 for v in values):
            raise RuntimeError(
                f"{what} should be greater than zero, but got {what} {show(values)} in {name}"
            )
    for pad, size, step in zip(padding, kernel, dilation, strict=True):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > (step * (size - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, "
                f"kernel_size={size} and dilation={step}"
            )
    count = tuple(
        pooled_count(*numbers, ceil_mode)
        for numbers in zip(shape[-n:], kernel, stride, padding, dilation, strict=True)
    )
    if any(c < 1 for c in count):
        raise RuntimeError(
            f"Given input size: {show(shape[-n - 1 :])}. Calculated output size: {show(count)}. "
            f"Output size is too small"
        )
    return kernel, stride, padding, dilation, count


def lowest(t: Tensor) -> Any:
    """What loses against every element."""
    from ...values.dtypes import iinfo

    return float("-inf") if t._dtype.category == FLOATING else iinfo(t._dtype).min


def _max_rule(n: int, name: str) -> Callable[..., Any]:
    def rule(
        self: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> tuple[TensorSpec, TensorSpec]:  # fmt: skip
        if self._dtype.category in (BOOL, COMPLEX):
            raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
        count = pool_sizes(n, self, kernel_size, stride, padding, dilation, ceil_mode, name)[4]
        shape = (*self._shape[:-n], *count)
        return TensorSpec(shape, self._dtype), TensorSpec(shape, int64)

    return rule


def _reach(count: Shape, kernel: Shape, stride: Shape, dilation: Shape) -> list[int]:
    """Elements from the first window's start to the last one's end."""
    return [
        (c - 1) * s + d * (k - 1) + 1
        for c, k, s, d in zip(count, kernel, stride, dilation, strict=True)
    ]


def _max_forward(n: int, name: str) -> Callable[..., Any]:
    rule = _max_rule(n, name)

    def forward(
        self: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        options = kernel_size, stride, padding, dilation, ceil_mode
        shape = rule(self, *options)[0].shape
        kernel, steps, pads, gaps, count = pool_sizes(n, self, *options, name)
        reach = _reach(count, kernel, steps, gaps)
        sides: list[int] = []
        for i in reversed(range(n)):
            sides += [pads[i], max(reach[i] - pads[i] - self._shape[i - n], 0)]
        x = fn.constant_pad_nd(self, sides, lowest(self)) if any(sides) else self.contiguous()
        seen = windows_of(x, count, kernel, steps, gaps).reshape(*shape, numel(kernel))
        values, places = largest_of(seen)
        return values, flat_positions(places, kernel, steps, pads, gaps, self._shape[-n:])

    return forward


def largest_of(seen: Any) -> tuple[Any, Any]:
    """The largest elements of the last dimension and their places; of several NaN the last, as in PyTorch."""
    values, places = seen.max(-1)
    if seen._dtype.category >= FLOATING:
        after = seen.isnan().flip(-1).to(uint8).argmax(-1)
        places = fn.where(values.isnan(), seen._shape[-1] - 1 - after, places)
    return values, places


def flat_positions(
    places: Any, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, sizes: Shape
) -> Any:
    """Positions in the spatial dimensions read as one row, from those in the windows.

    A window that sees nothing but the lowest number names its first place, which may lie in the
    padding: its first place inside is meant.
    """
    n, flat = len(kernel), 0
    inner = numel(kernel)
    for i in range(n):
        inner //= kernel[i]
        at = places.div(inner, rounding_mode="floor").remainder(kernel[i]) * dilation[i]
        first = fn.arange(0, places._shape[i - n], 1, device=places._device) * stride[i]
        at = at + (first - padding[i]).view(-1, *(1,) * (n - 1 - i))
        if padding[i]:
            at = fn.where(at < 0, at.remainder(dilation[i]).clamp(max=sizes[i] - 1), at)
        flat = flat * sizes[i] + at
    return flat


def spatial_gather(g: Any, indices: Any, n: int) -> Any:
    """Elements of (..., *spatial) at flat positions (..., *count)."""
    lead = g._shape[:-n]
    flat = indices.reshape(*lead, numel(indices._shape[-n:]))
    return g.reshape(*lead, numel(g._shape[-n:])).gather(-1, flat).reshape(indices._shape)


def spatial_scatter(g: Any, indices: Any, shape: Shape, n: int) -> Any:
    """Zeros of a shape with elements added at flat positions in the last ``n`` dimensions."""
    flat = g.new_zeros((*shape[:-n], numel(shape[-n:])))
    rows = (*g._shape[:-n], numel(g._shape[-n:]))
    made = flat.scatter_add(-1, indices.reshape(rows), g.reshape(rows))
    return made.reshape(shape)


def _max_pool(n: int) -> None:
    """Define max pooling over ``n`` spatial dimensions."""
    name = f"max_pool{n}d"
    indexed = f"{name}_with_indices"
    options = (
        f"int[{n}] kernel_size, int[{n}] stride=[], int[{n}] padding=0, int[{n}] dilation=1, "
        f"bool ceil_mode=False"
    )

    def plain(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(fn, indexed)(self, *args, **kwargs)[0]

    def checked_backward(grad_output: Any, self: Any, *rest: Any) -> Any:
        indices = rest[-1]
        if grad_output._shape != indices._shape:
            raise RuntimeError(
                f"Expected grad_output of shape {show(indices._shape)}, but got "
                f"{show(grad_output._shape)}"
            )
        return spatial_scatter(grad_output, indices, self._shape, n)

    op(
        f"{indexed}(Tensor self, {options}) -> (Tensor, Tensor)",
        doc="Largest element of each window, and where it is in the spatial dimensions as one row.",
        rule=in_format(_max_rule(n, name)),
        grad={
            "self": lambda g, self, kernel_size, stride, padding, dilation, ceil_mode, result1: (
                getattr(fn, f"{indexed}_backward")(
                    g, self, kernel_size, stride or kernel_size, padding, dilation, ceil_mode,
                    result1,
                )
            )
        },
        output_differentiability=(True, False),
        decomposition=in_format(_max_forward(n, name)),
        namespaces=("torch",),
    )  # fmt: skip
    op(
        f"{indexed}_backward(Tensor grad_output, Tensor self, int[{n}] kernel_size, int[{n}] stride, "
        f"int[{n}] padding, int[{n}] dilation, bool ceil_mode, Tensor indices) -> Tensor",
        doc=f"Gradient of `{indexed}`: added where the maxima were.",
        rule=in_format(
            lambda grad_output, self, *_: TensorSpec(self._shape, grad_output._dtype), 1
        ),
        grad={
            "grad_output": lambda g, indices: spatial_gather(g, indices, n),
            "self": lambda self: fn.zeros_like(self),
        },
        decomposition=in_format(checked_backward, 1),
        namespaces=("torch",),
    )
    op(
        f"{name}(Tensor self, {options}) -> Tensor",
        doc="Largest element of each window.",
        decomposition=plain,
        namespaces=("torch",),
    )


for _n in (1, 2, 3):
    _max_pool(_n)


# ---- as users call them -------------------------------------------------------------------------


def _function(n: int, *, always: bool = False) -> Callable[..., Any]:
    plain, indexed = f"max_pool{n}d", f"max_pool{n}d_with_indices"

    @public("nn", name=indexed if always else plain)
    def pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Largest element of each window, and where it is if that is asked for.

        Args:
            input: (N, C, ...) or (C, ...).
            kernel_size: the window's size.
            stride: from one window to the next; by default they touch.
            padding: how far windows may reach over both ends.
            dilation: from one element of a window to the next.
            ceil_mode: whether the last window may reach over the end.
            return_indices: return also the positions, in the spatial dimensions as one row;
                functions ``..._with_indices`` always do.

        Returns:
            (N, C, ...), with ``(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``
            windows along a dimension; and the positions, of the same shape, if they are asked for.

        Raises:
            RuntimeError: if the padding is more than half the window, or nothing would be left.

        Example:
            >>> x = torch.arange(16.0).reshape(1, 1, 4, 4)
            >>> torch.nn.functional.max_pool2d(x, 2)
            tensor([[[[ 5.,  7.],
                      [13., 15.]]]])
        """
        steps = () if stride is None else stride
        chosen = getattr(fn, indexed if always or return_indices else plain)
        return chosen(input, kernel_size, steps, padding, dilation, ceil_mode)

    return pool


max_pool1d, max_pool2d, max_pool3d = map(_function, (1, 2, 3))
max_pool1d_with_indices = _function(1, always=True)
max_pool2d_with_indices = _function(2, always=True)
max_pool3d_with_indices = _function(3, always=True)
