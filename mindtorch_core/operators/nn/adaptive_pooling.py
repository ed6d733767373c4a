"""Pooling to a given shape, by windows that differ in size, and by windows at random places."""

from __future__ import annotations

from typing import Any

from ...dtypes import BOOL, COMPLEX
from ...shapes import Shape, numel, show
from ...tensor import Tensor
from ..define import fn, op
from .pooling import spatial_gather
from .windows import spread, widened


def _checked(n: int, self: Tensor, output_size: Any, name: str) -> Shape:
    shape = self._shape
    if self._dtype.category in (BOOL, COMPLEX):
        raise NotImplementedError(f"\"{name}\" not implemented for '{self._dtype.label}'")
    if isinstance(output_size, list | tuple) and len(output_size) not in (1, n):
        raise RuntimeError(f"{name}: output_size must be {n}, but got {len(output_size)} numbers")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {show(shape)}")
    if any(s == 0 for s in shape[-n:]):
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
    return sizes


def _bounds(size: int, count: int, device: Any) -> tuple[Any, Any]:
    """Where each of ``count`` windows over ``size`` elements starts, and how many it has."""
    at = fn.arange(0, count, 1, device=device) * size
    start = at.div(max(count, 1), rounding_mode="floor")
    end = (at + size + count - 1).div(max(count, 1), rounding_mode="floor")
    return start, end - start


def _widest(size: int, count: int) -> int:
    return max((-(-(i + 1) * size // count) - i * size // count for i in range(count)), default=0)


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
        x = widened(self)
        for i, count in enumerate(sizes):
            x = _mean_along(x, len(self._shape) - n + i, count)
        return x.clone() if x is self else x.to(self._dtype)

    return pool


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


def _largest(self: Tensor, windows: list[Any]) -> tuple[Tensor, Tensor]:
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
    best = seen.max(-1)[1]
    indices = flat.gather(-1, best.unsqueeze(-1)).squeeze(-1)
    return spatial_gather(self, indices, n), indices


def _max(n: int) -> Any:
    def pool(self: Tensor, output_size: Any) -> Any:
        sizes = _checked(n, self, output_size, f"adaptive_max_pool{n}d")
        windows = []
        for i, count in enumerate(sizes):
            size = self._shape[i - n]
            start, length = _bounds(size, count, self._device)
            inside = fn.arange(0, _widest(size, count), 1, device=self._device)
            # A smaller window sees its last element again.
            windows.append(start.unsqueeze(-1) + inside.minimum(length.unsqueeze(-1) - 1))
        return _largest(self, windows)

    return pool


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


def _adaptive(n: int) -> None:
    """Define adaptive pooling over ``n`` spatial dimensions."""
    average, maximum = f"adaptive_avg_pool{n}d", f"adaptive_max_pool{n}d"
    op(
        f"{average}(Tensor self, SymInt[{n}] output_size) -> Tensor",
        doc="Means of windows that divide the input into ``output_size`` parts.",
        decomposition=_average(n),
        out=n > 1,
        namespaces=("torch", "nn") if n == 1 else ("torch",),
    )
    op(
        f"{maximum}(Tensor self, int[{n}] output_size) -> (Tensor, Tensor)",
        doc="Largest elements of windows that divide the input into ``output_size`` parts, and "
        "where they are in the spatial dimensions as one row.",
        decomposition=_max(n),
        out=n > 1,
        namespaces=("torch",),
    )
    if n > 1:
        op(
            f"_{average}(Tensor self, SymInt[{n}] output_size) -> Tensor",
            doc=f"`{average}`.",
            decomposition=_average(n),
            namespaces=("torch",),
        )
        op(
            f"nn_{average}(Tensor input, Any output_size) -> Tensor",
            doc=f"`{average}`; None keeps a size.",
            decomposition=lambda input, output_size: getattr(fn, average)(
                input, _given(input, output_size, n)
            ),
            namespaces=(f"nn:{average}",),
        )

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        return getattr(fn, maximum)(input, _given(input, output_size, n))

    def boosted(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        found = with_indices(input, output_size)
        return found if return_indices else found[0]

    op(
        f"nn_{maximum}(Tensor input, Any output_size, bool return_indices=False) -> ...",
        doc=f"`{maximum}`; with ``return_indices`` also where the elements are.",
        decomposition=boosted,
        namespaces=(f"nn:{maximum}",),
    )
    op(
        f"nn_{maximum}_with_indices(Tensor input, Any output_size, bool return_indices=False) "
        f"-> (Tensor, Tensor)",
        doc=f"`{maximum}`; None keeps a size.",
        decomposition=with_indices,
        namespaces=(f"nn:{maximum}_with_indices",),
    )


for _n in (1, 2, 3):
    _adaptive(_n)


# ---- windows at random places -------------------------------------------------------------------


def _fractional_rule(
    n: int, self: Tensor, kernel: Any, output_size: Any, samples: Tensor
) -> tuple[Shape, Shape]:
    name = f"fractional_max_pool{n}d"
    kernel, out = spread(kernel, n, "kernel_size"), spread(output_size, n, "output_size")
    if len(self._shape) not in (n + 1, n + 2) or any(s == 0 for s in self._shape[-n - 1 :]):
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D tensor with non-zero sizes behind the batch, but "
            f"got: {show(self._shape)}"
        )
    for size, k, o in zip(self._shape[-n:], kernel, out, strict=True):
        if o + k - 1 > size:
            raise RuntimeError(
                f"{name}(): pool size {k} and output size {o} are too large relative to the input "
                f"size {size}"
            )
    if len(samples._shape) != 3 or samples._shape[2] != n:
        raise RuntimeError(
            f"Expect _random_samples to have 3 dimensions, the last of size {n}, got "
            f"{show(samples._shape)}"
        )
    if samples._dtype is not self._dtype:
        raise RuntimeError(
            f"Expect _random_samples to have the same dtype as input, got {samples._dtype} and "
            f"{self._dtype}"
        )
    return kernel, out


def _fractional(n: int) -> Any:
    def pool(self: Tensor, kernel_size: Any, output_size: Any, random_samples: Tensor) -> Any:
        kernel, out = _fractional_rule(n, self, kernel_size, output_size, random_samples)
        batched = len(self._shape) == n + 2
        x = self if batched else self.unsqueeze(0)
        windows = []
        for i, (k, count) in enumerate(zip(kernel, out, strict=True)):
            size = x._shape[2 + i]
            # The samples of two dimensions come in the order width, height.
            sample: Any = random_samples.select(2, n - 1 - i if n == 2 else i).unsqueeze(-1)
            at = fn.arange(0, count, 1, device=self._device)
            alpha = (size - k) / (count - 1) if count > 1 else 0.0
            start = ((at + sample) * alpha).to(at._dtype) - (sample * alpha).to(at._dtype)
            start = fn.where(at == count - 1, size - k, start)
            windows.append(start.unsqueeze(-1) + fn.arange(0, k, 1, device=self._device))
        values, indices = _largest(x, windows)
        return (values, indices) if batched else (values.squeeze(0), indices.squeeze(0))

    return pool


def _nn_fractional(n: int, *, always: bool) -> Any:
    name = f"fractional_max_pool{n}d"

    def pool(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Tensor | None = None,
    ) -> Any:  # fmt: skip
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratio = output_ratio if isinstance(output_ratio, list | tuple) else (output_ratio,) * n
            if len(ratio) > n:
                raise ValueError(f"{name} requires output_ratio to either be a single float or {n}")
            output_size = [int(s * r) for s, r in zip(input._shape[-n:], ratio, strict=True)]
        if _random_samples is None:
            batch = 1 if len(input._shape) == n + 1 else input._shape[0]
            _random_samples = fn.rand(
                (batch, input._shape[-n - 1], n), dtype=input._dtype, device=input._device
            )
        found = getattr(fn, name)(input, kernel_size, output_size, _random_samples)
        return found if always or return_indices else found[0]

    return pool


for _n in (2, 3):
    _name = f"fractional_max_pool{_n}d"
    op(
        f"{_name}(Tensor self, int[{_n}] kernel_size, int[{_n}] output_size, Tensor random_samples) "
        f"-> (Tensor, Tensor)",
        doc="Largest elements of windows whose places the samples decide (Graham, 2014), and where "
        "they are.",
        decomposition=_fractional(_n),
        out=True,
        namespaces=("torch",),
    )
    _args = (
        f"Tensor input, int[{_n}] kernel_size, int[{_n}]? output_size=None, Any output_ratio=None, "
        f"bool return_indices=False, Tensor? _random_samples=None"
    )
    op(
        f"nn_{_name}({_args}) -> ...",
        doc="Largest elements of windows at random places (Graham, 2014).",
        decomposition=_nn_fractional(_n, always=False),
        random=True,
        namespaces=(f"nn:{_name}",),
    )
    op(
        f"nn_{_name}_with_indices({_args}) -> (Tensor, Tensor)",
        doc="Largest elements of windows at random places, and where they are.",
        decomposition=_nn_fractional(_n, always=True),
        random=True,
        namespaces=(f"nn:{_name}_with_indices",),
    )
