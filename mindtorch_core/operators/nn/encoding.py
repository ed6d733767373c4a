"""Integers as vectors: one-hot rows, and sums, means or maxima of rows of a table."""

from __future__ import annotations

from typing import Any

from ...dtypes import int64
from ...shapes import numel, show
from ...tensor import Tensor
from ..define import fn, op
from .windows import widened


def _one_hot(self: Tensor, num_classes: int = -1) -> Any:
    if self._dtype is not int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {self._dtype.label}"
        )
    empty = not numel(self._shape)
    if empty and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if not empty:
        if self.min().item() < 0:
            raise RuntimeError("Class values must be non-negative.")
        largest = int(self.max().item())
        if num_classes == -1:
            num_classes = largest + 1
        elif num_classes < 1:
            raise RuntimeError("num_classes should be positive")
        elif largest >= num_classes:
            raise RuntimeError(
                f"Class values must be smaller than num_classes, got {largest} and {num_classes}"
            )
    classes = fn.arange(0, num_classes, 1, device=self._device)
    return (self.unsqueeze(-1) == classes).to(int64)


op(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    doc="Rows of zeros with a one at each class; by default as many classes as the largest needs.",
    decomposition=_one_hot,
    data_dependent=True,
    namespaces=("torch", "nn"),
)

# ---- bags of rows -------------------------------------------------------------------------------

_MODES = ("sum", "mean", "max")


def _check_bag(
    weight: Tensor, indices: Tensor, offsets: Tensor, mode: int, per_sample: Tensor | None
) -> None:
    if len(indices._shape) not in (1, 2):
        raise RuntimeError(f"input has to be a 1D or 2D Tensor, but got {show(indices._shape)}")
    if len(weight._shape) != 2:
        raise RuntimeError(f"weight has to be a 2D Tensor, but got {show(weight._shape)}")
    if len(offsets._shape) != 1:
        raise RuntimeError(f"offsets has to be a 1D Tensor, but got {show(offsets._shape)}")
    for name, t in (("indices", indices), ("offsets", offsets)):
        if t._dtype.name not in ("int64", "int32"):
            raise RuntimeError(f"expected {name} of dtype int64 or int32, got {t._dtype}")
    if per_sample is not None:
        if mode != 0:
            raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
        if per_sample._dtype is not weight._dtype:
            raise RuntimeError(
                f"expected per_sample_weights of dtype {weight._dtype}, got {per_sample._dtype}"
            )
        if per_sample._shape != indices._shape:
            raise RuntimeError(
                f"expected per_sample_weights of shape {show(indices._shape)}, got "
                f"{show(per_sample._shape)}"
            )
    if numel(offsets._shape):
        if offsets[0].item() != 0:
            raise RuntimeError(
                f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {offsets[0].item()}"
            )
        if offsets[-1].item() > indices._shape[0]:
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length({indices._shape[0]}) but got "
                f"offsets[-1] of {offsets[-1].item()}"
            )


def _bag_of(offsets: Any, count: int) -> Any:
    """The bag of each of ``count`` indices."""
    starts = offsets.new_zeros((count + 1,)).index_add(0, offsets, fn.ones_like(offsets))
    return starts.narrow(0, 0, count).cumsum(0) - 1


def _bags(
    weight: Tensor, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    _check_bag(weight, indices, offsets, mode, per_sample_weights)
    indices, offsets = indices.to(int64), offsets.to(int64)
    bags = offsets._shape[0] - bool(include_last_offset)
    if bags < 0:
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    count = indices._shape[0]
    bag_of = _bag_of(offsets.narrow(0, 0, bags), count) if bags else indices.new_zeros((0,))
    table = _scaled_by_frequency(weight, indices) if scale_grad_by_freq else weight
    padding = -1 if padding_idx is None else padding_idx
    kept = None
    if padding >= 0:  # padding belongs to no bag
        kept = (indices != padding).nonzero().squeeze(1)
        indices, bag_of = indices.index_select(0, kept), bag_of.index_select(0, kept)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.index_select(0, kept)
    rows: Any = widened(table.index_select(0, indices))
    size = offsets.new_zeros((bags,)).index_add(0, bag_of, fn.ones_like(bag_of))
    places = offsets.new_zeros((bags, weight._shape[1]))
    if mode == 2:
        made, places = _largest_rows(rows, indices, bag_of, size, bags)
    else:
        if per_sample_weights is not None:
            rows = rows * widened(per_sample_weights).unsqueeze(1)
        made = rows.new_zeros((bags, rows._shape[1])).index_add(0, bag_of, rows)
        if mode == 1:
            made = made / size.clamp(min=1).to(made._dtype).unsqueeze(1)
    return made.to(weight._dtype), bag_of, size, places


def _scaled_by_frequency(weight: Any, indices: Any) -> Any:
    counts = weight.detach().new_zeros((weight._shape[0],))
    counts = counts.index_add(0, indices, fn.ones_like(indices).to(weight._dtype)).clamp(min=1)
    share = weight / counts.unsqueeze(1)
    return weight.detach() + share - share.detach()  # the value of weight, the gradient of share


def _largest_rows(rows: Any, indices: Any, bag_of: Any, size: Any, bags: int) -> tuple[Any, Any]:
    """Largest elements of each bag, zeros for empty ones, and the table's rows they are from."""
    count, width = rows._shape
    if not count or not bags:
        empty = indices.new_zeros((bags, width))
        return rows.new_zeros((bags, width)).index_add(0, bag_of, rows), empty
    first = size.cumsum(0) - size
    at = fn.arange(0, count, 1, device=rows._device) - first.index_select(0, bag_of)
    longest = int(size.max().item())
    slots = rows.detach().new_full((bags * longest, width), float("-inf"))
    slots._index_put_positions_([bag_of * longest + at], rows.detach())
    slots = slots.view(bags, longest, width)
    best = slots.max(1)[1]
    position = (first.unsqueeze(1) + best).clamp(max=count - 1)
    made = rows.gather(0, position)
    empty = (size == 0).unsqueeze(1)
    source = indices.index_select(0, position.reshape(-1)).view(bags, width)
    return made.masked_fill(empty, 0), source.masked_fill(empty, 0)


_BAG = (
    "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool "
    "sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False"
)
for _name, _extra in (
    ("embedding_bag", ""),
    ("_embedding_bag", ", int padding_idx=-1"),
    ("_embedding_bag_forward_only", ", int padding_idx=-1"),
):
    op(
        f"{_name}({_BAG}{_extra}) -> (Tensor, Tensor, Tensor, Tensor)",
        doc="Sums (mode 0), means (1) or maxima (2) of the rows of ``weight`` in each bag; the bag of "
        "each index, the bags' sizes, and where maxima are from.",
        decomposition=_bags,
        namespaces=("torch",),
    )
op(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
    "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
    doc="`embedding_bag` without the rows at ``padding_idx``.",
    decomposition=lambda weight, indices, offsets, scale, mode, sparse, samples, last, padding_idx: (
        _bags(
            weight, indices, offsets, scale, mode, sparse, samples, last,
            _wrapped(padding_idx, weight),
        )
    ),
    namespaces=("torch",),
)  # fmt: skip


def _wrapped(padding_idx: int | None, weight: Tensor) -> int | None:
    rows = weight._shape[0]
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
            f"{padding_idx}"
        )
    return padding_idx % rows


def _nn_embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:  # fmt: skip
    if weight._dtype is int64 and input._dtype.is_floating_point:
        input, weight = weight, input  # the order of arguments before PyTorch 0.4
    if per_sample_weights is not None and input._shape != per_sample_weights._shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({show(per_sample_weights._shape)}) is not None, "
            f"then it must have the same shape as the input ({show(input._shape)})"
        )
    if len(input._shape) == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
                "fixed length sequences."
            )
        rows, length = input._shape
        offsets = fn.arange(0, rows, 1, dtype=input._dtype, device=input._device) * length
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif len(input._shape) == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if len(offsets._shape) != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(input._shape)}"
        )
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    number = _MODES.index(mode)
    if number == 2 and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if number == 2 and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and number != 0:
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}')."
        )
    if max_norm is not None:
        _limit_norms(weight, input, max_norm, norm_type)
    return _bags(
        weight, input, offsets, scale_grad_by_freq, number, sparse, per_sample_weights,
        include_last_offset, _wrapped(padding_idx, weight),
    )[0]  # fmt: skip


def _limit_norms(weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows in use, in place, so that none has a larger norm."""
    at = indices.to(int64)
    used = at.new_zeros((weight._shape[0],)).index_add(0, at, fn.ones_like(at))
    plain = weight.detach()
    norms = (plain.abs() ** norm_type).sum(1, True) ** (1 / norm_type)
    factor = fn.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
    plain.copy_(fn.where(used.unsqueeze(1) > 0, plain * factor, plain))


op(
    "nn_embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float "
    "norm_type=2.0, bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? "
    "per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor",
    doc="Sums, means or maxima of the rows of ``weight`` in each bag of indices.",
    decomposition=_nn_embedding_bag,
    namespaces=("nn:embedding_bag",),
)
