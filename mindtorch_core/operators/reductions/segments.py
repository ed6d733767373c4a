"""Reductions of consecutive segments, and hashes of tensors."""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import has_elements
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, float64, int64, uint64
from ...values.promotion import WIDER
from ...values.shapes import numel, reduced, show, wrap_dim, wrap_dims

_INF = float("inf")
# By reduction: how elements are joined, and what an empty segment has.
_REDUCTIONS: Final[dict[str, tuple[str, float]]] = {
    "sum": ("sum", 0),
    "mean": ("sum", float("nan")),
    **dict.fromkeys(("amax", "max"), ("amax", -_INF)),
    **dict.fromkeys(("amin", "min"), ("amin", _INF)),
    "prod": ("prod", 1),
}


def _segment_rule(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> TensorSpec:
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"segment_reduce(): unknown reduction {reduce!r}: one of {', '.join(_REDUCTIONS)}"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    axis = wrap_dim(axis, len(data._shape))
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Expected one of lengths or offsets to be specified.")
    given, name = (offsets, "offsets") if lengths is None else (lengths, "lengths")
    if axis != len(given._shape) - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} "
            f"({len(given._shape) - 1}) but got {axis}."
        )
    if len(data._shape) <= axis or data._shape[:axis] != given._shape[:-1]:
        raise RuntimeError(
            f"segment_reduce(): Expected the dimensions of data {show(data._shape)} before axis {axis} "
            f"to be those of {show(given._shape)}"
        )
    count = given._shape[axis] - (lengths is None)
    return TensorSpec((*data._shape[:axis], count, *data._shape[axis + 1 :]), data._dtype)


def _bounds(data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """Where segments begin and end, along the last dimension."""
    if lengths is None:
        if has_elements(offsets) and bool((offsets.diff() < 0).any()):
            raise RuntimeError("segment_reduce(): Expected offsets that do not decrease.")
        return offsets.to(int64)
    lengths = lengths.to(int64)
    if not unsafe and has_elements(lengths):
        if bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if not bool((lengths.sum(-1) == data._shape[axis]).all()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
    first = lengths.new_zeros((*lengths._shape[:-1], 1))
    return fn.cat([first, lengths.cumsum(-1)], -1)


class _Segments:
    """Which segment every element of ``data`` lies in; before the first and after the last lie others."""

    def __init__(self, data: Any, bounds: Any, axis: int) -> None:
        size, rest = data._shape[axis], (1,) * (len(data._shape) - axis - 1)
        self.axis, self.count = axis, bounds._shape[-1] - 1
        place = fn.arange(size, device=data._device).expand((*data._shape[:axis], size))
        found = fn.searchsorted(bounds.contiguous(), place.contiguous(), right=True)
        self.index = found.reshape(found._shape + rest).expand(data._shape)
        sizes = bounds.clamp(0, size).diff()
        self.sizes = sizes.reshape(sizes._shape + rest)

    def join(self, values: Any, how: str, start: Any) -> Any:
        """The elements of each segment, joined beginning with ``start``."""
        shape, axis = list(values._shape), self.axis
        shape[axis] = self.count + 2
        every = values.new_full(shape, start).scatter_reduce(axis, self.index, values, how)
        return every.narrow(axis, 1, self.count)

    def spread(self, values: Any) -> Any:
        """What is of each segment, at each of its elements; 0 at those of none."""
        beside = values.new_zeros((*values._shape[: self.axis], 1, *values._shape[self.axis + 1 :]))
        return fn.cat([beside, values, beside], self.axis).gather(self.axis, self.index)


def _segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """Elements are joined at the number of their segment."""
    _segment_rule(data, reduce, lengths=lengths, indices=indices, offsets=offsets, axis=axis)
    axis = len((offsets if lengths is None else lengths)._shape) - 1
    segments = _Segments(data, _bounds(data, lengths, offsets, axis, unsafe), axis)
    how, nothing = _REDUCTIONS[reduce]
    if initial is not None:
        nothing = initial
    start = 0 if reduce == "mean" and initial is None else nothing
    # Halves are joined in float32, and rounded once.
    found = segments.join(data.to(WIDER.get(data._dtype, data._dtype)), how, start)
    if reduce == "mean":
        found = fn.where(segments.sizes > 0, found / segments.sizes.clamp(min=1), nothing)
    return found.to(data._dtype)  # type: ignore[no-any-return]


def _segment_grad(
    g: Any, data: Any, reduce: str, lengths: Any, offsets: Any, initial: Any, result: Any
) -> Any:
    axis = len((offsets if lengths is None else lengths)._shape) - 1
    segments = _Segments(data, _bounds(data, lengths, offsets, axis, True), axis)
    if reduce == "sum":
        return segments.spread(g)
    if reduce == "mean":
        return segments.spread(g / segments.sizes.clamp(min=1))
    if reduce == "prod":
        return segments.spread(g) * _other_factors(segments, data, initial, result)
    # The extreme's gradient is shared by all that equal it; NaN is the extreme of what has it.
    chosen = (data == segments.spread(result)) | data.isnan()
    sharing = segments.join(chosen.to(g._dtype), "sum", 0).clamp(min=1)
    return segments.spread(g / sharing).where(chosen, 0)


def _other_factors(segments: _Segments, data: Any, initial: Any, result: Any) -> Any:
    """For each element the product of the others in its segment."""
    zero = data == 0
    others = segments.spread(result) / data.masked_fill(zero, 1)
    start = 1 if initial is None else initial
    for odd in (zero, data.isnan()):  # where it is the only one, no quotient gives them
        alone = odd & (segments.spread(segments.join(odd.to(int64), "sum", 0)) == 1)
        rest = segments.join(data.masked_fill(alone, 1), "prod", start)
        others = fn.where(alone, segments.spread(rest), others)
    return others


op(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    doc="Reduces consecutive segments along ``axis`` (``sum``, ``mean``, ``amax``, ``amin``, ``prod``), "
    "given by their lengths or by where they begin and end.",
    rule=_segment_rule,
    grad={"data": _segment_grad},
    decomposition=_segment_reduce,
    namespaces=("torch", "torch:_segment_reduce"),
)


def _hash_rule(self: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> TensorSpec:
    if mode != 0:
        raise RuntimeError(f"hash_tensor: Unknown mode: {mode}")
    if self._dtype.category == COMPLEX:
        raise NotImplementedError(f"\"hash_tensor\" not implemented for '{self._dtype.label}'")
    dims = wrap_dims(dim, len(self._shape))
    if not numel(self._shape) and isinstance(dim, list | tuple) and not dim:
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for d in dims:
        if self._shape and not self._shape[d]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d} to have non-zero size.")
    return TensorSpec(reduced(self._shape, dims, keepdim), uint64)


def _hash_tensor(self: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """Exclusive or of 64-bit patterns, by halves."""
    spec = _hash_rule(self, dim, keepdim=keepdim, mode=mode)
    if not self.numel():
        return self.new_zeros(spec.shape, dtype=uint64)  # type: ignore[no-any-return]
    wide = float64 if self._dtype.category == FLOATING else int64
    bits = self.to(wide, copy=True).contiguous()  # so that one element alone is no view of it
    if wide is float64:
        bits = bits.view(int64)
    rank = len(self._shape)
    dims = sorted(wrap_dims(dim, rank))
    rest = [i for i in range(rank) if i not in dims]
    lines = bits.permute([*rest, *dims]).reshape((*(self._shape[i] for i in rest), -1))
    while lines._shape[-1] > 1:
        half = lines._shape[-1] // 2
        joined = lines.narrow(-1, 0, half).bitwise_xor(lines.narrow(-1, half, half))
        odd = lines.narrow(-1, 2 * half, lines._shape[-1] - 2 * half)
        lines = fn.cat([joined, odd], -1) if odd._shape[-1] else joined
    return lines.reshape(spec.shape).contiguous().view(uint64)  # type: ignore[no-any-return]


op(
    "hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    doc="Exclusive or of the elements' bits, widened to 64, over dimensions (all if none are given).",
    rule=_hash_rule,
    grad=NONDIFF,
    decomposition=_hash_tensor,
    out=True,
)
