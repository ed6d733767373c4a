"""Functions of ``torch``.

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
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool2d_backward",
    "_adaptive_avg_pool3d",
    "_adaptive_avg_pool3d_backward",
    "_batch_norm_with_update",
    "_cdist_backward",
    "_cdist_forward",
    "_chunk_cat",
    "_conj",
    "_conj_physical",
    "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo",
    "_convolution",
    "_convolution_mode",
    "_convolution_weight",
    "_ctc_loss",
    "_ctc_loss_backward",
    "_dirichlet_grad",
    "_einsum",
    "_embedding_bag",
    "_embedding_bag_forward_only",
    "_fft_c2c",
    "_fft_c2r",
    "_fft_r2c",
    "_foreach_abs",
    "_foreach_abs_",
    "_foreach_acos",
    "_foreach_acos_",
    "_foreach_add",
    "_foreach_add_",
    "_foreach_addcdiv",
    "_foreach_addcdiv_",
    "_foreach_addcmul",
    "_foreach_addcmul_",
    "_foreach_asin",
    "_foreach_asin_",
    "_foreach_atan",
    "_foreach_atan_",
    "_foreach_ceil",
    "_foreach_ceil_",
    "_foreach_clamp_max",
    "_foreach_clamp_max_",
    "_foreach_clamp_min",
    "_foreach_clamp_min_",
    "_foreach_clone",
    "_foreach_copy_",
    "_foreach_cos",
    "_foreach_cos_",
    "_foreach_cosh",
    "_foreach_cosh_",
    "_foreach_div",
    "_foreach_div_",
    "_foreach_erf",
    "_foreach_erf_",
    "_foreach_erfc",
    "_foreach_erfc_",
    "_foreach_exp",
    "_foreach_exp_",
    "_foreach_expm1",
    "_foreach_expm1_",
    "_foreach_floor",
    "_foreach_floor_",
    "_foreach_frac",
    "_foreach_frac_",
    "_foreach_lerp",
    "_foreach_lerp_",
    "_foreach_lgamma",
    "_foreach_lgamma_",
    "_foreach_log",
    "_foreach_log10",
    "_foreach_log10_",
    "_foreach_log1p",
    "_foreach_log1p_",
    "_foreach_log2",
    "_foreach_log2_",
    "_foreach_log_",
    "_foreach_max",
    "_foreach_maximum",
    "_foreach_maximum_",
    "_foreach_minimum",
    "_foreach_minimum_",
    "_foreach_mm",
    "_foreach_mul",
    "_foreach_mul_",
    "_foreach_neg",
    "_foreach_neg_",
    "_foreach_norm",
    "_foreach_pow",
    "_foreach_pow_",
    "_foreach_powsum",
    "_foreach_reciprocal",
    "_foreach_reciprocal_",
    "_foreach_round",
    "_foreach_round_",
    "_foreach_rsqrt",
    "_foreach_rsqrt_",
    "_foreach_sigmoid",
    "_foreach_sigmoid_",
    "_foreach_sign",
    "_foreach_sign_",
    "_foreach_sin",
    "_foreach_sin_",
    "_foreach_sinh",
    "_foreach_sinh_",
    "_foreach_sqrt",
    "_foreach_sqrt_",
    "_foreach_sub",
    "_foreach_sub_",
    "_foreach_tan",
    "_foreach_tan_",
    "_foreach_tanh",
    "_foreach_tanh_",
    "_foreach_trunc",
    "_foreach_trunc_",
    "_foreach_zero_",
    "_fused_adagrad_",
    "_fused_adam_",
    "_fused_adamw_",
    "_fused_rms_norm",
    "_fused_sgd_",
    "_grouped_mm",
    "_householder_product",
    "_imag",
    "_index_positions",
    "_index_put_impl_",
    "_index_put_positions",
    "_int_mm",
    "_is_all_true",
    "_is_any_true",
    "_lexicographic_order",
    "_linalg_det",
    "_linalg_eigh",
    "_linalg_eigvals",
    "_linalg_slogdet",
    "_linalg_solve_ex",
    "_linalg_svd",
    "_log_softmax",
    "_log_softmax_backward_data",
    "_lu_order",
    "_lu_with_info",
    "_native_batch_norm_legit",
    "_neg_view",
    "_pack_padded_sequence",
    "_pad_circular",
    "_pad_packed_sequence",
    "_real",
    "_rrelu_slopes",
    "_safe_softmax",
    "_sample_dirichlet",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_fused_attention_overrideable",
    "_scaled_dot_product_fused_attention_overrideable_backward",
    "_scaled_mm",
    "_segment_reduce",
    "_softmax",
    "_softmax_backward_data",
    "_standard_gamma",
    "_standard_gamma_grad",
    "_tensordot",
    "_thnn_fused_lstm_cell",
    "_to_device",
    "_to_dtype",
    "_unique",
    "_unique2",
    "_unsafe_index",
    "_unsafe_index_put",
    "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
    "_upsample_bicubic2d_aa",
    "_upsample_bicubic2d_aa_backward",
    "_upsample_bilinear2d_aa",
    "_upsample_bilinear2d_aa_backward",
    "_upsample_lanczos2d_aa",
    "_upsample_lanczos2d_aa_backward",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact1d_backward",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact2d_backward",
    "_upsample_nearest_exact3d",
    "_upsample_nearest_exact3d_backward",
    "_weight_norm",
    "abs",
    "abs_",
    "absolute",
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addmv_",
    "addr",
    "adjoint",
    "affine_grid_generator",
    "alias_copy",
    "all",
    "allclose",
    "alpha_dropout",
    "alpha_dropout_",
    "amax",
    "amin",
    "aminmax",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "avg_pool1d",
    "avg_pool1d_backward",
    "avg_pool2d_backward",
    "avg_pool3d_backward",
    "baddbmm",
    "bartlett_window",
    "batch_norm",
    "bernoulli",
    "bilinear",
    "binary_cross_entropy_with_logits",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman_window",
    "block_diag",
    "bmm",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "ceil_",
    "celu",
    "celu_",
    "chain_matmul",
    "channel_shuffle",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "clip_",
    "clone",
    "col2im",
    "column_stack",
    "combinations",
    "complex",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "conj_physical_",
    "constant_pad_nd",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "copysign",
    "corrcoef",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cross",
    "ctc_loss",
    "cummax",
    "cummin",
    "cumprod",
    "cumprod_backward",
    "cumsum",
    "cumulative_trapezoid",
    "deg2rad",
    "deg2rad_",
    "det",
    "detach",
    "detach_copy",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "div",
    "divide",
    "dot",
    "dropout",
    "dropout_",
    "dsplit",
    "dstack",
    "einsum",
    "embedding",
    "embedding_bag",
    "embedding_renorm_",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eq",
    "equal",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expand_copy",
    "expm1",
    "expm1_",
    "eye",
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "fill",
    "fill_",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "floor",
    "floor_",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frac_",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "frexp",
    "frobenius_norm",
    "full",
    "full_like",
    "gather",
    "gcd",
    "gcd_",
    "ge",
    "geqrf",
    "ger",
    "gradient",
    "greater",
    "greater_equal",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "gru",
    "gru_cell",
    "gt",
    "hamming_window",
    "hann_window",
    "hardshrink",
    "hash_tensor",
    "heaviside",
    "hinge_embedding_loss",
    "histc",
    "histogram",
    "histogramdd",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "i0_",
    "igamma",
    "igammac",
    "im2col",
    "imag",
    "index",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_select",
    "inner",
    "instance_norm",
    "inverse",
    "is_conj",
    "is_neg",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "kaiser_window",
    "kl_div",
    "kron",
    "kthvalue",
    "layer_norm",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linalg_matrix_norm",
    "linalg_norm",
    "linalg_vector_norm",
    "linspace",
    "lobpcg",
    "log",
    "log10",
    "log10_",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log_",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logit_",
    "logspace",
    "logsumexp",
    "lstm",
    "lstm_cell",
    "lt",
    "lu",
    "lu_solve",
    "lu_unpack",
    "margin_ranking_loss",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "max",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool1d_with_indices_backward",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_pool3d_with_indices_backward",
    "max_unpool2d",
    "max_unpool3d",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "mvlgamma",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "native_batch_norm",
    "native_channel_shuffle",
    "native_dropout",
    "native_dropout_backward",
    "native_group_norm",
    "native_layer_norm",
    "ne",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "nextafter",
    "nonzero",
    "nonzero_static",
    "norm",
    "norm_except_dim",
    "normal",
    "not_equal",
    "nuclear_norm",
    "one_hot",
    "ones",
    "ones_like",
    "orgqr",
    "ormqr",
    "outer",
    "pairwise_distance",
    "pca_lowrank",
    "pdist",
    "permute",
    "permute_copy",
    "pinverse",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "poisson_nll_loss",
    "polar",
    "polygamma",
    "positive",
    "pow",
    "prelu",
    "prod",
    "put",
    "qr",
    "quantile",
    "rad2deg",
    "rad2deg_",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "range",
    "ravel",
    "real",
    "reciprocal",
    "reciprocal_",
    "reflection_pad1d",
    "reflection_pad1d_backward",
    "reflection_pad2d",
    "reflection_pad2d_backward",
    "reflection_pad3d",
    "reflection_pad3d_backward",
    "relu",
    "relu_",
    "remainder",
    "renorm",
    "repeat_interleave",
    "replication_pad1d",
    "replication_pad1d_backward",
    "replication_pad2d",
    "replication_pad2d_backward",
    "replication_pad3d",
    "replication_pad3d_backward",
    "reshape",
    "resize_as_",
    "resolve_conj",
    "resolve_neg",
    "rms_norm",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "roll",
    "rot90",
    "round",
    "round_",
    "row_stack",
    "rrelu",
    "rrelu_",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "segment_reduce",
    "select",
    "select_copy",
    "select_scatter",
    "selu",
    "selu_",
    "sgn",
    "sigmoid",
    "sigmoid_",
    "sign",
    "signbit",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "slice",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "softmax",
    "sort",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "squeeze_copy",
    "stack",
    "std",
    "std_mean",
    "stft",
    "sub",
    "subtract",
    "sum",
    "svd",
    "svd_lowrank",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "tensor_split",
    "tensordot",
    "threshold",
    "threshold_",
    "threshold_backward",
    "tile",
    "topk",
    "trace",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_indices",
    "triplet_margin_loss",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "trunc_",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "upsample_bicubic2d",
    "upsample_bicubic2d_backward",
    "upsample_bilinear2d",
    "upsample_bilinear2d_backward",
    "upsample_linear1d",
    "upsample_linear1d_backward",
    "upsample_nearest1d",
    "upsample_nearest1d_backward",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
    "upsample_nearest3d",
    "upsample_nearest3d_backward",
    "upsample_trilinear3d",
    "upsample_trilinear3d_backward",
    "value_selecting_reduction_backward",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "view_as_complex",
    "view_as_complex_copy",
    "view_as_real",
    "view_as_real_copy",
    "view_copy",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "xlogy_",
    "zero_",
    "zeros",
    "zeros_like",
]

def _adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """`adaptive_avg_pool2d`, as PyTorch names the op behind it."""

def _adaptive_avg_pool2d_backward(grad_output: Tensor, input: Tensor) -> Tensor:
    """Gradient of `_adaptive_avg_pool2d`: shared out to what windows see."""

def _adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """`adaptive_avg_pool3d`, as PyTorch names the op behind it."""

def _adaptive_avg_pool3d_backward(grad_output: Tensor, input: Tensor) -> Tensor:
    """Gradient of `_adaptive_avg_pool3d`: shared out to what windows see."""

def _batch_norm_with_update(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: _float,
    eps: _float,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`native_batch_norm` in training, and memory that other backends reserve for its gradient."""

def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: _float, cdist: Tensor) -> Tensor:
    """Gradient of `cdist` for its first argument."""

def _cdist_forward(x1: Tensor, x2: Tensor, p: _float, compute_mode: _int | None) -> Tensor:
    """`cdist` with the number of its mode."""

def _chunk_cat(
    tensors: Sequence[Tensor],
    dim: _int,
    num_chunks: _int,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chunks of several tensors next to each other: each is padded with zeros to a multiple of
    ``num_chunks`` along a dimension, and what follows the chunks' dimension is one row."""

def _conj(input: Tensor) -> Tensor:
    """Complex conjugate of a complex tensor as a view, computed when it is read."""

def _conj_physical(input: Tensor) -> Tensor:
    """Complex conjugate, written out into new memory, also of real tensors."""

def _convert_indices_from_coo_to_csr(
    input: Tensor,
    size: _int,
    *,
    out_int32: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Where each of ``size`` rows ends, behind a 0, from the rows of elements in order."""

def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor,
    col_indices: Tensor,
    *,
    out_int32: _bool = False,
    transpose: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Positions of elements, a column each, from where rows end and the elements' columns."""

def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    transposed: _bool,
    output_padding: Sequence[_int],
    groups: _int,
    benchmark: _bool,
    deterministic: _bool,
    cudnn_enabled: _bool,
    allow_tf32: _bool,
) -> Tensor:
    """`convolution` with settings of CUDA's library, which mean nothing here."""

def _convolution_mode(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[_int],
    padding: _str,
    dilation: Sequence[_int],
    groups: _int,
) -> Tensor:
    """`convolution` padded as a word says: 'valid' or 'same'."""

def _convolution_weight(
    input: Tensor,
    grad: Tensor,
    kernel_size: Sequence[_int],
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    groups: _int,
) -> Tensor:
    """Gradient of a convolution for its weight: inputs (N, C, ...) with gradients (N, O, ...)."""

@overload
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: _int = 0,
    zero_infinity: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Negative log likelihoods of label sequences, and log probabilities of their beginnings."""
@overload
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    blank: _int = 0,
    zero_infinity: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Negative log likelihoods of label sequences, and log probabilities of their beginnings."""

@overload
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: _int,
    zero_infinity: _bool = False,
) -> Tensor:
    """Gradient of `_ctc_loss` for log probabilities that a log-softmax made."""
@overload
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: _int,
    zero_infinity: _bool = False,
) -> Tensor:
    """Gradient of `_ctc_loss` for log probabilities that a log-softmax made."""

def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """How a share changes with its concentration at the same quantile, over what the others
    have."""

def _einsum(
    equation: _str,
    tensors: Sequence[Tensor],
    *,
    path: Sequence[_int] | None = None,
) -> Tensor:
    """Sum of products in Einstein's notation, two operands at a time by matrix products."""

def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool = False,
    mode: _int = 0,
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums (mode 0), means (1) or maxima (2) of the rows of ``weight`` in each bag; the bag of each
    index, the bags' sizes, and where maxima are from."""

def _embedding_bag_forward_only(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool = False,
    mode: _int = 0,
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums (mode 0), means (1) or maxima (2) of the rows of ``weight`` in each bag; the bag of each
    index, the bags' sizes, and where maxima are from."""

def _fft_c2c(
    input: Tensor,
    dim: Sequence[_int],
    normalization: _int,
    forward: _bool,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of complex numbers; backwards unless ``forward``."""

def _fft_c2r(
    input: Tensor,
    dim: Sequence[_int],
    normalization: _int,
    last_dim_size: _int,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of the onesided transform of real numbers, ``last_dim_size`` of them in the last of
    ``dim``."""

def _fft_r2c(
    input: Tensor,
    dim: Sequence[_int],
    normalization: _int,
    onesided: _bool,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of real numbers; of the last of ``dim`` only the first half if
    ``onesided``, of which the rest is the mirror image."""

def _foreach_abs(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`abs` of each tensor."""

def _foreach_abs_(input: Sequence[Tensor]) -> None:
    """`abs` of each tensor, in place."""

def _foreach_acos(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`acos` of each tensor."""

def _foreach_acos_(input: Sequence[Tensor]) -> None:
    """`acos` of each tensor, in place."""

@overload
def _foreach_add(
    input: Sequence[Tensor],
    other: Sequence[Tensor],
    *,
    alpha: _float | _complex = 1,
) -> tuple[Tensor, ...]:
    """`add` of each tensor and its own operand."""
@overload
def _foreach_add(
    input: Sequence[Tensor],
    other: Tensor,
    *,
    alpha: _float | _complex = 1,
) -> tuple[Tensor, ...]:
    """`add` of each tensor and a tensor of no dimensions."""
@overload
def _foreach_add(input: Sequence[Tensor], scalar: _float | _complex) -> tuple[Tensor, ...]:
    """`add` of each tensor and a number."""
@overload
def _foreach_add(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`add` of each tensor and its own operand."""

@overload
def _foreach_add_(
    input: Sequence[Tensor],
    other: Sequence[Tensor],
    *,
    alpha: _float | _complex = 1,
) -> None:
    """`add` of each tensor and its own operand."""
@overload
def _foreach_add_(
    input: Sequence[Tensor],
    other: Tensor,
    *,
    alpha: _float | _complex = 1,
) -> None:
    """`add` of each tensor and a tensor of no dimensions."""
@overload
def _foreach_add_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`add` of each tensor and a number."""
@overload
def _foreach_add_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`add` of each tensor and its own operand."""

@overload
def _foreach_addcdiv(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Tensor,
) -> tuple[Tensor, ...]:
    """`addcdiv` of each tensor."""
@overload
def _foreach_addcdiv(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    value: _float | _complex = 1,
) -> tuple[Tensor, ...]:
    """`addcdiv` of each tensor."""
@overload
def _foreach_addcdiv(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`addcdiv` of each tensor."""

@overload
def _foreach_addcdiv_(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Tensor,
) -> None:
    """`addcdiv` of each tensor, in place."""
@overload
def _foreach_addcdiv_(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    value: _float | _complex = 1,
) -> None:
    """`addcdiv` of each tensor, in place."""
@overload
def _foreach_addcdiv_(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> None:
    """`addcdiv` of each tensor, in place."""

@overload
def _foreach_addcmul(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Tensor,
) -> tuple[Tensor, ...]:
    """`addcmul` of each tensor."""
@overload
def _foreach_addcmul(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    value: _float | _complex = 1,
) -> tuple[Tensor, ...]:
    """`addcmul` of each tensor."""
@overload
def _foreach_addcmul(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`addcmul` of each tensor."""

@overload
def _foreach_addcmul_(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Tensor,
) -> None:
    """`addcmul` of each tensor, in place."""
@overload
def _foreach_addcmul_(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    value: _float | _complex = 1,
) -> None:
    """`addcmul` of each tensor, in place."""
@overload
def _foreach_addcmul_(
    input: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> None:
    """`addcmul` of each tensor, in place."""

def _foreach_asin(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`asin` of each tensor."""

def _foreach_asin_(input: Sequence[Tensor]) -> None:
    """`asin` of each tensor, in place."""

def _foreach_atan(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`atan` of each tensor."""

def _foreach_atan_(input: Sequence[Tensor]) -> None:
    """`atan` of each tensor, in place."""

def _foreach_ceil(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`ceil` of each tensor."""

def _foreach_ceil_(input: Sequence[Tensor]) -> None:
    """`ceil` of each tensor, in place."""

@overload
def _foreach_clamp_max(input: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`clamp_max` of each tensor and its own operand."""
@overload
def _foreach_clamp_max(
    input: Sequence[Tensor],
    scalar: _float | _complex,
) -> tuple[Tensor, ...]:
    """`clamp_max` of each tensor and a number."""
@overload
def _foreach_clamp_max(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`clamp_max` of each tensor and its own operand."""

@overload
def _foreach_clamp_max_(input: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    """`clamp_max` of each tensor and its own operand."""
@overload
def _foreach_clamp_max_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`clamp_max` of each tensor and a number."""
@overload
def _foreach_clamp_max_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`clamp_max` of each tensor and its own operand."""

@overload
def _foreach_clamp_min(input: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`clamp_min` of each tensor and its own operand."""
@overload
def _foreach_clamp_min(
    input: Sequence[Tensor],
    scalar: _float | _complex,
) -> tuple[Tensor, ...]:
    """`clamp_min` of each tensor and a number."""
@overload
def _foreach_clamp_min(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`clamp_min` of each tensor and its own operand."""

@overload
def _foreach_clamp_min_(input: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    """`clamp_min` of each tensor and its own operand."""
@overload
def _foreach_clamp_min_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`clamp_min` of each tensor and a number."""
@overload
def _foreach_clamp_min_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`clamp_min` of each tensor and its own operand."""

def _foreach_clone(input: Sequence[Tensor], *, memory_format: Any = None) -> tuple[Tensor, ...]:
    """A copy of each tensor."""

def _foreach_copy_(
    input: Sequence[Tensor],
    src: Sequence[Tensor],
    non_blocking: _bool = False,
) -> None:
    """Copies of tensors into others."""

def _foreach_cos(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`cos` of each tensor."""

def _foreach_cos_(input: Sequence[Tensor]) -> None:
    """`cos` of each tensor, in place."""

def _foreach_cosh(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`cosh` of each tensor."""

def _foreach_cosh_(input: Sequence[Tensor]) -> None:
    """`cosh` of each tensor, in place."""

@overload
def _foreach_div(input: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`div` of each tensor and its own operand."""
@overload
def _foreach_div(input: Sequence[Tensor], other: Tensor) -> tuple[Tensor, ...]:
    """`div` of each tensor and a tensor of no dimensions."""
@overload
def _foreach_div(input: Sequence[Tensor], scalar: _float | _complex) -> tuple[Tensor, ...]:
    """`div` of each tensor and a number."""
@overload
def _foreach_div(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`div` of each tensor and its own operand."""

@overload
def _foreach_div_(input: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    """`div` of each tensor and its own operand."""
@overload
def _foreach_div_(input: Sequence[Tensor], other: Tensor) -> None:
    """`div` of each tensor and a tensor of no dimensions."""
@overload
def _foreach_div_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`div` of each tensor and a number."""
@overload
def _foreach_div_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`div` of each tensor and its own operand."""

def _foreach_erf(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`erf` of each tensor."""

def _foreach_erf_(input: Sequence[Tensor]) -> None:
    """`erf` of each tensor, in place."""

def _foreach_erfc(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`erfc` of each tensor."""

def _foreach_erfc_(input: Sequence[Tensor]) -> None:
    """`erfc` of each tensor, in place."""

def _foreach_exp(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`exp` of each tensor."""

def _foreach_exp_(input: Sequence[Tensor]) -> None:
    """`exp` of each tensor, in place."""

def _foreach_expm1(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`expm1` of each tensor."""

def _foreach_expm1_(input: Sequence[Tensor]) -> None:
    """`expm1` of each tensor, in place."""

def _foreach_floor(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`floor` of each tensor."""

def _foreach_floor_(input: Sequence[Tensor]) -> None:
    """`floor` of each tensor, in place."""

def _foreach_frac(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`frac` of each tensor."""

def _foreach_frac_(input: Sequence[Tensor]) -> None:
    """`frac` of each tensor, in place."""

@overload
def _foreach_lerp(
    input: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weights: Sequence[Tensor],
) -> tuple[Tensor, ...]:
    """`lerp` of each tensor."""
@overload
def _foreach_lerp(
    input: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weight: _float | _complex,
) -> tuple[Tensor, ...]:
    """`lerp` of each tensor."""
@overload
def _foreach_lerp(
    input: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weight: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`lerp` of each tensor."""

@overload
def _foreach_lerp_(
    input: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weights: Sequence[Tensor],
) -> None:
    """`lerp` of each tensor, in place."""
@overload
def _foreach_lerp_(
    input: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weight: _float | _complex,
) -> None:
    """`lerp` of each tensor, in place."""
@overload
def _foreach_lerp_(
    input: Sequence[Tensor],
    tensors1: Sequence[Tensor],
    weight: Sequence[_float | _complex],
) -> None:
    """`lerp` of each tensor, in place."""

def _foreach_lgamma(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`lgamma` of each tensor."""

def _foreach_lgamma_(input: Sequence[Tensor]) -> None:
    """`lgamma` of each tensor, in place."""

def _foreach_log(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`log` of each tensor."""

def _foreach_log10(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`log10` of each tensor."""

def _foreach_log10_(input: Sequence[Tensor]) -> None:
    """`log10` of each tensor, in place."""

def _foreach_log1p(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`log1p` of each tensor."""

def _foreach_log1p_(input: Sequence[Tensor]) -> None:
    """`log1p` of each tensor, in place."""

def _foreach_log2(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`log2` of each tensor."""

def _foreach_log2_(input: Sequence[Tensor]) -> None:
    """`log2` of each tensor, in place."""

def _foreach_log_(input: Sequence[Tensor]) -> None:
    """`log` of each tensor, in place."""

def _foreach_max(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The largest element of each tensor."""

@overload
def _foreach_maximum(input: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`maximum` of each tensor and its own operand."""
@overload
def _foreach_maximum(input: Sequence[Tensor], scalar: _float | _complex) -> tuple[Tensor, ...]:
    """`maximum` of each tensor and a number."""
@overload
def _foreach_maximum(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`maximum` of each tensor and its own operand."""

@overload
def _foreach_maximum_(input: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    """`maximum` of each tensor and its own operand."""
@overload
def _foreach_maximum_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`maximum` of each tensor and a number."""
@overload
def _foreach_maximum_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`maximum` of each tensor and its own operand."""

@overload
def _foreach_minimum(input: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`minimum` of each tensor and its own operand."""
@overload
def _foreach_minimum(input: Sequence[Tensor], scalar: _float | _complex) -> tuple[Tensor, ...]:
    """`minimum` of each tensor and a number."""
@overload
def _foreach_minimum(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`minimum` of each tensor and its own operand."""

@overload
def _foreach_minimum_(input: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    """`minimum` of each tensor and its own operand."""
@overload
def _foreach_minimum_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`minimum` of each tensor and a number."""
@overload
def _foreach_minimum_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`minimum` of each tensor and its own operand."""

def _foreach_mm(input: Sequence[Tensor], mat2: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Matrix products of pairs."""

@overload
def _foreach_mul(input: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`mul` of each tensor and its own operand."""
@overload
def _foreach_mul(input: Sequence[Tensor], other: Tensor) -> tuple[Tensor, ...]:
    """`mul` of each tensor and a tensor of no dimensions."""
@overload
def _foreach_mul(input: Sequence[Tensor], scalar: _float | _complex) -> tuple[Tensor, ...]:
    """`mul` of each tensor and a number."""
@overload
def _foreach_mul(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`mul` of each tensor and its own operand."""

@overload
def _foreach_mul_(input: Sequence[Tensor], other: Sequence[Tensor]) -> None:
    """`mul` of each tensor and its own operand."""
@overload
def _foreach_mul_(input: Sequence[Tensor], other: Tensor) -> None:
    """`mul` of each tensor and a tensor of no dimensions."""
@overload
def _foreach_mul_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`mul` of each tensor and a number."""
@overload
def _foreach_mul_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`mul` of each tensor and its own operand."""

def _foreach_neg(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`neg` of each tensor."""

def _foreach_neg_(input: Sequence[Tensor]) -> None:
    """`neg` of each tensor, in place."""

def _foreach_norm(
    input: Sequence[Tensor],
    ord: _float | _complex = 2,
    dtype: _dtype | None = None,
) -> tuple[Tensor, ...]:
    """The vector norm of each tensor."""

@overload
def _foreach_pow(input: Sequence[Tensor], exponent: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`pow` of each tensor and its own operand."""
@overload
def _foreach_pow(input: Sequence[Tensor], exponent: _float | _complex) -> tuple[Tensor, ...]:
    """`pow` of each tensor and a number."""
@overload
def _foreach_pow(
    input: Sequence[Tensor],
    exponent: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`pow` of each tensor and its own operand."""
@overload
def _foreach_pow(input: _float | _complex, exponent: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """A number to the power of each tensor."""

@overload
def _foreach_pow_(input: Sequence[Tensor], exponent: Sequence[Tensor]) -> None:
    """`pow` of each tensor and its own operand."""
@overload
def _foreach_pow_(input: Sequence[Tensor], exponent: _float | _complex) -> None:
    """`pow` of each tensor and a number."""
@overload
def _foreach_pow_(input: Sequence[Tensor], exponent: Sequence[_float | _complex]) -> None:
    """`pow` of each tensor and its own operand."""

def _foreach_powsum(
    input: Sequence[Tensor],
    ord: _float | _complex = 2,
    dtype: _dtype | None = None,
) -> tuple[Tensor, ...]:
    """For each tensor the sum of its elements' absolute values to a power."""

def _foreach_reciprocal(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`reciprocal` of each tensor."""

def _foreach_reciprocal_(input: Sequence[Tensor]) -> None:
    """`reciprocal` of each tensor, in place."""

def _foreach_round(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`round` of each tensor."""

def _foreach_round_(input: Sequence[Tensor]) -> None:
    """`round` of each tensor, in place."""

def _foreach_rsqrt(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`rsqrt` of each tensor."""

def _foreach_rsqrt_(input: Sequence[Tensor]) -> None:
    """`rsqrt` of each tensor, in place."""

def _foreach_sigmoid(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`sigmoid` of each tensor."""

def _foreach_sigmoid_(input: Sequence[Tensor]) -> None:
    """`sigmoid` of each tensor, in place."""

def _foreach_sign(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`sign` of each tensor."""

def _foreach_sign_(input: Sequence[Tensor]) -> None:
    """`sign` of each tensor, in place."""

def _foreach_sin(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`sin` of each tensor."""

def _foreach_sin_(input: Sequence[Tensor]) -> None:
    """`sin` of each tensor, in place."""

def _foreach_sinh(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`sinh` of each tensor."""

def _foreach_sinh_(input: Sequence[Tensor]) -> None:
    """`sinh` of each tensor, in place."""

def _foreach_sqrt(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`sqrt` of each tensor."""

def _foreach_sqrt_(input: Sequence[Tensor]) -> None:
    """`sqrt` of each tensor, in place."""

@overload
def _foreach_sub(
    input: Sequence[Tensor],
    other: Sequence[Tensor],
    *,
    alpha: _float | _complex = 1,
) -> tuple[Tensor, ...]:
    """`sub` of each tensor and its own operand."""
@overload
def _foreach_sub(input: Sequence[Tensor], scalar: _float | _complex) -> tuple[Tensor, ...]:
    """`sub` of each tensor and a number."""
@overload
def _foreach_sub(
    input: Sequence[Tensor],
    scalars: Sequence[_float | _complex],
) -> tuple[Tensor, ...]:
    """`sub` of each tensor and its own operand."""

@overload
def _foreach_sub_(
    input: Sequence[Tensor],
    other: Sequence[Tensor],
    *,
    alpha: _float | _complex = 1,
) -> None:
    """`sub` of each tensor and its own operand."""
@overload
def _foreach_sub_(input: Sequence[Tensor], scalar: _float | _complex) -> None:
    """`sub` of each tensor and a number."""
@overload
def _foreach_sub_(input: Sequence[Tensor], scalars: Sequence[_float | _complex]) -> None:
    """`sub` of each tensor and its own operand."""

def _foreach_tan(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`tan` of each tensor."""

def _foreach_tan_(input: Sequence[Tensor]) -> None:
    """`tan` of each tensor, in place."""

def _foreach_tanh(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`tanh` of each tensor."""

def _foreach_tanh_(input: Sequence[Tensor]) -> None:
    """`tanh` of each tensor, in place."""

def _foreach_trunc(input: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`trunc` of each tensor."""

def _foreach_trunc_(input: Sequence[Tensor]) -> None:
    """`trunc` of each tensor, in place."""

def _foreach_zero_(input: Sequence[Tensor]) -> None:
    """Zeros in each tensor, in place."""

@overload
def _fused_adagrad_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    state_sums: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: _float,
    lr_decay: _float,
    weight_decay: _float,
    eps: _float,
    maximize: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `adagrad` on every parameter, in place."""
@overload
def _fused_adagrad_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    state_sums: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: Tensor,
    lr_decay: _float,
    weight_decay: _float,
    eps: _float,
    maximize: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `adagrad` on every parameter, in place."""

@overload
def _fused_adam_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: _float,
    beta1: _float,
    beta2: _float,
    weight_decay: _float,
    eps: _float,
    amsgrad: _bool,
    maximize: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `adam` on every parameter, in place."""
@overload
def _fused_adam_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: Tensor,
    beta1: _float,
    beta2: _float,
    weight_decay: _float,
    eps: _float,
    amsgrad: _bool,
    maximize: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `adam` on every parameter, in place."""

@overload
def _fused_adamw_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: _float,
    beta1: _float,
    beta2: _float,
    weight_decay: _float,
    eps: _float,
    amsgrad: _bool,
    maximize: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `adamw` on every parameter, in place."""
@overload
def _fused_adamw_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: Tensor,
    beta1: _float,
    beta2: _float,
    weight_decay: _float,
    eps: _float,
    amsgrad: _bool,
    maximize: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `adamw` on every parameter, in place."""

def _fused_rms_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None,
    eps: _float | None,
) -> tuple[Tensor, Tensor]:
    """`rms_norm`, and the reciprocal root mean squares."""

@overload
def _fused_sgd_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    momentum_buffer_list: Sequence[Tensor],
    *,
    weight_decay: _float,
    momentum: _float,
    lr: _float,
    dampening: _float,
    nesterov: _bool,
    maximize: _bool,
    is_first_step: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `sgd` on every parameter, in place."""
@overload
def _fused_sgd_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    momentum_buffer_list: Sequence[Tensor],
    *,
    weight_decay: _float,
    momentum: _float,
    lr: Tensor,
    dampening: _float,
    nesterov: _bool,
    maximize: _bool,
    is_first_step: _bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """A step of `sgd` on every parameter, in place."""

def _grouped_mm(
    input: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _dtype | None = None,
) -> Tensor:
    """Matrix products of groups of rows or columns, which end at ``offs``; see `grouped_mm`."""

def _householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections, by LAPACK."""

def _imag(input: Tensor) -> Tensor:
    """Imaginary parts of complex elements."""

def _index_positions(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """`index` by integer tensors only."""

def _index_put_impl_(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
    unsafe: _bool = False,
) -> Tensor:
    """As `index_put_`; ``unsafe`` changes nothing, indices are always checked."""

def _index_put_positions(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
) -> Tensor:
    """A copy of ``input`` with values put (or added) at integer positions."""

def _int_mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices of int8, or of uint8 and int8, in int32."""

def _is_all_true(input: Tensor) -> Tensor:
    """Whether all elements of a boolean tensor are true."""

def _is_any_true(input: Tensor) -> Tensor:
    """Whether some element of a boolean tensor is true."""

def _lexicographic_order(rows: Tensor) -> Tensor:
    """Positions that sort the rows of a matrix, comparing their first different elements."""

def _linalg_det(A: Tensor) -> results._linalg_det:
    """Determinants, and the LU factorizations they were computed with."""

def _linalg_eigh(A: Tensor, UPLO: _str = 'L', compute_v: _bool = True) -> results._linalg_eigh:
    """Eigenvalues of Hermitian matrices in ascending order and, if asked for, eigenvectors; one
    triangle is read."""

def _linalg_eigvals(input: Tensor) -> Tensor:
    """Eigenvalues without eigenvectors."""

def _linalg_slogdet(A: Tensor) -> results._linalg_slogdet:
    """Sign and logarithm of determinants, and the LU factorizations they were computed with."""

def _linalg_solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    check_errors: _bool = False,
) -> results._linalg_solve_ex:
    """`torch.linalg.solve_ex`, and the LU factors of the matrix."""

def _linalg_svd(
    A: Tensor,
    full_matrices: _bool = False,
    compute_uv: _bool = True,
    *,
    driver: _str | None = None,
) -> results._linalg_svd:
    """Singular values in descending order and, if asked for, singular vectors."""

def _log_softmax(input: Tensor, dim: _int, half_to_float: _bool) -> Tensor:
    """`log_softmax` in the dtype of its input; ``half_to_float`` is refused."""

def _log_softmax_backward_data(
    grad_output: Tensor,
    output: Tensor,
    dim: _int,
    input_dtype: _dtype,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Gradient of `log_softmax` from its output."""

def _lu_order(pivots: Tensor, rows: _int) -> Tensor:
    """The order of rows that the exchanges of an LU factorization lead to."""

def _lu_with_info(
    input: Tensor,
    pivot: _bool = True,
    check_errors: _bool = True,
) -> results._lu_with_info:
    """`torch.linalg.lu_factor_ex` under its older name."""

@overload
def _native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: _bool,
    momentum: _float,
    eps: _float,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm`, with running statistics that are written."""
@overload
def _native_batch_norm_legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`native_batch_norm` without running statistics."""

def _neg_view(input: Tensor) -> Tensor:
    """The negative as a view, computed when it is read."""

def _pack_padded_sequence(
    input: Tensor,
    lengths: Tensor,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """Steps of padded sequences, longest first, one after another without padding; and how many
    sequences have each step."""

def _pad_circular(input: Tensor, pad: Sequence[_int]) -> Tensor:
    """Padding with the elements from the other end."""

def _pad_packed_sequence(
    data: Tensor,
    batch_sizes: Tensor,
    batch_first: _bool,
    padding_value: _float | _complex,
    total_length: _int,
) -> tuple[Tensor, Tensor]:
    """Padded sequences from packed ones, and their lengths."""

def _real(input: Tensor) -> Tensor:
    """Real parts of complex elements."""

def _rrelu_slopes(
    input: Tensor,
    lower: _float | _complex,
    upper: _float | _complex,
    generator: Generator | None = None,
) -> Tensor:
    """Random slopes for elements that are not positive, 1 for the others, in row-major order."""

def _safe_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None) -> Tensor:
    """`softmax`, but zeros where every element is minus infinity."""

def _sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Shares that sum to 1 along the last dimension, with the concentrations that ``input``
    gives."""

def _scaled_dot_product_attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> tuple[Tensor, Tensor]:
    """`scaled_dot_product_attention`, and the weights of the values."""

def _scaled_dot_product_flash_attention_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: _float | None = None,
) -> tuple[Tensor, Tensor]:
    """`scaled_dot_product_attention` of (batch, heads, length, features), and the logarithms of the
    sums of exponentials. Where a mask allows a row nothing it is zeros."""

def _scaled_dot_product_fused_attention_overrideable(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    return_debug_mask: _bool = False,
    *,
    scale: _float | None = None,
) -> results._scaled_dot_product_fused_attention_overrideable:
    """`scaled_dot_product_attention` of (batch, heads, length, features) for a device's own kernel,
    with the logarithms of the sums of exponentials, and the seeds of what it drops. The other
    results are for kernels of PyTorch's; they are None."""

def _scaled_dot_product_fused_attention_overrideable_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    grad_input_mask: _bool | Sequence[_bool],
    out: Tensor,
    logsumexp: Tensor,
    cum_seq_q: Tensor | None,
    cum_seq_k: Tensor | None,
    max_q: _int,
    max_k: _int,
    dropout_p: _float,
    is_causal: _bool,
    philox_seed: Tensor,
    philox_offset: Tensor,
    *,
    scale: _float | None = None,
) -> results._scaled_dot_product_fused_attention_overrideable_backward:
    """Gradients of `_scaled_dot_product_fused_attention_overrideable`, those that the mask asks
    for."""

def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: _dtype | None = None,
    use_fast_accum: _bool = False,
) -> Tensor:
    """Product of two matrices of 8-bit floats times their scales, plus a bias."""

def _segment_reduce(
    data: Tensor,
    reduce: _str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: _float | _complex | None = None,
) -> Tensor:
    """Reduces consecutive segments along ``axis`` (``sum``, ``mean``, ``amax``, ``amin``,
    ``prod``), given by their lengths or by where they begin and end."""

def _softmax(input: Tensor, dim: _int, half_to_float: _bool) -> Tensor:
    """`softmax` in the dtype of its input; ``half_to_float`` is refused."""

def _softmax_backward_data(
    grad_output: Tensor,
    output: Tensor,
    dim: _int,
    input_dtype: _dtype,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Gradient of `softmax` from its output."""

def _standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of the shapes that ``input`` gives and the rate 1; their gradient is
    implicit."""

def _standard_gamma_grad(input: Tensor, output: Tensor) -> Tensor:
    """How gamma numbers change with their shapes, at the same quantile."""

def _tensordot(
    input: Tensor,
    other: Tensor,
    dims_self: Sequence[_int],
    dims_other: Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Sums of products over pairs of dimensions."""

def _thnn_fused_lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Output and cell state of a step of LSTM, and the four gates as they were used."""

def _to_device(input: Tensor, device: _device | _str | _int) -> Tensor:
    """A copy on another device."""

def _to_dtype(input: Tensor, dtype: _dtype) -> Tensor:
    """A copy in another dtype."""

def _unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Different elements in order, and the number of each element among them if asked for."""

def _unique2(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Different elements in order, the number of each element among them, and how often they occur;
    empty where not asked for."""

def _unsafe_index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """As `index`; indices are checked all the same."""

def _unsafe_index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
) -> Tensor:
    """As `index_put`; indices are checked all the same."""

def _unsafe_masked_index(
    input: Tensor,
    mask: Tensor,
    indices: Sequence[Tensor | None],
    fill: _float | _complex,
) -> Tensor:
    """`index` where a mask holds, a number elsewhere; there positions may be out of range."""

def _unsafe_masked_index_put_accumulate(
    input: Tensor,
    mask: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
) -> Tensor:
    """A copy with values added at positions where a mask holds; elsewhere they may be out of
    range."""

@overload
def _upsample_bicubic2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: cubic-aa."""
@overload
def _upsample_bicubic2d_aa(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`_upsample_bicubic2d_aa` to a size or by factors."""

def _upsample_bicubic2d_aa_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `_upsample_bicubic2d_aa`."""

@overload
def _upsample_bilinear2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: linear-aa."""
@overload
def _upsample_bilinear2d_aa(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`_upsample_bilinear2d_aa` to a size or by factors."""

def _upsample_bilinear2d_aa_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `_upsample_bilinear2d_aa`."""

@overload
def _upsample_lanczos2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: lanczos-aa."""
@overload
def _upsample_lanczos2d_aa(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`_upsample_lanczos2d_aa` to a size or by factors."""

def _upsample_lanczos2d_aa_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `_upsample_lanczos2d_aa`."""

@overload
def _upsample_nearest_exact1d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 1 dimensions: nearest-exact."""
@overload
def _upsample_nearest_exact1d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`_upsample_nearest_exact1d` to a size or by factors."""

def _upsample_nearest_exact1d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales: _float | None = None,
) -> Tensor:
    """Gradient of `_upsample_nearest_exact1d`."""

@overload
def _upsample_nearest_exact2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: nearest-exact."""
@overload
def _upsample_nearest_exact2d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`_upsample_nearest_exact2d` to a size or by factors."""

def _upsample_nearest_exact2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `_upsample_nearest_exact2d`."""

@overload
def _upsample_nearest_exact3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 3 dimensions: nearest-exact."""
@overload
def _upsample_nearest_exact3d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`_upsample_nearest_exact3d` to a size or by factors."""

def _upsample_nearest_exact3d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `_upsample_nearest_exact3d`."""

def _weight_norm(v: Tensor, g: Tensor, dim: _int = 0) -> Tensor:
    """``v`` scaled to norms ``g`` over all dimensions but one."""

def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Absolute value."""

def abs_(input: Tensor) -> Tensor:
    """In-place version of `abs`: writes the result into ``input`` and returns it."""

def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `abs`."""

def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Angle whose cosine is given."""

def acos_(input: Tensor) -> Tensor:
    """In-place version of `acos`: writes the result into ``input`` and returns it."""

def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic cosine."""

def acosh_(input: Tensor) -> Tensor:
    """In-place version of `acosh`: writes the result into ``input`` and returns it."""

def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Means of windows that divide the input into ``output_size`` parts."""

def adaptive_avg_pool2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Means of windows that divide the input into ``output_size`` parts."""

def adaptive_avg_pool3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Means of windows that divide the input into ``output_size`` parts."""

def adaptive_max_pool1d(
    input: Tensor,
    output_size: _int | Sequence[_int],
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows that divide the input into ``output_size`` parts, and where they
    are in the spatial dimensions as one row."""

def adaptive_max_pool2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows that divide the input into ``output_size`` parts, and where they
    are in the spatial dimensions as one row."""

def adaptive_max_pool3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows that divide the input into ``output_size`` parts, and where they
    are in the spatial dimensions as one row."""

def add(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Sum ``input + alpha * other``."""

def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _float | _complex = 1,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2).sum(0)``."""

def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``input + value * tensor1 / tensor2``."""

def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``input + value * tensor1 * tensor2``."""

def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: _float | _complex = 1,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``."""

def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: _float | _complex = 1,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``."""

def addmv_(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: _float | _complex = 1,
    alpha: _float | _complex = 1,
) -> Tensor:
    """In-place version of `addmv`: writes the result into ``input`` and returns it."""

def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: _float | _complex = 1,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""

def adjoint(input: Tensor) -> Tensor:
    """Matrices transposed and conjugated."""

def affine_grid_generator(theta: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor:
    """Positions (N, ..., n) in [-1, 1] that matrices (N, n, n + 1) move those of a grid to."""

def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `alias` shows."""

def all(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether all elements are non-zero, over dimensions (all if ``dim`` is None)."""

def allclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> _bool:
    """Whether `isclose` holds everywhere."""

def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""

def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of `alpha_dropout`."""

def amax(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Largest element over dimensions (all if none are given); ties share the gradient."""

def amin(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Smallest element over dimensions (all if none are given); ties share the gradient."""

def aminmax(
    input: Tensor,
    *,
    dim: _int | None = None,
    keepdim: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.aminmax:
    """The smallest and the largest element, of all or along a dimension."""

def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Angle of complex numbers in radians; of real ones 0, or pi where negative."""

def any(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether some element is non-zero, over dimensions (all if ``dim`` is None)."""

@overload
def arange(
    start: _float | _complex,
    end: _float | _complex,
    step: _float | _complex = 1,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers from ``start`` up to but not including ``end``, ``step`` apart."""
@overload
def arange(
    end: _float | _complex,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers from 0 up to but not including ``end``."""

def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `acos`."""

def arccos_(input: Tensor) -> Tensor:
    """In-place version of `arccos`: writes the result into ``input`` and returns it."""

def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `acosh`."""

def arccosh_(input: Tensor) -> Tensor:
    """In-place version of `arccosh`: writes the result into ``input`` and returns it."""

def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `asin`."""

def arcsin_(input: Tensor) -> Tensor:
    """In-place version of `arcsin`: writes the result into ``input`` and returns it."""

def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `asinh`."""

def arcsinh_(input: Tensor) -> Tensor:
    """In-place version of `arcsinh`: writes the result into ``input`` and returns it."""

def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `atan`."""

def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `atan2`."""

def arctan_(input: Tensor) -> Tensor:
    """In-place version of `arctan`: writes the result into ``input`` and returns it."""

def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `atanh`."""

def arctanh_(input: Tensor) -> Tensor:
    """In-place version of `arctanh`: writes the result into ``input`` and returns it."""

def argmax(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Position of the largest element, the first one among equals; flat if ``dim`` is None."""

def argmin(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Position of the smallest element, the first one among equals; flat if ``dim`` is None."""

@overload
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False) -> Tensor:
    """Positions that sort the elements along a dimension."""
@overload
def argsort(
    input: Tensor,
    *,
    stable: _bool,
    dim: _int = -1,
    descending: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Positions that sort the elements along a dimension; equal ones keep their order."""

def argwhere(input: Tensor) -> Tensor:
    """Positions of elements that are not zero, one row each."""

def as_strided(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """A view of the storage with any sizes, strides and offset."""

def as_strided_(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """In-place version of `as_strided`: the tensor becomes that view of its memory."""

def as_strided_copy(
    input: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `as_strided` shows."""

def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[_int],
    stride: Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy in which ``src`` stands where `as_strided` shows."""

def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Angle whose sine is given."""

def asin_(input: Tensor) -> Tensor:
    """In-place version of `asin`: writes the result into ``input`` and returns it."""

def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic sine."""

def asinh_(input: Tensor) -> Tensor:
    """In-place version of `asinh`: writes the result into ``input`` and returns it."""

def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Angle whose tangent is given."""

def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Angle of the point (other, input) in radians."""

def atan_(input: Tensor) -> Tensor:
    """In-place version of `atan`: writes the result into ``input`` and returns it."""

def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse hyperbolic tangent."""

def atanh_(input: Tensor) -> Tensor:
    """In-place version of `atanh`: writes the result into ``input`` and returns it."""

@overload
def atleast_1d(input: Tensor) -> Tensor:
    """The tensor with 1 dimensions at least."""
@overload
def atleast_1d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors with 1 dimensions at least."""
@overload
def atleast_1d(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors with 1 dimensions at least."""

@overload
def atleast_2d(input: Tensor) -> Tensor:
    """The tensor with 2 dimensions at least."""
@overload
def atleast_2d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors with 2 dimensions at least."""
@overload
def atleast_2d(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors with 2 dimensions at least."""

@overload
def atleast_3d(input: Tensor) -> Tensor:
    """The tensor with 3 dimensions at least."""
@overload
def atleast_3d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Tensors with 3 dimensions at least."""
@overload
def atleast_3d(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors with 3 dimensions at least."""

def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """Mean of each window; zeros of the padding count unless told otherwise."""

def avg_pool1d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    ceil_mode: _bool,
    count_include_pad: _bool,
    divisor_override: _int | None,
) -> Tensor:
    """Gradient of `avg_pool1d`."""

def avg_pool2d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    ceil_mode: _bool,
    count_include_pad: _bool,
    divisor_override: _int | None,
) -> Tensor:
    """Gradient of `avg_pool2d`."""

def avg_pool3d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    ceil_mode: _bool,
    count_include_pad: _bool,
    divisor_override: _int | None,
) -> Tensor:
    """Gradient of `avg_pool3d`."""

def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _float | _complex = 1,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)``, batch by batch."""

@overload
def bartlett_window(
    window_length: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Bartlett window: a triangle."""
@overload
def bartlett_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Bartlett window: a triangle."""

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor:
    """Mean 0 and variance 1 of each channel, then scale and shift (Ioffe and Szegedy, 2015)."""

@overload
def bernoulli(
    input: Tensor,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Ones with the probabilities that ``input`` gives, zeros otherwise."""
@overload
def bernoulli(input: Tensor, p: _float, *, generator: Generator | None = None) -> Tensor:
    """Ones with probability ``p``, zeros otherwise, in the shape of ``input``."""

def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each output k; weight is (out, in1, in2)."""

def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: _int = 1,
) -> Tensor:
    """`binary_cross_entropy` of ``sigmoid(input)``, without overflow."""

def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each number from 0 on occurs, or the sum of the weights where it does."""

def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials, each of probability ``prob``."""

def bitwise_and(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Bitwise and of integers or booleans."""

@overload
def bitwise_left_shift(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Bits moved to the left by ``other`` places: a product with ``2**other``."""
@overload
def bitwise_left_shift(input: _float | _complex, other: Tensor) -> Tensor:
    """Bits moved to the left by ``other`` places: a product with ``2**other``."""

def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bitwise complement; logical not of booleans."""

def bitwise_or(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Bitwise or of integers or booleans."""

@overload
def bitwise_right_shift(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Bits moved to the right, the sign kept: ``input // 2**other``."""
@overload
def bitwise_right_shift(input: _float | _complex, other: Tensor) -> Tensor:
    """Bits moved to the right, the sign kept: ``input // 2**other``."""

def bitwise_xor(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Bitwise xor of integers or booleans."""

@overload
def blackman_window(
    window_length: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Blackman window: ``0.42 - 0.5 cos(x) + 0.08 cos(2x)``."""
@overload
def blackman_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Blackman window: ``0.42 - 0.5 cos(x) + 0.08 cos(2x)``."""

def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices along its diagonal; vectors are rows."""

def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of matrices, batch by batch."""

def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors expanded to the shape in which they meet."""

@overload
def broadcast_to(input: Tensor, *size: _int) -> Tensor:
    """Expand to a shape."""
@overload
def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor:
    """Expand to a shape."""

@overload
def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Number of the bucket between sorted boundaries in which each value lies; a boundary belongs
    to the bucket below, or above if ``right``."""
@overload
def bucketize(
    input: _float | _complex,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
) -> Tensor:
    """Number of the bucket between sorted boundaries in which each value lies; a boundary belongs
    to the bucket below, or above if ``right``."""

def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of one element of each vector, as rows, the last changing fastest."""

def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors one after another along an existing dimension."""

def cdist(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    compute_mode: _str = 'use_mm_for_euclid_dist_if_necessary',
) -> Tensor:
    """Distances by the ``p``-norm between all rows of ``x1`` and all rows of ``x2``."""

def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Smallest integer not below."""

def ceil_(input: Tensor) -> Tensor:
    """In-place version of `ceil`: writes the result into ``input`` and returns it."""

def celu(input: Tensor, alpha: _float | _complex = 1.0) -> Tensor:
    """``x``, and ``alpha * expm1(x / alpha)`` below 0 (Barron, 2017)."""

def celu_(input: Tensor, alpha: _float | _complex = 1.0) -> Tensor:
    """In-place version of `celu`: writes the result into ``input`` and returns it."""

def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Product of matrices; `torch.linalg.multi_dot` is its newer name."""

def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels of all groups interleaved (Zhang et al., 2018)."""

def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Cholesky factor of a positive-definite matrix; `torch.linalg.cholesky` is its newer name."""

def cholesky_inverse(
    input: Tensor,
    upper: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of the matrix whose Cholesky factor is given."""

def cholesky_solve(
    input: Tensor,
    input2: Tensor,
    upper: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Solution ``X`` of ``A @ X = input``, given the Cholesky factor ``input2`` of ``A``."""

def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of equal size along a dimension."""

@overload
def clamp(
    input: Tensor,
    min: Tensor | None = None,
    max: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Limit elements to the range between those of ``min`` and ``max``."""
@overload
def clamp(
    input: Tensor,
    min: _float | _complex | None = None,
    max: _float | _complex | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Limit elements to the range from ``min`` to ``max``; None leaves a side open."""

@overload
def clamp_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """In-place version of `clamp`: writes the result into ``input`` and returns it."""
@overload
def clamp_(
    input: Tensor,
    min: _float | _complex | None = None,
    max: _float | _complex | None = None,
) -> Tensor:
    """In-place version of `clamp`: writes the result into ``input`` and returns it."""

@overload
def clamp_max(input: Tensor, max: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`clamp` with ``max`` only."""
@overload
def clamp_max(input: Tensor, max: _float | _complex, *, out: Tensor | None = None) -> Tensor:
    """`clamp` with ``max`` only."""

@overload
def clamp_max_(input: Tensor, max: Tensor) -> Tensor:
    """In-place version of `clamp_max`: writes the result into ``input`` and returns it."""
@overload
def clamp_max_(input: Tensor, max: _float | _complex) -> Tensor:
    """In-place version of `clamp_max`: writes the result into ``input`` and returns it."""

@overload
def clamp_min(input: Tensor, min: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`clamp` with ``min`` only."""
@overload
def clamp_min(input: Tensor, min: _float | _complex, *, out: Tensor | None = None) -> Tensor:
    """`clamp` with ``min`` only."""

@overload
def clamp_min_(input: Tensor, min: Tensor) -> Tensor:
    """In-place version of `clamp_min`: writes the result into ``input`` and returns it."""
@overload
def clamp_min_(input: Tensor, min: _float | _complex) -> Tensor:
    """In-place version of `clamp_min`: writes the result into ``input`` and returns it."""

@overload
def clip(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Alias of `clamp`."""
@overload
def clip(
    input: Tensor,
    min: _float | _complex | None = None,
    max: _float | _complex | None = None,
) -> Tensor:
    """Alias of `clamp`."""

@overload
def clip_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """In-place version of `clip`: writes the result into ``input`` and returns it."""
@overload
def clip_(
    input: Tensor,
    min: _float | _complex | None = None,
    max: _float | _complex | None = None,
) -> Tensor:
    """In-place version of `clip`: writes the result into ``input`` and returns it."""

def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy in memory of its own, in its order of dimensions or in a memory format."""

def col2im(
    input: Tensor,
    output_size: _int | Sequence[_int],
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Columns (N, C * window, windows) added up to images (N, C, H, W)."""

def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side: vectors are columns."""

def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All combinations of ``r`` elements of a vector, as rows, in the order of their positions."""

def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers of real and imaginary parts."""

def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Alias of `cat`."""

def concatenate(
    tensors: Sequence[Tensor],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `cat`."""

def conj(input: Tensor) -> Tensor:
    """Complex conjugate as a view, computed when it is read; the tensor itself where it is real."""

def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex conjugate, written out into new memory; real tensors are returned as they are."""

def conj_physical_(input: Tensor) -> Tensor:
    """In-place version of `conj_physical`: writes the result into ``input`` and returns it."""

def constant_pad_nd(
    input: Tensor,
    pad: Sequence[_int],
    value: _float | _complex = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Pairs of sizes added before and after, last dimension first; negative ones cut off."""

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

def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    transposed: _bool,
    output_padding: Sequence[_int],
    groups: _int,
) -> Tensor:
    """Cross-correlation of (N, C, ...) with filters (O, C / groups, ...), or its transpose."""

def copysign(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The absolute value of ``input`` with the sign of ``other``."""

def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation coefficients of variables (rows) from observations (columns)."""

def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Cosine of radians."""

def cos_(input: Tensor) -> Tensor:
    """In-place version of `cos`: writes the result into ``input`` and returns it."""

def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic cosine."""

def cosh_(input: Tensor) -> Tensor:
    """In-place version of `cosh`: writes the result into ``input`` and returns it."""

def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    reduction: _int = 1,
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1."""

def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """Cosine of the angle between vectors along a dimension; norms count as at least ``eps``."""

@overload
def count_nonzero(input: Tensor, dim: _int | None = None) -> Tensor:
    """How many elements are not zero, in all or along a dimension."""
@overload
def count_nonzero(input: Tensor, *dim: _int) -> Tensor:
    """How many elements are not zero over dimensions."""
@overload
def count_nonzero(input: Tensor, dim: Sequence[_int]) -> Tensor:
    """How many elements are not zero over dimensions."""

def cov(
    input: Tensor,
    *,
    correction: _int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Covariance matrix of variables (rows) from observations (columns), with frequencies
    ``fweights`` and importances ``aweights``."""

def cross(
    input: Tensor,
    other: Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Cross product along ``dim``, by default the first dimension of size 3."""

@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: _int = 0,
    reduction: _int = 1,
    zero_infinity: _bool = False,
) -> Tensor:
    """Loss of label sequences without alignment, for log probabilities (time, batch, classes)."""
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    blank: _int = 0,
    reduction: _int = 1,
    zero_infinity: _bool = False,
) -> Tensor:
    """Loss of label sequences without alignment, for log probabilities (time, batch, classes)."""

def cummax(
    input: Tensor,
    dim: _int,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.cummax:
    """Largest element up to each along a dimension, and the last position where it stands."""

def cummin(
    input: Tensor,
    dim: _int,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.cummin:
    """Smallest element up to each along a dimension, and the last position where it stands."""

def cumprod(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Products of the elements up to each along a dimension; integers multiply as int64."""

def cumprod_backward(grad: Tensor, input: Tensor, dim: _int, output: Tensor) -> Tensor:
    """Gradient of `cumprod` from its input and output."""

def cumsum(
    input: Tensor,
    dim: _int,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Sums of the elements up to each along a dimension; integers are summed as int64."""

@overload
def cumulative_trapezoid(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor:
    """Integrals up to each sample but the first by the trapezoidal rule: ``y`` sampled at ``x``."""
@overload
def cumulative_trapezoid(y: Tensor, *, dx: _float | _complex = 1, dim: _int = -1) -> Tensor:
    """Integrals up to each sample but the first by the trapezoidal rule: ``y`` sampled at steps of
    ``dx``."""

def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians of an angle in degrees."""

def deg2rad_(input: Tensor) -> Tensor:
    """In-place version of `deg2rad`: writes the result into ``input`` and returns it."""

def det(input: Tensor) -> Tensor:
    """Determinant of a square matrix."""

def detach(input: Tensor) -> Tensor:
    """The same memory without history."""

def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `detach` shows."""

def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The matrix with a vector as its diagonal, or the diagonal of a matrix."""

def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """Zeros with the last dimension of ``input`` as a diagonal of two dimensions."""

def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """The matrix with all elements of ``input`` as its diagonal."""

def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A diagonal, as the last dimension."""

def diagonal_copy(
    input: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `diagonal` shows."""

def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy in which ``src`` stands where `diagonal` shows."""

def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Differences between neighbours along a dimension, taken ``n`` times; of booleans, whether
    they differ."""

def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Derivative of `lgamma`."""

def dist(input: Tensor, other: Tensor, p: _float | _complex = 2) -> Tensor:
    """The ``p``-norm of the difference."""

def div(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Quotient; ``rounding_mode`` is None (true division), ``'trunc'`` or ``'floor'``."""

def divide(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    rounding_mode: _str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `div`."""

def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inner product of two vectors."""

def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Zeros with probability ``p``, the rest scaled by ``1 / (1 - p)`` (Srivastava et al.,
    2014)."""

def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of `dropout`."""

@overload
def dsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]:
    """Equal parts along dimension 2."""
@overload
def dsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]:
    """Parts along dimension 2 that begin at the given positions."""

def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors behind each other, as layers."""

def einsum(*args: Any) -> Any:
    """Sum of products in Einstein's notation: ``einsum("bij,bjk->bik", a, b)``."""

def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: _int = -1,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """Rows of ``weight`` (num_embeddings, dim) at integer indices; ``padding_idx`` gets no
    gradient."""

@overload
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool = False,
    mode: _int = 0,
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums (mode 0), means (1) or maxima (2) of the rows of ``weight`` in each bag; the bag of each
    index, the bags' sizes, and where maxima are from."""
@overload
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool,
    mode: _int,
    sparse: _bool,
    per_sample_weights: Tensor | None,
    include_last_offset: _bool,
    padding_idx: _int | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`embedding_bag` without the rows at ``padding_idx``."""

def embedding_renorm_(
    input: Tensor,
    indices: Tensor,
    max_norm: _float,
    norm_type: _float,
) -> Tensor:
    """Scale the rows that indices name down to a norm of at most ``max_norm``, in place."""

@overload
def empty(
    *size: _int,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor with undefined elements."""
@overload
def empty(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor with undefined elements."""

def empty_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """As `empty`, in the shape, dtype and layout of ``input`` and on its device."""

def empty_permuted(
    size: Sequence[_int],
    physical_layout: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A dense tensor with undefined elements whose dimensions lie in memory in the given order."""

def empty_strided(
    size: Sequence[_int],
    stride: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """A tensor with undefined elements and the given strides."""

def eq(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """True where ``input == other``."""

def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether both have the same shape and equal elements."""

def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Error function."""

def erf_(input: Tensor) -> Tensor:
    """In-place version of `erf`: writes the result into ``input`` and returns it."""

def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 - erf(x)``."""

def erfc_(input: Tensor) -> Tensor:
    """In-place version of `erfc`: writes the result into ``input`` and returns it."""

def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of the error function."""

def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Exponential."""

def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Powers of 2."""

def exp2_(input: Tensor) -> Tensor:
    """In-place version of `exp2`: writes the result into ``input`` and returns it."""

def exp_(input: Tensor) -> Tensor:
    """In-place version of `exp`: writes the result into ``input`` and returns it."""

def expand_copy(
    input: Tensor,
    size: Sequence[_int],
    *,
    implicit: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `expand` shows."""

def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``exp(x) - 1``, accurate near 0."""

def expm1_(input: Tensor) -> Tensor:
    """In-place version of `expm1`: writes the result into ``input`` and returns it."""

def eye(
    n: _int,
    m: _int | None = None,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""

def fake_quantize_per_channel_affine(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: _int,
    quant_min: _int,
    quant_max: _int,
) -> Tensor:
    """`fake_quantize_per_tensor_affine` with a scale and a zero point for each place along
    ``axis``."""

@overload
def fake_quantize_per_tensor_affine(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: _int,
    quant_max: _int,
) -> Tensor:
    """The same with scale and zero point in tensors of one element."""
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor,
    scale: _float,
    zero_point: _int,
    quant_min: _int,
    quant_max: _int,
) -> Tensor:
    """Elements rounded to multiples of ``scale``, bounded as integers around ``zero_point`` would
    be."""

def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`alpha_dropout` of whole channels."""

def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of `feature_alpha_dropout`."""

def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Whole channels zero with probability ``p`` (Tompson et al., 2015)."""

def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place version of `feature_dropout`."""

@overload
def fill(input: Tensor, value: Tensor) -> Tensor:
    """The value of a zero-dimensional tensor everywhere."""
@overload
def fill(input: Tensor, value: _float | _complex) -> Tensor:
    """One number everywhere."""

@overload
def fill_(input: Tensor, value: Tensor) -> Tensor:
    """The value of a zero-dimensional tensor everywhere."""
@overload
def fill_(input: Tensor, value: _float | _complex) -> Tensor:
    """In-place version of `fill`: writes the result into ``input`` and returns it."""

def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `trunc`."""

def fix_(input: Tensor) -> Tensor:
    """In-place version of `fix`: writes the result into ``input`` and returns it."""

def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Join the dimensions from ``start_dim`` to ``end_dim`` into one."""

@overload
def flip(input: Tensor, *dims: _int) -> Tensor:
    """A copy with the order of the elements reversed along dimensions."""
@overload
def flip(input: Tensor, dims: Sequence[_int]) -> Tensor:
    """A copy with the order of the elements reversed along dimensions."""

def fliplr(input: Tensor) -> Tensor:
    """A copy with the order of the elements reversed along dimension 1."""

def flipud(input: Tensor) -> Tensor:
    """A copy with the order of the elements reversed along dimension 0."""

@overload
def float_power(
    input: Tensor,
    exponent: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Power ``input ** exponent`` in double precision."""
@overload
def float_power(
    input: _float | _complex,
    exponent: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Power ``input ** exponent`` in double precision."""

def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Largest integer not above."""

def floor_(input: Tensor) -> Tensor:
    """In-place version of `floor`: writes the result into ``input`` and returns it."""

def floor_divide(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Quotient rounded towards minus infinity."""

def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Larger of two elements; the other one where one is NaN."""

def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Smaller of two elements; the other one where one is NaN."""

def fmod(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Remainder with the sign of the dividend, as C's ``fmod``."""

def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """What `trunc` takes away."""

def frac_(input: Tensor) -> Tensor:
    """In-place version of `frac`: writes the result into ``input`` and returns it."""

def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int],
    random_samples: Tensor,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows whose places the samples decide (Graham, 2014), and where they
    are."""

def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int],
    random_samples: Tensor,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor]:
    """Largest elements of windows whose places the samples decide (Graham, 2014), and where they
    are."""

def frexp(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> results.frexp:
    """Mantissas from 1/2 to 1 and exponents: ``input == mantissa * 2**exponent``."""

def frobenius_norm(
    input: Tensor,
    dim: _int | Sequence[_int],
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Square root of the sum of squares over dimensions."""

def full(
    size: Sequence[_int],
    fill_value: _float | _complex,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor of one value; its dtype is the value's unless given."""

def full_like(
    input: Tensor,
    fill_value: _float | _complex,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """As `full`, in the shape, dtype and layout of ``input`` and on its device."""

def gather(
    input: Tensor,
    dim: _int,
    index: Tensor,
    *,
    sparse_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Elements picked along a dimension: ``out[i][j] = input[index[i][j]][j]`` for ``dim=0``."""

def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Greatest common divisor."""

def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """In-place version of `gcd`: writes the result into ``input`` and returns it."""

def ge(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """True where ``input >= other``."""

def geqrf(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> results.geqrf:
    """A QR factorization as LAPACK packs it: R above, Householder vectors below the diagonal, and
    their scales."""

def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Outer product of two vectors: ``result[i, j] = input[i] * vec2[j]``."""

@overload
def gradient(
    input: Tensor,
    *,
    spacing: _float | _complex | None = None,
    dim: _int | None = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""
@overload
def gradient(
    input: Tensor,
    *,
    spacing: _float | _complex,
    dim: Sequence[_int],
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""
@overload
def gradient(input: Tensor, *, dim: Sequence[_int], edge_order: _int = 1) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""
@overload
def gradient(
    input: Tensor,
    *,
    spacing: Sequence[_float | _complex],
    dim: _int | None = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""
@overload
def gradient(
    input: Tensor,
    *,
    spacing: Sequence[_float | _complex],
    dim: Sequence[_int],
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""
@overload
def gradient(
    input: Tensor,
    *,
    spacing: Sequence[Tensor],
    dim: _int | None = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""
@overload
def gradient(
    input: Tensor,
    *,
    spacing: Sequence[Tensor],
    dim: Sequence[_int],
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """Derivatives of a function known on a grid, along each dimension, by second-order central
    differences; ``spacing`` holds a step or the coordinates of each dimension."""

def greater(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `gt`."""

def greater_equal(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `ge`."""

def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor:
    """Elements of (N, C, ...) at positions (N, ..., n) in [-1, 1]; modes are 0 bilinear, 1 nearest,
    2 bicubic, and paddings 0 zeros, 1 border, 2 reflection."""

def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor:
    """Elements of (N, C, ...) at positions (N, ..., n) in [-1, 1]; modes are 0 bilinear, 1 nearest,
    2 bicubic, and paddings 0 zeros, 1 border, 2 reflection."""

def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor:
    """Elements of (N, C, ...) at positions (N, ..., n) in [-1, 1]; modes are 0 bilinear, 1 nearest,
    2 bicubic, and paddings 0 zeros, 1 border, 2 reflection."""

def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enabled: _bool = True,
) -> Tensor:
    """Mean 0 and variance 1 over groups of channels, then scale and shift (Wu and He, 2018)."""

@overload
def gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]:
    """Layers of GRU over packed sequences: outputs and last states."""
@overload
def gru(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """Layers of GRU over sequences (steps, batch, features): outputs and last states."""

def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of `gru` for a batch."""

def gt(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """True where ``input > other``."""

@overload
def hamming_window(
    window_length: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Hamming window: ``alpha - beta cos``."""
@overload
def hamming_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Hamming window: ``alpha - beta cos``."""
@overload
def hamming_window(
    window_length: _int,
    periodic: _bool,
    alpha: _float,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Hamming window: ``alpha - beta cos``."""
@overload
def hamming_window(
    window_length: _int,
    periodic: _bool,
    alpha: _float,
    beta: _float,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Hamming window: ``alpha - beta cos``."""

@overload
def hann_window(
    window_length: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Hann window: ``0.5 - 0.5 cos``."""
@overload
def hann_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Hann window: ``0.5 - 0.5 cos``."""

def hardshrink(
    input: Tensor,
    lambd: _float | _complex = 0.5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Zero between ``-lambd`` and ``lambd``."""

def hash_tensor(
    input: Tensor,
    dim: _int | Sequence[_int] = ...,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Tensor | None = None,
) -> Tensor:
    """Exclusive or of the elements' bits, widened to 64, over dimensions (all if none are
    given)."""

def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 for negative elements, ``values`` at 0, 1 for positive ones."""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: _float = 1.0,
    reduction: _int = 1,
) -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1."""

def histc(
    input: Tensor,
    bins: _int = 100,
    min: _float | _complex = 0,
    max: _float | _complex = 0,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """How many elements lie in each of ``bins`` equal bins between ``min`` and ``max`` (of the
    data, if both are equal)."""

@overload
def histogram(
    input: Tensor,
    bins: Tensor,
    *,
    weight: Tensor | None = None,
    density: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.histogram:
    """Counts (or weights) of elements in bins, given by their number or by their edges, and the
    edges; ``density`` scales to an integral of 1."""
@overload
def histogram(
    input: Tensor,
    bins: _int = 100,
    *,
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.histogram:
    """Counts (or weights) of elements in bins, given by their number or by their edges, and the
    edges; ``density`` scales to an integral of 1."""

@overload
def histogramdd(
    input: Tensor,
    bins: Sequence[Tensor],
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> results.histogramdd:
    """Counts (or weights) of points, whose coordinates are the last dimension, in a grid of bins,
    and the edges along each coordinate."""
@overload
def histogramdd(
    input: Tensor,
    bins: Sequence[_int],
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> results.histogramdd:
    """Counts (or weights) of points, whose coordinates are the last dimension, in a grid of bins,
    and the edges along each coordinate."""
@overload
def histogramdd(
    input: Tensor,
    bins: _int,
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> results.histogramdd:
    """Counts (or weights) of points, whose coordinates are the last dimension, in a grid of bins,
    and the edges along each coordinate."""

@overload
def hsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]:
    """Equal parts along dimension 1."""
@overload
def hsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]:
    """Parts along dimension 1 that begin at the given positions."""

def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors side by side: vectors end to end."""

def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Length ``sqrt(input**2 + other**2)`` of the hypotenuse, computed without overflow."""

def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind of order 0."""

def i0_(input: Tensor) -> Tensor:
    """In-place version of `i0`: writes the result into ``input`` and returns it."""

def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Regularized lower incomplete gamma function P(input, other)."""

def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Regularized upper incomplete gamma function Q(input, other)."""

def im2col(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Windows of images (N, C, H, W) as columns (N, C * window, windows)."""

def imag(input: Tensor) -> Tensor:
    """Imaginary parts of complex elements."""

def index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Elements at the positions that index tensors give, as ``input[indices]``."""

def index_add(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with slices of ``source`` added at positions along a dimension."""

def index_copy(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with slices along a dimension replaced by those of ``source``."""

@overload
def index_fill(
    input: Tensor,
    dim: _int,
    index: Tensor,
    value: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with slices along a dimension filled with a number."""
@overload
def index_fill(
    input: Tensor,
    dim: _int,
    index: Tensor,
    value: _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with slices along a dimension filled with a number."""

def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
) -> Tensor:
    """A copy with values put at the positions that index tensors give."""

def index_put_(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
) -> Tensor:
    """Put values at the positions that index tensors give; ``accumulate`` adds them."""

def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` in which slices of ``source`` are combined with those at positions along
    a dimension: ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``."""

def index_select(
    input: Tensor,
    dim: _int,
    index: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Slices along a dimension, at the positions in a vector."""

def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products along the last dimension of both tensors."""

def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor:
    """Mean 0 and variance 1 of each channel of each sample (Ulyanov et al., 2016)."""

def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a square matrix."""

def is_conj(input: Tensor) -> _bool:
    """Whether it is a view whose conjugation is computed when it is read."""

def is_neg(input: Tensor) -> _bool:
    """Whether it is a view whose negation is computed when it is read."""

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> Tensor:
    """True where ``abs(input - other) <= atol + rtol * abs(other)``."""

def isfinite(input: Tensor) -> Tensor:
    """True where finite."""

@overload
def isin(
    elements: Tensor,
    test_elements: Tensor,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Whether each element is among the test elements (or is not, if ``invert``)."""
@overload
def isin(
    elements: Tensor,
    test_element: _float | _complex,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Whether each element is among the test elements (or is not, if ``invert``)."""
@overload
def isin(
    element: _float | _complex,
    test_elements: Tensor,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Whether each element is among the test elements (or is not, if ``invert``)."""

def isinf(input: Tensor) -> Tensor:
    """True where infinite."""

def isnan(input: Tensor) -> Tensor:
    """True where NaN."""

def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where minus infinity."""

def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where plus infinity."""

def isreal(input: Tensor) -> Tensor:
    """True where the imaginary part is zero."""

def istft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: _bool | None = None,
    length: _int | None = None,
    return_complex: _bool = False,
) -> Tensor:
    """Inverse short-time Fourier transform, by least squares (Griffin and Lim, 1984)."""

@overload
def kaiser_window(
    window_length: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Kaiser window with shape ``beta``."""
@overload
def kaiser_window(
    window_length: _int,
    periodic: _bool,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Kaiser window with shape ``beta``."""
@overload
def kaiser_window(
    window_length: _int,
    periodic: _bool,
    beta: _float,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Kaiser window with shape ``beta``."""

def kl_div(
    input: Tensor,
    target: Tensor,
    reduction: _int = 1,
    *,
    log_target: _bool = False,
) -> Tensor:
    """Kullback-Leibler divergence from log-probabilities ``input`` to probabilities ``target``."""

def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Kronecker product: every element of ``input`` times the whole of ``other``, as blocks."""

def kthvalue(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.kthvalue:
    """The ``k``-th smallest element along a dimension, counted from 1, and its position."""

def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, then scale and shift (Ba et al., 2016)."""

def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Least common multiple; 0 where either is 0."""

def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """In-place version of `lcm`: writes the result into ``input`` and returns it."""

def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * 2**other``."""

def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place version of `ldexp`."""

def le(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """True where ``input <= other``."""

@overload
def lerp(input: Tensor, end: Tensor, weight: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The point between ``input`` and ``end`` at the share ``weight`` of the way."""
@overload
def lerp(
    input: Tensor,
    end: Tensor,
    weight: _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The point between ``input`` and ``end`` at the share ``weight`` of the way."""

def less(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `lt`."""

def less_equal(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `le`."""

def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the absolute value of the gamma function."""

@overload
def linalg_matrix_norm(
    input: Tensor,
    ord: _float | _complex,
    dim: Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of matrices: largest (or smallest, if negative) column sum (1), row sum (inf) or
    singular value (2)."""
@overload
def linalg_matrix_norm(
    input: Tensor,
    ord: _str = 'fro',
    dim: Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of matrices: Frobenius (``'fro'``) or the sum of singular values (``'nuc'``)."""

@overload
def linalg_norm(
    input: Tensor,
    ord: _float | _complex | None = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of vectors (one dimension), of matrices (two dimensions and ``ord``) or of all
    elements."""
@overload
def linalg_norm(
    input: Tensor,
    ord: _str,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of vectors (one dimension), of matrices (two dimensions and ``ord``) or of all
    elements."""

def linalg_vector_norm(
    input: Tensor,
    ord: _float | _complex = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The ``ord``-norm of elements over dimensions (all if ``dim`` is None)."""

@overload
def linspace(
    start: Tensor,
    end: Tensor,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` numbers evenly from ``start`` to ``end``, both included."""
@overload
def linspace(
    start: Tensor,
    end: _float | _complex,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` numbers evenly from ``start`` to ``end``, both included."""
@overload
def linspace(
    start: _float | _complex,
    end: Tensor,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` numbers evenly from ``start`` to ``end``, both included."""
@overload
def linspace(
    start: _float | _complex,
    end: _float | _complex,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` numbers evenly from ``start`` to ``end``, both included."""

def lobpcg(
    A: Tensor,
    k: _int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: _int | None = None,
    iK: Tensor | None = None,
    niter: _int | None = None,
    tol: _float | None = None,
    largest: _bool | None = None,
    method: _str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest eigenvalues of symmetric matrices, and their vectors."""

def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Natural logarithm."""

def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to base 10."""

def log10_(input: Tensor) -> Tensor:
    """In-place version of `log10`: writes the result into ``input`` and returns it."""

def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(1 + x)``, accurate near 0."""

def log1p_(input: Tensor) -> Tensor:
    """In-place version of `log1p`: writes the result into ``input`` and returns it."""

def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logarithm to base 2."""

def log2_(input: Tensor) -> Tensor:
    """In-place version of `log2`: writes the result into ``input`` and returns it."""

def log_(input: Tensor) -> Tensor:
    """In-place version of `log`: writes the result into ``input`` and returns it."""

def log_softmax(
    input: Tensor,
    dim: _int,
    dtype: _dtype | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Logarithm of `softmax`, computed without overflow."""

def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log(exp(input) + exp(other))``, computed without overflow."""

def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``log2(2**input + 2**other)``, computed without overflow."""

def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the sums of exponentials up to each element along a dimension."""

def logdet(input: Tensor) -> Tensor:
    """Logarithm of the determinant; NaN where it is negative."""

def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where both are non-zero."""

def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where zero."""

def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where either is non-zero."""

def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where exactly one is non-zero."""

def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Log of the odds ``x / (1 - x)``; ``eps`` keeps ``x`` from the ends of [0, 1]."""

def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """In-place version of `logit`: writes the result into ``input`` and returns it."""

@overload
def logspace(
    start: Tensor,
    end: Tensor,
    steps: _int,
    base: _float = 10.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` powers of ``base``, from ``base ** start`` to ``base ** end``, with evenly spaced
    exponents."""
@overload
def logspace(
    start: Tensor,
    end: _float | _complex,
    steps: _int,
    base: _float = 10.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` powers of ``base``, from ``base ** start`` to ``base ** end``, with evenly spaced
    exponents."""
@overload
def logspace(
    start: _float | _complex,
    end: Tensor,
    steps: _int,
    base: _float = 10.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` powers of ``base``, from ``base ** start`` to ``base ** end``, with evenly spaced
    exponents."""
@overload
def logspace(
    start: _float | _complex,
    end: _float | _complex,
    steps: _int,
    base: _float = 10.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """``steps`` powers of ``base``, from ``base ** start`` to ``base ** end``, with evenly spaced
    exponents."""

def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int],
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Logarithm of the sum of exponentials, without overflow."""

@overload
def lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Layers of LSTM over packed sequences: outputs and last states."""
@overload
def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Layers of LSTM over sequences (steps, batch, features): outputs and last states."""

def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of `lstm` for a batch."""

def lt(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """True where ``input < other``."""

def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, out: Any = None) -> Any:
    """LU factors in one matrix and the rows exchanged; `torch.linalg.lu_factor` is the newer
    form."""

def lu_solve(
    input: Tensor,
    LU_data: Tensor,
    LU_pivots: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Solution of ``A @ X = input``, given A's LU factors; `torch.linalg.lu_solve` is the newer
    form."""

def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.lu_unpack:
    """The three matrices of an LU factorization ``P @ L @ U``."""

def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0.0,
    reduction: _int = 1,
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``."""

def masked_fill(
    input: Tensor,
    mask: Tensor | _float | _complex,
    value: Tensor | _float | _complex,
) -> Tensor:
    """``input`` with ``value`` where the boolean mask holds."""

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of ``input`` in which elements where the mask holds are, one after another, those of
    ``source``."""

def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements where the mask holds, in one dimension."""

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Matrix product; vectors gain a dimension, leading dimensions broadcast."""

def matrix_exp(input: Tensor) -> Tensor:
    """Exponential of square matrices."""

def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """Product of a square matrix with itself, ``n`` times; of its inverse if ``n`` is negative."""

@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The maximum element."""
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `maximum`."""
@overload
def max(
    input: Tensor,
    dim: _int,
    keepdim: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.max:
    """The maximum along a dimension and its position."""

def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
) -> Tensor:
    """Largest element of each window."""

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest element of each window, and where it is in the spatial dimensions as one row."""

def max_pool1d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    indices: Tensor,
) -> Tensor:
    """Gradient of `max_pool1d_with_indices`: added where the maxima were."""

def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
) -> Tensor:
    """Largest element of each window."""

def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest element of each window, and where it is in the spatial dimensions as one row."""

def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    indices: Tensor,
) -> Tensor:
    """Gradient of `max_pool2d_with_indices`: added where the maxima were."""

def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
) -> Tensor:
    """Largest element of each window."""

def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: _int | Sequence[_int] = ...,
    dilation: _int | Sequence[_int] = ...,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest element of each window, and where it is in the spatial dimensions as one row."""

def max_pool3d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    indices: Tensor,
) -> Tensor:
    """Gradient of `max_pool3d_with_indices`: added where the maxima were."""

def max_unpool2d(input: Tensor, indices: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Zeros with the elements put at flat positions in the spatial dimensions."""

def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    output_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
) -> Tensor:
    """Zeros with the elements put at flat positions in the spatial dimensions."""

def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Larger of two elements; NaN if either is NaN."""

def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Mean over dimensions (all if ``dim`` is None)."""

@overload
def median(input: Tensor) -> Tensor:
    """The median of all elements, the lower of two in the middle; NaN if there is one."""
@overload
def median(
    input: Tensor,
    dim: _int,
    keepdim: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.median:
    """The median along a dimension, the lower of two in the middle, and its position; NaN if there
    is one."""

def meshgrid(*tensors: Any, indexing: _str | None = None) -> Any:
    """Coordinates of a grid: each vector along a dimension of its own, and expanded."""

@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The minimum element."""
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `minimum`."""
@overload
def min(
    input: Tensor,
    dim: _int,
    keepdim: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.min:
    """The minimum along a dimension and its position."""

def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Smaller of two elements; NaN if either is NaN."""

def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of two matrices."""

def mode(
    input: Tensor,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.mode:
    """The most frequent element along a dimension, the smallest among several, and the last place
    where it stands."""

@overload
def moveaxis(input: Tensor, source: _int, destination: _int) -> Tensor:
    """One dimension moved to another place."""
@overload
def moveaxis(input: Tensor, source: Sequence[_int], destination: Sequence[_int]) -> Tensor:
    """Dimensions moved to other places; the others keep their order."""

@overload
def movedim(input: Tensor, source: _int, destination: _int) -> Tensor:
    """One dimension moved to another place."""
@overload
def movedim(input: Tensor, source: Sequence[_int], destination: Sequence[_int]) -> Tensor:
    """Dimensions moved to other places; the others keep their order."""

def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements in order along the first dimension."""

def mul(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Product, element by element."""

def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with the weights that each row of ``input`` gives."""

def multiply(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `mul`."""

def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of a matrix and a vector."""

def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension ``p``."""

def nan_to_num(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """NaN replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the largest
    numbers)."""

def nan_to_num_(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
) -> Tensor:
    """In-place version of `nan_to_num`: writes the result into ``input`` and returns it."""

def nanmean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Mean over dimensions (all if ``dim`` is None) of what is not NaN."""

@overload
def nanmedian(input: Tensor) -> Tensor:
    """The median of all elements, the lower of two in the middle; those that are NaN are left
    out."""
@overload
def nanmedian(
    input: Tensor,
    dim: _int,
    keepdim: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.nanmedian:
    """The median along a dimension, the lower of two in the middle, and its position; those that
    are NaN are left out."""

@overload
def nanquantile(
    input: Tensor,
    q: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles of all elements or along a dimension; NaN are left out."""
@overload
def nanquantile(
    input: Tensor,
    q: _float,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles of all elements or along a dimension; NaN are left out."""

def nansum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Sum over dimensions (all if ``dim`` is None) in which NaN count as zero."""

@overload
def narrow(input: Tensor, dim: _int, start: Tensor, length: _int) -> Tensor:
    """``length`` elements along a dimension, from a position that a tensor holds."""
@overload
def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor:
    """``length`` elements from ``start`` along a dimension."""

def narrow_copy(
    input: Tensor,
    dim: _int,
    start: _int,
    length: _int,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `narrow` shows."""

def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm`, and the means and reciprocal deviations it used in training."""

def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels of all groups interleaved (Zhang et al., 2018)."""

def native_dropout(input: Tensor, p: _float, train: _bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and which elements were kept."""

def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: _float) -> Tensor:
    """Gradient of `native_dropout` for its input."""

def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, the means, and the reciprocal standard deviations of each group."""

def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, the means, and the reciprocal standard deviations."""

def ne(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """True where ``input != other``."""

def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Negative."""

def neg_(input: Tensor) -> Tensor:
    """In-place version of `neg`: writes the result into ``input`` and returns it."""

def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `neg`."""

def negative_(input: Tensor) -> Tensor:
    """In-place version of `negative`: writes the result into ``input`` and returns it."""

def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next number after ``input`` towards ``other``."""

def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: _bool = False) -> Any:
    """Positions of non-zero elements."""

def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1) -> Tensor:
    """The first ``size`` positions of elements that are not zero; rows that are left over hold
    ``fill_value``."""

def norm(
    input: Tensor,
    p: _float | _str | None = 'fro',
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
) -> Tensor:
    """Norm of elements over dimensions; `torch.linalg.vector_norm` and `matrix_norm` are
    clearer."""

def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norm over all dimensions but one, which stay with size 1; over all of them for -1."""

@overload
def normal(
    mean: Tensor,
    std: Tensor,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Normal numbers, each with a mean and a standard deviation of its own."""
@overload
def normal(
    mean: Tensor,
    std: _float = 1.0,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Normal numbers around the elements of ``mean``."""
@overload
def normal(
    mean: _float,
    std: Tensor,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Normal numbers with the standard deviations ``std``."""
@overload
def normal(
    mean: _float,
    std: _float,
    size: Sequence[_int],
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Normal numbers in a tensor of the given size."""

def not_equal(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `ne`."""

@overload
def nuclear_norm(input: Tensor, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Sum of the singular values of matrices."""
@overload
def nuclear_norm(
    input: Tensor,
    dim: _int | Sequence[_int],
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Sum of the singular values of matrices."""

def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Rows of zeros with a one at each class; by default as many classes as the largest needs."""

@overload
def ones(
    *size: _int,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor of ones."""
@overload
def ones(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor of ones."""

def ones_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """As `ones`, in the shape, dtype and layout of ``input`` and on its device."""

def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`torch.linalg.householder_product` under LAPACK's name."""

def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``Q @ input3`` (``input3 @ Q`` if not ``left``; Q^H if ``transpose``) for the whole square Q
    of the reflections that `torch.geqrf` gives."""

def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Outer product of two vectors: ``result[i, j] = input[i] * vec2[j]``."""

def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: _float = 2.0,
    eps: _float = 1e-06,
    keepdim: _bool = False,
) -> Tensor:
    """The ``p``-norm of ``x1 - x2 + eps`` along the last dimension."""

def pca_lowrank(
    A: Tensor,
    q: _int | None = None,
    center: _bool = True,
    niter: _int = 2,
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of a matrix, by a randomized algorithm."""

def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """Distances by the ``p``-norm between all pairs of different rows of a matrix."""

@overload
def permute(input: Tensor, *dims: _int) -> Tensor:
    """Dimensions in the given order."""
@overload
def permute(input: Tensor, dims: Sequence[_int]) -> Tensor:
    """Dimensions in the given order."""

def permute_copy(input: Tensor, dims: Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """A copy of what `permute` shows."""

def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor:
    """Pseudoinverse; `torch.linalg.pinv` is the newer form."""

def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """Channels (..., C r r, H, W) laid out as pixels (..., C, H r, W r) (Shi et al., 2016)."""

def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """Blocks of r by r pixels laid out as channels: undoes `pixel_shuffle`."""

def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers of the rates that ``input`` gives."""

def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: _bool,
    full: _bool,
    eps: _float,
    reduction: _int,
) -> Tensor:
    """Negative log likelihood of counts under Poisson distributions with rate (or log-rate)
    ``input``."""

def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Complex numbers of absolute values and angles in radians."""

def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The ``n``-th derivative of `digamma`."""

def positive(input: Tensor) -> Tensor:
    """The tensor itself."""

@overload
def pow(
    input: Tensor,
    exponent: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Power ``input ** exponent``."""
@overload
def pow(input: _float | _complex, exponent: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Power ``input ** exponent``."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Negative elements times a weight, one or one for each channel (He et al., 2015)."""

def prod(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Product over a dimension (all if ``dim`` is None); integers multiply as int64."""

def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """A copy of ``input`` with elements put (or added) at positions in the tensor read as one
    row."""

def qr(
    input: Tensor,
    some: _bool = True,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.qr:
    """``A = Q @ R``; `torch.linalg.qr` is the newer form."""

@overload
def quantile(
    input: Tensor,
    q: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles of all elements or along a dimension; NaN where there is a NaN."""
@overload
def quantile(
    input: Tensor,
    q: _float,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """Quantiles of all elements or along a dimension; NaN where there is a NaN."""

def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees of an angle in radians."""

def rad2deg_(input: Tensor) -> Tensor:
    """In-place version of `rad2deg`: writes the result into ``input`` and returns it."""

@overload
def rand(
    *size: _int,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Uniform numbers from [0, 1)."""
@overload
def rand(
    size: Sequence[_int],
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Uniform numbers from [0, 1)."""

def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """As `rand`, in the shape, dtype and layout of ``input`` and on its device."""

@overload
def randint(
    low: _int,
    high: _int,
    size: Sequence[_int],
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Integers from [low, high)."""
@overload
def randint(
    high: _int,
    size: Sequence[_int],
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Integers from [0, high)."""

@overload
def randint_like(
    input: Tensor,
    high: Tensor,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers from [0, high), where ``high`` is a tensor of one element."""
@overload
def randint_like(
    input: Tensor,
    low: _int,
    high: _int,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers from [low, high), in the shape, dtype and layout of ``input``."""
@overload
def randint_like(
    input: Tensor,
    high: _int,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers from [0, high), in the shape, dtype and layout of ``input``."""

@overload
def randn(
    *size: _int,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Standard normal numbers."""
@overload
def randn(
    size: Sequence[_int],
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Standard normal numbers."""

def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """As `randn`, in the shape, dtype and layout of ``input`` and on its device."""

def randperm(
    n: _int,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A random order of the integers from 0 to ``n - 1``."""

def range(
    start: _float | _complex,
    end: _float | _complex,
    step: _float | _complex = 1,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers from ``start`` up to and including ``end``, ``step`` apart. Deprecated: use
    `arange`."""

def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view of a row-major tensor, a copy of others."""

def real(input: Tensor) -> Tensor:
    """Real parts as a view; real tensors are returned as they are."""

def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / x``."""

def reciprocal_(input: Tensor) -> Tensor:
    """In-place version of `reciprocal`: writes the result into ``input`` and returns it."""

def reflection_pad1d(
    input: Tensor,
    padding: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Padding by reflection of elements at the border, the last dimension's pair first."""

def reflection_pad1d_backward(
    grad_output: Tensor,
    input: Tensor,
    padding: _int | Sequence[_int],
) -> Tensor:
    """Gradient of `reflection_pad1d`."""

def reflection_pad2d(
    input: Tensor,
    padding: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Padding by reflection of elements at the border, the last dimension's pair first."""

def reflection_pad2d_backward(
    grad_output: Tensor,
    input: Tensor,
    padding: _int | Sequence[_int],
) -> Tensor:
    """Gradient of `reflection_pad2d`."""

def reflection_pad3d(
    input: Tensor,
    padding: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Padding by reflection of elements at the border, the last dimension's pair first."""

def reflection_pad3d_backward(
    grad_output: Tensor,
    input: Tensor,
    padding: _int | Sequence[_int],
) -> Tensor:
    """Gradient of `reflection_pad3d`."""

def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Zero for negative elements."""

def relu_(input: Tensor) -> Tensor:
    """In-place version of `relu`: writes the result into ``input`` and returns it."""

def remainder(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Remainder with the sign of the divisor, as Python's ``%``."""

def renorm(
    input: Tensor,
    p: _float | _complex,
    dim: _int,
    maxnorm: _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Slices along a dimension, scaled down where their ``p``-norm is above ``maxnorm``."""

@overload
def repeat_interleave(repeats: Tensor, *, output_size: _int | None = None) -> Tensor:
    """Each position ``i`` of a vector ``repeats[i]`` times."""
@overload
def repeat_interleave(
    input: Tensor,
    repeats: Tensor,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor:
    """Each slice along a dimension so many times, one next to the other; without a dimension the
    tensor is one row."""
@overload
def repeat_interleave(
    input: Tensor,
    repeats: _int,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor:
    """Each slice along a dimension ``repeats`` times, one next to the other."""

def replication_pad1d(
    input: Tensor,
    padding: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Padding by replication of elements at the border, the last dimension's pair first."""

def replication_pad1d_backward(
    grad_output: Tensor,
    input: Tensor,
    padding: _int | Sequence[_int],
) -> Tensor:
    """Gradient of `replication_pad1d`."""

def replication_pad2d(
    input: Tensor,
    padding: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Padding by replication of elements at the border, the last dimension's pair first."""

def replication_pad2d_backward(
    grad_output: Tensor,
    input: Tensor,
    padding: _int | Sequence[_int],
) -> Tensor:
    """Gradient of `replication_pad2d`."""

def replication_pad3d(
    input: Tensor,
    padding: _int | Sequence[_int],
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Padding by replication of elements at the border, the last dimension's pair first."""

def replication_pad3d_backward(
    grad_output: Tensor,
    input: Tensor,
    padding: _int | Sequence[_int],
) -> Tensor:
    """Gradient of `replication_pad3d`."""

@overload
def reshape(input: Tensor, *shape: _int) -> Tensor:
    """The same elements in another shape: a view where strides allow it, a copy otherwise."""
@overload
def reshape(input: Tensor, shape: Sequence[_int]) -> Tensor:
    """The same elements in another shape: a view where strides allow it, a copy otherwise."""

def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another tensor."""

def resolve_conj(input: Tensor) -> Tensor:
    """A copy in which conjugation is computed; the tensor itself unless it is such a view."""

def resolve_neg(input: Tensor) -> Tensor:
    """A copy in which negation is computed; the tensor itself unless it is such a view."""

def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor:
    """Root mean square 1 over the last dimensions, then scale (Zhang and Sennrich, 2019)."""

@overload
def rnn_relu(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]:
    """Layers of Elman's network with relu over packed sequences: outputs and last states."""
@overload
def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """Layers of Elman's network with relu over sequences (steps, batch, features): outputs and last
    states."""

def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of `rnn_relu` for a batch."""

@overload
def rnn_tanh(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]:
    """Layers of Elman's network with tanh over packed sequences: outputs and last states."""
@overload
def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """Layers of Elman's network with tanh over sequences (steps, batch, features): outputs and last
    states."""

def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of `rnn_tanh` for a batch."""

def roll(
    input: Tensor,
    shifts: _int | Sequence[_int],
    dims: _int | Sequence[_int] = ...,
) -> Tensor:
    """Elements moved on along dimensions; what leaves at the end comes in at the start. Without
    dimensions the tensor is rolled as one row."""

def rot90(input: Tensor, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor:
    """Rotated by ``k`` quarter turns in a plane, from the first of two dimensions to the second."""

@overload
def round(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Nearest integer, halves to even."""
@overload
def round(input: Tensor, *, decimals: _int, out: Tensor | None = None) -> Tensor:
    """Nearest multiple of ``10**-decimals``, halves to even."""

@overload
def round_(input: Tensor) -> Tensor:
    """In-place version of `round`: writes the result into ``input`` and returns it."""
@overload
def round_(input: Tensor, *, decimals: _int) -> Tensor:
    """In-place version of `round`: writes the result into ``input`` and returns it."""

def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors below each other: vectors are rows."""

def rrelu(
    input: Tensor,
    lower: _float | _complex = 0.125,
    upper: _float | _complex = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Negative elements times random slopes, or their mean when not training (Xu et al., 2015)."""

def rrelu_(
    input: Tensor,
    lower: _float | _complex = 0.125,
    upper: _float | _complex = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """In-place version of `rrelu`."""

def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / sqrt(x)``."""

def rsqrt_(input: Tensor) -> Tensor:
    """In-place version of `rsqrt`: writes the result into ``input`` and returns it."""

def rsub(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    alpha: _float | _complex = 1,
) -> Tensor:
    """Difference ``other - alpha * input``."""

def scalar_tensor(
    s: _float | _complex,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A number as a tensor without dimensions, in the default dtype unless another is given."""

@overload
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with elements of ``src`` put at positions along a dimension."""
@overload
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    *,
    reduce: _str,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` in which elements of ``src`` are added to those at positions along a
    dimension, or multiplied with them; ``reduce`` is ``"add"`` or ``"multiply"``."""
@overload
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    value: _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with one value put at positions along a dimension."""
@overload
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    value: _float | _complex,
    *,
    reduce: _str,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` in which elements of ``src`` are added to those at positions along a
    dimension, or multiplied with them; ``reduce`` is ``"add"`` or ``"multiply"``."""

def scatter_add(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` with elements of ``src`` added at positions along a dimension."""

def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of ``input`` in which elements of ``src`` are combined with what is at their positions
    along a dimension: ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``. Without
    ``include_self`` only elements of ``src`` count where there are any."""

@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Where to insert values into a sorted sequence (along its last dimension), before equal
    elements or after them if ``right``."""
@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: _float | _complex,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Where to insert values into a sorted sequence (along its last dimension), before equal
    elements or after them if ``right``."""

def segment_reduce(
    data: Tensor,
    reduce: _str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: _float | _complex | None = None,
) -> Tensor:
    """Reduces consecutive segments along ``axis`` (``sum``, ``mean``, ``amax``, ``amin``,
    ``prod``), given by their lengths or by where they begin and end."""

def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """One slice along a dimension, which goes away."""

def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `select` shows."""

def select_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int,
    index: _int,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy in which ``src`` stands where `select` shows."""

def selu(input: Tensor) -> Tensor:
    """Self-normalising exponential linear unit (Klambauer et al., 2017)."""

def selu_(input: Tensor) -> Tensor:
    """In-place version of `selu`: writes the result into ``input`` and returns it."""

def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sign; for complex numbers the number divided by its absolute value."""

def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``1 / (1 + exp(-x))``."""

def sigmoid_(input: Tensor) -> Tensor:
    """In-place version of `sigmoid`: writes the result into ``input`` and returns it."""

def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 by sign."""

def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where the sign bit is set: for negative numbers and -0.0."""

def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sine of radians."""

def sin_(input: Tensor) -> Tensor:
    """In-place version of `sin`: writes the result into ``input`` and returns it."""

def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``sin(pi x) / (pi x)``, and 1 at 0."""

def sinc_(input: Tensor) -> Tensor:
    """In-place version of `sinc`: writes the result into ``input`` and returns it."""

def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic sine."""

def sinh_(input: Tensor) -> Tensor:
    """In-place version of `sinh`: writes the result into ``input`` and returns it."""

def slice(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
) -> Tensor:
    """A range along a dimension."""

def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `slice` shows."""

def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy in which ``src`` stands where `slice` shows."""

def slogdet(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> results.slogdet:
    """Sign of the determinant (of absolute value 1, or 0) and the logarithm of its absolute
    value."""

def softmax(
    input: Tensor,
    dim: _int,
    dtype: _dtype | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Exponentials along a dimension, scaled to sum 1."""

@overload
def sort(
    input: Tensor,
    *,
    stable: _bool | None,
    dim: _int = -1,
    descending: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.sort:
    """Elements in order along a dimension, equal ones in their own order, and where they were. NaN
    counts as largest."""
@overload
def sort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.sort:
    """Elements in order along a dimension, and where they were. NaN counts as largest."""

def split(
    tensor: Tensor,
    split_size_or_sections: _int | Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]:
    """Parts of a tensor along a dimension."""

def split_copy(
    input: Tensor,
    split_size: _int,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Copies of the parts that `split` shows."""

def split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]:
    """Parts of the given sizes along a dimension."""

def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Copies of the parts that `split_with_sizes` shows."""

def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Square root."""

def sqrt_(input: Tensor) -> Tensor:
    """In-place version of `sqrt`: writes the result into ``input`` and returns it."""

def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Square."""

def square_(input: Tensor) -> Tensor:
    """In-place version of `square`: writes the result into ``input`` and returns it."""

@overload
def squeeze(input: Tensor) -> Tensor:
    """Without any dimension of size 1."""
@overload
def squeeze(input: Tensor, dim: _int) -> Tensor:
    """Without one dimension, if it is of size 1."""
@overload
def squeeze(input: Tensor, *dim: _int) -> Tensor:
    """Without those of the given dimensions that are of size 1."""
@overload
def squeeze(input: Tensor, dim: Sequence[_int]) -> Tensor:
    """Without those of the given dimensions that are of size 1."""

@overload
def squeeze_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `squeeze` shows."""
@overload
def squeeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `squeeze` shows."""
@overload
def squeeze_copy(input: Tensor, dim: Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """A copy of what `squeeze` shows."""

def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors one after another along a new dimension."""

@overload
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: _float | _complex | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Standard deviation, the root of `var`."""
@overload
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Standard deviation, the root of `var`."""
@overload
def std(input: Tensor, unbiased: _bool = True) -> Tensor:
    """Standard deviation, the root of `var`."""

@overload
def std_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: _float | _complex | None = None,
    keepdim: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over dimensions (all if ``dim`` is None)."""
@overload
def std_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over dimensions (all if ``dim`` is None)."""
@overload
def std_mean(input: Tensor, unbiased: _bool = True) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean of all elements."""

def stft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    pad_mode: _str = 'reflect',
    normalized: _bool = False,
    onesided: _bool | None = None,
    return_complex: _bool | None = None,
    align_to_window: _bool | None = None,
) -> Tensor:
    """Short-time Fourier transform: the transforms of windows of ``n_fft`` samples, ``hop_length``
    apart, as (..., frequency, time)."""

def sub(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Difference ``input - alpha * other``."""

def subtract(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    alpha: _float | _complex = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `sub`."""

def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Sum over dimensions (all if ``dim`` is None); integers are summed as int64."""

def svd(
    input: Tensor,
    some: _bool = True,
    compute_uv: _bool = True,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.svd:
    """``A = U @ diag(S) @ V^H``; `torch.linalg.svd` is the newer form."""

def svd_lowrank(
    A: Tensor,
    q: _int | None = 6,
    niter: _int | None = 2,
    M: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V with ``A - M`` nearly ``U @ diag(S) @ V^H``, by a randomized algorithm."""

def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """Alias of `transpose`."""

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Alias of `transpose`."""

def t(input: Tensor) -> Tensor:
    """Transpose of a matrix."""

def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `t` shows."""

def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements at positions in the tensor read as one row."""

def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Elements picked along a dimension, where the other sizes are broadcast; without a dimension
    both tensors are read as rows."""

def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Tangent of radians."""

def tan_(input: Tensor) -> Tensor:
    """In-place version of `tan`: writes the result into ``input`` and returns it."""

def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent."""

def tanh_(input: Tensor) -> Tensor:
    """In-place version of `tanh`: writes the result into ``input`` and returns it."""

@overload
def tensor_split(
    input: Tensor,
    tensor_indices_or_sections: Tensor,
    dim: _int = 0,
) -> tuple[Tensor, ...]:
    """Parts along a dimension, by their number or by the positions where they begin."""
@overload
def tensor_split(input: Tensor, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """Parts along a dimension, by their number or by the positions where they begin."""
@overload
def tensor_split(input: Tensor, indices: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """Parts along a dimension, by their number or by the positions where they begin."""

def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Any:
    """Sums of products of two tensors over several dimensions."""

def threshold(
    input: Tensor,
    threshold: _float | _complex,
    value: _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``value`` where not above the threshold."""

def threshold_(input: Tensor, threshold: _float | _complex, value: _float | _complex) -> Tensor:
    """In-place version of `threshold`: writes the result into ``input`` and returns it."""

def threshold_backward(
    grad_output: Tensor,
    input: Tensor,
    threshold: _float | _complex,
) -> Tensor:
    """Zero where ``self`` is at or below the threshold, the gradient elsewhere."""

@overload
def tile(input: Tensor, *dims: _int) -> Tensor:
    """As `Tensor.repeat`, where dimensions in front may be left out."""
@overload
def tile(input: Tensor, dims: Sequence[_int]) -> Tensor:
    """As `Tensor.repeat`, where dimensions in front may be left out."""

def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.topk:
    """The ``k`` largest (or smallest) elements along a dimension in order, and where they are."""

def trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""

def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dimensions exchanged."""

def transpose_copy(
    input: Tensor,
    dim0: _int,
    dim1: _int,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `transpose` shows."""

@overload
def trapezoid(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor:
    """Integral along a dimension by the trapezoidal rule: ``y`` sampled at ``x``."""
@overload
def trapezoid(y: Tensor, *, dx: _float | _complex = 1, dim: _int = -1) -> Tensor:
    """Integral along a dimension by the trapezoidal rule: ``y`` sampled at steps of ``dx``."""

@overload
def trapz(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor:
    """Alias of `trapezoid`: ``y`` sampled at ``x``."""
@overload
def trapz(y: Tensor, *, dx: _float = 1.0, dim: _int = -1) -> Tensor:
    """Alias of `trapezoid`: ``y`` sampled at steps of ``dx``."""

def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.triangular_solve:
    """Solution of ``A @ X = input`` for a triangular matrix, and a copy of it;
    `torch.linalg.solve_triangular` is the newer form."""

def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Matrices with zeros but in the lower triangle, up to and including a diagonal."""

def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Rows and columns of the lower triangle's elements in a matrix of ``row`` by ``col``, int64 by
    default."""

def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    reduction: _int = 1,
) -> Tensor:
    """``max(0, distance to positive - distance to negative + margin)`` (Balntas et al., 2016)."""

def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Matrices with zeros but in the upper triangle, up to and including a diagonal."""

def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor:
    """Rows and columns of the upper triangle's elements in a matrix of ``row`` by ``col``, int64 by
    default."""

def true_divide(
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `div` without rounding."""

def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Integer part."""

def trunc_(input: Tensor) -> Tensor:
    """In-place version of `trunc`: writes the result into ``input`` and returns it."""

def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """Slices along a dimension, as a tuple."""

def unbind_copy(
    input: Tensor,
    dim: _int = 0,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Copies of the parts that `unbind` shows."""

def unflatten(input: Tensor, dim: _int, sizes: Sequence[_int]) -> Tensor:
    """Split a dimension into several."""

def unfold_copy(
    input: Tensor,
    dimension: _int,
    size: _int,
    step: _int,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of what `unfold` shows."""

def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any:
    """Different elements, or slices along a dimension, in order."""

def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any:
    """Elements, or slices along a dimension, that differ from the one before."""

def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Coordinates, in a tensor of some shape, of positions in the tensor read as one row."""

def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """As `chunk`, with parts that may change in place under autograd."""

def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """As `split`, with parts that may change in place under autograd."""

def unsafe_split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]:
    """As `split_with_sizes`, with parts that may change in place under autograd."""

def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """With a dimension of size 1 put in."""

def unsqueeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `unsqueeze` shows."""

@overload
def upsample_bicubic2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: cubic."""
@overload
def upsample_bicubic2d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_bicubic2d` to a size or by factors."""

def upsample_bicubic2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_bicubic2d`."""

@overload
def upsample_bilinear2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: linear."""
@overload
def upsample_bilinear2d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_bilinear2d` to a size or by factors."""

def upsample_bilinear2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_bilinear2d`."""

@overload
def upsample_linear1d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 1 dimensions: linear."""
@overload
def upsample_linear1d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_linear1d` to a size or by factors."""

def upsample_linear1d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_linear1d`."""

@overload
def upsample_nearest1d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 1 dimensions: nearest."""
@overload
def upsample_nearest1d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_nearest1d` to a size or by factors."""

def upsample_nearest1d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_nearest1d`."""

@overload
def upsample_nearest2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 2 dimensions: nearest."""
@overload
def upsample_nearest2d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_nearest2d` to a size or by factors."""

def upsample_nearest2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_nearest2d`."""

@overload
def upsample_nearest3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 3 dimensions: nearest."""
@overload
def upsample_nearest3d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_nearest3d` to a size or by factors."""

def upsample_nearest3d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_nearest3d`."""

@overload
def upsample_trilinear3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor (N, C, ...) resized in 3 dimensions: linear."""
@overload
def upsample_trilinear3d(
    input: Tensor,
    output_size: Sequence[_int] | None,
    align_corners: _bool,
    scale_factors: Sequence[_float] | None,
) -> Tensor:
    """`upsample_trilinear3d` to a size or by factors."""

def upsample_trilinear3d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor:
    """Gradient of `upsample_trilinear3d`."""

def value_selecting_reduction_backward(
    grad: Tensor,
    dim: _int,
    indices: Tensor,
    sizes: Sequence[_int],
    keepdim: _bool,
) -> Tensor:
    """Gradient of ops that choose one element along a dimension, such as `max` with ``dim``."""

def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """Vandermonde matrix of a vector, by default with the highest power first."""

@overload
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: _float | _complex | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Variance: squared deviations over ``n - correction`` (1 by default)."""
@overload
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Variance: squared deviations over ``n - correction`` (1 by default)."""
@overload
def var(input: Tensor, unbiased: _bool = True) -> Tensor:
    """Variance: squared deviations over ``n - correction`` (1 by default)."""

@overload
def var_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: _float | _complex | None = None,
    keepdim: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Variance and mean over dimensions (all if ``dim`` is None)."""
@overload
def var_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Variance and mean over dimensions (all if ``dim`` is None)."""
@overload
def var_mean(input: Tensor, unbiased: _bool = True) -> tuple[Tensor, Tensor]:
    """Variance and mean of all elements."""

def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inner product of two vectors, the first one conjugated."""

def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers, in a last dimension of size 2, as complex ones."""

def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `view_as_complex` shows."""

def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers as pairs of real ones, in a last dimension of size 2."""

def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `view_as_real` shows."""

@overload
def view_copy(input: Tensor, size: Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """A copy of what `view` shows."""
@overload
def view_copy(input: Tensor, dtype: _dtype, *, out: Tensor | None = None) -> Tensor:
    """A copy of what `view` shows."""

@overload
def vsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]:
    """Equal parts along dimension 0."""
@overload
def vsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]:
    """Parts along dimension 0 that begin at the given positions."""

def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors below each other: vectors are rows."""

@overload
def where(
    condition: Tensor,
    input: Tensor | _float | _complex,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input`` where the condition holds, ``other`` elsewhere."""
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]:
    """Indices of true elements, a tensor per dimension."""

@overload
def xlogy(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input * log(other)``, and 0 where ``input`` is 0."""
@overload
def xlogy(input: _float | _complex, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * log(other)``, and 0 where ``input`` is 0."""

def xlogy_(input: Tensor, other: Tensor | _float | _complex) -> Tensor:
    """In-place version of `xlogy`: writes the result into ``input`` and returns it."""

def zero_(input: Tensor) -> Tensor:
    """In-place version of `zero`: writes the result into ``input`` and returns it."""

@overload
def zeros(
    *size: _int,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor of zeros."""
@overload
def zeros(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor of zeros."""

def zeros_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    memory_format: Any = None,
) -> Tensor:
    """As `zeros`, in the shape, dtype and layout of ``input`` and on its device."""
