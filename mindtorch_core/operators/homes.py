"""Which module defines which names on demand. Written by `docs/make.py`; do not edit.

A row says module, places and names. The place ``aten`` is that of ops, with their overloads; ``Tensor``
that of what the module puts on the class; the others are namespaces of functions.
"""

from typing import Final

__all__ = ["HOMES"]

# Strings of many names cost the import less than tuples.
HOMES: Final = (
    ("arranging.diagonals", "Tensor aten", "fill_diagonal_ tril_ triu_"),
    ("arranging.diagonals", "Tensor aten torch", "diag diag_embed diagflat tril triu"),
    ("arranging.diagonals", "aten torch", "tril_indices triu_indices"),
    ("arranging.rearranging", "Tensor aten", "repeat"),
    ("arranging.rearranging", "Tensor aten torch", "flip fliplr flipud roll rot90 tile"),
    ("arranging.rearranging", "Tensor torch", "repeat_interleave"),
    ("arranging.rearranging", "aten",
     "repeat_interleave.Tensor repeat_interleave.self_Tensor repeat_interleave.self_int"),
    ("arranging.stacking", "Tensor aten torch", "combinations"),
    ("arranging.stacking", "aten", "meshgrid.indexing"),
    ("arranging.stacking", "aten torch",
     "_chunk_cat column_stack dstack hstack meshgrid row_stack vstack"),
    ("creation.conversions", "aten", "_to_copy to.device to.dtype to.dtype_layout to.other"),
    ("creation.ranges", "aten",
     "logspace.Scalar_Tensor logspace.Tensor_Scalar logspace.Tensor_Tensor range.step"),
    ("creation.ranges", "aten torch", "logspace scalar_tensor"),
    ("creation.ranges", "torch", "range"),
    ("elementwise.aliases", "Tensor aten",
     "absolute_ arctan2_ greater_ greater_equal_ less_ less_equal_ multiply_ not_equal_ subtract_"),
    ("elementwise.aliases", "Tensor aten torch",
     "absolute arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 "
     "arctan_ arctanh arctanh_ fix fix_ greater greater_equal less less_equal multiply negative "
     "negative_ not_equal subtract"),
    ("elementwise.angles", "Tensor aten", "hypot_"),
    ("elementwise.angles", "Tensor aten torch",
     "acosh acosh_ angle asinh asinh_ atanh atanh_ deg2rad deg2rad_ hypot isreal rad2deg rad2deg_ "
     "sinc sinc_"),
    ("elementwise.angles", "aten torch", "complex polar real"),
    ("elementwise.callbacks", "Tensor", "apply_ map2_ map_"),
    ("elementwise.combined", "Tensor", "lerp_"),
    ("elementwise.combined", "Tensor aten", "addcdiv_ addcmul_"),
    ("elementwise.combined", "Tensor aten torch", "addcdiv addcmul"),
    ("elementwise.combined", "Tensor torch", "lerp"),
    ("elementwise.combined", "aten", "lerp.Scalar lerp.Tensor lerp_.Scalar lerp_.Tensor"),
    ("elementwise.exponentials", "Tensor aten", "float_power_"),
    ("elementwise.exponentials", "Tensor aten torch",
     "exp2 exp2_ float_power logaddexp logaddexp2 logit logit_ xlogy xlogy_"),
    ("elementwise.exponentials", "aten",
     "float_power.Scalar special_xlog1py special_xlog1py.self_scalar xlogy.Scalar_Self"),
    ("elementwise.exponentials", "special", "xlog1py"),
    ("elementwise.floats", "Tensor aten", "copysign_ heaviside_"),
    ("elementwise.floats", "Tensor aten torch",
     "copysign fmax fmin heaviside isneginf isposinf ldexp_ nan_to_num nan_to_num_ signbit"),
    ("elementwise.floats", "Tensor torch", "frexp ldexp"),
    ("elementwise.floats", "aten", "frexp.Tensor ldexp.Tensor"),
    ("elementwise.multiples", "Tensor",
     "__ilshift__ __irshift__ __lshift__ __rlshift__ __rrshift__ __rshift__"),
    ("elementwise.multiples", "Tensor aten", "bitwise_left_shift_ bitwise_right_shift_"),
    ("elementwise.multiples", "Tensor aten torch",
     "bitwise_left_shift bitwise_right_shift gcd gcd_ lcm lcm_"),
    ("elementwise.multiples", "aten",
     "_rlshift _rrshift bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor"),
    ("fft.frequencies", "aten", "fft_fftfreq fft_fftshift fft_ifftshift fft_rfftfreq"),
    ("fft.frequencies", "fft", "fftfreq fftshift ifftshift rfftfreq"),
    ("fft.parts", "aten torch", "_fft_c2c _fft_c2r _fft_r2c"),
    ("fft.spectrogram", "Tensor aten torch", "istft stft"),
    ("fft.spectrogram", "aten", "stft.center"),
    ("fft.transforms", "aten",
     "fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn "
     "fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn"),
    ("fft.transforms", "fft",
     "fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft "
     "rfft2 rfftn"),
    ("fft.windows", "aten",
     "bartlett_window.periodic blackman_window.periodic hamming_window.periodic "
     "hamming_window.periodic_alpha hamming_window.periodic_alpha_beta hann_window.periodic "
     "kaiser_window.beta kaiser_window.periodic"),
    ("fft.windows", "aten torch",
     "bartlett_window blackman_window hamming_window hann_window kaiser_window"),
    ("foreach.foreach", "aten",
     "_foreach_add.List _foreach_add.Scalar _foreach_add.ScalarList _foreach_add.Tensor "
     "_foreach_add_.List _foreach_add_.Scalar _foreach_add_.ScalarList _foreach_add_.Tensor "
     "_foreach_addcdiv.Scalar _foreach_addcdiv.ScalarList _foreach_addcdiv.Tensor "
     "_foreach_addcdiv_.Scalar _foreach_addcdiv_.ScalarList _foreach_addcdiv_.Tensor "
     "_foreach_addcmul.Scalar _foreach_addcmul.ScalarList _foreach_addcmul.Tensor "
     "_foreach_addcmul_.Scalar _foreach_addcmul_.ScalarList _foreach_addcmul_.Tensor "
     "_foreach_clamp_max.List _foreach_clamp_max.Scalar _foreach_clamp_max.ScalarList "
     "_foreach_clamp_max_.List _foreach_clamp_max_.Scalar _foreach_clamp_max_.ScalarList "
     "_foreach_clamp_min.List _foreach_clamp_min.Scalar _foreach_clamp_min.ScalarList "
     "_foreach_clamp_min_.List _foreach_clamp_min_.Scalar _foreach_clamp_min_.ScalarList "
     "_foreach_div.List _foreach_div.Scalar _foreach_div.ScalarList _foreach_div.Tensor "
     "_foreach_div_.List _foreach_div_.Scalar _foreach_div_.ScalarList _foreach_div_.Tensor "
     "_foreach_lerp.List _foreach_lerp.Scalar _foreach_lerp.ScalarList _foreach_lerp_.List "
     "_foreach_lerp_.Scalar _foreach_lerp_.ScalarList _foreach_maximum.List "
     "_foreach_maximum.Scalar _foreach_maximum.ScalarList _foreach_maximum_.List "
     "_foreach_maximum_.Scalar _foreach_maximum_.ScalarList _foreach_minimum.List "
     "_foreach_minimum.Scalar _foreach_minimum.ScalarList _foreach_minimum_.List "
     "_foreach_minimum_.Scalar _foreach_minimum_.ScalarList _foreach_mul.List _foreach_mul.Scalar "
     "_foreach_mul.ScalarList _foreach_mul.Tensor _foreach_mul_.List _foreach_mul_.Scalar "
     "_foreach_mul_.ScalarList _foreach_mul_.Tensor _foreach_norm.Scalar _foreach_pow.List "
     "_foreach_pow.Scalar _foreach_pow.ScalarAndTensor _foreach_pow.ScalarList _foreach_pow_.List "
     "_foreach_pow_.Scalar _foreach_pow_.ScalarList _foreach_powsum.Scalar _foreach_sub.List "
     "_foreach_sub.Scalar _foreach_sub.ScalarList _foreach_sub_.List _foreach_sub_.Scalar "
     "_foreach_sub_.ScalarList"),
    ("foreach.foreach", "aten torch",
     "_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_asin _foreach_asin_ "
     "_foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clone _foreach_copy_ "
     "_foreach_cos _foreach_cos_ _foreach_cosh _foreach_cosh_ _foreach_erf _foreach_erf_ "
     "_foreach_erfc _foreach_erfc_ _foreach_exp _foreach_exp_ _foreach_expm1 _foreach_expm1_ "
     "_foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_ _foreach_lgamma _foreach_lgamma_ "
     "_foreach_log _foreach_log10 _foreach_log10_ _foreach_log1p _foreach_log1p_ _foreach_log2 "
     "_foreach_log2_ _foreach_log_ _foreach_max _foreach_mm _foreach_neg _foreach_neg_ "
     "_foreach_reciprocal _foreach_reciprocal_ _foreach_round _foreach_round_ _foreach_rsqrt "
     "_foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign _foreach_sign_ _foreach_sin "
     "_foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt _foreach_sqrt_ _foreach_tan "
     "_foreach_tan_ _foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_"),
    ("foreach.foreach", "torch",
     "_foreach_add _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul "
     "_foreach_addcmul_ _foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min "
     "_foreach_clamp_min_ _foreach_div _foreach_div_ _foreach_lerp _foreach_lerp_ _foreach_maximum "
     "_foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mul _foreach_mul_ "
     "_foreach_norm _foreach_pow _foreach_pow_ _foreach_powsum _foreach_sub _foreach_sub_"),
    ("foreach.steps", "aten",
     "_fused_adagrad_.tensor_lr _fused_adam_.tensor_lr _fused_adamw_.tensor_lr "
     "_fused_sgd_.tensor_lr"),
    ("foreach.steps", "aten torch", "_fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_sgd_"),
    ("indexing.placing", "Tensor", "index_fill_"),
    ("indexing.placing", "Tensor aten", "index_copy_ masked_scatter_ put_"),
    ("indexing.placing", "Tensor aten torch", "index_copy masked_scatter put take_along_dim"),
    ("indexing.placing", "Tensor torch", "index_fill"),
    ("indexing.placing", "aten",
     "_unsafe_index.Tensor index_fill.int_Scalar index_fill.int_Tensor index_fill_.int_Scalar "
     "index_fill_.int_Tensor"),
    ("indexing.placing", "aten torch",
     "_index_put_impl_ _unsafe_index_put _unsafe_masked_index _unsafe_masked_index_put_accumulate"),
    ("indexing.placing", "torch", "_unsafe_index unravel_index"),
    ("indexing.scattering", "Tensor", "scatter_reduce_"),
    ("indexing.scattering", "Tensor aten", "index_reduce_"),
    ("indexing.scattering", "Tensor aten torch", "index_reduce"),
    ("indexing.scattering", "Tensor torch", "scatter_reduce"),
    ("indexing.scattering", "aten", "scatter_reduce.two scatter_reduce_.two"),
    ("linalg.aliases", "aten", "linalg_diagonal linalg_matmul"),
    ("linalg.aliases", "linalg", "diagonal matmul"),
    ("linalg.cholesky", "Tensor aten linalg torch", "cholesky"),
    ("linalg.cholesky", "Tensor aten torch", "cholesky_inverse cholesky_solve"),
    ("linalg.cholesky", "aten", "linalg_cholesky linalg_cholesky_ex"),
    ("linalg.cholesky", "linalg", "cholesky_ex"),
    ("linalg.contraction", "aten", "linalg_multi_dot"),
    ("linalg.contraction", "aten nn torch", "bilinear"),
    ("linalg.contraction", "aten torch", "block_diag cartesian_prod chain_matmul tensordot"),
    ("linalg.contraction", "linalg", "multi_dot"),
    ("linalg.contraction", "torch", "_tensordot"),
    ("linalg.determinants", "Tensor aten linalg torch", "det slogdet"),
    ("linalg.determinants", "Tensor aten torch", "logdet"),
    ("linalg.determinants", "aten", "linalg_det linalg_slogdet"),
    ("linalg.determinants", "aten torch", "_linalg_det _linalg_slogdet"),
    ("linalg.eigen", "aten", "linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh"),
    ("linalg.eigen", "aten torch", "_linalg_eigh _linalg_eigvals"),
    ("linalg.eigen", "linalg", "eig eigh eigvals eigvalsh"),
    ("linalg.einsum", "aten torch", "einsum"),
    ("linalg.einsum", "torch", "_einsum"),
    ("linalg.grouped", "aten torch", "_grouped_mm"),
    ("linalg.grouped", "nn", "grouped_mm"),
    ("linalg.ldl", "aten", "linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve"),
    ("linalg.ldl", "linalg", "ldl_factor ldl_factor_ex ldl_solve"),
    ("linalg.lowrank", "torch", "pca_lowrank svd_lowrank"),
    ("linalg.lu", "Tensor aten linalg torch", "lu_solve"),
    ("linalg.lu", "Tensor linalg torch", "lu"),
    ("linalg.lu", "aten", "linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve"),
    ("linalg.lu", "aten torch", "_lu_order _lu_with_info lu_unpack"),
    ("linalg.lu", "linalg", "lu_factor lu_factor_ex"),
    ("linalg.norms", "Tensor linalg torch", "norm"),
    ("linalg.norms", "aten",
     "frobenius_norm.dim linalg_matrix_norm.str_ord linalg_norm.ord_str norm.Scalar "
     "norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype nuclear_norm.dim"),
    ("linalg.norms", "aten torch",
     "linalg_matrix_norm linalg_norm linalg_vector_norm nuclear_norm"),
    ("linalg.norms", "linalg", "matrix_norm vector_norm"),
    ("linalg.norms", "torch", "frobenius_norm"),
    ("linalg.powers", "Tensor aten linalg torch", "matrix_exp matrix_power"),
    ("linalg.powers", "aten", "linalg_matrix_exp linalg_matrix_power linalg_vander"),
    ("linalg.powers", "aten linalg torch", "vander"),
    ("linalg.pseudoinverse", "Tensor aten torch", "pinverse"),
    ("linalg.pseudoinverse", "aten",
     "linalg_cond linalg_cond.p_str linalg_lstsq linalg_matrix_rank "
     "linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor "
     "linalg_matrix_rank.tol_tensor linalg_pinv linalg_pinv.atol_rtol_float "
     "linalg_pinv.atol_rtol_tensor linalg_pinv.rcond_tensor"),
    ("linalg.pseudoinverse", "linalg", "cond lstsq matrix_rank pinv"),
    ("linalg.qr", "Tensor aten linalg torch", "qr"),
    ("linalg.qr", "Tensor aten torch", "geqrf orgqr ormqr"),
    ("linalg.qr", "aten", "linalg_householder_product linalg_qr"),
    ("linalg.qr", "aten torch", "_householder_product"),
    ("linalg.qr", "linalg", "householder_product"),
    ("linalg.scaled", "aten torch", "_scaled_mm"),
    ("linalg.solving", "Tensor aten torch", "inverse"),
    ("linalg.solving", "aten",
     "linalg_inv linalg_inv_ex linalg_solve linalg_solve_ex linalg_tensorinv linalg_tensorsolve"),
    ("linalg.solving", "aten torch", "_linalg_solve_ex"),
    ("linalg.solving", "linalg", "inv inv_ex solve solve_ex tensorinv tensorsolve"),
    ("linalg.svd", "Tensor aten linalg torch", "svd"),
    ("linalg.svd", "aten", "linalg_svd linalg_svdvals"),
    ("linalg.svd", "aten torch", "_linalg_svd"),
    ("linalg.svd", "linalg", "svdvals"),
    ("linalg.triangular", "Tensor aten torch", "triangular_solve"),
    ("linalg.triangular", "aten", "linalg_solve_triangular"),
    ("linalg.triangular", "linalg", "solve_triangular"),
    ("linalg.vectors", "Tensor aten", "addbmm_ addr_ baddbmm_"),
    ("linalg.vectors", "Tensor aten linalg torch", "cross"),
    ("linalg.vectors", "Tensor aten torch",
     "addbmm addmv addmv_ addr baddbmm ger inner kron outer trace vdot"),
    ("linalg.vectors", "aten", "linalg_cross linalg_vecdot"),
    ("linalg.vectors", "linalg", "vecdot"),
    ("nn.activation_functions", "nn",
     "celu elu gumbel_softmax hardsigmoid hardswish hardtanh leaky_relu mish relu6 selu silu "
     "softmin softsign tanhshrink threshold"),
    ("nn.activations", "Tensor aten nn torch", "hardshrink prelu"),
    ("nn.activations", "aten",
     "_prelu_kernel elu gelu_backward hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish "
     "relu6 silu silu_backward"),
    ("nn.activations", "aten nn",
     "elu_ gelu gelu_ glu hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ mish_ relu6_ silu_ "
     "softplus softshrink"),
    ("nn.activations", "aten nn torch", "celu_ selu_ threshold_"),
    ("nn.activations", "aten torch", "celu selu threshold"),
    ("nn.activations", "nn", "logsigmoid"),
    ("nn.adaptive_pooling", "aten nn torch",
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
     "adaptive_max_pool2d adaptive_max_pool3d"),
    ("nn.adaptive_pooling", "aten torch", "_adaptive_avg_pool2d _adaptive_avg_pool3d"),
    ("nn.adaptive_pooling", "nn",
     "adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
     "adaptive_max_pool3d_with_indices"),
    ("nn.attention", "aten nn", "scaled_dot_product_attention"),
    ("nn.attention", "aten torch", "_safe_softmax _scaled_dot_product_attention_math"),
    ("nn.average_pooling", "aten nn", "avg_pool2d avg_pool3d"),
    ("nn.average_pooling", "aten nn torch", "avg_pool1d"),
    ("nn.average_pooling", "aten torch",
     "avg_pool1d_backward avg_pool2d_backward avg_pool3d_backward"),
    ("nn.average_pooling", "nn", "lp_pool1d lp_pool2d lp_pool3d"),
    ("nn.batch_normalization", "aten",
     "_native_batch_norm_legit.no_stats native_batch_norm_backward"),
    ("nn.batch_normalization", "aten nn torch", "batch_norm instance_norm"),
    ("nn.batch_normalization", "aten torch",
     "_batch_norm_with_update _native_batch_norm_legit native_batch_norm"),
    ("nn.batch_normalization", "nn", "local_response_norm"),
    ("nn.binary_classification", "aten", "binary_cross_entropy_backward"),
    ("nn.binary_classification", "aten nn", "binary_cross_entropy"),
    ("nn.binary_classification", "aten nn torch", "binary_cross_entropy_with_logits"),
    ("nn.classification", "aten", "multilabel_margin_loss_forward"),
    ("nn.classification", "aten nn", "multi_margin_loss multilabel_margin_loss soft_margin_loss"),
    ("nn.classification", "aten nn torch",
     "cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss"),
    ("nn.classification", "nn", "multilabel_soft_margin_loss triplet_margin_with_distance_loss"),
    ("nn.convolution", "aten", "convolution_backward"),
    ("nn.convolution", "aten torch", "_convolution_weight convolution"),
    ("nn.convolution_forms", "aten",
     "conv1d.padding conv2d.padding conv3d.padding conv_transpose2d.input conv_transpose3d.input"),
    ("nn.convolution_forms", "aten nn torch", "conv1d conv2d conv3d conv_tbc conv_transpose1d"),
    ("nn.convolution_forms", "aten torch", "_convolution_mode"),
    ("nn.convolution_forms", "nn torch", "conv_transpose2d conv_transpose3d"),
    ("nn.ctc", "aten",
     "_ctc_loss.Tensor _ctc_loss_backward.Tensor ctc_loss.IntList ctc_loss.Tensor"),
    ("nn.ctc", "aten torch", "_ctc_loss _ctc_loss_backward"),
    ("nn.ctc", "nn torch", "ctc_loss"),
    ("nn.device_attention", "aten torch",
     "_scaled_dot_product_fused_attention_overrideable "
     "_scaled_dot_product_fused_attention_overrideable_backward"),
    ("nn.distances", "Tensor aten torch", "dist"),
    ("nn.distances", "aten nn torch", "cosine_similarity pairwise_distance pdist"),
    ("nn.distances", "aten torch", "_cdist_backward _cdist_forward cdist"),
    ("nn.distances", "nn", "normalize"),
    ("nn.embedding", "aten", "embedding_dense_backward"),
    ("nn.embedding", "aten nn torch", "embedding"),
    ("nn.embedding", "aten torch", "embedding_renorm_"),
    ("nn.embedding_bag", "aten", "embedding_bag.padding_idx"),
    ("nn.embedding_bag", "aten nn torch", "embedding_bag"),
    ("nn.embedding_bag", "aten torch", "_embedding_bag _embedding_bag_forward_only"),
    ("nn.encoding", "aten nn torch", "one_hot"),
    ("nn.folding", "aten torch", "col2im im2col"),
    ("nn.folding", "nn", "fold unfold"),
    ("nn.fractional_pooling", "aten nn torch", "fractional_max_pool2d fractional_max_pool3d"),
    ("nn.fractional_pooling", "nn",
     "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices"),
    ("nn.fused_attention", "aten", "_scaled_dot_product_flash_attention_for_cpu_backward"),
    ("nn.fused_attention", "aten torch", "_scaled_dot_product_flash_attention_for_cpu"),
    ("nn.fused_cells", "aten", "_thnn_fused_lstm_cell_backward_impl"),
    ("nn.fused_cells", "aten torch", "_thnn_fused_lstm_cell"),
    ("nn.grid_sampling", "aten torch",
     "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d"),
    ("nn.grid_sampling", "nn", "affine_grid grid_sample"),
    ("nn.interpolation", "nn", "interpolate upsample upsample_bilinear upsample_nearest"),
    ("nn.multihead", "nn", "multi_head_attention_forward"),
    ("nn.normalization", "aten", "native_group_norm_backward native_layer_norm_backward"),
    ("nn.normalization", "aten nn torch", "group_norm layer_norm"),
    ("nn.normalization", "aten torch", "native_group_norm native_layer_norm"),
    ("nn.packing", "aten torch", "_pack_padded_sequence _pad_packed_sequence"),
    ("nn.padding", "aten nn", "pad"),
    ("nn.padding", "aten torch",
     "_pad_circular constant_pad_nd reflection_pad1d reflection_pad1d_backward reflection_pad2d "
     "reflection_pad2d_backward reflection_pad3d reflection_pad3d_backward replication_pad1d "
     "replication_pad1d_backward replication_pad2d replication_pad2d_backward replication_pad3d "
     "replication_pad3d_backward"),
    ("nn.pooling", "aten nn torch",
     "max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d "
     "max_pool3d_with_indices"),
    ("nn.pooling", "aten torch",
     "max_pool1d_with_indices_backward max_pool2d_with_indices_backward "
     "max_pool3d_with_indices_backward"),
    ("nn.recurrent", "aten",
     "gru.data gru.input lstm.data lstm.input rnn_relu.data rnn_relu.input rnn_tanh.data "
     "rnn_tanh.input"),
    ("nn.recurrent", "aten torch", "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell"),
    ("nn.recurrent", "torch", "gru lstm rnn_relu rnn_tanh"),
    ("nn.recurrent_steps", "aten", "_recurrent_steps _recurrent_steps_backward"),
    ("nn.regression", "aten", "huber_loss_backward mse_loss_backward smooth_l1_loss_backward"),
    ("nn.regression", "aten nn", "huber_loss l1_loss mse_loss smooth_l1_loss"),
    ("nn.regression", "aten nn torch", "kl_div poisson_nll_loss"),
    ("nn.regression", "nn", "gaussian_nll_loss"),
    ("nn.rms_norm", "aten", "_fused_rms_norm_backward"),
    ("nn.rms_norm", "aten nn torch", "rms_norm"),
    ("nn.rms_norm", "aten torch", "_fused_rms_norm"),
    ("nn.rrelu", "aten", "rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_backward"),
    ("nn.rrelu", "aten nn torch", "rrelu_"),
    ("nn.rrelu", "aten torch", "_rrelu_slopes rrelu"),
    ("nn.shuffling", "aten nn torch",
     "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle"),
    ("nn.unpooling", "aten nn torch", "max_unpool2d max_unpool3d"),
    ("nn.unpooling", "nn", "max_unpool1d"),
    ("nn.upsampling", "aten",
     "_upsample_bicubic2d_aa.vec _upsample_bilinear2d_aa.vec _upsample_lanczos2d_aa.vec "
     "_upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec "
     "upsample_bicubic2d.vec upsample_bilinear2d.vec upsample_linear1d.vec upsample_nearest1d.vec "
     "upsample_nearest2d.vec upsample_nearest3d.vec upsample_trilinear3d.vec"),
    ("nn.upsampling", "aten torch",
     "_upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa "
     "_upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward "
     "_upsample_nearest_exact1d _upsample_nearest_exact1d_backward _upsample_nearest_exact2d "
     "_upsample_nearest_exact2d_backward _upsample_nearest_exact3d "
     "_upsample_nearest_exact3d_backward upsample_bicubic2d upsample_bicubic2d_backward "
     "upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d "
     "upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d "
     "upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward "
     "upsample_trilinear3d upsample_trilinear3d_backward"),
    ("nn.weight_normalization", "aten torch", "_weight_norm norm_except_dim"),
    ("random.sampling", "Tensor aten", "cauchy_ exponential_ geometric_ log_normal_"),
    ("random.sampling", "Tensor aten torch", "multinomial"),
    ("random.sampling", "aten", "cauchy exponential geometric log_normal"),
    ("random.sampling", "aten torch",
     "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad binomial poisson"),
    ("reductions.cumulative", "Tensor aten", "cumprod_ cumsum_"),
    ("reductions.cumulative", "Tensor aten torch", "cummax cummin cumprod cumsum logcumsumexp"),
    ("reductions.cumulative", "aten torch", "cumprod_backward"),
    ("reductions.differences", "Tensor aten torch", "diff"),
    ("reductions.differences", "aten",
     "cumulative_trapezoid.dx cumulative_trapezoid.x gradient.array gradient.scalararray "
     "gradient.scalarint gradient.scalarrayarray gradient.scalarrayint gradient.tensorarray "
     "gradient.tensorarrayint trapezoid.dx trapezoid.x trapz.dx trapz.x"),
    ("reductions.differences", "torch", "cumulative_trapezoid gradient trapezoid trapz"),
    ("reductions.masked", "masked",
     "amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm "
     "normalize prod softmax softmin std sum var"),
    ("reductions.segments", "Tensor aten torch", "hash_tensor"),
    ("reductions.segments", "aten torch", "segment_reduce"),
    ("reductions.segments", "torch", "_segment_reduce"),
    ("reductions.statistics", "Tensor aten", "renorm_ sum_to_size"),
    ("reductions.statistics", "Tensor aten torch",
     "aminmax corrcoef count_nonzero cov nanmean nanquantile nansum quantile renorm"),
    ("reductions.statistics", "aten",
     "count_nonzero.dim_IntList nanquantile.scalar quantile.scalar std_mean.correction "
     "std_mean.dim var_mean.correction var_mean.dim"),
    ("reductions.statistics", "aten torch", "std_mean var_mean"),
    ("sorting.searching", "Tensor aten torch", "argwhere bincount histc nonzero_static"),
    ("sorting.searching", "Tensor torch", "histogram"),
    ("sorting.searching", "aten",
     "bucketize.Scalar bucketize.Tensor histogram.bin_ct histogram.bins_tensor "
     "histogramdd.TensorList_bins histogramdd.int_bins searchsorted.Scalar searchsorted.Tensor"),
    ("sorting.searching", "aten torch", "histogramdd"),
    ("sorting.searching", "torch", "bucketize searchsorted"),
    ("sorting.sorting", "Tensor aten torch",
     "argsort kthvalue median mode msort nanmedian sort topk"),
    ("sorting.sorting", "aten",
     "argsort.stable isin.Scalar_Tensor isin.Tensor_Scalar isin.Tensor_Tensor median.dim "
     "nanmedian.dim sort.stable"),
    ("sorting.sorting", "torch", "isin"),
    ("sorting.uniqueness", "Tensor aten torch", "unique_consecutive"),
    ("sorting.uniqueness", "Tensor torch", "unique"),
    ("sorting.uniqueness", "aten", "unique_dim unique_dim_consecutive"),
    ("sorting.uniqueness", "aten torch", "_lexicographic_order _unique _unique2"),
    ("special.aliases", "aten",
     "special_digamma special_erf special_erfc special_erfinv special_exp2 special_expit "
     "special_expm1 special_gammainc special_gammaincc special_gammaln special_i0 special_log1p "
     "special_log_softmax special_logit special_logsumexp special_multigammaln special_polygamma "
     "special_psi special_round special_sinc special_softmax special_xlogy "
     "special_xlogy.self_scalar"),
    ("special.aliases", "special",
     "digamma erf erfc erfinv exp2 expit expm1 gammainc gammaincc gammaln i0 log1p log_softmax "
     "logit logsumexp multigammaln polygamma psi round sinc softmax xlogy"),
    ("special.bessel", "Tensor aten torch", "i0 i0_"),
    ("special.bessel", "aten",
     "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
     "special_i0e special_i1 special_i1e special_modified_bessel_i0 special_modified_bessel_i1 "
     "special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0 "
     "special_scaled_modified_bessel_k1 special_spherical_bessel_j0"),
    ("special.bessel", "special",
     "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 i0e i1 i1e modified_bessel_i0 "
     "modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
     "scaled_modified_bessel_k1 spherical_bessel_j0"),
    ("special.errors", "Tensor aten", "erfinv_"),
    ("special.errors", "Tensor aten torch", "erfinv"),
    ("special.errors", "aten",
     "special_entr special_erfcx special_log_ndtr special_ndtr special_ndtri"),
    ("special.errors", "special", "entr erfcx log_ndtr ndtr ndtri"),
    ("special.gamma", "Tensor aten", "digamma_ igamma_ igammac_ lgamma_ mvlgamma_ polygamma_"),
    ("special.gamma", "Tensor aten torch", "digamma igamma igammac lgamma mvlgamma polygamma"),
    ("special.gamma", "aten", "special_zeta special_zeta.self_scalar"),
    ("special.gamma", "special", "zeta"),
    ("special.polynomials", "aten",
     "special_chebyshev_polynomial_t special_chebyshev_polynomial_t.x_scalar "
     "special_chebyshev_polynomial_u special_chebyshev_polynomial_u.x_scalar "
     "special_chebyshev_polynomial_v special_chebyshev_polynomial_v.x_scalar "
     "special_chebyshev_polynomial_w special_chebyshev_polynomial_w.x_scalar "
     "special_hermite_polynomial_h special_hermite_polynomial_h.x_scalar "
     "special_hermite_polynomial_he special_hermite_polynomial_he.x_scalar "
     "special_laguerre_polynomial_l special_laguerre_polynomial_l.x_scalar "
     "special_legendre_polynomial_p special_legendre_polynomial_p.x_scalar "
     "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_t.x_scalar "
     "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_u.x_scalar "
     "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_v.x_scalar "
     "special_shifted_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_w.x_scalar"),
    ("special.polynomials", "special",
     "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
     "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
     "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
     "shifted_chebyshev_polynomial_w"),
    ("views.complex_pairs", "aten torch", "view_as_complex view_as_real"),
    ("views.conjugates", "Tensor aten torch",
     "_conj _conj_physical _neg_view conj conj_physical conj_physical_ is_conj is_neg resolve_conj "
     "resolve_neg"),
    ("views.copies", "Tensor aten torch",
     "as_strided_scatter diagonal_scatter narrow_copy select_scatter slice_scatter"),
    ("views.copies", "aten",
     "select_copy.int slice_copy.Tensor split_copy.Tensor squeeze_copy.dim squeeze_copy.dims "
     "transpose_copy.int unbind_copy.int view_copy.dtype"),
    ("views.copies", "aten torch",
     "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy "
     "split_with_sizes_copy squeeze_copy t_copy unfold_copy unsqueeze_copy view_as_complex_copy "
     "view_as_real_copy view_copy"),
    ("views.copies", "torch", "select_copy slice_copy split_copy transpose_copy unbind_copy"),
    ("views.dimensions", "Tensor aten torch", "adjoint ravel"),
    ("views.dimensions", "aten",
     "atleast_1d.Sequence atleast_1d.spread atleast_2d.Sequence atleast_2d.spread "
     "atleast_3d.Sequence atleast_3d.spread"),
    ("views.dimensions", "aten torch", "atleast_1d atleast_2d atleast_3d"),
    ("views.facts", "aten",
     "_local_scalar_dense _pin_memory _unsafe_view alias dim is_same_size item numel size size.int "
     "storage_offset stride stride.int"),
    ("views.inplace", "Tensor aten", "set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"),
    ("views.inplace", "Tensor aten torch", "as_strided_"),
    ("views.inplace", "aten",
     "set_.source_Storage set_.source_Storage_storage_offset set_.source_Tensor "
     "set_.source_Tensor_storage_offset squeeze_.dim squeeze_.dims"),
    ("views.splitting", "Tensor aten torch", "unsafe_chunk unsafe_split_with_sizes"),
    ("views.splitting", "Tensor torch", "dsplit hsplit tensor_split unsafe_split vsplit"),
    ("views.splitting", "aten",
     "dsplit.array dsplit.int hsplit.array hsplit.int tensor_split.indices tensor_split.sections "
     "tensor_split.tensor_indices_or_sections unsafe_split.Tensor vsplit.array vsplit.int"),
    ("views.windows", "Tensor aten", "unfold"),
)  # fmt: skip
