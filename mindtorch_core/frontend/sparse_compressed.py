"""What sparse matrices in compressed rows, columns and blocks are, beside those in coordinates.

Such a matrix holds the positions of all its elements, in the order of its layout, and computes with them as
one in coordinates does: the indices that PyTorch has instead are made when they are asked for.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..dispatch.functions import fn
from ..dispatch.keys import DispatchKey
from ..tensors.tensor import Tensor
from ..values.dtypes import bool_, default_complex, get_default_dtype, int64
from ..values.layouts import layout, sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from .printing import _tensor_str, filled

__all__ = ["Compressed", "inner", "outer", "relaid", "shown", "turned"]

_TURNED: Final = {
    sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr,
}  # fmt: skip


class Compressed(NamedTuple):
    """How the elements of a compressed matrix lie."""

    layout: layout
    block: tuple[int, int] = (1, 1)

    @property
    def axis(self) -> int:
        """The dimension that is compressed: 0 for rows, 1 for columns."""
        return int(self.layout in (sparse_csc, sparse_bsc))

    @property
    def blocked(self) -> bool:
        """Whether the elements are blocks."""
        return self.layout in (sparse_bsr, sparse_bsc)

    @property
    def label(self) -> str:
        """The layout in errors, as ``SparseCsr``."""
        return "Sparse" + self.layout.name.removeprefix("sparse_").capitalize()

    @property
    def names(self) -> tuple[str, str]:
        """What the indices are called: of the compressed dimension, and of the other one."""
        return ("ccol_indices", "row_indices") if self.axis else ("crow_indices", "col_indices")


def _places(x: Any, dim: int) -> Tensor:
    """The places along a dimension of a matrix' blocks, or of its elements."""
    rows, columns = x._how.block
    of_blocks: Tensor = x._positions[dim][:: rows * columns]
    size = x._how.block[dim]
    return of_blocks if size == 1 else fn.div(of_blocks, size, rounding_mode="floor")


def outer(x: Any) -> Tensor:
    """Where each row, or column, of a matrix begins, and at the end how many elements it has."""
    axis = x._how.axis
    many = x._shape[axis] // x._how.block[axis]
    if x._keys & DispatchKey.Meta:
        return fn.empty([many + 1], dtype=int64, device=x._device)
    counts = fn.bincount(_places(x, axis), minlength=many)
    return fn.cat([counts.new_zeros(1), fn.cumsum(counts, 0)])


def inner(x: Any) -> Tensor:
    """The column, or row, of each element of a matrix."""
    return _places(x, 1 - x._how.axis)


def turned(x: Any) -> tuple[Tensor, Tensor, Compressed]:
    """Positions, elements and layout of a matrix with its dimensions exchanged."""
    rows, columns = x._how.block
    positions, elements = fn.flip(x._positions, [0]), x._elements
    if rows > 1 and columns > 1:
        order = fn.arange(elements._shape[0], device=elements._device)
        order = order.reshape(-1, rows, columns).transpose(1, 2).reshape(-1)
        positions, elements = positions[:, order], elements[order]
    return positions, elements, Compressed(_TURNED[x._how.layout], (columns, rows))


def relaid(found: Any, how: Compressed | None) -> Any:
    """A matrix in coordinates, in another layout, or as it is."""
    if how is None:
        return found
    return found.to_sparse(layout=how.layout, blocksize=how.block if how.blocked else None)


def _indented(x: Tensor, by: int) -> str:
    """The elements of a tensor as text, whose first line stands further right."""
    if x._keys & DispatchKey.Meta:
        return f"tensor(..., size={tuple(x._shape)})"
    held = _tensor_str(x, by) if x.numel() else f"[], size={tuple(x._shape)}"
    return f"tensor({held})"


def shown(x: Any) -> str:
    """The text of a sparse tensor; its last parts fill lines."""
    held = {"indices": x._positions, "values": x._elements.detach()}
    if x._how:
        first, second = x._how.names
        held = {first: outer(x), second: inner(x), "values": x.values().detach()}
    lines = [f"{name}={_indented(value, 15 + len(name))}" for name, value in held.items()]
    parts = [f"size={tuple(x._shape)}", f"nnz={x._nnz()}", f"layout={x.layout}"]
    if x._dtype not in (get_default_dtype(), default_complex(), int64, bool_):
        parts.insert(2, f"dtype={x._dtype}")
    if x.requires_grad:
        parts.append("requires_grad=True" if x.is_leaf else f"grad_fn=<{x.grad_fn.name()}>")
    if x._device.type != "cpu":
        parts.insert(0, f"device='{x._device}'")
    text = "tensor(" + (",\n" + " " * 7).join(lines)
    return filled(text, parts, 7, not x._how) + ")"
