"""The same elements in another order, or several times: flips, rolls, rotations, repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...tensors.making import sole
from ...tensors.tensor import Tensor
from ...values.dtypes import INDEX_DTYPES
from ...values.memory_formats import contiguous_format
from ...values.shapes import Shape, show, wrap_dim, wrap_dims
from ...values.whole_sizes import whole_sizes

__all__: list[str] = []

# ---- mirrored -----------------------------------------------------------------------------------


def _flip_rule(self: Tensor, dims: Sequence[int]) -> TensorSpec:
    wrap_dims(dims, len(self._shape))
    return rules.like(self)


def _flip(self: Any, dims: Sequence[int]) -> Any:
    strides = _flip_rule(self, dims).strides
    out = self.clone(memory_format=contiguous_format)
    for dim in {wrap_dim(d, len(self._shape)) for d in dims}:
        if self._shape and self._shape[dim] > 1:
            out = out.index_select(dim, fn.arange(self._shape[dim] - 1, -1, -1, device=out._device))
    return out if strides is None else fn.empty_like(self).copy_(out)


op(
    "flip(Tensor self, int[] dims) -> Tensor",
    doc="A copy with the order of the elements reversed along dimensions.",
    rule=_flip_rule,
    grad={"self": lambda g, dims: g.flip(dims)},
    decomposition=_flip,
    varargs="dims",
)


def _mirrored(name: str, dim: int) -> None:
    def flipped(self: Tensor) -> Tensor:
        if len(self._shape) <= dim:
            raise RuntimeError(f"{name}: Input must be >= {dim + 1}-d.")
        return fn.flip(self, (dim,))

    op(
        f"{name}(Tensor self) -> Tensor",
        doc=f"A copy with the order of the elements reversed along dimension {dim}.",
        decomposition=flipped,
    )


_mirrored("flipud", 0)
_mirrored("fliplr", 1)

# ---- turned -------------------------------------------------------------------------------------


def _listed(value: int | Sequence[int]) -> Sequence[int]:
    return value if isinstance(value, list | tuple) else (value,)


def _roll_rule(self: Tensor, shifts: Any, dims: Any = ()) -> TensorSpec:
    shifts, dims = _listed(shifts), _listed(dims)
    if not shifts:
        raise RuntimeError("`shifts` required: by how many places to roll")
    if len(shifts) != len(dims) and (dims or len(shifts) != 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    for dim in dims:
        if not self._shape:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        wrap_dim(dim, len(self._shape))
    if dims and 0 in self._shape:
        return rules.like(self)
    lies = rules.format_of(self)
    if not dims or not all(n % self._shape[d] for n, d in zip(shifts, dims, strict=True)):
        lies = contiguous_format
    return rules.laid(self._shape, self._dtype, lies)


def _roll(self: Any, shifts: Any, dims: Any = ()) -> Any:
    shifts, dims = _listed(shifts), _listed(dims)
    spec = _roll_rule(self, shifts, dims)
    if dims and not self.numel():
        return self.clone()
    if not dims:
        return sole(fn.roll(self.reshape(-1), shifts, (0,)).view(self._shape))
    out = self
    for shift, dim in zip(shifts, dims, strict=True):
        size = out.size(dim)
        at = -shift % size
        if at:
            out = fn.cat([out.narrow(dim, at, size - at), out.narrow(dim, 0, at)], dim)
    rows = spec.strides is None and (out is self or not out.is_contiguous())
    return out.clone(memory_format=contiguous_format) if rows else out


op(
    "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    doc="Elements moved on along dimensions; what leaves at the end comes in at the start. Without "
    "dimensions the tensor is rolled as one row.",
    rule=_roll_rule,
    grad={"self": lambda g, shifts, dims: g.roll([-n for n in _listed(shifts)], dims)},
    decomposition=_roll,
)


def _rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    rank = len(self._shape)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if rank < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {rank}")
    a, b = (wrap_dim(d, rank) for d in dims)
    if a == b:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    quarter = k % 4
    if quarter == 0:
        return self.clone(memory_format=contiguous_format)
    if quarter == 2:
        return fn.flip(self, (a, b))
    return fn.flip(self, (b if quarter == 1 else a,)).transpose(a, b)


op(
    "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
    doc="Rotated by ``k`` quarter turns in a plane, from the first of two dimensions to the second.",
    decomposition=_rot90,
)

# ---- repeated -----------------------------------------------------------------------------------


def _repeat_rule(self: Tensor, repeats: Sequence[int]) -> TensorSpec:
    repeats = whole_sizes(repeats)
    new = len(repeats) - len(self._shape)
    if new < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            f"tensor: {len(repeats)} repeats for {len(self._shape)} dimensions"
        )
    if any(n < 0 for n in repeats):
        raise RuntimeError(
            f"Trying to create tensor with negative dimension: the repeats are {show(repeats)}"
        )
    sizes = (*(1,) * new, *self._shape)
    return TensorSpec(tuple(n * r for n, r in zip(sizes, repeats, strict=True)), self._dtype)


def _repeat(self: Any, repeats: Sequence[int]) -> Any:
    shape = _repeat_rule(self, repeats).shape
    repeats = whole_sizes(repeats)
    sizes = (*(1,) * (len(repeats) - len(self._shape)), *self._shape)
    apart = [x for n in sizes for x in (1, n)]
    spread = [x for r, n in zip(repeats, sizes, strict=True) for x in (r, n)]
    return self.reshape(apart).expand(spread).clone(memory_format=contiguous_format).view(shape)


def _repeat_back(g: Any, self_shape: Shape, repeats: Sequence[int]) -> Any:
    sizes = (*(1,) * (len(repeats) - len(self_shape)), *self_shape)
    spread = [x for r, n in zip(repeats, sizes, strict=True) for x in (r, n)]
    if not spread:
        return g
    return g.reshape(spread).sum(tuple(range(0, len(spread), 2))).reshape(self_shape)


op(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    doc="The tensor so many times along each dimension, as tiles; further dimensions come in front.",
    rule=_repeat_rule,
    grad={"self": _repeat_back},
    decomposition=_repeat,
    varargs="repeats",
    namespaces=("Tensor",),
)
op(
    "tile(Tensor self, int[] dims) -> Tensor",
    doc="As `Tensor.repeat`, where dimensions in front may be left out.",
    decomposition=lambda self, dims: self.repeat((*(1,) * (len(self._shape) - len(dims)), *dims)),
    varargs="dims",
)


def _repeated_positions(repeats: Tensor, *, output_size: int | None = None) -> Any:
    """Each position as often as the repeats say: how many of them have been passed on the way."""
    check_repeats(repeats)
    ends: Any = repeats.cumsum(0)
    total = int(ends[-1].item()) if repeats._shape[0] else 0
    check_total(total, output_size)
    if not total:
        return repeats.new_zeros((0,))
    passed = fn._index_put_positions(
        repeats.new_zeros((total + 1,)), [ends], repeats.new_ones(()), True
    )
    return passed.cumsum(0)[:total].to(repeats._dtype)


def check_repeats(repeats: Tensor) -> None:
    """Refuse what is no vector of non-negative counts.

    Raises:
        NotImplementedError: for another dtype than int32 and int64.
        RuntimeError: for another shape, or negative counts.
    """
    if len(repeats._shape) != 1:
        raise RuntimeError(
            f"repeat_interleave only accept 1D vector as repeat, but repeats has shape "
            f"{show(repeats._shape)}"
        )
    if repeats._dtype not in INDEX_DTYPES:
        raise NotImplementedError(
            f"\"repeat_interleave\" not implemented for '{repeats._dtype.label}': repeats has to be a "
            f"Long or Int tensor"
        )
    if bool((repeats < 0).any()):
        raise RuntimeError("repeats can not be negative")


def check_total(total: int, output_size: int | None) -> None:
    """Refuse a promised size that is not that of the result.

    Raises:
        RuntimeError: if they differ.
    """
    if output_size is not None and output_size != total:
        raise RuntimeError(
            f"allocated size does not match required size: output_size is {output_size}, but the "
            f"repeats sum to {total}"
        )


op(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    doc="Each position ``i`` of a vector ``repeats[i]`` times.",
    grad=NONDIFF,
    decomposition=_repeated_positions,
    data_dependent=True,
    namespaces=("torch",),
)


def _interleaved_by_tensor(
    self: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    whole: Any = self.reshape(-1) if dim is None else self
    at = 0 if dim is None else wrap_dim(dim, len(self._shape))
    size = whole._shape[at] if whole._shape else 1
    if len(repeats._shape) > 1:
        raise RuntimeError(
            f"repeats must be 0-dim or 1-dim tensor, but it has shape {show(repeats._shape)}"
        )
    if repeats.numel() == 1:
        repeats = repeats.reshape(1).expand(size)
    elif repeats._shape[0] != size:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats._shape[0]} and input.size({at}) = {size}"
        )
    return whole.index_select(at, fn.repeat_interleave(repeats, output_size=output_size))


op(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    doc="Each slice along a dimension so many times, one next to the other; without a dimension the "
    "tensor is one row.",
    decomposition=_interleaved_by_tensor,
)


def _interleaved(
    self: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    if repeats < 0:
        raise RuntimeError(f"Repeats must be non-negative, but got {repeats}")
    whole: Any = self.reshape(-1) if dim is None or not self._shape else self
    at = wrap_dim(0 if dim is None else dim, len(whole._shape))
    size = whole._shape[at] * repeats
    if output_size is not None and output_size != size:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {size} but got {output_size}"
        )
    shape = whole._shape
    spread = whole.unsqueeze(at + 1).expand((*shape[: at + 1], repeats, *shape[at + 1 :]))
    return spread.clone(memory_format=contiguous_format).view((*shape[:at], size, *shape[at + 1 :]))


op(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    doc="Each slice along a dimension ``repeats`` times, one next to the other.",
    decomposition=_interleaved,
)
