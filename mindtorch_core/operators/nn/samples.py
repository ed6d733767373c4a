"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Any, Final

from ...values.dtypes import float64
from ..family_samples import FamilySamples, at, call, ints
from ..family_samples import sample as s
from ..recipes import Sample
from ..recipes import tensor as t
from .fake_quantization_samples import FAKE_QUANTIZATION
from .recurrent_samples import HOST_LENGTHS, RECURRENT_CALLS
from .window_samples import WINDOW_CALLS

__all__ = ["SAMPLES"]

_ONE_HOT: Final = s("classes", ints(0, 2, 1), 4), s("2d", ints(0, 2, 1, 1, shape=(2, 2)), 3)
_SHARES: Final = t(2, 3, low=0.125, high=0.875)
_LABELS: Final = ints(3, 0, -1, 1, 1, -1, 0, 2, shape=(2, 4))
_LOG_PROBS: Final = t(5, 2, 4, low=-3.0, high=-0.125)
_TARGETS: Final = ints(1, 3, 2, 2, shape=(2, 2))
_BEFORE: Final = t(2, 5, 5, low=-4.0, high=-1.0)
_LENGTHS: Final = (5, 4), (2, 1)
_LENGTH_TENSORS: Final = ints(5, 4), ints(2, 1)
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
_TABLE: Final = t(5, 3)
_BAG: Final = _TABLE, ints(0, 4, 2, 2, 1), ints(0, 2, 2)
_BAGS: Final = (
    s("sum", *_BAG),
    s("mean", *_BAG, mode=1),
    s("max", *_BAG, mode=2),
    s("weights", *_BAG, per_sample_weights=t(5)),
    s("last", *_BAG, include_last_offset=True),
)


def _slopes(*options: float) -> tuple[Sample, ...]:
    """Calls of a loss's gradient, whose incoming gradient is one number or one for each element."""
    return (
        s("none", t(2, 3), t(2, 3), t(2, 3), 0, *options),
        s("mean", t(), t(2, 3, dtype="float64"), t(2, 3, dtype="float64"), 1, *options),
        s("sum", t(), t(2, 3), t(3), 2, *options),
    )


_SUMS: Final = t(1, 2, 3, high=2.0)
_NO_DROPS: Final = (None, None, 3, 3, 0.0, False, *(t(dtype="int64", values=(0,)),) * 2)
_PLANE_GRID: Final = t(1, 2, 3, 4), t(1, 2, 3, 2, low=-1.25, high=1.25)
_SPACE_GRID: Final = t(1, 2, 2, 3, 2), t(1, 2, 1, 2, 3, low=-1.25, high=1.25)
_PLANE_MAP: Final = t(1, 2, 3), (1, 2, 3, 4)
_SPACE_MAP: Final = t(1, 3, 4), (1, 2, 2, 1, 3)
_HALVES: Final = (
    s("last", t(3, 4)),
    s("first", t(4, 3, dtype="float64"), 0),
    s("bfloat16", t(6, dtype="bfloat16")),
    s("empty", t(0, 2)),
)
_DROPOUT: Final = (
    s("train", t(4, 5), 0.5, True),
    s("eval", t(4, 5), 0.5, False),
    s("all", t(4, 3), 1.0, True),
    s("none", t(4, 3), 0.0, True),
    s("float64", t(3, 2, 2, dtype="float64"), 0.25, True),
)
_NAN, _INF = float("nan"), float("inf")
_PAIRS: Final = (t(4, 3), t(2, 3))
_SOFTMAX: Final = (
    s("last", t(2, 3), 1),
    s("first", t(2, 3, 2), 0),
    s("large", t(2, 3, low=200.0, high=400.0), -1),
    s("dtype", t(2, 3), 1, float64),
    s("bfloat16", t(4, dtype="bfloat16"), 0),
    s("0d", t(), 0),
    s("empty", t(0, 3), 1),
)
_LOSS: Final = (
    s("mean", t(4, 3), at(4, below=3)),
    s("sum", t(4, 3), at(4, below=3), reduction=2),
    s("none", t(4, 3), at(4, below=3), reduction=0),
    s("weight", t(4, 3), at(4, below=3), t(3, low=0.5)),
    s("ignored", t(4, 3), ints(0, 1, -100, 2)),
    s("one", t(3), at(below=3)),
    s("pixels", t(2, 3, 4), at(2, 4, below=3)),
)
_IMAGE: Final = t(2, 3, 6, 6, seed=1)
_VOLUME: Final = t(1, 2, 4, 4, 4, seed=2)
_ROWS: Final = t(2, 3, 8, seed=3)
_SIGNS: Final = t(3, values=(1.0, -1.0, 1.0))
_CLASSES: Final = ints(0, 3, 1)
_CORNERS: Final = t(2, 2, 2, 2, low=0.125, high=0.875)
_ACTIVATIONS: Final = (
    *("relu6", "leaky_relu", "hardtanh", "elu", "celu", "selu", "silu", "mish"),
    *("hardswish", "hardsigmoid", "tanhshrink", "softsign"),
)
_SMALL: Final[dict[str, Any]] = {"low": -0.5, "high": 0.5}  # no weight near 0 or 1
_HEADS: Final[tuple[Any, ...]] = (
    *(t(3, 2, 4, **_SMALL), t(3, 2, 4, **_SMALL), t(3, 2, 4, **_SMALL), 4, 2),
    *(t(12, 4, **_SMALL), t(12, **_SMALL), None, None, False, 0.0, t(4, 4), t(4)),
)
_LOG_2: Final = 0.6931471805599453


def _after(*numbers: Any) -> tuple[Sample, ...]:
    """Calls of an activation's gradient, which takes numbers behind its tensors."""
    return (
        s("float32", t(2, 3), t(2, 3), *numbers),
        s("float64", t(3, 2, dtype="float64"), t(3, 2, dtype="float64"), *numbers),
        s("bfloat16", t(5, dtype="bfloat16"), t(5, dtype="bfloat16"), *numbers),
        s("mixed", t(2, 3), t(3, dtype="float64"), *numbers),
        s("empty", t(0, 3), t(0, 3), *numbers),
    )


_LARGE: Final = (s("large", t(2, 3, low=200.0, high=900.0), 1),)

SAMPLES: Final = FamilySamples(
    calls={
        # activation_gradients
        "leaky_relu_backward": _after(0.25, False),
        "hardtanh_backward": _after(-1.0, 1.5),
        **dict.fromkeys(("hardshrink_backward", "softshrink_backward"), _after(0.75)),
        "elu_backward": (
            s("input", t(2, 3), 0.5, 1.5, 2.0, False, t(2, 3)),
            s("result", t(2, 3), 0.5, 1.5, 2.0, True, t(2, 3, low=-0.5)),
            s("float64", t(2, 3), 1, 1, 1, False, t(3, dtype="float64")),
        ),
        "softplus_backward": _after(2.0, 1.5),
        "log_sigmoid_backward": (
            s(
                "kept",
                t(4),
                t(4, values=(0.0, _LOG_2, -_LOG_2, 2 * _LOG_2)),
                t(4, values=(1.0, 0.5, 0.5, 0.25)),
            ),
        ),
        "_prelu_kernel_backward": (
            s("same", t(2, 3), t(2, 3), t(2, 3)),
            s("row", *(t(n, 3, dtype="float64") for n in (2, 2, 1))),
            s("empty", t(0, 3), t(0, 3), t(3)),
        ),
        "glu_backward": (
            s("last", t(3, 2), t(3, 4), -1),
            s("first", t(2, 3, dtype="float64"), t(4, 3, dtype="float64"), 0),
            s("bfloat16", t(3, dtype="bfloat16"), t(6, dtype="bfloat16"), 0),
            s("empty", t(0, 1), t(0, 2), 1),
        ),
        # activations
        "glu": _HALVES,
        "prelu": (
            s("one", t(2, 3, 2), t(1)),
            s("channels", t(2, 3, 2, dtype="float64"), t(3, dtype="float64")),
            s("0d", t(), t()),
        ),
        "_prelu_kernel": (s("same", t(2, 3), t(2, 3)), s("row", t(2, 3), t(3))),
        "threshold": (s("float32", t(2, 3), 0.5, 7.0), s("int64", t(5, dtype="int64"), 1, 9)),
        # batch_normalization
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
        # binary_classification
        "binary_cross_entropy": (
            s("mean", _SHARES, t(2, 3, low=0.0, high=1.0)),
            s("weight", _SHARES, t(2, 3, low=0.0, high=1.0), t(3, low=0.5), 0),
        ),
        # classification
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
        # ctc
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
        # distances
        "dist": (s("two", t(2, 3), t(2, 3)), s("one", t(4), t(4), 1)),
        "cdist": (s("two", *_PAIRS), s("three", t(2, 4, 3), t(5, 3), 3.0)),
        "_cdist_forward": (s("two", *_PAIRS, 2.0, None), s("largest", *_PAIRS, _INF, None)),
        "_cdist_backward": (s("two", t(4, 2), *_PAIRS, 2.0, t(4, 2, low=0.5)),),
        "pdist": (s("two", t(4, 3)), s("one", t(3, 2), 1.0)),
        "pairwise_distance": (s("two", t(4, 3), t(4, 3)), s("one", t(4, 3), t(3), 1.0)),
        "cosine_similarity": (s("rows", t(4, 3), t(4, 3)), s("columns", t(4, 3), t(4, 3), 0)),
        # dropout
        **dict.fromkeys(("dropout", "alpha_dropout", "feature_dropout"), _DROPOUT),
        **dict.fromkeys(("dropout_", "alpha_dropout_", "feature_dropout_"), _DROPOUT),
        **dict.fromkeys(("feature_alpha_dropout", "feature_alpha_dropout_"), _DROPOUT),
        "native_dropout": _DROPOUT,
        "native_dropout_backward": (s("mask", t(2, 3), t(2, 3, dtype="bool"), 2.0),),
        # embedding
        "embedding_dense_backward": (
            s("repeated", t(3, 3), ints(0, 2, 2), 4, -1, False),
            s("counted", t(2, 2, 3), ints(0, 1, 1, 1, shape=(2, 2)), 4, 0, True),
        ),
        "embedding_renorm_": (s("two", t(4, 3), ints(0, 2), 1.0, 2.0),),
        "embedding": (
            s("2d", t(5, 3), at(2, 4, below=5)),
            s("padding", t(5, 3), ints(0, 2, 1), 2),
            s("0d", t(5, 3), at(below=5)),
            s("empty", t(5, 3), at(0, below=5)),
        ),
        # embedding_bag
        "embedding_bag": _BAGS,
        **dict.fromkeys(
            ("_embedding_bag", "_embedding_bag_forward_only"),
            (*_BAGS, s("padding", *_BAG, padding_idx=2)),
        ),
        "embedding_bag.padding_idx": (s("padding", *_BAG, False, 1, False, None, False, 2),),
        # encoding
        "_one_hot_of": _ONE_HOT,
        "one_hot": (*_ONE_HOT, s("found", ints(0, 2, 1))),
        **FAKE_QUANTIZATION,
        # grid_sampling
        "grid_sampler": (
            s("plane", *_PLANE_GRID, 0, 0, False),
            s("space", *_SPACE_GRID, 0, 1, True),
        ),
        "grid_sampler_2d": (
            s("nearest", *_PLANE_GRID, 1, 2, False),
            s("bicubic", *_PLANE_GRID, 2, 0, True),
        ),
        "grid_sampler_3d": (s("bilinear", *_SPACE_GRID, 0, 0, False),),
        "affine_grid_generator": (
            s("plane", *_PLANE_MAP, False),
            s("space", *_SPACE_MAP, True),
        ),
        # losses
        "nll_loss": _LOSS,
        "nll_loss_forward": (
            s("mean", t(4, 3), at(4, below=3), None, 1, -100),
            s("weight", t(4, 3), ints(0, 1, -100, 2), t(3, low=0.5), 2, -100),
        ),
        "nll_loss_backward": (
            s("mean", t(), t(4, 3), at(4, below=3), None, 1, -100, t(values=(4.0,))),
            s("none", t(4), t(4, 3), at(4, below=3), t(3, low=0.5), 0, -100, t()),
        ),
        # normalization
        "native_layer_norm_backward": (s("rows", t(2, 3), *_CENTRED_ROWS, *_AFFINE, _ALL),),
        "_fused_rms_norm": (
            s("weight", t(2, 3), (3,), t(3), 1e-5),
            s("plain", t(2, 2, 3, dtype="float64"), (2, 3), None, None),
            s("bfloat16", t(4, 2, dtype="bfloat16"), (2,), t(2, dtype="bfloat16"), None),
        ),
        "_fused_rms_norm_backward": (
            s("both", t(2, 3), _CENTRED_ROWS[0], (3,), t(2, 1, values=(1.0, 0.5)), t(3), _ALL[:2]),
            s(
                "input",
                t(2, 3),
                _CENTRED_ROWS[0],
                (3,),
                t(2, 1, values=(1.0, 0.5)),
                None,
                (True, False),
            ),
        ),
        "native_group_norm": (
            s("affine", t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5),
            s("plain", t(1, 4, 2, 3, dtype="float64"), None, None, 1, 4, 6, 2, 1e-5),
        ),
        "native_group_norm_backward": (
            s("affine", t(2, 4, 3), *_CENTRED_GROUPS, t(4), 2, 4, 3, 2, _ALL),
        ),
        "group_norm": (s("affine", t(2, 4, 3), 2, t(4), t(4)), s("plain", t(2, 4, 3), 4)),
        # fused_cells
        "_thnn_fused_lstm_cell": (
            s("biased", t(2, 12), t(2, 12), t(2, 3), t(12), t(12)),
            s("plain", *(t(2, 8, dtype="float64"),) * 2, t(2, 2, dtype="float64")),
        ),
        "_thnn_fused_lstm_cell_backward_impl": (
            s("both", *(t(2, 3),) * 4, t(2, 12, low=0.1, high=0.9), True),
            s("output", t(2, 3), None, *(t(2, 3),) * 2, t(2, 12, low=0.1, high=0.9), False),
            s("cell", None, *(t(2, 3),) * 3, t(2, 12, low=0.1, high=0.9), False),
        ),
        # fused_attention
        "_scaled_dot_product_flash_attention_for_cpu": (
            s("plain", t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 4)),
            s("causal", *(t(2, 1, 3, 2, dtype="float64"),) * 3, 0.0, True, scale=0.5),
            s("mask", *(t(1, 1, 2, 3),) * 3, attn_mask=t(2, 2)),
        ),
        "_scaled_dot_product_flash_attention_for_cpu_backward": (
            s("plain", *(t(1, 2, 3, 4),) * 5, t(1, 2, 3, high=2.0), 0.0, False),
            s("causal", *(t(2, 1, 3, 2),) * 5, t(2, 1, 3, high=2.0), 0.0, True, scale=0.5),
        ),
        # device_attention
        "_scaled_dot_product_fused_attention_overrideable": (
            s("plain", t(1, 2, 3, 4), t(1, 2, 5, 4), t(1, 2, 5, 2)),
            s("causal", *(t(2, 1, 3, 2, dtype="float64"),) * 3, None, 0.0, True, scale=0.5),
            s("bias", *(t(1, 1, 2, 3),) * 3, t(2, 2)),
        ),
        "_scaled_dot_product_fused_attention_overrideable_backward": (
            s("plain", *(t(1, 2, 3, 4),) * 4, None, (True,) * 4, t(1, 2, 3, 4), _SUMS, *_NO_DROPS),
            s(
                "bias",
                *(t(1, 2, 3, 4),) * 4,
                t(3, 3),
                (True, False, True, True),
                t(1, 2, 3, 4),
                _SUMS,
                *_NO_DROPS,
            ),
        ),
        # regression
        "mse_loss": tuple(
            s(how, t(2, 3), t(2, 3), reduction=i) for i, how in enumerate(("none", "mean", "sum"))
        ),
        "mse_loss_backward": _slopes(),
        "smooth_l1_loss_backward": _slopes(0.5),
        "huber_loss_backward": _slopes(0.5),
        "binary_cross_entropy_backward": (
            s("mean", t(), _SHARES, _SHARES),
            s("weight", t(2, 3), _SHARES, _SHARES, t(2, 3), 0),
        ),
        # rrelu
        "rrelu": (s("eval", t(2, 3)), s("train", t(2, 3), 0.25, 0.5, True)),
        "rrelu_": (s("eval", t(2, 3)), s("train", t(2, 3), 0.25, 0.5, True)),
        "rrelu_with_noise": (s("train", t(2, 3), t(2, 3), 0.25, 0.5, True),),
        "rrelu_with_noise_": (s("train", t(2, 3), t(2, 3), 0.25, 0.5, True),),
        "rrelu_with_noise_backward": (
            s("train", t(2, 3), t(2, 3), t(2, 3), 0.25, 0.5, True, False),
            s("eval", t(2, 3), t(2, 3), t(2, 3), 0.25, 0.5, False, False),
        ),
        # softmax
        **dict.fromkeys(("softmax", "log_softmax"), _SOFTMAX),
        **dict.fromkeys(("_softmax", "_log_softmax"), (s("plain", t(2, 3), 1, False),)),
        # windows and what they make
        **RECURRENT_CALLS,
        **WINDOW_CALLS,
    },
    functions={
        # activation_functions
        **{f"nn.{name}": call(t(2, 5)) for name in _ACTIVATIONS},
        "nn.softmin": call(t(2, 3), 1),
        "nn.threshold": call(t(2, 3), 0.5, -1.0),
        # adaptive_pooling
        "nn.adaptive_avg_pool2d": call(_IMAGE, (2, 4)),
        "nn.adaptive_avg_pool3d": call(_VOLUME, 3),
        "nn.adaptive_max_pool1d": call(_ROWS, 3),
        "nn.adaptive_max_pool2d": call(_IMAGE, 4),
        "nn.adaptive_max_pool3d": call(_VOLUME, 3),
        "nn.adaptive_max_pool1d_with_indices": call(_ROWS, 3),
        "nn.adaptive_max_pool2d_with_indices": call(_IMAGE, 4),
        "nn.adaptive_max_pool3d_with_indices": call(_VOLUME, 3),
        # average_pooling
        "nn.lp_pool1d": call(t(2, 3, 8, low=0.5), 2.0, 2),
        "nn.lp_pool2d": call(t(2, 3, 6, 6, low=0.5), 2.0, 3, 2),
        "nn.lp_pool3d": call(t(1, 2, 4, 4, 4, low=0.5), 2.0, 2),
        # batch_normalization
        "nn.batch_norm": call(t(4, 3), t(3), t(3, low=0.5), t(3), t(3), training=False),
        "nn.instance_norm": call(t(2, 3, 4), weight=t(3), bias=t(3)),
        "nn.local_response_norm": call(_IMAGE, 3),
        # binary_classification
        "nn.binary_cross_entropy": call(_SHARES, t(2, 3, low=0.0, high=1.0)),
        "nn.binary_cross_entropy_with_logits": call(t(2, 3), t(2, 3, low=0.0, high=1.0)),
        # classification
        "nn.soft_margin_loss": call(t(3), _SIGNS),
        "nn.hinge_embedding_loss": call(t(3), _SIGNS),
        "nn.margin_ranking_loss": call(t(3), t(3), _SIGNS, margin=0.5),
        "nn.multi_margin_loss": call(t(3, 4), _CLASSES),
        "nn.multilabel_margin_loss": call(t(2, 4), ints(3, 0, -1, 1, 1, -1, 0, 2, shape=(2, 4))),
        "nn.multilabel_soft_margin_loss": call(t(2, 4), t(2, 4, low=0.0, high=1.0)),
        "nn.cosine_embedding_loss": call(t(3, 4), t(3, 4), _SIGNS),
        "nn.triplet_margin_loss": call(t(3, 4), t(3, 4), t(3, 4)),
        "nn.triplet_margin_with_distance_loss": call(t(3, 4), t(3, 4), t(3, 4), swap=True),
        # ctc
        "nn.ctc_loss": call(
            t(5, 2, 4, high=-0.125), ints(1, 3, 2, 2, shape=(2, 2)), ints(5, 4), ints(2, 1)
        ),
        # distances
        "torch.cdist": call(t(3, 4), t(2, 4)),
        "nn.normalize": call(t(2, 4), dim=1),
        # embedding
        "nn.embedding": call(ints(0, 2, 2, 1, shape=(2, 2)), t(3, 4), padding_idx=1),
        # embedding_bag
        "nn.embedding_bag": call(ints(0, 2, 2, 1, shape=(2, 2)), t(3, 4), mode="sum"),
        # folding
        "nn.unfold": call(_IMAGE, 2, stride=2),
        "nn.fold": call(t(1, 8, 4), (4, 4), 2, stride=2),
        # fractional_pooling
        "nn.fractional_max_pool2d": call(
            _IMAGE, 2, 3, _random_samples=t(2, 3, 2, low=0.0, high=0.9)
        ),
        "nn.fractional_max_pool3d": call(
            _VOLUME, 2, 2, _random_samples=t(1, 2, 3, low=0.0, high=0.9)
        ),
        "nn.fractional_max_pool2d_with_indices": call(
            _IMAGE, 2, 3, _random_samples=t(2, 3, 2, low=0.0, high=0.9)
        ),
        "nn.fractional_max_pool3d_with_indices": call(
            _VOLUME, 2, 2, _random_samples=t(1, 2, 3, low=0.0, high=0.9)
        ),
        # grid_sampling
        "nn.grid_sample": call(t(2, 3, 4, 4), _CORNERS, align_corners=False),
        "nn.affine_grid": call(t(2, 2, 3), (2, 1, 3, 3), align_corners=True),
        # interpolation
        "nn.interpolate": call(_IMAGE, scale_factor=1.5, mode="bilinear"),
        # linear_cross_entropy
        "nn.linear_cross_entropy": call(t(3, 5), t(4, 5), _CLASSES),
        # losses
        "nn.nll_loss": call(t(3, 4, high=0.0), _CLASSES, ignore_index=3),
        "nn.cross_entropy": call(t(3, 4), _CLASSES, t(4, low=0.5), label_smoothing=0.25),
        # multihead
        "nn.multi_head_attention_forward": call(*_HEADS),
        # normalization
        "nn.layer_norm": call(t(2, 3, 4), (3, 4), t(3, 4), t(3, 4)),
        "nn.group_norm": call(t(2, 4, 3), 2, t(4), t(4)),
        # pooling
        "nn.max_pool1d": call(_ROWS, 2),
        "nn.max_pool2d": call(_IMAGE, 3, 2, 1),
        "nn.max_pool3d": call(_VOLUME, 2),
        "nn.max_pool1d_with_indices": call(_ROWS, 2),
        "nn.max_pool2d_with_indices": call(_IMAGE, 2),
        "nn.max_pool3d_with_indices": call(_VOLUME, 2),
        # regression
        "nn.l1_loss": call(t(2, 3), t(2, 3)),
        "nn.mse_loss": call(t(2, 3), t(2, 3), reduction="none"),
        "nn.smooth_l1_loss": call(t(2, 3), t(2, 3), beta=0.5),
        "nn.huber_loss": call(t(2, 3), t(2, 3), delta=0.5),
        "nn.kl_div": call(t(2, 3, high=-0.125), _SHARES, reduction="batchmean"),
        "nn.poisson_nll_loss": call(t(2, 3), t(2, 3, low=0.0), full=True),
        "nn.gaussian_nll_loss": call(t(2, 3), t(2, 3), t(2, 3, low=0.5)),
        # softmax
        "nn.softmax": call(t(2, 3), 1),
        "nn.log_softmax": call(t(2, 3), 0),
        # unpooling
        "nn.max_unpool1d": call(t(1, 2, 2), ints(1, 2, 0, 3, shape=(1, 2, 2)), 2),
        "nn.max_unpool2d": call(t(1, 1, 2, 2), ints(0, 3, 9, 14, shape=(1, 1, 2, 2)), 2),
        "nn.max_unpool3d": call(t(1, 1, 1, 1, 2), ints(1, 14, shape=(1, 1, 1, 1, 2)), 2),
    },
    untested={
        **HOST_LENGTHS,
        "nn.gumbel_softmax": "draws random numbers, so that two devices give different results",
        **dict.fromkeys(
            ("nn.upsample", "nn.upsample_nearest", "nn.upsample_bilinear"),
            "an old name of interpolate, which warns",
        ),
    },
    edges={"softmax": _LARGE, "log_softmax": _LARGE},
    needs_dtype=("fake_quantize_per_channel_affine",),
    no_differences=(
        *("grid_sampler", "kl_div", "poisson_nll_loss", "nll_loss", "nll_loss_backward"),
        *("batch_norm", "native_batch_norm", "_native_batch_norm_legit"),
    ),
    unlike_pytorch={"embedding_bag": "the results beside the first serve its own backward"},
    few=("softmax", "gelu", "layer_norm"),
)
