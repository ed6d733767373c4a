"""Max pooling by windows at random places (Graham, 2014)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.shapes import Shape, show
from .adaptive_pooling import largest
from .windows import spread


def _check(
    n: int, self: Tensor, kernel: Any, output_size: Any, samples: Tensor
) -> tuple[Shape, Shape]:
    name = f"fractional_max_pool{n}d"
    for what, given in (("output_size", output_size), ("kernel_size", kernel)):
        if isinstance(given, list | tuple) and len(given) != n:
            raise RuntimeError(
                f"{name}: {what} must either be a single Int or tuple of {'three ' * (n == 3)}Ints, but got "
                f"{show(given)}"
            )
    kernel, out = spread(kernel, n, "kernel_size"), spread(output_size, n, "output_size")
    if len(self._shape) not in (n + 1, n + 2) or any(s == 0 for s in self._shape[-n - 1 :]):
        raise RuntimeError(
            f"{name}(): Expected input to have {n + 1} or {n + 2} dimensions and non-zero size for "
            f"non-batch dimensions, but got: {show(self._shape)}"
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


def _forward(n: int) -> Any:
    def pool(self: Tensor, kernel_size: Any, output_size: Any, random_samples: Tensor) -> Any:
        kernel, out = _check(n, self, kernel_size, output_size, random_samples)
        batched = len(self._shape) == n + 2
        x = self if batched else self.unsqueeze(0)
        if random_samples._shape[0] > x._shape[0]:  # those of further batches are not looked at
            random_samples = random_samples.narrow(0, 0, x._shape[0])
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
        values, indices = largest(x, windows)
        return (values, indices) if batched else (values.squeeze(0), indices.squeeze(0))

    return pool


for _n in (2, 3):
    op(
        f"fractional_max_pool{_n}d(Tensor self, int[{_n}] kernel_size, int[{_n}] output_size, Tensor "
        f"random_samples) -> (Tensor, Tensor)",
        doc="Largest elements of windows whose places the samples decide (Graham, 2014), and where "
        "they are.",
        decomposition=_forward(_n),
        out=True,
        namespaces=("torch",),
    )


# ---- as users call them -------------------------------------------------------------------------


def _function(n: int, *, always: bool = False) -> Callable[..., Any]:
    name = f"fractional_max_pool{n}d"

    @public("nn", name=f"{name}_with_indices" if always else name)
    def pool(
        input: Tensor,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        """Largest elements of windows at random places (Graham, 2014).

        Args:
            input: (N, C, ...) or (C, ...).
            kernel_size: the window's size.
            output_size: number of windows along each spatial dimension.
            output_ratio: the same as a share of the input's size.
            return_indices: return also where the elements are, in the spatial dimensions as one
                row; functions ``..._with_indices`` always do.
            _random_samples: (N, C, spatial dimensions) numbers in [0, 1) that decide the places.

        Raises:
            ValueError: if neither an output size nor a ratio is given.
        """
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratio: Any = output_ratio
            ratio = ratio if isinstance(ratio, list | tuple) else (ratio,) * n
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


fractional_max_pool2d, fractional_max_pool3d = map(_function, (2, 3))
fractional_max_pool2d_with_indices = _function(2, always=True)
fractional_max_pool3d_with_indices = _function(3, always=True)
