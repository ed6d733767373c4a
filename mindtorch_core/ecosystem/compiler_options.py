"""Names of options that ``torch.compile`` takes with its default backend: those of PyTorch 2.13."""

from __future__ import annotations

import functools
from typing import Any, Final

__all__ = ["check_options", "list_mode_options", "list_options"]

_KINDS: Final[dict[str, type]] = {"bool": bool, "float": float, "int": int, "str": str}
# By section and kind; of the kind "" is what PyTorch does not check.
_ROWS: Final = (
    ("", "bool",
     "TYPE_CHECKING inplace_padding can_inplace_pad_graph_input enable_auto_functionalized_v2 "
     "debug disable_progress verbose_progress fx_graph_cache remote_gemm_autotune_cache "
     "non_blocking_remote_cache_write autotune_local_cache "
     "unsafe_skip_cache_dynamic_shape_guards cpp_wrapper cpp_wrapper_build_separate fx_wrapper "
     "cpp_cache_precompile_headers online_softmax apply_gumbel_max_trick dce "
     "static_weight_shapes size_asserts nan_asserts runtime_triton_nan_asserts scalar_asserts "
     "alignment_asserts pick_loop_orders inplace_buffers allow_buffer_reuse memory_planning "
     "use_fast_math benchmark_harness epilogue_fusion epilogue_fusion_with_atomic_add "
     "prologue_fusion epilogue_fusion_first epilogue_fusion_user_defined_triton_kernel "
     "pattern_matcher b2b_gemm_pass split_cat_fx_passes efficient_conv_bn_eval_fx_passes "
     "is_predispatch group_fusion batch_fusion reorder_for_locality dynamic_scale_rblock "
     "force_fuse_int_mm_with_mul keep_addmm_fused_for_half_dtypes use_mixed_mm "
     "reorder_for_compute_comm_overlap reorder_for_peak_memory reorder_for_peak_memory_debug "
     "dedup_reduce_scatters runtime_estimations_mms_benchmark use_experimental_benchmarker "
     "distributed_max_autotune_gemm pipeline_max_autotune_gemm use_torch_profiler_benchmarker "
     "max_autotune max_autotune_pointwise max_autotune_gemm max_autotune_report_choices_stats "
     "max_autotune_prune_choices_based_on_shared_mem triton_disable_device_detection "
     "graph_partition max_autotune_allow_flexible_layouts nvgemm_supplement_configs "
     "fallback_by_default selective_decompose use_dce use_pre_grad_passes "
     "use_joint_graph_passes use_post_grad_passes cutedsl_enable_autotuning "
     "autotune_fallback_to_aten search_autotune_cache save_args autotune_in_subproc "
     "autotune_multi_device coordinate_descent_tuning coordinate_descent_check_all_directions "
     "run_jit_post_compile_hook layout_optimization force_layout_optimization "
     "cache_sdpa_constraint keep_output_stride warn_mix_layout delay_realize_cheap_outputs "
     "fallback_random align_random_eager fallback_embedding_bag_byte_unpack implicit_fallbacks "
     "assume_unaligned_fallback_output aggressive_fusion debug_fusion benchmark_fusion "
     "loop_ordering_after_fusion loop_reindexing_after_fusion loop_index_inversion_in_fusion "
     "benchmark_epilogue_fusion force_pointwise_cat comment_origin conv_1x1_as_mm "
     "split_reductions deterministic batch_invariant benchmark_kernel "
     "constant_and_index_propagation always_keep_tensor_constants assert_indirect_indexing "
     "do_not_emit_runtime_assertions compute_all_bounds combo_kernels benchmark_combo_kernel "
     "combo_kernel_foreach_dynamic_shapes combo_kernel_per_subkernel_blocks "
     "combo_kernel_autotune_grouping combo_kernels_pointwise_only joint_graph_constant_folding "
     "debug_index_asserts is_nightly_or_source developer_warnings "
     "optimize_scatter_upon_const_tensor worker_suppress_logging log_tlparse "
     "_fuse_ddp_communication _micro_pipeline_tp partitioned_scatter_enabled "
     "quiesce_async_compile_pool use_static_cuda_launcher "
     "static_launch_user_defined_triton_kernels strict_static_cuda_launcher "
     "keep_static_cubin_raw use_fast_triton_launcher use_launch_metadata_schema shape_padding "
     "comprehensive_padding pad_channels_last pad_dynamic_shapes disable_padding_cpu "
     "expand_dimension_for_pointwise_nodes pad_outputs bw_outputs_user_visible force_shape_pad "
     "permute_fusion profiler_mark_wrapper_call generate_intermediate_hooks debug_ir_traceback "
     "_raise_error_for_testing _use_fp64_for_unbacked_floats profile_bandwidth "
     "profile_bandwidth_with_do_bench_using_profiling disable_cpp_codegen freezing "
     "freezing_discard_parameters decompose_mem_bound_mm wrap_inductor_compiled_regions "
     "assume_aligned_inputs assume_32bit_indexing "
     "unsafe_ignore_unsupported_triton_autotune_args check_stack_no_cycles_TESTING_ONLY "
     "force_disable_cudagraph_TESTING_ONLY enable_linear_binary_folding annotate_training "
     "enable_caching_generated_triton_templates enable_autograd_for_aot "
     "write_are_deterministic_algorithms_enabled emulate_precision_casts "
     "emulate_precision_casts_on_saved_tensors"),
    ("", "",
     "worker_log_path fx_graph_remote_cache bundle_triton_into_fx_graph_cache "
     "autotune_remote_cache bundled_autotune_remote_cache unsafe_marked_cacheable_functions "
     "sleep_sec_TESTING_ONLY triton_kernel_default_layout_constraint memory_pool "
     "post_grad_custom_pre_pass post_grad_custom_post_pass custom_partitioner_fn "
     "joint_custom_pre_pass joint_custom_post_pass pre_grad_custom_pass "
     "_pre_fusion_custom_pass _post_fusion_custom_pass pre_grad_fusion_options "
     "post_grad_fusion_options fx_passes_numeric_check mixed_mm_choice "
     "reorder_for_compute_comm_overlap_passes reorder_prefetch_limit bucket_all_gathers_fx "
     "bucket_all_gathers_fx_bucket_size_determinator bucket_all_gathers_bucket_mode "
     "bucket_reduce_scatters_fx bucket_reduce_scatters_fx_bucket_size_determinator "
     "bucket_reduce_scatters_bucket_mode bucket_all_reduces_fx "
     "bucket_all_reduces_fx_bucket_size_determinator intra_node_bw inter_node_bw "
     "incremental_autotune autotune_num_choices_displayed cudagraph_policy "
     "custom_should_partition_ops cudagraph_unsafe_unbacked_ops multi_kernel_hints "
     "nvgemm_max_profiling_configs max_autotune_gemm_search_space "
     "max_autotune_flex_search_space pre_grad_pass_timing realize_opcount_threshold "
     "realize_acc_reads_threshold realize_acc_reads_size_threshold inductor_choices_class "
     "max_fusion_unique_io_buffers combo_kernel_peak_memory_increase_gb "
     "combo_kernel_peak_memory_pct_threshold add_pre_grad_passes remove_pre_grad_passes "
     "_fuse_ddp_communication_passes compile_threads global_cache_dir profile_bandwidth_output "
     "autotune_lookup_table cpu_backend cuda_backend tpu_backend xpu_backend "
     "_save_config_ignore _cache_config_ignore_prefix _cache_config_factory_keys "
     "external_matmul"),
    ("", "int",
     "precompilation_timeout_seconds size_threshold_for_succ_based_strategy "
     "inductor_default_autotune_warmup inductor_default_autotune_rep unbacked_symint_fallback "
     "collective_benchmark_nruns coordinate_descent_search_radius realize_reads_threshold "
     "_realize_opcount_threshold_default realize_cpu_opcount_threshold "
     "_realize_acc_reads_threshold_default realize_cpu_acc_reads_threshold "
     "score_fusion_memory_threshold max_epilogue_benchmarked_choices max_fusion_size "
     "max_fusion_buffer_group_pairwise_attempts max_complex_pointwise_cat_inputs "
     "max_pointwise_cat_inputs unroll_reductions_threshold min_num_split "
     "combo_kernels_autotune combo_kernel_allow_mixed_sizes combo_kernel_max_num_args "
     "combo_kernel_max_num_nodes combo_kernel_max_distance small_memory_access_threshold "
     "_fuse_ddp_bucket_size partitioned_scatter_min_partitions "
     "partitioned_scatter_max_partitions quiesce_async_compile_time kernel_name_max_ops "
     "padding_alignment_bytes padding_stride_threshold file_lock_timeout "
     "compile_worker_wait_timeout"),
    ("", "str",
     "estimate_op_runtime max_autotune_gemm_backends _conv_default_backends "
     "max_autotune_conv_backends max_autotune_conv_bwd_weight_backends "
     "max_autotune_conv_bwd_input_backends autoheuristic_log_path layout_opt_default "
     "enabled_metric_tables disabled_passes worker_start_method _profile_var "
     "profile_bandwidth_regex torchinductor_worker_logpath"),
    ("", "float",
     "cpu_gpu_bw max_autotune_subproc_result_timeout_seconds "
     "max_autotune_subproc_graceful_timeout_seconds "
     "max_autotune_subproc_terminate_timeout_seconds collective_benchmark_timeout "
     "min_overlap_ratio partitioned_scatter_memory_budget"),
    ("autoheuristic_collect", "bool",
     "pad_mm mixed_mm"),
    ("autoheuristic_use", "",
     "pad_mm"),
    ("autoheuristic_use", "bool",
     "mixed_mm"),
    ("_collective", "bool",
     "auto_select"),
    ("_collective", "int",
     "one_shot_all_reduce_threshold_bytes"),
    ("aten_distributed_optimizations", "bool",
     "enable_overlap_scheduling log_final_collectives_estimations bucket_only_internode_comms "
     "enable_fusion_regions prioritize_bucketing_during_scheduling spmd_check "
     "overlap_scheduling_autofix_cycles enable_low_contention_collectives "
     "low_contention_skip_overlap_check pre_bucketing_fsdp_collectives "
     "pre_bucketing_fsdp_collectives_verbose allow_comms_decompositions"),
    ("aten_distributed_optimizations", "",
     "collective_bucketing insert_overlap_deps max_compute_pre_fetch compute_overlap_multipler "
     "custom_runtime_estimation collective_estimator compute_estimator "
     "profile_guided_estimations_profile_path max_memory_increase_gb max_memory_increase_ratio "
     "max_in_flight_gb max_coll_distance bucket_exposed_first bucket_mode spmd_mismatch "
     "pre_bucketing_fsdp_collectives_bucket_cap_mb"),
    ("aten_distributed_optimizations", "int",
     "low_contention_min_bytes_per_rank"),
    ("aten_distributed_optimizations", "float",
     "pre_bucketing_fsdp_collectives_min_bucket_cap_mb "
     "pre_bucketing_fsdp_collectives_max_bucket_cap_mb "
     "pre_bucketing_fsdp_collectives_saturation_calibration_multiplier"),
    ("auto_chunker", "bool",
     "enable"),
    ("auto_chunker", "int",
     "output_size_threshold amplify_ratio_threshold"),
    ("auto_chunker", "",
     "num_chunk"),
    ("cpp", "int",
     "threads min_chunk_size max_horizontal_fusion_size gemm_max_k_slices "
     "use_two_step_variance_threshold"),
    ("cpp", "bool",
     "no_redundant_loops dynamic_threads enable_kernel_profile weight_prepack "
     "fallback_scatter_reduce_sum enable_unsafe_math_opt_flag enable_tiling_heuristics "
     "enable_grouped_gemm_template enable_loop_tail_vec enable_concat_linear "
     "use_decompose_tanh use_small_dequant_buffer force_inline_kernel "
     "use_constexpr_for_int_array"),
    ("cpp", "",
     "simdlen cxx march inject_relu_bug_TESTING_ONLY inject_log1p_bug_TESTING_ONLY vec_isa_ok "
     "descriptive_names gemm_cache_blocking gemm_thread_factors"),
    ("cpp", "str",
     "enable_floating_point_contract_flag"),
    ("triton", "bool",
     "cudagraphs cudagraph_trees cudagraph_skip_dynamic_graphs slow_path_cudagraph_asserts "
     "cudagraph_trees_history_recording cudagraph_trees_objgraph "
     "cudagraph_support_input_mutation force_cudagraph_sync force_cudagraphs_warmup "
     "cudagraph_or_error reorder_for_reducing_graph_partitions fast_path_cudagraph_asserts "
     "skip_cudagraph_warmup debug_sync_graph debug_sync_kernel dense_indexing "
     "coalesce_tiling_analysis prefer_nd_tiling autotune_pointwise autotune_cublasLt "
     "autotune_with_sample_inputs tile_reductions native_matmul "
     "tiling_prevents_pointwise_fusion tiling_prevents_reduction_fusion unique_kernel_names "
     "unique_user_kernel_names persistent_reductions decompose_sort_ops cooperative_reductions "
     "force_cooperative_reductions divisible_by_16 emit_pointer_range_32 store_cubin "
     "use_block_ptr use_tensor_descriptor transpose_discontiguous_tensor_descriptor "
     "codegen_upcast_to_fp32 enable_persistent_tma_matmul enable_template_tma_store "
     "enable_tma_load_for_template_epilogue skip_l1_cache "
     "disallow_failing_autotune_kernels_TESTING_ONLY enable_pdl mix_order_reduction "
     "mix_order_reduction_autotune_split_size mix_order_reduction_non_strict_mode "
     "mix_order_reduction_allow_multi_stages nested_reduction proton_profiling "
     "proton_group_by_sm proton_split_invocations proton_per_cta_occupancy "
     "dynamic_disable_pipelining"),
    ("triton", "",
     "cudagraph_capture_sizes cudagraph_dynamic_shape_warn_limit max_tiles "
     "autotune_at_compile_time descriptive_names multi_kernel inject_relu_bug_TESTING_ONLY "
     "mix_order_reduction_split_size debug_dump_kernel_inputs proton_output_dir"),
    ("triton", "int",
     "cudagraph_min_partition_size cudagraph_unexpected_rerecord_limit "
     "use_two_step_variance_min_numel use_two_step_variance_threshold min_split_scan_rblock "
     "spill_threshold num_decompose_k_splits decompose_k_threshold "
     "mix_order_reduction_initial_xblock mix_order_reduction_max_reads "
     "max_kernel_dump_occurrences"),
    ("triton", "float",
     "cudagraph_partition_memory_budget"),
    ("aot_inductor", "bool",
     "autotune_per_kernel_alloc debug_compile debug_symbols enable_frame_pointer "
     "enable_line_tables use_runtime_constant_folding force_mmap_weights use_consts_asm_build "
     "package dynamic_linkage raise_error_on_ignored_optimization check_lowerbound "
     "dump_aoti_minifier allow_stack_allocation use_minimal_arrayref_interface "
     "weight_use_caching_allocator package_constants_in_so precompile_headers enable_lto "
     "link_libtorch"),
    ("aot_inductor", "str",
     "output_path compile_wrapper_opt_level serialized_in_spec serialized_out_spec"),
    ("aot_inductor", "",
     "debug_intermediate_value_printer filtered_kernel_names package_cpp_only metadata presets "
     "package_constants_on_disk_format embed_kernel_binary emit_multi_arch_kernel "
     "model_name_for_generated_files custom_ops_to_c_shims custom_op_libs "
     "cross_target_platform aoti_shim_library aoti_shim_library_path"),
    ("aot_inductor", "int",
     "repro_level"),
    ("aot_inductor_mode", "bool",
     "compile_standalone"),
    ("cutlass", "",
     "compile_opt_level cutlass_max_profiling_configs cutlass_max_profiling_swizzle_options "
     "cutlass_dynamic_cluster_shape cutlass_dynamic_cluster_fallback "
     "cutlass_op_allowlist_regex cutlass_op_denylist_regex"),
    ("cutlass", "bool",
     "enable_debug_info use_fast_math cutlass_epilogue_fusion_enabled cutlass_tma_only "
     "generate_test_runner cutlass_hash_with_compile_cmd cutlass_prescreening "
     "use_binary_remote_cache upload_to_binary_remote_cache binary_remote_cache_force_write "
     "enable_caching_codegen"),
    ("cutlass", "str",
     "cutlass_dir cutlass_instantiation_level cutlass_enabled_ops"),
    ("cutlass", "int",
     "cutlass_backend_min_gemm_size"),
    ("cuda", "",
     "arch version cuda_cxx nvgemm_max_profiling_configs cutlass_max_profiling_configs "
     "cutlass_max_profiling_swizzle_options cutlass_dynamic_cluster_shape "
     "cutlass_dynamic_cluster_fallback cutlass_op_allowlist_regex cutlass_op_denylist_regex"),
    ("cuda", "bool",
     "enable_cuda_lto enable_ptxas_info enable_debug_info use_fast_math "
     "cutlass_epilogue_fusion_enabled cutlass_tma_only generate_test_runner "
     "cutlass_hash_with_compile_cmd cutlass_prescreening use_binary_remote_cache "
     "upload_to_binary_remote_cache binary_remote_cache_force_write enable_caching_codegen"),
    ("cuda", "str",
     "compile_opt_level cutlass_dir cutlass_instantiation_level cutlass_enabled_ops"),
    ("cuda", "int",
     "cutlass_backend_min_gemm_size"),
    ("xpu", "",
     "arch version oneapi_root cutlass_max_profiling_configs "
     "cutlass_max_profiling_swizzle_options cutlass_dynamic_cluster_shape "
     "cutlass_dynamic_cluster_fallback cutlass_op_allowlist_regex cutlass_op_denylist_regex"),
    ("xpu", "str",
     "cutlass_dir compile_opt_level cutlass_instantiation_level cutlass_enabled_ops"),
    ("xpu", "bool",
     "enable_debug_info use_fast_math cutlass_epilogue_fusion_enabled cutlass_tma_only "
     "generate_test_runner cutlass_hash_with_compile_cmd cutlass_prescreening "
     "use_binary_remote_cache upload_to_binary_remote_cache binary_remote_cache_force_write "
     "enable_caching_codegen"),
    ("xpu", "int",
     "cutlass_backend_min_gemm_size"),
    ("rocm", "",
     "arch ck_supported_arch compile_opt_level rocm_home ck_dir n_max_profiling_configs "
     "ck_max_profiling_configs ck_tile_max_profiling_configs kBatch_sweep"),
    ("rocm", "bool",
     "is_debug save_temps use_fast_math flush_denormals print_kernel_resource_usage "
     "generate_test_runner use_preselected_instances origami"),
    ("rocm", "int",
     "split_k_threshold contiguous_threshold origami_topk"),
    ("mtia", "bool",
     "disable_welford_reduction"),
    ("halide", "str",
     "cpu_target gpu_target"),
    ("halide", "",
     "scheduler_cuda scheduler_cpu"),
    ("halide", "bool",
     "asserts debug scan_kernels"),
    ("trace", "bool",
     "enabled save_real_tensors debug_log info_log fx_graph fx_graph_transformed ir_pre_fusion "
     "ir_post_fusion output_code graph_diagram draw_orig_fx_graph compile_profile "
     "log_autotuning_results"),
    ("trace", "",
     "debug_dir dot_graph_shape log_url_for_graph_xform upload_tar"),
    ("trace", "str",
     "graph_diagram_format orig_fx_graph_diagram_format"),
    ("trace", "int",
     "provenance_tracking_level"),
    ("lookup_table", "",
     "table"),
    ("lookup_table", "bool",
     "check_src_hash"),
    ("test_configs", "bool",
     "force_extern_kernel_in_multi_template force_no_impl_grouping runtime_triton_dtype_assert "
     "runtime_triton_shape_assert static_cpp_dtype_assert "
     "graphsafe_rng_func_ignores_fallback_random use_libtorch assume_bucketing_reduces_latency "
     "force_filter_reduction_configs bisect_pre_grad_graph "
     "bisect_keep_custom_backend_for_inductor"),
    ("test_configs", "",
     "force_custom_op_decomposition max_mm_configs max_flex_configs autotune_choice_name_regex "
     "autotune_choice_desc_regex track_memory_lifecycle"),
    ("test_configs", "str",
     "distort_benchmarking_result"),
    ("eager_numerics", "bool",
     "division_rounding disable_ftz use_pytorch_libdevice"),
)  # fmt: skip
_MODES: Final[dict[str, dict[str, bool]]] = {
    "default": {},
    "lite": {
        "fallback_by_default": True,
        "selective_decompose": True,
        "reorder_for_peak_memory": False,
        "reorder_for_compute_comm_overlap": False,
        "triton.reorder_for_reducing_graph_partitions": False,
        "use_pre_grad_passes": False,
        "use_joint_graph_passes": False,
        "use_post_grad_passes": False,
        "use_dce": False,
        "allow_buffer_reuse": False,
    },
    "reduce-overhead": {"triton.cudagraphs": True},
    "max-autotune-no-cudagraphs": {"max_autotune": True, "coordinate_descent_tuning": True},
    "max-autotune": {
        "max_autotune": True,
        "triton.cudagraphs": True,
        "coordinate_descent_tuning": True,
    },
}
# What `compile` takes of options for itself.
_OWN: Final = frozenset({"guard_filter_fn", "use_aoti"})


@functools.cache
def _kinds() -> dict[str, str]:
    """The kind of each option."""
    return {
        f"{section}.{name}" if section else name: kind
        for section, kind, names in _ROWS
        for name in names.split()
    }


def list_options() -> list[str]:
    """Names of the options that `torch.compile` takes: PyTorch's; none does anything here."""
    return [*_kinds()]


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """The options that a mode of `torch.compile` stands for in PyTorch; of all modes if there is none.

    Args:
        mode: its name.
        dynamic: accepted.

    Raises:
        RuntimeError: for a mode that there is not.
    """
    if not mode:
        return {name: dict(options) for name, options in _MODES.items()}
    if mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    return dict(_MODES[mode])


def check_options(options: dict[str, Any]) -> None:
    """Refuse options that PyTorch's default backend does not know, and values of another type.

    Raises:
        RuntimeError: for such an option.
    """
    for name, value in options.items():
        kind = _kinds().get(str(name).replace("-", "_"))
        if kind is None and name not in _OWN:
            raise RuntimeError(
                f"Unexpected optimization option {name}, known options are {list_options()}"
            )
        if kind and not isinstance(value, _KINDS[kind]):
            raise RuntimeError(
                f"Unexpected type of attr {name}, got {type(value).__name__} should be {kind}"
            )
