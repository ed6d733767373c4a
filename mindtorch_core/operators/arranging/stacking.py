"""Joining tensors as rows, columns and layers, grids and combinations of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.shapes import numel, show, wrap_dim
from ...values.user_warnings import warn_user_once
from ..elementwise.composed import by_name

__all__: list[str] = []

# ---- stacks -------------------------------------------------------------------------------------


def _stacked(name: str, doc: str, grown: Callable[..., Any], dim: int) -> None:
    """Define a stack: tensors with as many dimensions as it needs, joined along one of them."""

    def composed(tensors: Sequence[Tensor]) -> Any:
        if isinstance(tensors, Tensor):
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
            )
        if not tensors:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        parts = [grown(t) for t in tensors]
        return fn.cat(parts, min(dim, len(parts[0]._shape) - 1))

    op(
        f"{name}(Tensor[] tensors) -> Tensor",
        doc=doc,
        decomposition=composed,
        out=True,
        out_needs=("cast",),
        namespaces=("torch",),
    )


_stacked("hstack", "Tensors side by side: vectors end to end.", lambda t: fn.atleast_1d(t), 1)
for _name in ("vstack", "row_stack"):
    _stacked(_name, "Tensors below each other: vectors are rows.", lambda t: fn.atleast_2d(t), 0)
_stacked("dstack", "Tensors behind each other, as layers.", lambda t: fn.atleast_3d(t), 2)
_stacked(
    "column_stack",
    "Tensors side by side: vectors are columns.",
    lambda t: t.reshape(numel(t._shape), 1) if len(t._shape) < 2 else t,
    1,
)


def _check_chunks(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> int:
    """The dimension, after the arguments have been found to be sound."""
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat expects positive num_chunks, got {num_chunks}")
    first = tensors[0]
    dim = wrap_dim(dim, len(first._shape))
    for t in tensors:
        if not numel(t._shape):
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if t._dtype is not first._dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
        if len(t._shape) <= dim or t._shape[:dim] != first._shape[:dim]:
            raise RuntimeError(
                f"_chunk_cat expects tensors with more than {dim} dimensions, of the same sizes before "
                f"dimension {dim}, but got {show(first._shape)} and {show(t._shape)}"
            )
    return dim


def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Any:
    dim = _check_chunks(tensors, dim, num_chunks)
    parts = []
    for t in tensors:
        before, rest = t._shape[:dim], t._shape[dim + 1 :]
        missing = -t._shape[dim] % num_chunks
        if missing:
            t = fn.cat([t, t.new_zeros((*before, missing, *rest))], dim)
        parts.append(t.reshape((*before, num_chunks, -1)))
    return fn.cat(parts, dim + 1)


op(
    "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
    doc="Chunks of several tensors next to each other: each is padded with zeros to a multiple of "
    "``num_chunks`` along a dimension, and what follows the chunks' dimension is one row.",
    decomposition=_chunk_cat,
    out=True,
    namespaces=("torch",),
    out_needs=("cast",),
)

# ---- grids --------------------------------------------------------------------------------------


def _meshgrid(tensors: Sequence[Tensor], *, indexing: str = "ij") -> tuple[Any, ...]:
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if len(t._shape) > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {show(t._shape)}"
            )
        if t._dtype is not tensors[0]._dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
        if t._device is not tensors[0]._device:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same device")
    swapped = indexing == "xy" and len(tensors) > 1
    given = (tensors[1], tensors[0], *tensors[2:]) if swapped else tensors
    shape = [numel(t._shape) for t in given]
    grids: list[Any] = []
    for i, t in enumerate(given):
        own = [1] * len(shape)
        own[i] = shape[i]
        grids.append(t.reshape(own).expand(shape))
    if swapped:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


op(
    "meshgrid(Tensor[] tensors) -> Tensor[]",
    doc="Coordinates of a grid: each vector along a dimension of its own, and expanded.",
    decomposition=_meshgrid,
    namespaces=(),
)
op(
    "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
    doc='Coordinates of a grid, by rows and columns (``"ij"``) or the other way round (``"xy"``).',
    decomposition=_meshgrid,
    namespaces=(),
)


@public("torch")
def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """Coordinates of a grid: each vector along a dimension of its own, and expanded.

    Args:
        *tensors: vectors or numbers as tensors, spread or as one list.
        indexing: ``"ij"``, the default, or ``"xy"``, with the first two dimensions exchanged.

    Returns:
        A tuple of views, one per vector.

    Example:
        >>> rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
        >>> rows
        tensor([[0, 0, 0],
                [1, 1, 1]])
    """
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    if indexing is None:
        warn_user_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument. "
            'indexing="ij" is what it does without'
        )
        return by_name("aten::meshgrid")(given)
    return by_name("aten::meshgrid.indexing")(given, indexing=indexing)


# ---- combinations -------------------------------------------------------------------------------


def _combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    if len(self._shape) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {show(self._shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return self.new_empty((0,))
    size = self._shape[0]
    if r > size and not with_replacement:
        return self.narrow(0, 0, 0).view(0, r)
    place: Any = fn.arange(size, device=self._device)
    rows = place.unsqueeze(1)
    for _ in range(r - 1):
        last = rows.select(1, -1).unsqueeze(1)
        follows = place >= last if with_replacement else place > last
        row, nth = follows.nonzero().unbind(1)
        rows = fn.cat([rows.index_select(0, row), nth.unsqueeze(1)], 1)
    return self.index_select(0, rows.reshape(-1)).view(rows._shape)


op(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    doc="All combinations of ``r`` elements of a vector, as rows, in the order of their positions.",
    decomposition=_combinations,
)
