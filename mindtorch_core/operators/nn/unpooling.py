"""Putting pooled elements back where they came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...opdefs.formats import in_format
from ...tensors.tensor import Tensor
from ...values.dtypes import int64
from ...values.shapes import Shape, numel, show
from .pooling import spatial_gather
from .windows import spread


def _check(self: Tensor, indices: Tensor, output_size: Any, n: int) -> Shape:
    if indices._dtype is not int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices._dtype.label}"
        )
    if len(self._shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got "
            f"{len(self._shape)} dimensions"
        )
    if self._shape != indices._shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({show(self._shape)}) "
            f"but got indices tensor with shape: {show(indices._shape)}"
        )
    if any(s == 0 for s in self._shape[1:]):
        raise RuntimeError(
            f"Expected input to have non-zero size for non-batch dimensions, but got "
            f"{show(self._shape)}"
        )
    return (*self._shape[:-n], *spread(output_size, n, "output_size"))


def _scatter(self: Tensor, indices: Tensor, output_size: Any, n: int) -> Tensor:
    shape = _check(self, indices, output_size, n)
    size = numel(shape[-n:])
    flat = indices.reshape(*self._shape[:-n], numel(self._shape[-n:]))
    if numel(flat._shape):
        outside = (flat < 0) | (flat >= size)
        if outside.any():
            raise RuntimeError(
                f"Found an invalid max index: {flat[outside][0].item()} (output volumes are of size "
                f"{'x'.join(map(str, shape[-n:]))})"
            )
    zeros = self.new_zeros((*shape[:-n], size))
    return zeros.scatter(-1, flat, self.reshape(flat._shape)).view(shape)


def _define(n: int) -> None:
    extra = "" if n == 2 else f", int[{n}] stride, int[{n}] padding"
    laid = in_format if n == 2 else lambda make: make

    def rule(self: Tensor, indices: Tensor, output_size: Any, *_: Any) -> TensorSpec:
        return TensorSpec(_check(self, indices, output_size, n), self._dtype)

    op(
        f"max_unpool{n}d(Tensor self, Tensor indices, SymInt[{n}] output_size{extra}) -> Tensor",
        doc="Zeros with the elements put at flat positions in the spatial dimensions.",
        rule=laid(rule),
        grad={"self": lambda g, indices: spatial_gather(g, indices, n)},
        decomposition=laid(lambda self, indices, size, *_: _scatter(self, indices, size, n)),
        namespaces=("torch",),
    )


_define(2)
_define(3)


# ---- as users call them -------------------------------------------------------------------------


def _full_size(
    input: Tensor, kernel: Shape, stride: Shape, padding: Shape, output_size: Any
) -> Shape:
    """The unpooled spatial shape: as asked for, if it may have been pooled to the input's."""
    n = len(kernel)
    default = tuple(
        (size - 1) * s + k - 2 * p
        for size, s, k, p in zip(input._shape[-n:], stride, kernel, padding, strict=True)
    )
    if output_size is None:
        return default
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length "
            f"of '{len(output_size)}'"
        )
    for d, (wanted, usual, s) in enumerate(zip(output_size, default, stride, strict=True)):
        if not usual - s < wanted < usual + s:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {usual - s} and {usual + s})'
            )
    return tuple(output_size)


def _unpool(n: int) -> Callable[..., Tensor]:
    @public("nn", name=f"max_unpool{n}d")
    def unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | Sequence[int] = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        """Undo max pooling from its indices; what was no maximum is zero.

        Args:
            input: the maxima, (N, C, ...) or (C, ...).
            indices: where they were, in the spatial dimensions as one row.
            kernel_size: the window's size.
            stride: from one window to the next; by default they touched.
            padding: how far windows reached over both ends.
            output_size: the shape that was pooled, which the other numbers leave open; with or
                without the dimensions N and C.

        Raises:
            ValueError: if no tensor of that shape could have been pooled to the input's.
        """
        kernel = spread(kernel_size, n, "kernel_size")
        steps = kernel if stride in (None, (), []) else spread(stride, n, "stride")
        pads = spread(padding, n, "padding")
        if len(input._shape) < n + 1:
            raise RuntimeError(
                f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got "
                f"{len(input._shape)} dimensions"
            )
        size = _full_size(input, kernel, steps, pads, output_size)
        if n == 3:
            return fn.max_unpool3d(input, indices, size, steps, pads)
        if n == 2:
            return fn.max_unpool2d(input, indices, size)
        wide = fn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1))
        return wide.squeeze(-1)

    return unpool


max_unpool1d, max_unpool2d, max_unpool3d = map(_unpool, (1, 2, 3))
