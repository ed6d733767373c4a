"""Reductions of consecutive segments, and hashes of tensors."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import has_elements
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, float64, int64, uint64
from ...values.promotion import WIDER
from ...values.shapes import numel, reduced, show, wrap_dim, wrap_dims

_INF = float("inf")
_EMPTY = {"sum": 0, "mean": float("nan"), "max": -_INF, "min": _INF, "prod": 1}


def _offsets(data: Any, lengths: Any, offsets: Any, axis: int, unsafe: bool) -> Any:
    """Where segments begin and end, along the last dimension."""
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Expected one of lengths or offsets to be specified.")
    given = offsets if lengths is None else lengths
    if axis != len(given._shape) - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of "
            f"{'offsets' if lengths is None else 'lengths'} ({len(given._shape) - 1}) but got {axis}."
        )
    if len(data._shape) <= axis or data._shape[:axis] != given._shape[:-1]:
        raise RuntimeError(
            f"segment_reduce(): Expected the dimensions of data {show(data._shape)} before axis {axis} "
            f"to be those of {show(given._shape)}"
        )
    if lengths is None:
        return offsets.to(int64)
    lengths = lengths.to(int64)
    if not unsafe and lengths.numel() and has_elements(lengths):
        if bool((lengths < 0).any()):
            raise RuntimeError("lengths contains negative value!")
        if not bool((lengths.sum(-1) == data._shape[axis]).all()):
            raise RuntimeError(
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) when !unsafe."
            )
    return fn.cat([lengths.narrow(-1, 0, 1) * 0, lengths.cumsum(-1)], -1)


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
    """Every element of every segment is looked at through a mask of members."""
    if reduce not in _EMPTY:
        raise RuntimeError(
            f"segment_reduce(): unknown reduction {reduce!r}: one of {', '.join(_EMPTY)}"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    axis = wrap_dim(axis, len(data._shape))
    bounds = _offsets(data, lengths, offsets, axis, unsafe)
    count = bounds._shape[-1] - 1
    place = fn.arange(data._shape[axis], device=data._device)
    start, end = (bounds.narrow(-1, i, count).unsqueeze(-1) for i in (0, 1))
    member = (place >= start) & (place < end)  # (..., segments, elements)
    trailing = len(data._shape) - axis - 1
    member = member.reshape(member._shape + (1,) * trailing)
    values = data.unsqueeze(axis)
    neutral = {"mean": 0}.get(reduce, _EMPTY[reduce])
    chosen = fn.where(member, values, neutral)
    if not data._shape[axis]:
        shape = (*data._shape[:axis], count, *data._shape[axis + 1 :])
        first = data.new_full(shape, _EMPTY[reduce] if initial is None else initial)
    if reduce in ("max", "min"):
        found = getattr(chosen, f"a{reduce}")(axis + 1) if data._shape[axis] else first
        if initial is None:
            return found  # type: ignore[no-any-return]
        return found.clamp(**{"min" if reduce == "max" else "max": initial})  # type: ignore[no-any-return]
    if reduce == "prod":
        found = chosen.prod(axis + 1)
        return found if initial is None else found * initial
    # Sums of halves are taken in float32, and rounded once.
    found = chosen.sum(axis + 1, dtype=WIDER.get(data._dtype, data._dtype))
    if initial is not None:
        found = found + initial
    if reduce == "mean":
        nothing = _EMPTY["mean"] if initial is None else initial
        sizes = member.sum(axis + 1)
        found = fn.where(sizes > 0, found / sizes.clamp(min=1), nothing)
    return found.to(data._dtype)  # type: ignore[no-any-return]


op(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    doc="Reduces consecutive segments along ``axis`` (``sum``, ``mean``, ``max``, ``min``, ``prod``), given "
    "by their lengths or by where they begin and end.",
    decomposition=_segment_reduce,
    namespaces=("torch", "torch:_segment_reduce"),
)


def _hash_rule(self: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> TensorSpec:
    if mode != 0:
        raise RuntimeError(f"hash_tensor: Unknown mode: {mode}")
    if self._dtype.category == COMPLEX:
        raise NotImplementedError(f"\"hash_tensor\" not implemented for '{self._dtype.label}'")
    dims = wrap_dims(dim if dim != [] else None, len(self._shape))
    if not numel(self._shape) and dim in ((), []):
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
    dims = sorted(wrap_dims(dim if dim != [] else None, rank))
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
