"""Pooling to a given shape, by windows that differ in size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dispatch.functions import fn, fn_nn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.formats import in_format, put
from ...opdefs.rules import format_of
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, int64
from ...values.memory_formats import contiguous_format
from ...values.shapes import Shape, numel, show
from ..elementwise.composed import widened
from .pooling import flat_positions, largest_of, spatial_gather, spatial_scatter
from .windows import spread, windows_of

__all__ = ["largest"]

# Elements of windows of one size up to which pooling by them pays: it takes a pass for each, and for means
# one for each along a dimension.
_FEW: Final = 64
_FEW_ADDED: Final = 16


def _checked(n: int, self: Tensor, output_size: Any, name: str) -> Shape:
    shape, means = self._shape, name.startswith("adaptive_avg")
    if isinstance(output_size, list | tuple) and len(output_size) != n:
        raise RuntimeError(f"{name}: output_size must be {n}, but got {len(output_size)} numbers")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {show(shape)}")
    if any(s == 0 for s in (shape[-n:] if means and n < 3 else shape[-n - 1 :])):
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
            f"sizes {show(shape)}"
        )
    sizes = spread(output_size, n, "output_size")
    if any(s < 0 for s in sizes):
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{show(sizes)}"
        )
    if self._dtype.category != FLOATING and not (means and all(s == 1 for s in sizes)):
        raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
    return sizes


def _bounds(size: int, count: int, device: Any) -> tuple[Any, Any]:
    """Where each of ``count`` windows over ``size`` elements starts, and how many it has."""
    at = fn.arange(0, count, 1, device=device) * size
    start = at.div(max(count, 1), rounding_mode="floor")
    end = (at + size + count - 1).div(max(count, 1), rounding_mode="floor")
    return start, end - start


def _widest(size: int, count: int) -> int:
    """How many elements the widest window has; with more windows than elements there may be any number."""
    if count > size > 0:
        return 1 if count % size == 0 else 2
    return max((-(-(i + 1) * size // count) - i * size // count for i in range(count)), default=0)


def _alike(shape: Shape, sizes: Shape) -> tuple[int, ...] | None:
    """How many elements windows have along each dimension, where all of them have as many; else None."""
    own = shape[len(shape) - len(sizes) :]
    if any(count == 0 or size % count for size, count in zip(own, sizes, strict=True)):
        return None
    return tuple(size // count for size, count in zip(own, sizes, strict=True))


def _mean_along(x: Any, dim: int, count: int) -> Any:
    """Means of the windows along one dimension."""
    size = x._shape[dim]
    if size == count:
        return x
    if count and size % count == 0:
        shape = (*x._shape[:dim], count, size // count, *x._shape[dim + 1 :])
        return x.reshape(shape).mean(dim + 1)
    start, length = _bounds(size, count, x._device)
    column = (-1, *(1,) * (len(x._shape) - 1 - dim))
    total: Any = 0
    for k in range(_widest(size, count)):
        part = x.index_select(dim, (start + k).clamp(max=size - 1))
        total = total + part.masked_fill((length <= k).view(column), 0)
    if isinstance(total, int):
        return x.index_select(dim, start)
    return total / length.view(column)


def _average(n: int) -> Any:
    def pool(self: Tensor, output_size: Any) -> Any:
        sizes = _checked(n, self, output_size, f"adaptive_avg_pool{n}d")
        if all(count == 1 for count in sizes):
            made = widened(self).mean(list(range(-n, 0)), True)
            return put(made.to(self._dtype), format_of(self))
        kernel = _alike(self._shape, sizes)
        if kernel is not None and numel(kernel) <= _FEW_ADDED:
            return getattr(fn_nn, f"avg_pool{n}d")(self, kernel, kernel)
        if n == 1:
            return fn._adaptive_avg_pool2d(self.unsqueeze(-2), (1, *sizes)).squeeze(-2)
        return getattr(fn, f"_adaptive_avg_pool{n}d")(self, sizes)

    return pool


def _means(n: int) -> Any:
    """Means along one dimension after the other."""

    def pool(self: Tensor, output_size: Any) -> Any:
        x = widened(self)
        sizes = _checked(n, self, output_size, f"adaptive_avg_pool{n}d")
        for i, count in enumerate(sizes):
            x = _mean_along(x, len(self._shape) - n + i, count)
        return _own(x, self)

    return pool


def _own(made: Any, given: Tensor) -> Any:
    """A row-major tensor of the dtype of another one, whose memory it does not share."""
    lies = contiguous_format
    if made is given:
        return made.clone(memory_format=lies)
    return made.to(given._dtype).contiguous(memory_format=lies)


def _shared_spec(n: int) -> Any:
    name = f"adaptive_avg_pool{n}d_backward"

    def rule(grad_output: Tensor, self: Tensor) -> TensorSpec:
        shape, given = self._shape, grad_output._shape
        rank = len(shape)
        if rank not in (n + 1, n + 2):
            raise RuntimeError(
                f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got {show(shape)}"
            )
        if len(given) != rank:
            raise RuntimeError(
                f"{name}: Expected dimensions {rank} for `grad_output` but got dimensions {len(given)}"
            )
        if given[:-n] != shape[:-n]:
            raise RuntimeError(
                f"{name}: the gradient's batch and channels must be the input's, but got shapes "
                f"{show(given)} and {show(shape)}"
            )
        return TensorSpec(shape, grad_output._dtype)

    return rule


def _shared_along(g: Any, dim: int, size: int) -> Any:
    """Gradients of means along one dimension, shared out to the elements."""
    count = g._shape[dim]
    if size == count:
        return g
    start, length = _bounds(size, count, g._device)
    column = (-1, *(1,) * (len(g._shape) - 1 - dim))
    g = g / length.view(column)
    none = g.new_zeros((*g._shape[:dim], size, *g._shape[dim + 1 :]))
    total: Any = 0
    for k in reversed(range(_widest(size, count))):
        part = g.masked_fill((length <= k).view(column), 0)
        total = total + none.index_add(dim, (start + k).clamp(max=size - 1), part)
    return none if isinstance(total, int) else total


def _shared(n: int) -> Any:
    rule = _shared_spec(n)

    def share(grad_output: Any, self: Tensor) -> Any:
        rule(grad_output, self)
        rank, g = len(self._shape), widened(grad_output)
        for dim in reversed(range(rank - n, rank)):
            g = _shared_along(g, dim, self._shape[dim])
        return _own(g, grad_output)

    return share


def _positions(windows: list[Any], sizes: Shape) -> Any:
    """Flat positions (..., *count, *kernel) of what windows see.

    Args:
        windows: per dimension the positions (..., count, kernel).
        sizes: the spatial shape.
    """
    n, flat = len(sizes), 0
    for i, at in enumerate(windows):
        lead, (count, kernel) = at._shape[:-2], at._shape[-2:]
        shape = [1] * (2 * n)
        shape[i], shape[n + i] = count, kernel
        flat = flat * sizes[i] + at.reshape(*lead, *shape)
    return flat


def largest(self: Tensor, windows: list[Any]) -> tuple[Tensor, Tensor]:
    """The largest element of each window, and its flat position."""
    n = len(windows)
    sizes = self._shape[-n:]
    flat = _positions(windows, sizes)
    count = flat._shape[-2 * n : -n]
    kernel = flat._shape[-n:]
    flat = flat.reshape(*flat._shape[:-n], numel(kernel))
    lead = self._shape[:-n]
    flat = flat.expand(*lead, *count, flat._shape[-1])
    if not numel(flat._shape):
        nowhere = flat.new_zeros((*lead, *count))
        return spatial_gather(self, nowhere, n), nowhere
    rows = self.detach().reshape(*lead, -1)
    seen = rows.gather(-1, flat.reshape(*lead, -1)).reshape(flat._shape)
    best = largest_of(seen)[1]
    indices = flat.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    return spatial_gather(self, indices, n), indices


def _largest_alike(self: Tensor, count: Shape, kernel: Shape) -> tuple[Tensor, Tensor]:
    """The same of windows of one size that divide the input."""
    n, apart = len(count), (1,) * len(count)
    seen = windows_of(self.detach().contiguous(), count, kernel, kernel, apart)
    places = largest_of(seen.reshape(*self._shape[:-n], *count, numel(kernel)))[1]
    indices = flat_positions(places, kernel, kernel, (0,) * n, apart, self._shape[-n:])
    return spatial_gather(self, indices, n), indices


def _max(n: int) -> Any:
    def pool(self: Tensor, output_size: Any) -> Any:
        sizes = _checked(n, self, output_size, f"adaptive_max_pool{n}d")
        if n == 1:
            found = fn.adaptive_max_pool2d(self.unsqueeze(-2), (1, *sizes))
            return tuple(t.squeeze(-2) for t in found)
        kernel = _alike(self._shape, sizes)
        if kernel is not None and numel(kernel) <= _FEW:
            x = self if n == 2 else self.contiguous()  # as results are of volumes
            return getattr(fn, f"max_pool{n}d_with_indices")(x, kernel, kernel)
        if kernel is not None:
            return _largest_alike(self, sizes, kernel)
        windows = []
        for i, count in enumerate(sizes):
            size = self._shape[i - n]
            start, length = _bounds(size, count, self._device)
            inside = fn.arange(0, _widest(size, count), 1, device=self._device)
            # A smaller window sees its last element again.
            windows.append(start.unsqueeze(-1) + inside.minimum(length.unsqueeze(-1) - 1))
        return largest(self, windows)

    return pool


def _spec(n: int, name: str, *others: Any) -> Any:
    """The rule of an op: the shape asked for, in the dtype of the input and others."""

    def rule(self: Tensor, output_size: Any) -> Any:
        shape = (*self._shape[: len(self._shape) - n], *_checked(n, self, output_size, name))
        made = tuple(TensorSpec(shape, d) for d in (self._dtype, *others))
        return made if others else made[0]

    return rule


def _adaptive(n: int) -> None:
    """Define adaptive pooling over ``n`` spatial dimensions."""
    average, maximum = f"adaptive_avg_pool{n}d", f"adaptive_max_pool{n}d"
    lying = in_format if n == 2 else lambda made: made
    op(
        f"{average}(Tensor self, SymInt[{n}] output_size) -> Tensor",
        doc="Means of windows that divide the input into ``output_size`` parts.",
        decomposition=lying(_average(n)),
        out=n > 1,
        namespaces=("torch", "nn") if n == 1 else ("torch",),
    )
    own: dict[str, Any] = {} if n == 1 else {
        "rule": lying(_spec(n, maximum, int64)),
        "grad": {"self": lambda g, self_shape, result1: spatial_scatter(g, result1, self_shape, n)},
        "output_differentiability": (True, False),
    }  # fmt: skip
    op(
        f"{maximum}(Tensor self, int[{n}] output_size) -> (Tensor, Tensor)",
        doc="Largest elements of windows that divide the input into ``output_size`` parts, and "
        "where they are in the spatial dimensions as one row.",
        decomposition=lying(_max(n)),
        out=n > 1,
        namespaces=("torch",),
        **own,
    )
    if n > 1:
        op(
            f"_{average}(Tensor self, SymInt[{n}] output_size) -> Tensor",
            doc=f"`{average}`, as PyTorch names the op behind it.",
            rule=lying(_spec(n, average)),
            grad={"self": lambda g, self: getattr(fn, f"_{average}_backward")(g, self)},
            decomposition=lying(_means(n)),
            namespaces=("torch",),
        )
        op(
            f"_{average}_backward(Tensor grad_output, Tensor self) -> Tensor",
            doc=f"Gradient of `_{average}`: shared out to what windows see.",
            rule=_shared_spec(n),
            grad={
                "grad_output": lambda g, grad_output_shape: getattr(fn, f"_{average}")(
                    g, grad_output_shape[-n:]
                ),
                "self": lambda self: fn.zeros_like(self),
            },
            decomposition=_shared(n),
            namespaces=("torch",),
        )


for _n in (1, 2, 3):
    _adaptive(_n)


# ---- as users call them -------------------------------------------------------------------------


def _given(input: Tensor, output_size: Any, n: int) -> Any:
    """The output size with None replaced by the input's."""
    if not isinstance(output_size, list | tuple):
        return (input._shape[-1],) * n if output_size is None else output_size
    if len(output_size) > n or len(input._shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if len(output_size) != n:
        return output_size
    pairs = zip(output_size, input._shape[-n:], strict=True)
    return tuple(size if wanted is None else wanted for wanted, size in pairs)


def _average_function(n: int) -> Callable[..., Tensor]:
    name = f"adaptive_avg_pool{n}d"

    @public("nn", name=name)
    def pool(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
        """Means of windows that divide the input into ``output_size`` parts.

        Args:
            input: (N, C, ...) or (C, ...).
            output_size: number of windows along each spatial dimension; None keeps its size.

        Returns:
            (N, C, *output_size) or (C, *output_size).

        Raises:
            RuntimeError: for other numbers of dimensions.
        ValueError: for another number of sizes.

        Example:
            >>> x = torch.arange(16.0).reshape(1, 1, 4, 4)
            >>> torch.nn.functional.adaptive_avg_pool2d(x, (2, 1)).flatten()
            tensor([ 3.5000, 11.5000])
        """
        made: Tensor = getattr(fn, name)(input, _given(input, output_size, n))
        return made

    return pool


def _max_function(n: int, *, always: bool = False) -> Callable[..., Any]:
    name = f"adaptive_max_pool{n}d"

    @public("nn", name=f"{name}_with_indices" if always else name)
    def pool(
        input: Tensor,
        output_size: int | Sequence[int | None] | None,
        return_indices: bool = False,
    ) -> Any:
        """Largest elements of windows that divide the input into ``output_size`` parts.

        Args:
            input: (N, C, ...) or (C, ...).
            output_size: number of windows along each spatial dimension; None keeps its size.
            return_indices: return also where the elements are, in the spatial dimensions as one
                row; functions ``..._with_indices`` always do.

        Returns:
            (N, C, *output_size) or (C, *output_size); and the positions, if they are asked for.

        Example:
            >>> x = torch.arange(16.0).reshape(1, 1, 4, 4)
            >>> torch.nn.functional.adaptive_max_pool2d(x, (2, 1)).flatten()
            tensor([ 7., 15.])
        """
        found = getattr(fn, name)(input, _given(input, output_size, n))
        return found if always or return_indices else found[0]

    return pool


adaptive_avg_pool2d, adaptive_avg_pool3d = map(_average_function, (2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_max_function, (1, 2, 3))
adaptive_max_pool1d_with_indices = _max_function(1, always=True)
adaptive_max_pool2d_with_indices = _max_function(2, always=True)
adaptive_max_pool3d_with_indices = _max_function(3, always=True)
