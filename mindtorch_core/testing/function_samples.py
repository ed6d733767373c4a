"""Sample calls of the functions that Python makes of ops, one each: ``torch.einsum``, losses, ..."""

from __future__ import annotations

from typing import Any, Final

from .recipes import Sample, TensorRecipe
from .recipes import tensor as t

__all__ = ["FUNCTION_SAMPLES", "WITHOUT_FUNCTION_SAMPLES"]


def s(*args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample("", args, kwargs)


def ints(*values: int, shape: tuple[int, ...] = ()) -> TensorRecipe:
    """Given whole numbers."""
    return t(*(shape or (len(values),)), dtype="int64", values=values)


# Functions that draw random numbers, so that two devices give different results, and old names of
# `interpolate`, which warn.
WITHOUT_FUNCTION_SAMPLES: Final = frozenset(
    {
        *("torch.svd_lowrank", "torch.pca_lowrank", "nn.gumbel_softmax"),
        *("nn.upsample", "nn.upsample_nearest", "nn.upsample_bilinear"),
    }
)

_MASK: Final = t(2, 4, dtype="bool", values=(True, False, True, True, True, True, False, True))
_IMAGE: Final = t(2, 3, 6, 6, seed=1)
_VOLUME: Final = t(1, 2, 4, 4, 4, seed=2)
_ROWS: Final = t(2, 3, 8, seed=3)
_SHARES: Final = t(2, 3, low=0.125, high=0.875)
_SIGNS: Final = t(3, values=(1.0, -1.0, 1.0))
_CLASSES: Final = ints(0, 3, 1)
_CORNERS: Final = t(2, 2, 2, 2, low=0.125, high=0.875)

_TORCH: Final[dict[str, Sample]] = {
    "nonzero": s(_MASK, as_tuple=True),
    "meshgrid": s(t(2), t(3), indexing="ij"),
    "unravel_index": s(ints(0, 5, 11), (3, 4)),
    "tensordot": s(t(2, 3, 4), t(3, 4, 2), dims=2),
    "lu": s(t(3, 3)),
    "einsum": s("bij,bjk->bik", t(2, 3, 4), t(2, 4, 2)),
    "norm": s(t(2, 3), 2, 1),
    "cdist": s(t(3, 4), t(2, 4)),
    "unique": s(ints(3, 1, 3, 2, 1), return_inverse=True, return_counts=True),
    "unique_consecutive": s(ints(1, 1, 2, 2, 2, 1), return_counts=True),
}
_TENSOR: Final[dict[str, Sample]] = {
    "where": s(t(2, 4), _MASK, t(2, 4)),
    "lu": s(t(3, 3)),
    "norm": s(t(2, 3), 1, 0, True),
    "polygamma": s(t(4, low=0.5), 1),
}
_ACTIVATIONS: Final = (
    *("relu", "relu6", "leaky_relu", "hardtanh", "elu", "celu", "selu", "silu", "mish"),
    *("hardswish", "hardsigmoid", "tanhshrink", "softsign"),
)
_POOLS: Final[dict[str, Sample]] = {
    "max_pool1d": s(_ROWS, 2),
    "max_pool2d": s(_IMAGE, 3, 2, 1),
    "max_pool3d": s(_VOLUME, 2),
    "max_pool1d_with_indices": s(_ROWS, 2),
    "max_pool2d_with_indices": s(_IMAGE, 2),
    "max_pool3d_with_indices": s(_VOLUME, 2),
    "adaptive_avg_pool2d": s(_IMAGE, (2, 4)),
    "adaptive_avg_pool3d": s(_VOLUME, 3),
    "adaptive_max_pool1d": s(_ROWS, 3),
    "adaptive_max_pool2d": s(_IMAGE, 4),
    "adaptive_max_pool3d": s(_VOLUME, 3),
    "adaptive_max_pool1d_with_indices": s(_ROWS, 3),
    "adaptive_max_pool2d_with_indices": s(_IMAGE, 4),
    "adaptive_max_pool3d_with_indices": s(_VOLUME, 3),
    "lp_pool1d": s(t(2, 3, 8, low=0.5), 2.0, 2),
    "lp_pool2d": s(t(2, 3, 6, 6, low=0.5), 2.0, 3, 2),
    "lp_pool3d": s(t(1, 2, 4, 4, 4, low=0.5), 2.0, 2),
    "fractional_max_pool2d": s(_IMAGE, 2, 3, _random_samples=t(2, 3, 2, low=0.0, high=0.9)),
    "fractional_max_pool3d": s(_VOLUME, 2, 2, _random_samples=t(1, 2, 3, low=0.0, high=0.9)),
    "fractional_max_pool2d_with_indices": s(
        _IMAGE, 2, 3, _random_samples=t(2, 3, 2, low=0.0, high=0.9)
    ),
    "fractional_max_pool3d_with_indices": s(
        _VOLUME, 2, 2, _random_samples=t(1, 2, 3, low=0.0, high=0.9)
    ),
    "max_unpool1d": s(t(1, 2, 2), ints(1, 2, 0, 3, shape=(1, 2, 2)), 2),
    "max_unpool2d": s(t(1, 1, 2, 2), ints(0, 3, 9, 14, shape=(1, 1, 2, 2)), 2),
    "max_unpool3d": s(t(1, 1, 1, 1, 2), ints(1, 14, shape=(1, 1, 1, 1, 2)), 2),
}
_LOSSES: Final[dict[str, Sample]] = {
    "nll_loss": s(t(3, 4, high=0.0), _CLASSES, ignore_index=3),
    "cross_entropy": s(t(3, 4), _CLASSES, t(4, low=0.5), label_smoothing=0.25),
    "linear_cross_entropy": s(t(3, 5), t(4, 5), _CLASSES),
    "binary_cross_entropy": s(_SHARES, t(2, 3, low=0.0, high=1.0)),
    "binary_cross_entropy_with_logits": s(t(2, 3), t(2, 3, low=0.0, high=1.0)),
    "soft_margin_loss": s(t(3), _SIGNS),
    "hinge_embedding_loss": s(t(3), _SIGNS),
    "margin_ranking_loss": s(t(3), t(3), _SIGNS, margin=0.5),
    "multi_margin_loss": s(t(3, 4), _CLASSES),
    "multilabel_margin_loss": s(t(2, 4), ints(3, 0, -1, 1, 1, -1, 0, 2, shape=(2, 4))),
    "multilabel_soft_margin_loss": s(t(2, 4), t(2, 4, low=0.0, high=1.0)),
    "cosine_embedding_loss": s(t(3, 4), t(3, 4), _SIGNS),
    "triplet_margin_loss": s(t(3, 4), t(3, 4), t(3, 4)),
    "triplet_margin_with_distance_loss": s(t(3, 4), t(3, 4), t(3, 4), swap=True),
    "ctc_loss": s(t(5, 2, 4, high=-0.125), ints(1, 3, 2, 2, shape=(2, 2)), ints(5, 4), ints(2, 1)),
    "l1_loss": s(t(2, 3), t(2, 3)),
    "mse_loss": s(t(2, 3), t(2, 3), reduction="none"),
    "smooth_l1_loss": s(t(2, 3), t(2, 3), beta=0.5),
    "huber_loss": s(t(2, 3), t(2, 3), delta=0.5),
    "kl_div": s(t(2, 3, high=-0.125), _SHARES, reduction="batchmean"),
    "poisson_nll_loss": s(t(2, 3), t(2, 3, low=0.0), full=True),
    "gaussian_nll_loss": s(t(2, 3), t(2, 3), t(2, 3, low=0.5)),
}
_SMALL: Final[dict[str, Any]] = {"low": -0.5, "high": 0.5}  # no weight near 0 or 1
_HEADS: Final[tuple[Any, ...]] = (
    *(t(3, 2, 4, **_SMALL), t(3, 2, 4, **_SMALL), t(3, 2, 4, **_SMALL), 4, 2),
    *(t(12, 4, **_SMALL), t(12, **_SMALL), None, None, False, 0.0, t(4, 4), t(4)),
)
_LAYERS: Final[dict[str, Sample]] = {
    "softmax": s(t(2, 3), 1),
    "log_softmax": s(t(2, 3), 0),
    "softmin": s(t(2, 3), 1),
    "threshold": s(t(2, 3), 0.5, -1.0),
    "layer_norm": s(t(2, 3, 4), (3, 4), t(3, 4), t(3, 4)),
    "group_norm": s(t(2, 4, 3), 2, t(4), t(4)),
    "batch_norm": s(t(4, 3), t(3), t(3, low=0.5), t(3), t(3), training=False),
    "instance_norm": s(t(2, 3, 4), weight=t(3), bias=t(3)),
    "local_response_norm": s(_IMAGE, 3),
    "normalize": s(t(2, 4), dim=1),
    "embedding": s(ints(0, 2, 2, 1, shape=(2, 2)), t(3, 4), padding_idx=1),
    "embedding_bag": s(ints(0, 2, 2, 1, shape=(2, 2)), t(3, 4), mode="sum"),
    "unfold": s(_IMAGE, 2, stride=2),
    "fold": s(t(1, 8, 4), (4, 4), 2, stride=2),
    "grid_sample": s(t(2, 3, 4, 4), _CORNERS, align_corners=False),
    "affine_grid": s(t(2, 2, 3), (2, 1, 3, 3), align_corners=True),
    "interpolate": s(_IMAGE, scale_factor=1.5, mode="bilinear"),
    "multi_head_attention_forward": s(*_HEADS),
}
_MASKED: Final[dict[str, Sample]] = {
    **{name: s(t(2, 4), 1, mask=_MASK) for name in ("sum", "prod", "amax", "amin", "mean")},
    **{name: s(t(2, 4), 1, mask=_MASK) for name in ("cumsum", "cumprod", "argmax", "argmin")},
    **{name: s(t(2, 4), 1, mask=_MASK) for name in ("logsumexp", "softmax", "log_softmax")},
    **{name: s(t(2, 4), 1, unbiased=True, mask=_MASK) for name in ("var", "std")},
    **{name: s(t(2, 4), 2.0, 1, mask=_MASK) for name in ("norm", "normalize")},
    "median": s(t(2, 4), 1, mask=_MASK),
    "softmin": s(t(2, 4), 1, mask=_MASK),
    "logaddexp": s(t(2, 4), t(2, 4), input_mask=_MASK, other_mask=_MASK),
}
_PLACES: Final[dict[str, dict[str, Sample]]] = {
    "torch": _TORCH,
    "Tensor": _TENSOR,
    "nn": {name: s(t(2, 5)) for name in _ACTIVATIONS} | _POOLS | _LOSSES | _LAYERS,
    "masked": _MASKED,
}

# By namespace and name, as in ``nn.cross_entropy``.
FUNCTION_SAMPLES: Final[dict[str, Sample]] = {
    f"{place}.{name}": sample for place, rows in _PLACES.items() for name, sample in rows.items()
}
