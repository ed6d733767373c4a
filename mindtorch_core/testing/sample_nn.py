"""Samples of losses, normalizations, embeddings, attention and grids."""

from __future__ import annotations

from typing import Any, Final

from .recipes import Sample, TensorRecipe
from .recipes import tensor as t

__all__ = ["NN"]


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


def ints(*values: int, shape: tuple[int, ...] = ()) -> TensorRecipe:
    """Given whole numbers."""
    return t(*(shape or (len(values),)), dtype="int64", values=values)


# ---- losses -------------------------------------------------------------------------------------

_SHARES: Final = t(2, 3, low=0.125, high=0.875)
_LABELS: Final = ints(3, 0, -1, 1, 1, -1, 0, 2, shape=(2, 4))
_LOG_PROBS: Final = t(5, 2, 4, low=-3.0, high=-0.125)
_TARGETS: Final = ints(1, 3, 2, 2, shape=(2, 2))
_BEFORE: Final = t(2, 5, 5, low=-4.0, high=-1.0)
_LENGTHS: Final = (5, 4), (2, 1)
_LENGTH_TENSORS: Final = ints(5, 4), ints(2, 1)

_LOSSES: Final[dict[str, tuple[Sample, ...]]] = {
    "binary_cross_entropy": (
        s("mean", _SHARES, t(2, 3, low=0.0, high=1.0)),
        s("weight", _SHARES, t(2, 3, low=0.0, high=1.0), t(3, low=0.5), 0),
    ),
    "multi_margin_loss": (
        s("mean", t(3, 4), ints(0, 3, 1)),
        s("weight", t(3, 4), ints(0, 3, 1), 2, 0.5, t(4, low=0.5), 2),
    ),
    "multilabel_margin_loss": (
        s("mean", t(2, 4), _LABELS),
        s("none", t(2, 4), _LABELS, 0),
        s("one", t(4), ints(3, 0, -1, 1)),
    ),
    "multilabel_margin_loss_forward": (s("mean", t(2, 4), _LABELS, 1),),
    "cosine_embedding_loss": (
        s("mean", t(3, 4), t(3, 4), t(3, values=(1.0, -1.0, 1.0))),
        s("none", t(3, 4), t(3, 4), t(3, values=(1.0, -1.0, 1.0)), 0.25, 0),
    ),
    "_ctc_loss": (s("rows", _LOG_PROBS, _TARGETS, *_LENGTHS),),
    "_ctc_loss.Tensor": (s("rows", _LOG_PROBS, _TARGETS, *_LENGTH_TENSORS),),
    "_ctc_loss_backward": (
        s("rows", t(2), _LOG_PROBS, _TARGETS, *_LENGTHS, t(2, low=2.0, high=4.0), _BEFORE, 0),
    ),
    "_ctc_loss_backward.Tensor": (
        s("rows", t(2), _LOG_PROBS, _TARGETS, *_LENGTH_TENSORS, t(2, low=2.0), _BEFORE, 0),
    ),
    "ctc_loss.IntList": (
        s("mean", _LOG_PROBS, _TARGETS, *_LENGTHS),
        s("joined", _LOG_PROBS, ints(1, 3, 2), *_LENGTHS, 0, 2),
    ),
    "ctc_loss.Tensor": (s("mean", _LOG_PROBS, _TARGETS, *_LENGTH_TENSORS),),
}

# ---- normalization ------------------------------------------------------------------------------

_ALL: Final = (True, True, True)
_MOMENTS: Final = t(3), t(3, low=0.5)  # running mean and variance
_AFFINE: Final = t(3), t(3)
# Inputs with the statistics that go with them: means of 0, and a variance that lacks some eps.
_CENTRED_ROWS: Final = (
    t(2, 3, values=(-1.0, 0.0, 1.0, -2.0, 0.0, 2.0)),
    (3,),
    t(2, 1, values=(0.0,) * 2),
    t(2, 1, values=(1.0, 0.5)),
)
_CENTRED_GROUPS: Final = (
    t(2, 4, 3, values=(-2.0, -1.0, 0.0, 0.0, 1.0, 2.0) * 4),
    t(2, 2, values=(0.0,) * 4),
    t(2, 2, values=(0.5, 0.25, 0.5, 0.75)),
)
_CENTRED_BATCH: Final = t(4, 3, 2, values=(-1.0, 1, -2, 2, -4, 4, 1, -1, 2, -2, 4, -4) * 2)
_OWN: Final = t(3, values=(0.0,) * 3), t(3, values=(1.0, 0.5, 0.25))
_BATCH: Final = t(4, 3, 2)
_NORMALIZATION: Final[dict[str, tuple[Sample, ...]]] = {
    "native_layer_norm_backward": (s("rows", t(2, 3), *_CENTRED_ROWS, *_AFFINE, _ALL),),
    "native_group_norm": (
        s("affine", t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5),
        s("plain", t(1, 4, 2, 3, dtype="float64"), None, None, 1, 4, 6, 2, 1e-5),
    ),
    "native_group_norm_backward": (
        s("affine", t(2, 4, 3), *_CENTRED_GROUPS, t(4), 2, 4, 3, 2, _ALL),
    ),
    "group_norm": (s("affine", t(2, 4, 3), 2, t(4), t(4)), s("plain", t(2, 4, 3), 4)),
    **dict.fromkeys(
        ("native_batch_norm", "_native_batch_norm_legit"),
        (
            s("train", _BATCH, *_AFFINE, *_MOMENTS, True, 0.25, 1e-5),
            s("eval", _BATCH, None, None, *_MOMENTS, False, 0.25, 1e-5),
        ),
    ),
    "_native_batch_norm_legit.no_stats": (s("train", _BATCH, *_AFFINE, True, 0.25, 1e-5),),
    "_batch_norm_with_update": (s("affine", _BATCH, *_AFFINE, *_MOMENTS, 0.25, 1e-5),),
    "batch_norm": (
        s("train", _BATCH, *_AFFINE, *_MOMENTS, True, 0.25, 1e-5, False),
        s("eval", _BATCH, *_AFFINE, *_MOMENTS, False, 0.25, 1e-5, False),
        s("no_stats", _BATCH, None, None, None, None, True, 0.25, 1e-5, False),
    ),
    "instance_norm": (
        s("train", _BATCH, *_AFFINE, *_MOMENTS, True, 0.25, 1e-5, False),
        s("no_stats", _BATCH, None, None, None, None, True, 0.25, 1e-5, False),
    ),
    "native_batch_norm_backward": (
        s("train", _BATCH, _CENTRED_BATCH, t(3), *_MOMENTS, *_OWN, True, 0.0, _ALL),
        s("eval", _BATCH, _BATCH, t(3), *_MOMENTS, None, None, False, 1e-5, _ALL),
    ),
}

# ---- embeddings, attention, grids ---------------------------------------------------------------

_TABLE: Final = t(5, 3)
_BAG: Final = _TABLE, ints(0, 4, 2, 2, 1), ints(0, 2, 2)
_BAGS: Final = (
    s("sum", *_BAG),
    s("mean", *_BAG, mode=1),
    s("max", *_BAG, mode=2),
    s("weights", *_BAG, per_sample_weights=t(5)),
    s("last", *_BAG, include_last_offset=True),
)
_PLANE_GRID: Final = t(1, 2, 3, 4), t(1, 2, 3, 2, low=-1.25, high=1.25)
_SPACE_GRID: Final = t(1, 2, 2, 3, 2), t(1, 2, 1, 2, 3, low=-1.25, high=1.25)
_PLANE_MAP: Final = t(1, 2, 3), (1, 2, 3, 4)
_SPACE_MAP: Final = t(1, 3, 4), (1, 2, 2, 1, 3)

NN: Final[dict[str, tuple[Sample, ...]]] = {
    **_LOSSES,
    **_NORMALIZATION,
    "one_hot": (
        s("classes", ints(0, 2, 1), 4),
        s("2d", ints(0, 2, 1, 1, shape=(2, 2)), 3),
        s("found", ints(0, 2, 1)),
    ),
    "embedding_dense_backward": (
        s("repeated", t(3, 3), ints(0, 2, 2), 4, -1, False),
        s("counted", t(2, 2, 3), ints(0, 1, 1, 1, shape=(2, 2)), 4, 0, True),
    ),
    "embedding_renorm_": (s("two", t(4, 3), ints(0, 2), 1.0, 2.0),),
    "embedding_bag": _BAGS,
    **dict.fromkeys(
        ("_embedding_bag", "_embedding_bag_forward_only"),
        (*_BAGS, s("padding", *_BAG, padding_idx=2)),
    ),
    "embedding_bag.padding_idx": (s("padding", *_BAG, False, 1, False, None, False, 2),),
    "grid_sampler": (s("plane", *_PLANE_GRID, 0, 0, False), s("space", *_SPACE_GRID, 0, 1, True)),
    "grid_sampler_2d": (
        s("nearest", *_PLANE_GRID, 1, 2, False),
        s("bicubic", *_PLANE_GRID, 2, 0, True),
    ),
    "grid_sampler_3d": (s("bilinear", *_SPACE_GRID, 0, 0, False),),
    "affine_grid_generator": (
        s("plane", *_PLANE_MAP, False),
        s("space", *_SPACE_MAP, True),
    ),
}
