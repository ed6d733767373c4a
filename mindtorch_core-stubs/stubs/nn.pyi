"""Functions of ``torch.nn.functional``.

Written by `docs/make.py` from the ops' schemas. Do not edit.
"""

# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from numpy import ndarray  # for type checkers alone: where it is not installed, it is of no type

from mindtorch_core.gradients.handles import RemovableHandle
from mindtorch_core.values.devices import device as _device
from mindtorch_core.values.dtypes import dtype as _dtype
from ..random import Generator
from ..tensors.tensor import Tensor
from . import results

__all__: list[str] = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "gelu_",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardsigmoid_",
    "hardswish",
    "hardswish_",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mish_",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu6_",
    "relu_",
    "rms_norm",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "silu_",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Means of windows that divide the input into ``output_size`` parts."""

def adaptive_avg_pool2d(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
) -> Tensor:
    """Means of windows that divide the input into ``output_size`` parts."""

def adaptive_avg_pool3d(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
) -> Tensor:
    """Means of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool1d(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
    return_indices: _bool = False,
) -> Any:
    """Largest elements of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool1d_with_indices(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
    return_indices: _bool = False,
) -> Any:
    """Largest elements of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool2d(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
    return_indices: _bool = False,
) -> Any:
    """Largest elements of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
    return_indices: _bool = False,
) -> Any:
    """Largest elements of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool3d(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
    return_indices: _bool = False,
) -> Any:
    """Largest elements of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: _int | Sequence[_int | None] | None,
    return_indices: _bool = False,
) -> Any:
    """Largest elements of windows that divide the input into ``output_size`` parts."""

def affine_grid(
    theta: Tensor,
    size: Sequence[_int],
    align_corners: _bool | None = None,
) -> Tensor:
    """Positions for `grid_sample` that affine maps make of a regular grid."""

def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """Mean of each window; zeros of the padding count unless told otherwise."""

def avg_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Mean of each window; zeros of the padding count unless told otherwise."""

def avg_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Mean of each window; zeros of the padding count unless told otherwise."""

def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: _bool = False,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 of each channel, then scale and shift (Ioffe and Szegedy, 2015)."""

def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each output k; weight is (out, in1, in2)."""

def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Cross entropy of probabilities of two classes."""

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of ``sigmoid(input)``, without overflow."""

def celu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """``x``, and ``alpha * expm1(x / alpha)`` below 0 (Barron, 2017)."""

def celu_(input: Tensor, alpha: _float | _complex = 1.0) -> Tensor:
    """In-place version of `celu`: writes the result into ``input`` and returns it."""

def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels of all groups interleaved (Zhang et al., 2018)."""

@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
) -> Tensor:
    """Cross-correlation with filters (O, C / groups, ...) over 1 spatial dimension: (N, C, ...) or
    (C, ...)."""
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _str = 'valid',
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
) -> Tensor:
    """`conv1d` without padding ('valid'), or padded to the input's size ('same')."""

@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
) -> Tensor:
    """Cross-correlation with filters (O, C / groups, ...) over 2 spatial dimensions: (N, C, ...) or
    (C, ...)."""
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _str = 'valid',
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
) -> Tensor:
    """`conv2d` without padding ('valid'), or padded to the input's size ('same')."""

@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
) -> Tensor:
    """Cross-correlation with filters (O, C / groups, ...) over 3 spatial dimensions: (N, C, ...) or
    (C, ...)."""
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _str = 'valid',
    dilation: _int | Sequence[_int] = ...,
    groups: _int = 1,
) -> Tensor:
    """`conv3d` without padding ('valid'), or padded to the input's size ('same')."""

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """Cross-correlation along time of (time, batch, C) with filters (window, C, O)."""

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
) -> Tensor:
    """Transpose of `conv1d` with filters (C, O / groups, ...) over 1 spatial dimension: (N, C, ...)
    or (C, ...)."""

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
) -> Tensor:
    """Transpose of `conv2d` with filters (C, O / groups, ...) over 2 spatial dimensions: (N, C,
    ...) or (C, ...)."""

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    output_padding: _int | Sequence[_int] = ...,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = ...,
) -> Tensor:
    """Transpose of `conv3d` with filters (C, O / groups, ...) over 3 spatial dimensions: (N, C,
    ...) or (C, ...)."""

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""

def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """Cosine of the angle between vectors along a dimension; norms count as at least ``eps``."""

def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    label_smoothing: _float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`."""

def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[_int],
    target_lengths: Tensor | Sequence[_int],
    blank: _int = 0,
    reduction: _str = 'mean',
    zero_infinity: _bool = False,
) -> Tensor:
    """Loss of label sequences whose alignment with the input is not known (Graves et al., 2006)."""

def elu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """``x``, and ``alpha * expm1(x)`` below 0 (Clevert et al., 2015)."""

def elu_(
    input: Tensor,
    alpha: _float | _complex = 1,
    scale: _float | _complex = 1,
    input_scale: _float | _complex = 1,
) -> Tensor:
    """In-place version of `elu`: writes the result into ``input`` and returns it."""

def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: _int | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2.0,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """Rows of ``weight`` at the indices in ``input``."""

def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2,
    scale_grad_by_freq: _bool = False,
    mode: _str = 'mean',
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int | None = None,
) -> Tensor:
    """Sums, means or maxima of the rows of ``weight`` in each bag of indices."""

def fold(
    input: Tensor,
    output_size: _int | Sequence[_int],
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    stride: _int | Sequence[_int] = 1,
) -> Tensor:
    """Columns (N, C * window, windows) added up to images (N, C, H, W)."""

def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random places (Graham, 2014)."""

def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random places (Graham, 2014)."""

def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random places (Graham, 2014)."""

def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest elements of windows at random places (Graham, 2014)."""

def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | _float,
    full: _bool = False,
    eps: _float = 1e-06,
    reduction: _str = 'mean',
) -> Tensor:
    """Negative log likelihood of targets under normal distributions (Nix and Weigend, 1994)."""

def gelu(input: Tensor, *, approximate: _str = 'none', out: Tensor | None = None) -> Tensor:
    """``x`` times the probability that a standard normal is below ``x`` (Hendrycks and Gimpel,
    2016)."""

def gelu_(input: Tensor, *, approximate: _str = 'none') -> Tensor:
    """In-place version of `gelu`: writes the result into ``input`` and returns it."""

def glu(input: Tensor, dim: _int = -1, *, out: Tensor | None = None) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second (Dauphin et al., 2017)."""

def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: _str = 'bilinear',
    padding_mode: _str = 'zeros',
    align_corners: _bool | None = None,
) -> Tensor:
    """Elements of an image or volume at given positions (Jaderberg et al., 2015)."""

def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 over groups of channels, then scale and shift (Wu and He, 2018)."""

def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _dtype | None = None,
) -> Any:
    """Matrix products of groups, such as of the tokens of each expert with its weights."""

def gumbel_softmax(
    logits: Tensor,
    tau: _float = 1,
    hard: _bool = False,
    eps: _float = 1e-10,
    dim: _int = -1,
) -> Tensor:
    """Sample from the Gumbel-Softmax distribution (Jang et al., 2017; Maddison et al., 2017)."""

def hardshrink(
    input: Tensor,
    lambd: _float | _complex = 0.5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Zero between ``-lambd`` and ``lambd``."""

def hardsigmoid(input: Tensor, inplace: _bool = False) -> Tensor:
    """``clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019)."""

def hardsigmoid_(input: Tensor) -> Tensor:
    """In-place version of `hardsigmoid`: writes the result into ``input`` and returns it."""

def hardswish(input: Tensor, inplace: _bool = False) -> Tensor:
    """``x * clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019)."""

def hardswish_(input: Tensor) -> Tensor:
    """In-place version of `hardswish`: writes the result into ``input`` and returns it."""

def hardtanh(
    input: Tensor,
    min_val: _float = -1.0,
    max_val: _float = 1.0,
    inplace: _bool = False,
) -> Tensor:
    """Elements limited to the range from ``min_val`` to ``max_val``."""

def hardtanh_(
    input: Tensor,
    min_val: _float | _complex = -1,
    max_val: _float | _complex = 1,
) -> Tensor:
    """In-place version of `hardtanh`: writes the result into ``input`` and returns it."""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: _float = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""

def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: _str = 'mean',
    delta: _float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Differences: squared up to ``delta``, linear above (Huber, 1964)."""

def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: _bool = True,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 of each channel of each sample (Ulyanov et al., 2016)."""

def interpolate(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
    mode: _str = 'nearest',
    align_corners: _bool | None = None,
    recompute_scale_factor: _bool | None = None,
    antialias: _bool = False,
) -> Tensor:
    """Resize the spatial dimensions of a tensor (N, C, ...) to a size or by a factor."""

def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    log_target: _bool = False,
) -> Tensor:
    """Kullback-Leibler divergence of probabilities ``target`` from log-probabilities ``input``."""

def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute differences, their mean or sum."""

def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scale and shift (Ba et al., 2016)."""

def leaky_relu(input: Tensor, negative_slope: _float = 0.01, inplace: _bool = False) -> Tensor:
    """Negative elements times a small slope (Maas et al., 2013)."""

def leaky_relu_(input: Tensor, negative_slope: _float | _complex = 0.01) -> Tensor:
    """In-place version of `leaky_relu`: writes the result into ``input`` and returns it."""

def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input @ weight.T + bias``; weight is (out_features, in_features)."""

def local_response_norm(
    input: Tensor,
    size: _int,
    alpha: _float = 0.0001,
    beta: _float = 0.75,
    k: _float = 1.0,
) -> Tensor:
    """Each element divided by the strength of neighbouring channels (Krizhevsky et al., 2012)."""

def log_softmax(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: Any = None,
) -> Tensor:
    """Logarithm of `softmax`, computed without overflow."""

def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the sigmoid, computed without overflow."""

def lp_pool1d(
    input: Tensor,
    norm_type: _float,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """The p-norm of each window."""

def lp_pool2d(
    input: Tensor,
    norm_type: _float,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """The p-norm of each window."""

def lp_pool3d(
    input: Tensor,
    norm_type: _float,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """The p-norm of each window."""

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``; targets are 1 or -1."""

def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any:
    """Largest element of each window, and where it is if that is asked for."""

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any:
    """Largest element of each window, and where it is if that is asked for."""

def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any:
    """Largest element of each window, and where it is if that is asked for."""

def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any:
    """Largest element of each window, and where it is if that is asked for."""

def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any:
    """Largest element of each window, and where it is if that is asked for."""

def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any:
    """Largest element of each window, and where it is if that is asked for."""

def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    output_size: Sequence[_int] | None = None,
) -> Tensor:
    """Undo max pooling from its indices; what was no maximum is zero."""

def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    output_size: Sequence[_int] | None = None,
) -> Tensor:
    """Undo max pooling from its indices; what was no maximum is zero."""

def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] = 0,
    output_size: Sequence[_int] | None = None,
) -> Tensor:
    """Undo max pooling from its indices; what was no maximum is zero."""

def mish(input: Tensor, inplace: _bool = False) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra, 2019)."""

def mish_(input: Tensor) -> Tensor:
    """In-place version of `mish`: writes the result into ``input`` and returns it."""

def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences, their mean or sum."""

def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: _int,
    num_heads: _int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: _bool,
    dropout_p: _float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: _bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: _bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: _bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: _bool = True,
    is_causal: _bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, with projections before and after (Vaswani et al., 2017)."""

def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: _int = 1,
    margin: _float = 1.0,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """How far other classes come within a margin of the target's score, to the power ``p``."""

def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """How far other classes come within 1 of each target class's score."""

def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Mean over classes of `binary_cross_entropy_with_logits`."""

def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels of all groups interleaved (Zhang et al., 2018)."""

def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Negative log likelihood: ``-input[target]`` over classes."""

def normalize(
    input: Tensor,
    p: _float = 2.0,
    dim: _int | Sequence[_int] = 1,
    eps: _float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Vectors along a dimension, divided by their norm."""

def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Rows of zeros with a one at each class; by default as many classes as the largest needs."""

def pad(
    input: Tensor,
    pad: Sequence[_int],
    mode: _str = 'constant',
    value: _float | None = None,
) -> Tensor:
    """Pairs of sizes added before and after, last dimension first; ``mode`` says what is put there:
    constant, reflect, replicate or circular."""

def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
) -> Tensor:
    """The ``p``-norm of ``x1 - x2 + eps`` along the last dimension."""

def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """Distances by the ``p``-norm between all pairs of different rows of a matrix."""

def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """Channels (..., C r r, H, W) laid out as pixels (..., C, H r, W r) (Shi et al., 2016)."""

def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """Blocks of r by r pixels laid out as channels: undoes `pixel_shuffle`."""

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: _float = 1e-08,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """Negative log likelihood of counts under Poisson distributions."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Negative elements times a weight, one or one for each channel (He et al., 2015)."""

def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """Zero for negative elements."""

def relu6(input: Tensor, inplace: _bool = False) -> Tensor:
    """Elements limited to the range from 0 to 6 (Howard et al., 2017)."""

def relu6_(input: Tensor) -> Tensor:
    """In-place version of `relu6`: writes the result into ``input`` and returns it."""

def relu_(input: Tensor) -> Tensor:
    """In-place version of `relu`: writes the result into ``input`` and returns it."""

def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor:
    """Root mean square 1 over the last dimensions, then scale (Zhang and Sennrich, 2019)."""

def rrelu_(
    input: Tensor,
    lower: _float | _complex = 0.125,
    upper: _float | _complex = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """In-place version of `rrelu`."""

def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value`` (Vaswani et al., 2017) for (..., length,
    features); a boolean mask is true where attention is allowed."""

def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """Self-normalising exponential linear unit (Klambauer et al., 2017)."""

def selu_(input: Tensor) -> Tensor:
    """In-place version of `selu`: writes the result into ``input`` and returns it."""

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-x))``."""

def silu(input: Tensor, inplace: _bool = False) -> Tensor:
    """``x * sigmoid(x)`` (Hendrycks and Gimpel, 2016)."""

def silu_(input: Tensor) -> Tensor:
    """In-place version of `silu`: writes the result into ``input`` and returns it."""

def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
    beta: _float = 1.0,
) -> Tensor:
    """Differences: squared below ``beta``, absolute above (Girshick, 2015)."""

def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """``log(1 + exp(-target * input))``; targets are 1 or -1."""

def softmax(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: Any = None,
) -> Tensor:
    """Exponentials along a dimension, scaled to sum 1."""

def softmin(
    input: Tensor,
    dim: _int | None = None,
    _stacklevel: _int = 3,
    dtype: Any = None,
) -> Tensor:
    """`softmax` of the negated input."""

def softplus(
    input: Tensor,
    beta: _float | _complex = 1,
    threshold: _float | _complex = 20,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, and ``x`` where ``beta * x`` is above the threshold."""

def softshrink(
    input: Tensor,
    lambd: _float | _complex = 0.5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Elements moved by ``lambd`` towards zero, and zero if they are nearer."""

def softsign(input: Tensor) -> Tensor:
    """``x / (|x| + 1)``."""

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent."""

def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``."""

def threshold(
    input: Tensor,
    threshold: _float,
    value: _float,
    inplace: _bool = False,
) -> Tensor:
    """``value`` where the input is not above the threshold."""

def threshold_(input: Tensor, threshold: _float | _complex, value: _float | _complex) -> Tensor:
    """In-place version of `threshold`: writes the result into ``input`` and returns it."""

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2,
    eps: _float = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: _str = 'mean',
) -> Tensor:
    """``max(0, distance to positive - distance to negative + margin)`` (Balntas et al., 2016)."""

def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: _float = 1.0,
    swap: _bool = False,
    reduction: _str = 'mean',
) -> Tensor:
    """`triplet_margin_loss` with a distance of the caller's; Euclidean if none is given."""

def unfold(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int] = 1,
    padding: _int | Sequence[_int] = 0,
    stride: _int | Sequence[_int] = 1,
) -> Tensor:
    """Windows of images (N, C, H, W) as columns (N, C * window, windows)."""

def upsample(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
    mode: _str = 'nearest',
    align_corners: _bool | None = None,
) -> Tensor:
    """`interpolate` by its old name."""

def upsample_bilinear(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
) -> Tensor:
    """`interpolate` with ``mode='bilinear'`` and aligned corners, by its old name."""

def upsample_nearest(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
) -> Tensor:
    """`interpolate` with ``mode='nearest'``, by its old name."""
