"""Names of PyTorch's that mindtorch leaves out, and why. A test compares them with PyTorch."""

from __future__ import annotations

from typing import Final

__all__ = ["LEFT_OUT", "reason_for"]

LEFT_OUT: Final = {
    "tensors are dense or sparse; none are nested": """
        ccol_indices_copy col_indices_copy crow_indices_copy
        indices_copy resize_as_sparse_ row_indices_copy saddmm sparse_resize_
        sparse_resize_and_clear_ to_mkldnn values_copy to_padded_tensor
    """,
    "there are no quantized dtypes": """
        choose_qparams_optimized dequantize empty_quantized fbgemm_linear_fp16_weight
        fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
        fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix
        fused_moving_avg_obs_fake_quant int_repr q_per_channel_axis q_per_channel_scales
        q_per_channel_zero_points q_scale q_zero_point qscheme quantize_per_channel
        quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_gru
        quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d
        quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
        quantized_rnn_tanh_cell scaled_grouped_mm scaled_mm
    """,
    "it is a function of one vendor's library": """
        batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
        batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
        batch_norm_update_stats cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
        cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose
        cudnn_grid_sampler cudnn_is_acceptable miopen_batch_norm miopen_convolution
        miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
        miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d
        mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d
        mkldnn_rnn_layer profiler_allow_cudagraph_cupti_lazy_reinit_cuda12
        set_override_stale_capture_stream set_warn_on_accumulate_grad_stream_mismatch
    """,
    "it is for PyTorch's compilers and tracers": """
        fork import_ir_module import_ir_module_from_buffer merge_type_from_type_comment
        parse_ir parse_schema parse_type_comment region_activation_memory_budget
        sym_fresh_size unify_type_list wait
    """,
    "it is a setting of PyTorch's C++ core": """
        get_file_path init_num_threads is_multithreading_enabled is_view_replay_enabled
        enforce_grad_layout_policy kineto_available prepare_multiprocessing_environment
        thread_safe_generator
    """,
    "PyTorch has removed or deprecated it": """
        eig get_autocast_ipu_dtype get_autocast_xla_dtype
        is_autocast_ipu_enabled is_autocast_xla_enabled lstsq matrix_rank reinforce resize
        resize_as set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype
        set_autocast_xla_enabled solve symeig volatile
    """,
    "PyTorch does not mean it for users": """
        assert_int_or_pair capture_logs classproperty
        const_data_ptr grad_dtype handle_torch_function
        has_torch_function index
        is_tensor_like name native_norm slice_inverse tree_map
    """,
    "it is not written yet": """
        chalf is_distributed
    """,
}


def reason_for(name: str) -> str:
    """Why a name is left out; empty for one that PyTorch has not, or nobody has looked at."""
    return next((why for why, names in LEFT_OUT.items() if name in names.split()), "")
