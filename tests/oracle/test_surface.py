"""Names: every function of PyTorch's is here under its name, or is listed below with the reason."""

import functools
import inspect

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

pt = pytest.importorskip("torch")

SPARSE = """
ccol_indices ccol_indices_copy col_indices_copy
crow_indices_copy dsmm hsmm hspmm indices_copy resize_as_sparse_
row_indices row_indices_copy saddmm smm sparse_bsc_tensor sparse_bsr_tensor
sparse_compressed_tensor sparse_csc_tensor
sparse_resize_ sparse_resize_and_clear_ sspaddmm to_mkldnn
to_sparse_bsc to_sparse_bsr to_sparse_csc values_copy
"""
NESTED = "to_padded_tensor as_masked_tensor is_masked_tensor masked_tensor"
QUANTIZED = """
choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine
fake_quantize_per_tensor_affine fbgemm_linear_fp16_weight
fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix fused_moving_avg_obs_fake_quant
int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
qscheme quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic
quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell
quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
quantized_rnn_tanh_cell scaled_grouped_mm scaled_mm
"""
VENDORS = """
batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats
cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable
miopen_batch_norm miopen_convolution miopen_convolution_add_relu
miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss
miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d mkldnn_convolution
mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer
profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 set_override_stale_capture_stream
set_warn_on_accumulate_grad_stream_mismatch
"""
COMPILERS = """
cond fork import_ir_module import_ir_module_from_buffer merge_type_from_type_comment parse_ir
parse_schema parse_type_comment region_activation_memory_budget register_vmap
sym_fresh_size triton_op unify_type_list wait while_loop wrap_triton
"""
SETTINGS = """
get_file_path init_num_threads
is_multithreading_enabled is_view_replay_enabled
enforce_grad_layout_policy kineto_available prepare_multiprocessing_environment
thread_safe_generator
"""
DEPRECATED = """
assert_allclose eig get_autocast_ipu_dtype get_autocast_xla_dtype impl_abstract
is_autocast_ipu_enabled is_autocast_xla_enabled lstsq matrix_rank reinforce resize resize_as
set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled
solve symeig volatile
"""
INTERNAL = """
assert_int_or_pair boolean_dispatch capture_logs check_backward_validity classproperty
const_data_ptr detach_variable get_device_states grad_dtype handle_torch_function
has_torch_function has_torch_function_unary has_torch_function_variadic index is_tensor_like name
native_norm set_device_states slice_inverse tree_map
"""
NOT_YET = """
chalf create_selective_checkpoint_contexts dim_order is_distributed lobpcg
"""

LEFT_OUT = {
    "tensors are dense and strided": SPARSE + NESTED,
    "there are no quantized dtypes, nor any of 8 bits": QUANTIZED,
    "functions of one vendor's library": VENDORS,
    "for PyTorch's compilers, tracers and transforms": COMPILERS,
    "settings of PyTorch's C++ core": SETTINGS,
    "removed or deprecated in PyTorch": DEPRECATED,
    "not meant for users": INTERNAL,
    "not yet": NOT_YET,
}

PLACES = (
    "Tensor", "amp", "autograd", "autograd.functional", "autograd.graph", "fft", "library",
    "linalg", "masked", "nn.functional", "random", "signal.windows", "special", "testing",
    "utils.checkpoint", "utils.dlpack",
)  # fmt: skip


def at(root, path):
    return functools.reduce(getattr, path.split("."), root) if path else root


def is_of_pytorch(value):
    """Whether a name of a module is a function that PyTorch defines, not one that it imports."""
    builtin = isinstance(value, type(pt.add))
    return callable(value) and (builtin or getattr(value, "__module__", "").startswith("torch"))


def missing(path):
    """Lower-case public names of PyTorch's that are not here."""
    theirs, ours = at(pt, path), at(torch, path)
    names = {n for n in dir(theirs) if n[0] != "_" and n == n.lower() and not hasattr(ours, n)}
    values = {n: getattr(theirs, n, None) for n in names}
    if path == "Tensor":
        return {n for n, value in values.items() if not inspect.ismodule(value)}
    return {n for n, value in values.items() if is_of_pytorch(value)}


@pytest.mark.parametrize("path", ["", *PLACES])
def test_every_name_is_here_or_left_out_for_a_reason(path):
    listed = {name for names in LEFT_OUT.values() for name in names.split()}
    assert missing(path) - listed == set()


def test_what_is_left_out_is_missing():
    absent = set().union(*(missing(path) for path in ("", *PLACES)))
    listed = [name for names in LEFT_OUT.values() for name in names.split()]
    assert sorted(set(listed) - absent) == []
    assert len(listed) == len(set(listed))


def test_methods_take_pytorchs_keywords():
    x = torch.ones(2, 3)
    assert x.sum(dim=0, keepdim=True).shape == (1, 3)
    assert x.max(dim=1, keepdim=True).values.shape == (2, 1)
    assert x.transpose(dim0=0, dim1=1).shape == (3, 2)
    assert x.unsqueeze(dim=0).shape == (1, 2, 3)
    assert torch.sum(input=x, dim=1).shape == (2,)
    assert torch.add(x, other=1, alpha=2)[0, 0].item() == 3
    assert torch.cat(tensors=(x, x), dim=1).shape == (2, 6)
    assert torch.stack(tensors=[x, x], dim=0).shape == (2, 2, 3)
    assert torch.where(condition=x > 0, input=x, other=x).shape == (2, 3)
    assert torch.clamp(x, min=0, max=2).shape == (2, 3)
    assert torch.gather(x, dim=1, index=torch.tensor([[0]])).shape == (1, 1)
    assert x.split(split_size=1, dim=0)[0].shape == (1, 3)
    assert x.narrow(dim=1, start=0, length=2).shape == (2, 2)
    assert x.flatten(start_dim=0, end_dim=1).shape == (6,)
    assert x.clone(memory_format=torch.contiguous_format).shape == (2, 3)
    assert torch.full(size=(2,), fill_value=1.0).shape == (2,)
    assert torch.randint(low=0, high=5, size=(2,)).shape == (2,)
    assert torch.addmm(x[:, :2], x, x.t(), beta=0, alpha=2).shape == (2, 2)
    assert F.cross_entropy(input=x, target=torch.tensor([0, 1]), label_smoothing=0.1).shape == ()
