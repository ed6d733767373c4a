"""Which module holds the kernels of ops that are defined on demand. Written by `docs/make.py`."""

from typing import Final

__all__ = ["HOMES"]

HOMES: Final = (
    ("accumulation", "embedding_dense_backward"),
    ("activation_slopes",
     "elu_backward gelu_backward hardshrink_backward hardsigmoid_backward hardswish_backward "
     "hardtanh_backward leaky_relu_backward log_sigmoid_backward mish_backward silu_backward "
     "softplus_backward softshrink_backward"),
    ("activations",
     "elu elu_ gelu gelu_ hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh "
     "hardtanh_ leaky_relu leaky_relu_ log_sigmoid mish mish_ silu silu_ softplus softshrink "
     "threshold threshold_"),
    ("adaptive_pooling",
     "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d "
     "_adaptive_avg_pool3d_backward adaptive_max_pool2d adaptive_max_pool3d"),
    ("arithmetic",
     "_conj_physical add add_ atan2 atan2_ bitwise_and bitwise_and_ bitwise_or bitwise_or_ "
     "bitwise_xor bitwise_xor_ div div_ eq eq_ floor_divide floor_divide_ fmod fmod_ ge ge_ gt gt_ "
     "le le_ logical_and logical_and_ logical_or logical_or_ logical_xor logical_xor_ lt lt_ "
     "maximum minimum mul mul_ ne ne_ nextafter nextafter_ pow pow_ remainder remainder_ rsub sub "
     "sub_"),
    ("attention",
     "_scaled_dot_product_flash_attention_for_cpu "
     "_scaled_dot_product_flash_attention_for_cpu_backward"),
    ("combined",
     "addcdiv addcdiv_ addcmul addcmul_ lerp.Scalar lerp.Tensor lerp_.Scalar lerp_.Tensor"),
    ("convolution", "_convolution_weight convolution"),
    ("copying", "_to_dtype clone copy_ fill_.Scalar zero_"),
    ("counting", "_lexicographic_order bincount histc searchsorted.Scalar searchsorted.Tensor"),
    ("determinants", "_linalg_det _linalg_slogdet"),
    ("elementwise",
     "acosh acosh_ asinh asinh_ atanh atanh_ bitwise_left_shift bitwise_left_shift_ "
     "bitwise_right_shift bitwise_right_shift_ complex copysign deg2rad deg2rad_ exp2 exp2_ fmax "
     "fmin frexp.Tensor gcd gcd_ heaviside hypot lcm lcm_ logaddexp logaddexp2 nan_to_num rad2deg "
     "rad2deg_ signbit sinc sinc_"),
    ("fft", "_fft_c2c _fft_c2r _fft_r2c"),
    ("functions",
     "abs acos acos_ asin asin_ atan atan_ bitwise_not bitwise_not_ ceil ceil_ cos cos_ cosh cosh_ "
     "erf erf_ erfc erfc_ exp exp_ expm1 expm1_ floor floor_ frac frac_ isfinite isinf isnan log "
     "log10 log10_ log1p log1p_ log2 log2_ log_ logical_not neg neg_ reciprocal reciprocal_ relu "
     "relu_ round round_ rsqrt rsqrt_ sigmoid sigmoid_ sign sign_ sin sin_ sinh sinh_ sqrt sqrt_ "
     "tan tan_ tanh tanh_ threshold_backward trunc trunc_"),
    ("gates", "_prelu_kernel _prelu_kernel_backward glu glu_backward"),
    ("grid_sampling", "grid_sampler grid_sampler_2d"),
    ("group_norm", "native_group_norm native_group_norm_backward"),
    ("indexing",
     "_index_positions _index_put_positions_ _one_hot_of embedding gather index_add index_add_ "
     "index_fill_.int_Scalar index_select nonzero put scatter.src scatter.value scatter_.src "
     "scatter_.value scatter_add scatter_add_ take"),
    ("joining", "cat stack"),
    ("lapack",
     "_householder_product _linalg_eigh _linalg_eigvals _linalg_svd _lu_order geqrf "
     "linalg_cholesky_ex linalg_eig linalg_inv_ex linalg_ldl_factor_ex linalg_ldl_solve "
     "linalg_lu_factor_ex linalg_qr linalg_solve_ex linalg_solve_triangular"),
    ("linalg", "addmm bmm linear matmul mm"),
    ("log_odds", "logit logit_backward"),
    ("looking",
     "binary_cross_entropy index_copy index_copy_ index_reduce index_reduce_ max_unpool2d "
     "max_unpool3d"),
    ("membership", "isin.Tensor_Tensor mode"),
    ("nn", "nll_loss_backward nll_loss_forward"),
    ("normalization",
     "_native_batch_norm_legit native_batch_norm native_batch_norm_backward native_layer_norm "
     "native_layer_norm_backward"),
    ("order", "median median.dim nanmedian nanmedian.dim sort.stable topk"),
    ("padding",
     "reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward "
     "reflection_pad3d reflection_pad3d_backward replication_pad1d replication_pad1d_backward "
     "replication_pad2d replication_pad2d_backward replication_pad3d replication_pad3d_backward"),
    ("pair_distances", "_cdist_backward _cdist_forward"),
    ("pooling",
     "avg_pool1d avg_pool1d_backward avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward "
     "max_pool1d_with_indices max_pool1d_with_indices_backward max_pool2d_with_indices "
     "max_pool2d_with_indices_backward max_pool3d_with_indices max_pool3d_with_indices_backward"),
    ("quantiles", "_dirichlet_grad _standard_gamma_grad"),
    ("random", "bernoulli bernoulli_p_ normal_ random_ random_.from randperm uniform_"),
    ("random_counts", "_sample_dirichlet _standard_gamma binomial poisson"),
    ("rearranging",
     "constant_pad_nd flip repeat repeat_interleave.Tensor roll tril tril_indices triu "
     "triu_indices"),
    ("recurrent", "_thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl"),
    ("recurrent_steps", "_recurrent_steps _recurrent_steps_backward"),
    ("reduction",
     "all amax amin any argmax argmin linalg_vector_norm max.dim min.dim prod std.correction sum "
     "var.correction"),
    ("regression",
     "huber_loss huber_loss_backward mse_loss mse_loss_backward smooth_l1_loss "
     "smooth_l1_loss_backward"),
    ("resampling",
     "_upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa "
     "_upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward "
     "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward "
     "_upsample_nearest_exact3d_backward upsample_bicubic2d upsample_bicubic2d_backward "
     "upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d "
     "upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d "
     "upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward "
     "upsample_trilinear3d upsample_trilinear3d_backward"),
    ("rms_norm", "_fused_rms_norm"),
    ("sampling", "_rrelu_slopes cauchy_ exponential_ geometric_ log_normal_ multinomial"),
    ("scans", "cummax cummin cumprod cumsum logcumsumexp"),
    ("scattering", "masked_scatter scatter_reduce.two scatter_reduce_.two"),
    ("selection",
     "clamp clamp.Tensor clamp_ clamp_.Tensor equal masked_fill masked_fill_ where.self"),
    ("slopes", "sigmoid_backward tanh_backward"),
    ("softmax", "_log_softmax_backward_data _softmax_backward_data log_softmax softmax"),
    ("special",
     "digamma digamma_ erfinv erfinv_ i0 i0_ igamma igamma_ igammac igammac_ lgamma lgamma_ "
     "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
     "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
     "special_chebyshev_polynomial_w special_entr special_erfcx special_hermite_polynomial_h "
     "special_hermite_polynomial_he special_i0e special_i1 special_i1e "
     "special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr "
     "special_modified_bessel_k0 special_modified_bessel_k1 special_ndtr special_ndtri "
     "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
     "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
     "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w "
     "special_xlog1py special_zeta xlogy xlogy_"),
    ("steps",
     "_fused_adagrad_ _fused_adagrad_.tensor_lr _fused_adam_ _fused_adam_.tensor_lr _fused_adamw_ "
     "_fused_adamw_.tensor_lr _fused_sgd_ _fused_sgd_.tensor_lr"),
    ("views",
     "diagonal expand permute reshape select slice split split_with_sizes squeeze squeeze.dim t "
     "transpose unbind unsqueeze view"),
)  # fmt: skip
