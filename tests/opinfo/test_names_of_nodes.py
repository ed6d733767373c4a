"""What the nodes of results are called, for every op beside PyTorch: printed tensors show it."""

import itertools

import pytest

pytest.importorskip(
    "torch.testing._internal.common_methods_invocations",
    reason="PyTorch (with expecttest) supplies the samples",
)

import torch as oracle
from checks import DOUBLE, OPS
from convert import Converter, Unsupported, tensors_in
from counterparts import function_of
from pytorch_samples import making_samples

import mindtorch_core as torch

# Why a name is another one here.
UNLIKE = {
    "PyTorch numbers the forms of an op, as for numbers and for tensors; here one row serves them": """
        copysign div_trunc_rounding div_floor_rounding fmod remainder _native_batch_norm_legit pow
        float_power __rmod__ __rpow__ __rsub__ rsub index_fill sort normal normal_number_mean trapz
        trapezoid cumulative_trapezoid masked_sum masked_prod
    """,
    "copies of views are clones": """
        expand_copy diag diagonal_copy alias_copy as_strided_copy view_copy permute_copy
        split_with_sizes_copy unbind_copy unfold_copy squeeze_copy unsqueeze_copy transpose_copy t_copy
    """,
    "the node is that of the last part, of an op that is made of others here or there": """
        clamp_max clamp_min addmv addbmm baddbmm dot vdot mv addr block_diag combinations cholesky
        cholesky_inverse cholesky_solve unsafe_chunk cross diff diagonal_scatter stft ldexp lu_unpack
        lu_solve masked_fill masked_select matmul var_mean var_mean_unbiased
        std_mean std_mean_unbiased quantile nanquantile nn_functional_cross_entropy
        nn_functional_linear_cross_entropy nn_functional_linear_cross_entropy_chunked
        nn_functional_linear_cross_entropy_chunked_none aminmax as_strided_scatter
        nn_functional_adaptive_avg_pool1d nn_functional_adaptive_avg_pool2d
        nn_functional_adaptive_avg_pool3d nn_functional_avg_pool1d
        nn_functional_rms_norm nn_functional_pad_circular
        nn_functional_interpolate_area nn_functional_soft_margin_loss nn_functional_margin_ranking_loss
        nn_functional_multi_margin_loss nn_functional_multilabel_margin_loss
        nn_functional_fractional_max_pool2d nn_functional_fractional_max_pool3d nn_functional_max_pool1d
        nn_functional_linear nn_functional_bilinear nn_functional_celu nn_functional_rrelu
        torch_ops_aten__safe_softmax_default nn_functional_scaled_dot_product_attention
        nn_functional_triplet_margin_loss nn_functional_triplet_margin_with_distance_loss to
        nn_functional_batch_norm mvlgamma_mvlgamma_p_1 mvlgamma_mvlgamma_p_3 mvlgamma_mvlgamma_p_5
        narrow_copy dist ormqr rot90 sgn unsafe_split __rmatmul__ select_scatter slice_scatter
        triangular_solve einsum svd_lowrank pca_lowrank polar atleast_3d _unsafe_masked_index
        _unsafe_masked_index_put_accumulate bfloat16 double float half cdouble cfloat
        trace kron inner to_sparse nn_functional_smooth_l1_loss native_dropout_backward
        nn_functional_embedding_bag nn_functional_grid_sample grid_sampler_3d nansum
        nn_functional_ctc_loss nn_functional_pdist nn_functional_pairwise_distance
        nn_functional_pixel_shuffle nn_functional_pixel_unshuffle nn_functional_channel_shuffle fft_ifft
        fft_ihfft fft_ihfft2 fft_ihfftn fft_fftshift fft_ifftshift linalg_cross linalg_vecdot
        linalg_cond linalg_householder_product linalg_lstsq linalg_lstsq_grad_oriented
        linalg_matrix_power linalg_multi_dot linalg_matrix_norm linalg_vander linalg_lu linalg_lu_solve
        linalg_tensorinv special_ndtr masked_logaddexp
    """,
}
NAMES = [
    n
    for n, op in OPS.items()
    if op.supports_autograd and DOUBLE in op.supported_backward_dtypes("cpu")
]
SAMPLES = 12


def node_of(result, lib):
    nodes = (t.grad_fn for t in tensors_in([result], lib.Tensor))
    return next((node.name() for node in nodes if node is not None), None)


def unlike(op):
    """Whether the node of a sample's result has another name here; None without samples."""
    with making_samples():
        samples = list(
            itertools.islice(op.sample_inputs("cpu", DOUBLE, requires_grad=True), SAMPLES)
        )
    mine, found = function_of(op), None
    for sample in samples:
        given = [sample.input, list(sample.args), sample.kwargs]
        try:
            ours = Converter()(given)
        except Unsupported:
            continue
        names = [
            node_of(call(args[0], *args[1], **args[2]), lib)
            for call, args, lib in ((op.op, given, oracle), (mine, ours, torch))
        ]
        found = found or names[0] != names[1]
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_as_in_pytorch(name):
    try:
        found = unlike(OPS[name])
    except AttributeError as error:
        pytest.skip(f"not there: {error}")
    if found is None:
        pytest.skip("its samples have layouts that are not compared")
    listed = any(name in names.split() for names in UNLIKE.values())
    assert found == listed, "it is listed in UNLIKE" if listed else "it is not listed in UNLIKE"
