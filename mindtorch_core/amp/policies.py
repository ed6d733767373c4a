"""What autocast does to which op, as data.

Two tables, by names of PyTorch's ops: one for the CPU and one for every other device type (PyTorch's
for CUDA). A name may belong to an op that this framework does not have yet; its policy applies as
soon as an op of that name is defined. Both tables were read off PyTorch 2.13, by looking at what each
Autocast kernel does to its arguments.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from ..dispatch.entry import OpEntry
from ..dispatch.keys import DispatchKey

__all__ = ["COMPOSED", "Policy", "composed", "policy_of", "tables"]


class Policy(Enum):
    """What happens to the arguments of an op that autocast knows.

    Only floating-point tensors on the device are concerned, and float64 ones never.
    """

    LOWER_PRECISION_FP = "lower_precision_fp"
    """Cast to the dtype of lower precision."""
    FP32 = "fp32"
    """Cast to float32."""
    FP32_SET_OPT_DTYPE = "fp32_set_opt_dtype"
    """Compute in float32 through the op's own ``dtype`` argument, where the caller gave none."""
    PROMOTE = "promote"
    """Cast to float32 if one of them is float32, else leave them in lower precision."""
    BANNED = "banned"
    """Refuse the op."""


_EVERYWHERE_LOWER = """
    _convolution.deprecated addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d.input conv_transpose3d.input linalg_vecdot linear matmul mm prelu
    scaled_dot_product_attention
"""
_EVERYWHERE_FP32 = """
    binary_cross_entropy_with_logits cdist cosine_embedding_loss hinge_embedding_loss huber_loss
    kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss nll_loss
    nll_loss2d poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss
"""

_CPU: Final = {
    Policy.LOWER_PRECISION_FP: _EVERYWHERE_LOWER
    + """
        _addmm_activation _native_multi_head_attention conv1d.padding conv2d.padding conv3d.padding
        mkldnn_rnn_layer
    """,
    Policy.FP32: _EVERYWHERE_FP32
    + """
        _grid_sampler_2d_cpu_fallback _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d
        avg_pool3d binary_cross_entropy cholesky cholesky_inverse cholesky_solve cross_entropy_loss
        ctc_loss.IntList ctc_loss.Tensor fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn
        fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft
        fft_rfft2 fft_rfftn fractional_max_pool2d fractional_max_pool3d geqrf grid_sampler
        grid_sampler_2d grid_sampler_3d inverse linalg_cholesky linalg_cholesky_ex linalg_cond
        linalg_cond.p_str linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
        linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank
        linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor
        linalg_matrix_rank.tol_tensor linalg_qr linalg_solve linalg_svd linalg_svdvals
        linalg_tensorinv linalg_tensorsolve lu_solve max_pool3d max_unpool2d max_unpool3d
        multilabel_margin_loss_forward nanquantile nanquantile.scalar orgqr ormqr pinverse polar
        prod prod.dim_int qr quantile quantile.scalar reflection_pad1d reflection_pad2d
        replication_pad1d replication_pad2d replication_pad3d stft stft.center svd trace
        triangular_solve view_as_complex
    """,
    Policy.PROMOTE: "cat index_copy stack",
}

_OTHERS: Final = {
    Policy.LOWER_PRECISION_FP: _EVERYWHERE_LOWER
    + """
        _convolution _scaled_dot_product_flash_attention _thnn_fused_gru_cell _thnn_fused_lstm_cell
        addmv addr chain_matmul convolution cudnn_convolution cudnn_convolution_transpose einsum
        gru_cell linalg_multi_dot lstm_cell mv rnn_relu_cell rnn_tanh_cell
    """,
    Policy.FP32: _EVERYWHERE_FP32
    + """
        _upsample_bicubic2d_aa _upsample_bilinear2d_aa _upsample_nearest_exact1d
        _upsample_nearest_exact2d _upsample_nearest_exact3d acos asin cosh cosine_similarity dist
        erfinv exp expm1 frobenius_norm.dim group_norm layer_norm log log10 log1p log2 logsumexp
        native_layer_norm nuclear_norm nuclear_norm.dim pdist pow.Scalar pow.Tensor_Scalar
        pow.Tensor_Tensor reciprocal renorm rms_norm rsqrt sinh softplus tan upsample_bicubic2d
        upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d
        upsample_nearest3d upsample_trilinear3d
    """,
    Policy.FP32_SET_OPT_DTYPE: """
        cumprod cumsum linalg_matrix_norm linalg_matrix_norm.str_ord linalg_vector_norm
        log_softmax.int norm.Scalar norm.ScalarOpt_dim prod prod.dim_int softmax.int sum
        sum.dim_IntList
    """,
    Policy.PROMOTE: """
        addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot
    """,
    Policy.BANNED: "binary_cross_entropy",
}

# Ops that go by another name in PyTorch.
_ALIASES: Final = {
    "_rpow": "pow.Scalar",
    "cross_entropy": "cross_entropy_loss",
}

# Ops without a policy that PyTorch composes of ops with one: autocast acts on their parts. Every
# other op of the core counts as a whole, whatever it is made of here, and is left alone.
_COMPOSED: Final = """
    _convolution_mode _fused_rms_norm _rdiv _rmatmul _rpow _scaled_dot_product_attention_math
    _weight_norm norm_except_dim
    affine_grid_generator arccos arcsin arctan2 bilinear cartesian_prod chain_matmul column_stack
    combinations concat concatenate corrcoef cosine_similarity cov cross_entropy cross_entropy_loss
    cumulative_trapezoid diff dstack einsum float_power gradient group_norm gru gru_cell hstack
    inner layer_norm linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_multi_dot
    linalg_norm linalg_pinv linalg_vander lstm lstm_cell matrix_power nanmean nanquantile
    nll_loss_nd pad pairwise_distance pinverse rms_norm rnn_relu rnn_relu_cell rnn_tanh
    rnn_tanh_cell row_stack square sum_to_size tensordot trapezoid trapz vstack
"""
COMPOSED: Final = frozenset(_COMPOSED.split())


def _by_name(table: dict[Policy, str]) -> dict[str, Policy]:
    """The policy of each name, with and without its overload."""
    found = {name: policy for policy, names in table.items() for name in names.split()}
    return {name.partition(".")[0]: policy for name, policy in found.items()} | found


# The overload of tensors has no policy, though that of numbers has one.
_WITHOUT: Final = frozenset(("fake_quantize_per_tensor_affine.tensor_qparams",))
_CPU_POLICIES: Final = _by_name(_CPU)
_OTHER_POLICIES: Final = _by_name(_OTHERS)


def tables() -> tuple[dict[Policy, str], dict[Policy, str]]:
    """The table for the CPU and the one for other device types, names separated by blanks."""
    return _CPU, _OTHERS


def policy_of(entry: OpEntry, key: DispatchKey) -> Policy | None:
    """The built-in policy of an op at an Autocast key; None if it has none there.

    An overload that is not in the table has the policy of the overloads that are: ops that are
    several overloads in PyTorch are one here.
    """
    namespace, _, name = entry.name.partition("::")
    if namespace != "aten" or name in _WITHOUT:
        return None
    table = _CPU_POLICIES if key is DispatchKey.AutocastCPU else _OTHER_POLICIES
    name = _ALIASES.get(name, name)
    return table.get(name) or table.get(name.partition(".")[0])


def composed(entry: OpEntry) -> bool:
    """Whether autocast looks into an op that has no policy: it acts on the op's parts."""
    namespace, _, name = entry.name.partition("::")
    return namespace != "aten" or name.partition(".")[0] in COMPOSED
