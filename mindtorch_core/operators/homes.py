"""Which module defines which names on demand. Written by `docs/make.py`; do not edit.

A row says a module and what it defines: places, and the names that stand in all of these. The place
``aten`` is that of ops, with their overloads; ``Tensor`` that of what the module puts on the class; the
others are namespaces of functions.
"""

from typing import Final

__all__ = ["HOMES"]

# Strings of many names cost the import less than tuples.
HOMES: Final = (
    ("arranging.diagonals",
     "Tensor aten: fill_diagonal_ tril_ triu_; Tensor aten torch: diag diag_embed diagflat tril "
     "triu; aten torch: tril_indices triu_indices"),
    ("arranging.joining", "aten torch: cat concat concatenate stack"),
    ("arranging.rearranging",
     "Tensor aten: repeat; Tensor aten torch: flip fliplr flipud roll rot90 tile; Tensor torch: "
     "repeat_interleave; aten: repeat_interleave.Tensor,self_Tensor,self_int"),
    ("arranging.stacking",
     "Tensor aten torch: combinations; aten: meshgrid.indexing; aten torch: _chunk_cat "
     "column_stack dstack hstack meshgrid row_stack vstack"),
    ("creation.conversions",
     "Tensor: bfloat16 bool byte cdouble cfloat char cpu double float half int long short to type "
     "type_as; aten: _to_copy to.device,dtype,dtype_layout,other"),
    ("creation.copying",
     "Tensor aten: copy_; Tensor aten torch: clone zero_; Tensor torch: fill_; aten: copy "
     "fill.Scalar,Tensor fill_.Scalar,Tensor zero; aten torch: _to_device _to_dtype; torch: fill"),
    ("creation.factory",
     "Tensor aten: new_empty new_empty_strided new_full new_ones new_zeros; aten: arange.start "
     "linspace.Scalar_Tensor,Tensor_Scalar,Tensor_Tensor; aten torch: arange empty empty_like "
     "empty_permuted empty_strided eye full full_like linspace ones ones_like zeros zeros_like"),
    ("creation.ranges",
     "aten: logspace.Scalar_Tensor,Tensor_Scalar,Tensor_Tensor range.step; aten torch: logspace "
     "scalar_tensor; torch: range"),
    ("creation.resizing", "Tensor aten: resize_; Tensor aten torch: resize_as_"),
    ("elementwise.aliases",
     "Tensor aten: absolute_ arctan2_ greater_ greater_equal_ less_ less_equal_ multiply_ "
     "not_equal_ subtract_; Tensor aten torch: absolute arccos arccos_ arccosh arccosh_ arcsin "
     "arcsin_ arcsinh arcsinh_ arctan arctan2 arctan_ arctanh arctanh_ fix fix_ greater "
     "greater_equal less less_equal multiply negative negative_ not_equal subtract"),
    ("elementwise.angles",
     "Tensor aten: hypot_; Tensor aten torch: acosh acosh_ angle asinh asinh_ atanh atanh_ deg2rad "
     "deg2rad_ hypot isreal rad2deg rad2deg_ sinc sinc_; aten torch: complex polar"),
    ("elementwise.arithmetic",
     "Tensor: __abs__ __add__ __div__ __floordiv__ __iadd__ __idiv__ __ifloordiv__ __imod__ "
     "__imul__ __ipow__ __isub__ __itruediv__ __mod__ __mul__ __neg__ __pos__ __pow__ __radd__ "
     "__rdiv__ __rfloordiv__ __rmod__ __rmul__ __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__; "
     "Tensor aten: add_ atan2_ div_ divide_ floor_divide_ fmod_ mul_ pow_ remainder_ sgn_ sign_ "
     "sub_ true_divide_; Tensor aten torch: abs abs_ add atan2 div divide floor_divide fmod "
     "maximum minimum mul neg neg_ positive pow remainder rsub sgn sign square square_ sub "
     "true_divide; aten: _rdiv _rfloordiv _rmod _rpow pow.Scalar"),
    ("elementwise.callbacks", "Tensor: apply_ map2_ map_"),
    ("elementwise.closeness",
     "Tensor aten: nextafter_; Tensor aten torch: allclose equal isclose nextafter"),
    ("elementwise.combined",
     "Tensor: lerp_; Tensor aten: addcdiv_ addcmul_; Tensor aten torch: addcdiv addcmul; Tensor "
     "torch: lerp; aten: lerp.Scalar,Tensor lerp_.Scalar,Tensor"),
    ("elementwise.comparison",
     "Tensor: __and__ __eq__ __ge__ __gt__ __iand__ __invert__ __ior__ __ixor__ __le__ __lt__ "
     "__ne__ __or__ __rand__ __ror__ __rxor__ __xor__; Tensor aten: bitwise_and_ bitwise_not_ "
     "bitwise_or_ bitwise_xor_ eq_ ge_ gt_ le_ logical_and_ logical_not_ logical_or_ logical_xor_ "
     "lt_ ne_; Tensor aten torch: bitwise_and bitwise_not bitwise_or bitwise_xor eq ge gt isfinite "
     "isinf isnan le logical_and logical_not logical_or logical_xor lt ne"),
    ("elementwise.exponentials",
     "Tensor aten: float_power_; Tensor aten torch: exp2 exp2_ float_power logaddexp logaddexp2 "
     "logit logit_ xlogy xlogy_; aten: float_power.Scalar logit_backward special_xlog1py "
     "special_xlog1py.self_scalar xlogy.Scalar_Self; special: xlog1py"),
    ("elementwise.floats",
     "Tensor aten: copysign_ heaviside_; Tensor aten torch: copysign fmax fmin heaviside isneginf "
     "isposinf ldexp_ nan_to_num nan_to_num_ signbit; Tensor torch: frexp ldexp; aten: "
     "frexp.Tensor ldexp.Tensor"),
    ("elementwise.functions",
     "Tensor aten nn torch: relu relu_; Tensor aten torch: acos acos_ asin asin_ atan atan_ ceil "
     "ceil_ cos cos_ cosh cosh_ erf erf_ erfc erfc_ exp exp_ expm1 expm1_ floor floor_ frac frac_ "
     "log log10 log10_ log1p log1p_ log2 log2_ log_ reciprocal reciprocal_ round round_ rsqrt "
     "rsqrt_ sigmoid sigmoid_ sin sin_ sinh sinh_ sqrt sqrt_ tan tan_ tanh tanh_ trunc trunc_; "
     "aten: round.decimals round_.decimals sigmoid_backward tanh_backward; aten torch: "
     "threshold_backward"),
    ("elementwise.multiples",
     "Tensor: __ilshift__ __irshift__ __lshift__ __rlshift__ __rrshift__ __rshift__; Tensor aten: "
     "bitwise_left_shift_ bitwise_right_shift_; Tensor aten torch: bitwise_left_shift "
     "bitwise_right_shift gcd gcd_ lcm lcm_; aten: _rlshift _rrshift "
     "bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor"),
    ("elementwise.selection",
     "Tensor aten: masked_fill_; Tensor aten torch: clamp clamp_ clamp_max clamp_max_ clamp_min "
     "clamp_min_ clip clip_ masked_fill where; aten: clamp.Tensor clamp_.Tensor clamp_max.Tensor "
     "clamp_max_.Tensor clamp_min.Tensor clamp_min_.Tensor clip.Tensor clip_.Tensor where.self"),
    ("fft.frequencies",
     "aten: fft_fftfreq fft_fftshift fft_ifftshift fft_rfftfreq; fft: fftfreq fftshift ifftshift "
     "rfftfreq"),
    ("fft.parts", "aten torch: _fft_c2c _fft_c2r _fft_r2c"),
    ("fft.spectrogram", "Tensor aten torch: istft stft; aten: stft.center"),
    ("fft.transforms",
     "aten: fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn "
     "fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 "
     "fft_rfftn; fft: fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft "
     "irfft2 irfftn rfft rfft2 rfftn"),
    ("fft.windows",
     "aten: bartlett_window.periodic blackman_window.periodic "
     "hamming_window.periodic,periodic_alpha,periodic_alpha_beta hann_window.periodic "
     "kaiser_window.beta,periodic; aten torch: bartlett_window blackman_window hamming_window "
     "hann_window kaiser_window"),
    ("foreach.foreach",
     "aten: _foreach_add.List,Scalar,ScalarList,Tensor _foreach_add_.List,Scalar,ScalarList,Tensor "
     "_foreach_addcdiv.Scalar,ScalarList,Tensor _foreach_addcdiv_.Scalar,ScalarList,Tensor "
     "_foreach_addcmul.Scalar,ScalarList,Tensor _foreach_addcmul_.Scalar,ScalarList,Tensor "
     "_foreach_clamp_max.List,Scalar,ScalarList _foreach_clamp_max_.List,Scalar,ScalarList "
     "_foreach_clamp_min.List,Scalar,ScalarList _foreach_clamp_min_.List,Scalar,ScalarList "
     "_foreach_div.List,Scalar,ScalarList,Tensor _foreach_div_.List,Scalar,ScalarList,Tensor "
     "_foreach_lerp.List,Scalar,ScalarList _foreach_lerp_.List,Scalar,ScalarList "
     "_foreach_maximum.List,Scalar,ScalarList _foreach_maximum_.List,Scalar,ScalarList "
     "_foreach_minimum.List,Scalar,ScalarList _foreach_minimum_.List,Scalar,ScalarList "
     "_foreach_mul.List,Scalar,ScalarList,Tensor _foreach_mul_.List,Scalar,ScalarList,Tensor "
     "_foreach_norm.Scalar _foreach_pow.List,Scalar,ScalarAndTensor,ScalarList "
     "_foreach_pow_.List,Scalar,ScalarList _foreach_powsum.Scalar "
     "_foreach_sub.List,Scalar,ScalarList _foreach_sub_.List,Scalar,ScalarList; aten torch: "
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
     "_foreach_tan_ _foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_; "
     "torch: _foreach_add _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul "
     "_foreach_addcmul_ _foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min "
     "_foreach_clamp_min_ _foreach_div _foreach_div_ _foreach_lerp _foreach_lerp_ _foreach_maximum "
     "_foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mul _foreach_mul_ "
     "_foreach_norm _foreach_pow _foreach_pow_ _foreach_powsum _foreach_sub _foreach_sub_"),
    ("foreach.steps",
     "aten: _fused_adagrad_.tensor_lr _fused_adam_.tensor_lr _fused_adamw_.tensor_lr "
     "_fused_sgd_.tensor_lr; aten torch: _fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_sgd_"),
    ("indexing.gathering",
     "Tensor: scatter_; Tensor aten: index_add_ scatter_add_; Tensor aten torch: gather index_add "
     "index_select scatter_add; Tensor torch: scatter; aten: scatter.reduce,src,value,value_reduce "
     "scatter_.reduce,src,value,value_reduce"),
    ("indexing.index",
     "Tensor aten: _index_put_positions_; Tensor aten torch: _index_put_positions index_put "
     "index_put_ masked_select nonzero take; aten: nonzero_numpy; aten torch: _index_positions "
     "index"),
    ("indexing.placing",
     "Tensor: index_fill_; Tensor aten: index_copy_ masked_scatter_ put_; Tensor aten torch: "
     "index_copy masked_scatter put take_along_dim; Tensor torch: index_fill; aten: "
     "_unsafe_index.Tensor index_fill.int_Scalar,int_Tensor index_fill_.int_Scalar,int_Tensor; "
     "aten torch: _index_put_impl_ _unsafe_index_put _unsafe_masked_index "
     "_unsafe_masked_index_put_accumulate; torch: _unsafe_index unravel_index"),
    ("indexing.row_ends",
     "aten torch: _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo"),
    ("indexing.scattering",
     "Tensor: scatter_reduce_; Tensor aten: index_reduce_; Tensor aten torch: index_reduce; Tensor "
     "torch: scatter_reduce; aten: scatter_reduce.two scatter_reduce_.two"),
    ("linalg.aliases", "aten: linalg_diagonal linalg_matmul; linalg: diagonal matmul"),
    ("linalg.cholesky",
     "Tensor aten linalg torch: cholesky; Tensor aten torch: cholesky_inverse cholesky_solve; "
     "aten: linalg_cholesky linalg_cholesky_ex; linalg: cholesky_ex"),
    ("linalg.contraction",
     "aten: linalg_multi_dot; aten nn torch: bilinear; aten torch: block_diag cartesian_prod "
     "chain_matmul tensordot; linalg: multi_dot; torch: _tensordot"),
    ("linalg.determinants",
     "Tensor aten linalg torch: det slogdet; Tensor aten torch: logdet; aten: linalg_det "
     "linalg_slogdet; aten torch: _linalg_det _linalg_slogdet"),
    ("linalg.eigen",
     "aten: linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh; aten torch: _linalg_eigh "
     "_linalg_eigvals; linalg: eig eigh eigvals eigvalsh"),
    ("linalg.einsum", "aten torch: einsum; torch: _einsum"),
    ("linalg.grouped", "aten torch: _grouped_mm; nn: grouped_mm"),
    ("linalg.ldl",
     "aten: linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve; linalg: ldl_factor "
     "ldl_factor_ex ldl_solve"),
    ("linalg.lobpcg", "torch: lobpcg"),
    ("linalg.lowrank", "torch: pca_lowrank svd_lowrank"),
    ("linalg.lu",
     "Tensor aten linalg torch: lu_solve; Tensor linalg torch: lu; aten: linalg_lu "
     "linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve; aten torch: _lu_order _lu_with_info "
     "lu_unpack; linalg: lu_factor lu_factor_ex"),
    ("linalg.norms",
     "Tensor aten: renorm_; Tensor aten torch: renorm; Tensor linalg torch: norm; aten: "
     "frobenius_norm.dim linalg_matrix_norm.str_ord linalg_norm.ord_str "
     "norm.Scalar,ScalarOpt_dim,ScalarOpt_dim_dtype,ScalarOpt_dtype nuclear_norm.dim; aten torch: "
     "linalg_matrix_norm linalg_norm linalg_vector_norm nuclear_norm; linalg: matrix_norm "
     "vector_norm; torch: frobenius_norm"),
    ("linalg.powers",
     "Tensor aten linalg torch: matrix_exp matrix_power; aten: linalg_matrix_exp "
     "linalg_matrix_power linalg_vander; aten linalg torch: vander"),
    ("linalg.products",
     "Tensor: __matmul__ __rmatmul__; Tensor aten: addmm_; Tensor aten torch: addmm bmm dot matmul "
     "mm mv; aten: _rmatmul _sparse_addmm _sparse_mm_reduce_impl linear_backward; aten nn: linear"),
    ("linalg.pseudoinverse",
     "Tensor aten torch: pinverse; aten: linalg_cond linalg_cond.p_str linalg_lstsq "
     "linalg_matrix_rank linalg_matrix_rank.atol_rtol_float,atol_rtol_tensor,tol_tensor "
     "linalg_pinv linalg_pinv.atol_rtol_float,atol_rtol_tensor,rcond_tensor; linalg: cond lstsq "
     "matrix_rank pinv"),
    ("linalg.qr",
     "Tensor aten linalg torch: qr; Tensor aten torch: geqrf orgqr ormqr; aten: "
     "linalg_householder_product linalg_qr; aten torch: _householder_product; linalg: "
     "householder_product"),
    ("linalg.scaled", "aten torch: _scaled_mm"),
    ("linalg.solving",
     "Tensor aten torch: inverse; aten: linalg_inv linalg_inv_ex linalg_solve linalg_solve_ex "
     "linalg_tensorinv linalg_tensorsolve; aten torch: _linalg_solve_ex; linalg: inv inv_ex solve "
     "solve_ex tensorinv tensorsolve"),
    ("linalg.svd",
     "Tensor aten linalg torch: svd; aten: linalg_svd linalg_svdvals; aten torch: _linalg_svd; "
     "linalg: svdvals"),
    ("linalg.triangular",
     "Tensor aten torch: triangular_solve; aten: linalg_solve_triangular; linalg: solve_triangular"),
    ("linalg.vectors",
     "Tensor aten: addbmm_ addr_ baddbmm_; Tensor aten linalg torch: cross; Tensor aten torch: "
     "addbmm addmv addmv_ addr baddbmm ger inner kron outer trace vdot; aten: linalg_cross "
     "linalg_vecdot; linalg: vecdot"),
    ("linalg.whole_products", "aten torch: _int_mm"),
    ("nn.activation_functions",
     "nn: celu elu gumbel_softmax hardsigmoid hardswish hardtanh leaky_relu mish relu6 selu silu "
     "softmin softsign tanhshrink threshold"),
    ("nn.activation_gradients",
     "aten: _prelu_kernel_backward elu_backward gelu_backward glu_backward hardshrink_backward "
     "hardsigmoid_backward hardswish_backward hardtanh_backward leaky_relu_backward "
     "log_sigmoid_backward mish_backward silu_backward softplus_backward softshrink_backward"),
    ("nn.activations",
     "Tensor aten nn torch: hardshrink prelu; aten: _prelu_kernel elu hardsigmoid hardswish "
     "hardtanh leaky_relu log_sigmoid mish relu6 silu; aten nn: elu_ gelu gelu_ glu hardsigmoid_ "
     "hardswish_ hardtanh_ leaky_relu_ mish_ relu6_ silu_ softplus softshrink; aten nn torch: "
     "celu_ selu_ threshold_; aten torch: celu selu threshold; nn: logsigmoid"),
    ("nn.adaptive_pooling",
     "aten nn torch: adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
     "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d; aten torch: "
     "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d "
     "_adaptive_avg_pool3d_backward; nn: adaptive_max_pool1d_with_indices "
     "adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices"),
    ("nn.attention",
     "aten nn: scaled_dot_product_attention; aten torch: _safe_softmax "
     "_scaled_dot_product_attention_math"),
    ("nn.average_pooling",
     "aten nn: avg_pool2d avg_pool3d; aten nn torch: avg_pool1d; aten torch: avg_pool1d_backward "
     "avg_pool2d_backward avg_pool3d_backward; nn: lp_pool1d lp_pool2d lp_pool3d"),
    ("nn.batch_normalization",
     "aten: _native_batch_norm_legit.no_stats native_batch_norm_backward; aten torch: "
     "_batch_norm_with_update _native_batch_norm_legit batch_norm native_batch_norm"),
    ("nn.binary_classification",
     "aten: binary_cross_entropy_backward; aten nn: binary_cross_entropy; aten nn torch: "
     "binary_cross_entropy_with_logits"),
    ("nn.classification",
     "aten: multilabel_margin_loss_forward; aten nn: multi_margin_loss multilabel_margin_loss "
     "soft_margin_loss; aten nn torch: cosine_embedding_loss hinge_embedding_loss "
     "margin_ranking_loss triplet_margin_loss; nn: multilabel_soft_margin_loss "
     "triplet_margin_with_distance_loss"),
    ("nn.convolution",
     "aten: convolution_backward; aten torch: _convolution _convolution_weight convolution"),
    ("nn.convolution_forms",
     "aten: conv1d.padding conv2d.padding conv3d.padding conv_transpose2d.input "
     "conv_transpose3d.input; aten nn torch: conv1d conv2d conv3d conv_tbc conv_transpose1d; aten "
     "torch: _convolution_mode; nn torch: conv_transpose2d conv_transpose3d"),
    ("nn.ctc",
     "aten: _ctc_loss.Tensor _ctc_loss_backward.Tensor ctc_loss.IntList,Tensor; aten torch: "
     "_ctc_loss _ctc_loss_backward; nn torch: ctc_loss"),
    ("nn.device_attention",
     "aten torch: _scaled_dot_product_fused_attention_overrideable "
     "_scaled_dot_product_fused_attention_overrideable_backward"),
    ("nn.distances",
     "Tensor aten torch: dist; aten nn torch: cosine_similarity pairwise_distance pdist; aten "
     "torch: _cdist_backward _cdist_forward cdist; nn: normalize"),
    ("nn.dropout",
     "aten torch: alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout "
     "feature_alpha_dropout_ feature_dropout feature_dropout_ native_dropout "
     "native_dropout_backward"),
    ("nn.embedding",
     "aten: embedding_dense_backward; aten nn torch: embedding; aten torch: embedding_renorm_"),
    ("nn.embedding_bag",
     "aten: embedding_bag.padding_idx; aten nn torch: embedding_bag; aten torch: _embedding_bag "
     "_embedding_bag_forward_only"),
    ("nn.encoding", "aten: _one_hot_of; aten nn torch: one_hot"),
    ("nn.fake_quantization",
     "aten: fake_quantize_per_tensor_affine.tensor_qparams; aten torch: "
     "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine"),
    ("nn.folding", "aten torch: col2im im2col; nn: fold unfold"),
    ("nn.fractional_pooling",
     "aten nn torch: fractional_max_pool2d fractional_max_pool3d; nn: "
     "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices"),
    ("nn.fused_attention",
     "aten: _scaled_dot_product_flash_attention_for_cpu_backward; aten torch: "
     "_scaled_dot_product_flash_attention_for_cpu"),
    ("nn.fused_cells",
     "aten: _thnn_fused_lstm_cell_backward_impl; aten torch: _thnn_fused_lstm_cell"),
    ("nn.grid_sampling",
     "aten torch: affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d; nn: "
     "affine_grid grid_sample"),
    ("nn.instance_normalization", "aten torch: instance_norm"),
    ("nn.interpolation", "nn: interpolate upsample upsample_bilinear upsample_nearest"),
    ("nn.losses",
     "aten: cross_entropy_loss nll_loss_backward nll_loss_forward; aten nn: nll_loss; nn: "
     "cross_entropy"),
    ("nn.multihead", "nn: multi_head_attention_forward"),
    ("nn.normalization",
     "aten: native_group_norm_backward native_layer_norm_backward; aten nn torch: group_norm "
     "layer_norm; aten torch: native_group_norm native_layer_norm"),
    ("nn.normalization_functions", "nn: batch_norm instance_norm local_response_norm"),
    ("nn.packing", "aten torch: _pack_padded_sequence _pad_packed_sequence"),
    ("nn.padding",
     "aten nn: pad; aten torch: _pad_circular constant_pad_nd reflection_pad1d "
     "reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward reflection_pad3d "
     "reflection_pad3d_backward replication_pad1d replication_pad1d_backward replication_pad2d "
     "replication_pad2d_backward replication_pad3d replication_pad3d_backward"),
    ("nn.pooling",
     "aten nn torch: max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices "
     "max_pool3d max_pool3d_with_indices; aten torch: max_pool1d_with_indices_backward "
     "max_pool2d_with_indices_backward max_pool3d_with_indices_backward"),
    ("nn.recurrent",
     "aten: gru.data,input lstm.data,input rnn_relu.data,input rnn_tanh.data,input; aten torch: "
     "gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell; torch: gru lstm rnn_relu rnn_tanh"),
    ("nn.recurrent_steps", "aten: _recurrent_steps _recurrent_steps_backward"),
    ("nn.regression",
     "aten: huber_loss_backward mse_loss_backward smooth_l1_loss_backward; aten nn: huber_loss "
     "l1_loss mse_loss smooth_l1_loss; aten nn torch: kl_div poisson_nll_loss; nn: "
     "gaussian_nll_loss"),
    ("nn.rms_norm",
     "aten: _fused_rms_norm_backward; aten nn torch: rms_norm; aten torch: _fused_rms_norm"),
    ("nn.rrelu",
     "aten: rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_backward; aten nn torch: rrelu_; "
     "aten torch: _rrelu_slopes rrelu"),
    ("nn.shuffling",
     "aten nn torch: channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle"),
    ("nn.softmax",
     "Tensor aten nn torch: log_softmax softmax; aten torch: _log_softmax "
     "_log_softmax_backward_data _softmax _softmax_backward_data"),
    ("nn.unpooling", "aten nn torch: max_unpool2d max_unpool3d; nn: max_unpool1d"),
    ("nn.upsampling",
     "aten: _upsample_bicubic2d_aa.vec _upsample_bilinear2d_aa.vec _upsample_lanczos2d_aa.vec "
     "_upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec "
     "upsample_bicubic2d.vec upsample_bilinear2d.vec upsample_linear1d.vec upsample_nearest1d.vec "
     "upsample_nearest2d.vec upsample_nearest3d.vec upsample_trilinear3d.vec; aten torch: "
     "_upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward _upsample_bilinear2d_aa "
     "_upsample_bilinear2d_aa_backward _upsample_lanczos2d_aa _upsample_lanczos2d_aa_backward "
     "_upsample_nearest_exact1d _upsample_nearest_exact1d_backward _upsample_nearest_exact2d "
     "_upsample_nearest_exact2d_backward _upsample_nearest_exact3d "
     "_upsample_nearest_exact3d_backward upsample_bicubic2d upsample_bicubic2d_backward "
     "upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d "
     "upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d "
     "upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward "
     "upsample_trilinear3d upsample_trilinear3d_backward"),
    ("nn.weight_normalization", "aten torch: _weight_norm norm_except_dim"),
    ("random.distributions",
     "Tensor: bernoulli_; Tensor aten: bernoulli_p_ normal_ random_ uniform_; Tensor aten torch: "
     "bernoulli; aten: bernoulli.p bernoulli_.Tensor,float bernoulli_p "
     "normal.Tensor_Tensor,Tensor_float,float_Tensor,float_float random random.from,to "
     "random_.from,to uniform; aten torch: normal"),
    ("random.factories",
     "aten: randint.low randint_like.Tensor,low_dtype; aten torch: rand rand_like randint "
     "randint_like randn randn_like randperm"),
    ("random.sampling",
     "Tensor aten: cauchy_ exponential_ geometric_ log_normal_; Tensor aten torch: multinomial; "
     "aten: cauchy exponential geometric log_normal; aten torch: _dirichlet_grad _sample_dirichlet "
     "_standard_gamma _standard_gamma_grad binomial poisson"),
    ("reductions.cumulative",
     "Tensor aten: cumprod_ cumsum_; Tensor aten torch: cummax cummin cumprod cumsum logcumsumexp; "
     "aten torch: cumprod_backward"),
    ("reductions.differences",
     "Tensor aten torch: diff; aten: cumulative_trapezoid.dx,x "
     "gradient.array,scalararray,scalarint,scalarrayarray,scalarrayint,tensorarray,tensorarrayint "
     "trapezoid.dx,x trapz.dx,x; torch: cumulative_trapezoid gradient trapezoid trapz"),
    ("reductions.masked",
     "masked: amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median "
     "norm normalize prod softmax softmin std sum var"),
    ("reductions.reduction",
     "Tensor aten torch: all amax amin any argmax argmin logsumexp max mean min prod std sum var; "
     "aten: max.dim,other min.dim,other std.correction,dim var.correction,dim; aten torch: "
     "_is_all_true _is_any_true value_selecting_reduction_backward"),
    ("reductions.segments",
     "Tensor aten torch: hash_tensor; aten torch: segment_reduce; torch: _segment_reduce"),
    ("reductions.statistics",
     "Tensor aten: sum_to_size; Tensor aten torch: aminmax corrcoef count_nonzero cov nanmean "
     "nanquantile nansum quantile; aten: count_nonzero.dim_IntList nanquantile.scalar "
     "quantile.scalar std_mean.correction,dim var_mean.correction,dim; aten torch: std_mean "
     "var_mean"),
    ("sorting.searching",
     "Tensor aten torch: argwhere bincount histc nonzero_static; Tensor torch: histogram; aten: "
     "bucketize.Scalar,Tensor histogram.bin_ct,bins_tensor histogramdd.TensorList_bins,int_bins "
     "searchsorted.Scalar,Tensor; aten torch: histogramdd; torch: bucketize searchsorted"),
    ("sorting.sorting",
     "Tensor aten torch: argsort kthvalue median mode msort nanmedian sort topk; aten: "
     "argsort.stable isin.Scalar_Tensor,Tensor_Scalar,Tensor_Tensor median.dim nanmedian.dim "
     "sort.stable; torch: isin"),
    ("sorting.uniqueness",
     "Tensor aten torch: unique_consecutive; Tensor torch: unique; aten: unique_dim "
     "unique_dim_consecutive; aten torch: _lexicographic_order _unique _unique2"),
    ("special.aliases",
     "aten: special_digamma special_erf special_erfc special_erfinv special_exp2 special_expit "
     "special_expm1 special_gammainc special_gammaincc special_gammaln special_i0 special_log1p "
     "special_log_softmax special_logit special_logsumexp special_multigammaln special_polygamma "
     "special_psi special_round special_sinc special_softmax special_xlogy "
     "special_xlogy.self_scalar; special: digamma erf erfc erfinv exp2 expit expm1 gammainc "
     "gammaincc gammaln i0 log1p log_softmax logit logsumexp multigammaln polygamma psi round sinc "
     "softmax xlogy"),
    ("special.bessel",
     "Tensor aten torch: i0 i0_; aten: special_airy_ai special_bessel_j0 special_bessel_j1 "
     "special_bessel_y0 special_bessel_y1 special_i0e special_i1 special_i1e "
     "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
     "special_modified_bessel_k1 special_scaled_modified_bessel_k0 "
     "special_scaled_modified_bessel_k1 special_spherical_bessel_j0; special: airy_ai bessel_j0 "
     "bessel_j1 bessel_y0 bessel_y1 i0e i1 i1e modified_bessel_i0 modified_bessel_i1 "
     "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
     "spherical_bessel_j0"),
    ("special.errors",
     "Tensor aten: erfinv_; Tensor aten torch: erfinv; aten: special_entr special_erfcx "
     "special_log_ndtr special_ndtr special_ndtri; special: entr erfcx log_ndtr ndtr ndtri"),
    ("special.gamma",
     "Tensor aten: digamma_ igamma_ igammac_ lgamma_ mvlgamma_ polygamma_; Tensor aten torch: "
     "digamma igamma igammac lgamma mvlgamma polygamma; aten: special_zeta "
     "special_zeta.self_scalar; special: zeta"),
    ("special.polynomials",
     "aten: special_chebyshev_polynomial_t special_chebyshev_polynomial_t.x_scalar "
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
     "special_shifted_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_w.x_scalar; "
     "special: chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v "
     "chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l "
     "legendre_polynomial_p shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u "
     "shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w"),
    ("views.complex_pairs", "aten torch: view_as_complex view_as_real"),
    ("views.conjugates",
     "Tensor aten torch: _conj _conj_physical _neg_view conj conj_physical conj_physical_ is_conj "
     "is_neg resolve_conj resolve_neg"),
    ("views.copies",
     "Tensor aten torch: as_strided_scatter diagonal_scatter narrow_copy select_scatter "
     "slice_scatter; aten: select_copy.int slice_copy.Tensor split_copy.Tensor "
     "squeeze_copy.dim,dims transpose_copy.int unbind_copy.int view_copy.dtype; aten torch: "
     "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy "
     "split_with_sizes_copy squeeze_copy t_copy unfold_copy unsqueeze_copy view_as_complex_copy "
     "view_as_real_copy view_copy; torch: select_copy slice_copy split_copy transpose_copy "
     "unbind_copy"),
    ("views.dimensions",
     "Tensor aten torch: adjoint ravel; aten: atleast_1d.Sequence,spread "
     "atleast_2d.Sequence,spread atleast_3d.Sequence,spread; aten torch: atleast_1d atleast_2d "
     "atleast_3d"),
    ("views.facts",
     "aten: _local_scalar_dense _pin_memory _unsafe_view dim is_same_size item numel size size.int "
     "storage_offset stride stride.int"),
    ("views.inplace",
     "Tensor aten: set_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_; Tensor aten torch: "
     "as_strided_; aten: "
     "set_.source_Storage,source_Storage_storage_offset,source_Tensor,source_Tensor_storage_offset "
     "squeeze_.dim,dims"),
    ("views.parts",
     "Tensor aten torch: as_strided chunk detach diagonal narrow select split split_with_sizes "
     "unbind; aten: narrow.Tensor split.sizes; aten torch: _imag _real real slice; torch: imag"),
    ("views.reshaping",
     "Tensor aten: contiguous expand expand_as reshape_as view view_as; Tensor aten torch: "
     "broadcast_to flatten moveaxis movedim permute reshape squeeze swapaxes swapdims t transpose "
     "unflatten unsqueeze; aten: alias moveaxis.intlist movedim.intlist squeeze.dim,dims "
     "view.dtype; aten torch: broadcast_tensors"),
    ("views.splitting",
     "Tensor aten torch: unsafe_chunk unsafe_split_with_sizes; Tensor torch: dsplit hsplit "
     "tensor_split unsafe_split vsplit; aten: dsplit.array,int hsplit.array,int "
     "tensor_split.indices,sections,tensor_indices_or_sections unsafe_split.Tensor "
     "vsplit.array,int"),
    ("views.windows", "Tensor aten: unfold"),
)  # fmt: skip
