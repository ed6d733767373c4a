"""Parts by number, by position and along fixed dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import int64
from .facts import apart

__all__: list[str] = []


def _splittable(self: Tensor) -> None:
    if not self._shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )


def _sections(self: Tensor, sections: int, dim: int = 0) -> tuple[Tensor, ...]:
    """So many parts; the first are longer by 1 where the size is no multiple."""
    _splittable(self)
    size = self.size(dim)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    each, more = divmod(size, sections)
    ends = [(i + 1) * each + min(i + 1, more) for i in range(sections)]
    return _cut(self, ends[:-1], dim)


def _indices(self: Tensor, indices: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    _splittable(self)
    return _cut(self, indices, dim)


def _cut(self: Tensor, ends: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """The slices between consecutive positions."""
    starts = (0, *ends)
    return tuple(
        fn.slice(self, dim, a, b, 1) for a, b in zip(starts, (*ends, self.size(dim)), strict=True)
    )


def _as_tensor_says(
    self: Tensor, tensor_indices_or_sections: Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    where = tensor_indices_or_sections
    if where._device.type != "cpu":
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {where._device}"
        )
    if where._dtype is not int64:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{where._dtype.label}"
        )
    if len(where._shape) > 1:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {len(where._shape)} dims"
        )
    given: Any = where.tolist()
    return _indices(self, given, dim) if where._shape else _sections(self, given, dim)


for _overload, _argument, _decomposition in (
    ("tensor_indices_or_sections", "Tensor tensor_indices_or_sections", _as_tensor_says),
    ("sections", "int sections", _sections),
    ("indices", "int[] indices", _indices),
):
    op(
        f"tensor_split.{_overload}(Tensor(a -> *) self, {_argument}, int dim=0) -> Tensor(a)[]",
        doc="Parts along a dimension, by their number or by the positions where they begin.",
        decomposition=_decomposition,
        crosses_devices="as they are",  # positions are read on the host
    )


def _along(name: str, least: int, dim: int) -> None:
    """Define a split along a fixed dimension.

    Args:
        name: the op.
        least: how many dimensions the tensor must have.
        dim: the dimension.
    """

    def place(self: Tensor) -> int:
        rank = len(self._shape)
        if rank < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
                f"with {rank} dimensions!"
            )
        return 0 if name == "hsplit" and rank == 1 else dim

    def by_number(self: Tensor, sections: int) -> tuple[Tensor, ...]:
        at = place(self)
        size = self._shape[at]
        if sections == 0 or size % sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {at}, but the size of the dimension "
                f"{size} is not divisible by the split_size {sections}!"
            )
        return _sections(self, sections, at)

    op(
        f"{name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
        doc=f"Equal parts along dimension {dim}.",
        decomposition=by_number,
    )
    op(
        f"{name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
        doc=f"Parts along dimension {dim} that begin at the given positions.",
        decomposition=lambda self, indices: _indices(self, indices, place(self)),
    )


_along("hsplit", 1, 1)
_along("vsplit", 2, 0)
_along("dsplit", 3, 2)


def _in_a_row(self: Tensor, parts: Any, dim: int) -> tuple[Tensor, ...]:
    """Parts of a tensor along a dimension, one after another, as long as those that are given.

    They show its memory, and count as tensors of their own.
    """
    found, start = [], 0
    for part in parts:
        length = part._shape[dim]
        found.append(apart(self.narrow(dim, start, length)))
        start += length
    return tuple(found)


def _unsafe(name: str, argument: str, overload: str = "") -> None:
    """Define a split whose parts may change in place under autograd: each is a view of its own."""
    plain = name.removeprefix("unsafe_")
    op(
        f"{name}{overload}(Tensor self, {argument}, int dim=0) -> Tensor[]",
        doc=f"As `{plain}`, with parts that may change in place under autograd.",
        decomposition=lambda self, parts, dim=0: _in_a_row(
            self, getattr(fn, plain)(self.detach(), parts, dim), dim
        ),
    )


_unsafe("unsafe_chunk", "int chunks")
_unsafe("unsafe_split", "int split_size", ".Tensor")
_unsafe("unsafe_split_with_sizes", "int[] split_sizes")
