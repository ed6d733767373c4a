"""Sums, means and maxima of bags of rows of a table."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op, public
from ...opdefs.formulas import has_elements
from ...tensors.tensor import Tensor
from ...values.dtypes import INDEX_DTYPES, int64
from ...values.shapes import numel, show
from ...values.user_warnings import warn_user
from ..elementwise.composed import widened

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
        if t._dtype not in INDEX_DTYPES:
            raise RuntimeError(f"expected {name} of dtype int64 or int32, got {t._dtype}")
    if per_sample is not None:
        if mode != 0:
            raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
        if per_sample._dtype is not weight._dtype:
            raise RuntimeError(
                f"Expected 'per_sample_weights' to have the same type as 'weight', {weight._dtype}, "
                f"but got {per_sample._dtype}"
            )
        if per_sample._shape != indices._shape:
            raise RuntimeError(
                f"expected per_sample_weights of shape {show(indices._shape)}, got "
                f"{show(per_sample._shape)}"
            )
    if numel(offsets._shape) and has_elements(offsets):
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
    at = -1 if padding_idx is None else padding_idx
    rows = _rows(weight, indices, at, scale_grad_by_freq, sparse)
    counted = fn.ones_like(bag_of)
    if padding_idx is not None and padding_idx >= 0:  # padding counts nowhere
        kept = indices != padding_idx
        counted = kept.to(int64)
        rows = fn.where(kept.unsqueeze(1), rows, float("-inf") if mode == 2 else 0)
    size = offsets.new_zeros((bags,)).index_add(0, bag_of, counted)
    places = offsets.new_zeros((bags, weight._shape[1]))
    if mode == 2:
        made, places = _largest_rows(rows, indices, bag_of, size)
    else:
        if per_sample_weights is not None:
            rows = rows * widened(per_sample_weights).unsqueeze(1)
        made = rows.new_zeros((bags, rows._shape[1])).index_add(0, bag_of, rows)
        if mode == 1:
            made = made / size.clamp(min=1).to(made._dtype).unsqueeze(1)
    return made.to(weight._dtype), bag_of, size, places


def _rows(weight: Any, indices: Any, padding_idx: int, by_frequency: bool, sparse: bool) -> Any:
    """The table's rows, in the dtype of sums.

    Raises:
        RuntimeError: for an index outside the table, where `embedding` says IndexError, as in PyTorch.
    """
    try:
        if sparse:
            return widened(fn.embedding(weight, indices, padding_idx, by_frequency, True))
        table = _scaled_by_frequency(weight, indices) if by_frequency else weight
        return widened(table.index_select(0, indices))
    except IndexError:
        count = weight._shape[0]
        wrong = indices[(indices < 0) | (indices >= count)][0].item()
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {wrong}; "
            f"num_embeddings is {count}"
        ) from None


def _scaled_by_frequency(weight: Any, indices: Any) -> Any:
    counts = weight.detach().new_zeros((weight._shape[0],))
    counts = counts.index_add(0, indices, fn.ones_like(indices).to(weight._dtype)).clamp(min=1)
    share = weight / counts.unsqueeze(1)
    return weight.detach() + share - share.detach()  # the value of weight, the gradient of share


def _largest_rows(rows: Any, indices: Any, bag_of: Any, size: Any) -> tuple[Any, Any]:
    """Largest elements of each bag, zeros for empty ones, and the table's rows they are from."""
    (count, width), (bags,) = rows._shape, size._shape
    if not count or not bags:
        empty = indices.new_zeros((bags, width))
        return rows.new_zeros((bags, width)).index_add(0, bag_of, rows), empty
    lengths = size.new_zeros((bags,)).index_add(0, bag_of, fn.ones_like(bag_of))  # with padding
    first = lengths.cumsum(0) - lengths
    at = fn.arange(0, count, 1, device=rows._device) - first.index_select(0, bag_of)
    longest = int(lengths.max().item()) if has_elements(lengths) else count
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


# ---- as users call them -------------------------------------------------------------------------


@public("nn")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of the rows of ``weight`` in each bag of indices.

    Args:
        input: indices: bags of one size as rows, or all bags in one row.
        weight: the table, (num_embeddings, dim).
        offsets: where each bag starts, if they are in one row.
        max_norm: rows that are used are first scaled down to this norm, in the table itself.
        norm_type: which norm.
        scale_grad_by_freq: divide gradients by how often an index occurs.
        mode: ``sum``, ``mean`` or ``max``.
        sparse: whether the gradient of ``weight`` is a sparse tensor; not with ``mode="max"``.
        per_sample_weights: factors for the rows of a sum, in the shape of ``input``.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: an index that belongs to no bag.

    Returns:
        (bags, dim).

    Raises:
        ValueError: if the arguments do not fit together.

    Example:
        >>> table = torch.tensor([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])
        >>> bags = torch.tensor([[0, 1], [2, 2]])
        >>> torch.nn.functional.embedding_bag(bags, table, mode="sum")
        tensor([[1., 2.],
                [4., 5.]])
    """
    if weight._dtype is int64 and input._dtype.is_floating_point:
        warn_user(
            "Argument order of nn.functional.embedding_bag was changed: the indices come first, then "
            "the weight. The old order is deprecated."
        )
        input, weight = weight, input
    if len(weight._shape) != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {len(weight._shape)}"
        )
    _check_factors(input, per_sample_weights)
    indices, starts, factors = _in_one_row(input, offsets, per_sample_weights)
    number = _mode_number(mode, scale_grad_by_freq, sparse, factors)
    if max_norm is not None:
        fn.embedding_renorm_(weight.detach(), indices, max_norm, norm_type)
    found: Any = fn.embedding_bag(
        weight, indices, starts, scale_grad_by_freq, number, sparse, factors, include_last_offset,
        padding_idx,
    )  # fmt: skip
    return found[0]  # type: ignore[no-any-return]


def _check_factors(input: Tensor, factors: Tensor | None) -> None:
    if factors is not None and input._shape != factors._shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({show(factors._shape)}) is not None, then it must "
            f"have the same shape as the input ({show(input._shape)})"
        )


def _in_one_row(
    input: Tensor, offsets: Tensor | None, factors: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Indices, where bags start among them, and factors, from bags of any layout.

    Raises:
        ValueError: if there are offsets that the layout has no use for, or none that it needs.
    """
    if len(input._shape) == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
                "fixed length sequences."
            )
        rows, length = input._shape
        starts: Any = fn.arange(0, rows, 1, dtype=input._dtype, device=input._device)
        return (
            input.reshape(-1),
            starts * length,
            factors if factors is None else factors.reshape(-1),
        )
    if len(input._shape) != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(input._shape)}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if len(offsets._shape) != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return input, offsets, factors


def _mode_number(mode: str, by_frequency: bool, sparse: bool, factors: Tensor | None) -> int:
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and by_frequency:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}')."
        )
    return _MODES.index(mode)
