"""Which module holds the kernels of ops that are defined on demand. Written by `docs/make.py`."""

from typing import Final

__all__ = ["HOMES"]

HOMES: Final = (
    ("accumulation", "embedding_dense_backward"),
    ("activations",
     "elu elu_ gelu gelu_ gelu_backward hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh "
     "hardtanh_ leaky_relu leaky_relu_ log_sigmoid mish mish_ silu silu_ silu_backward softplus"),
    ("attention",
     "_scaled_dot_product_flash_attention_for_cpu "
     "_scaled_dot_product_flash_attention_for_cpu_backward"),
    ("combined",
     "addcdiv addcdiv_ addcmul addcmul_ lerp.Scalar lerp.Tensor lerp_.Scalar lerp_.Tensor"),
    ("convolution", "_convolution_weight convolution"),
    ("counting",
     "_cdist_forward _lexicographic_order bincount searchsorted.Scalar searchsorted.Tensor"),
    ("elementwise",
     "acosh acosh_ asinh asinh_ atanh atanh_ bitwise_left_shift bitwise_left_shift_ "
     "bitwise_right_shift bitwise_right_shift_ complex copysign deg2rad deg2rad_ exp2 exp2_ fmax "
     "fmin frexp.Tensor gcd gcd_ heaviside hypot lcm lcm_ logaddexp logaddexp2 nan_to_num rad2deg "
     "rad2deg_ signbit sinc sinc_"),
    ("fft", "_fft_c2c _fft_c2r _fft_r2c"),
    ("group_norm", "native_group_norm native_group_norm_backward"),
    ("lapack",
     "_householder_product _linalg_eigh _linalg_eigvals _linalg_svd _lu_order geqrf "
     "linalg_cholesky_ex linalg_eig linalg_inv_ex linalg_ldl_factor_ex linalg_ldl_solve "
     "linalg_lu_factor_ex linalg_qr linalg_solve_ex linalg_solve_triangular"),
    ("normalization",
     "_native_batch_norm_legit native_batch_norm native_batch_norm_backward native_layer_norm "
     "native_layer_norm_backward"),
    ("order", "sort.stable topk"),
    ("pooling",
     "avg_pool1d avg_pool1d_backward avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward "
     "max_pool1d_with_indices max_pool1d_with_indices_backward max_pool2d_with_indices "
     "max_pool2d_with_indices_backward max_pool3d_with_indices max_pool3d_with_indices_backward"),
    ("quantiles", "_dirichlet_grad _standard_gamma_grad"),
    ("random_counts", "_sample_dirichlet _standard_gamma binomial poisson"),
    ("rearranging", "flip repeat repeat_interleave.Tensor tril tril_indices triu triu_indices"),
    ("recurrent", "_thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl"),
    ("recurrent_steps", "_recurrent_steps _recurrent_steps_backward"),
    ("resampling",
     "_upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa "
     "_upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward "
     "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward "
     "_upsample_nearest_exact3d_backward reflection_pad1d reflection_pad1d_backward "
     "reflection_pad2d reflection_pad2d_backward reflection_pad3d reflection_pad3d_backward "
     "replication_pad1d replication_pad1d_backward replication_pad2d replication_pad2d_backward "
     "replication_pad3d replication_pad3d_backward upsample_bicubic2d upsample_bicubic2d_backward "
     "upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d "
     "upsample_linear1d_backward upsample_nearest1d_backward upsample_nearest2d_backward "
     "upsample_nearest3d_backward upsample_trilinear3d upsample_trilinear3d_backward"),
    ("sampling", "_rrelu_slopes cauchy_ exponential_ geometric_ log_normal_ multinomial"),
    ("scans", "cummax cummin cumprod cumsum logcumsumexp"),
    ("scattering", "masked_scatter scatter_reduce.two scatter_reduce_.two"),
    ("slopes", "sigmoid_backward tanh_backward"),
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
)  # fmt: skip
