"""Which module holds the pages on which functions. Written by `docs/make.py`; do not edit."""

from typing import Final

__all__ = ["HOMES"]

HOMES: Final = (
    ("arranging",
     "cat chunk flatten flip gather index_select masked_fill masked_select narrow permute "
     "repeat_interleave reshape roll scatter squeeze stack transpose tril triu unsqueeze"),
    ("creating",
     "arange empty empty_like eye full full_like linspace multinomial ones ones_like rand "
     "rand_like randint randn randn_like randperm zeros zeros_like"),
    ("elementwise",
     "abs add allclose bitwise_and bitwise_not bitwise_or ceil clamp cos div eq erf exp expm1 "
     "floor floor_divide fmod ge gt isclose isfinite isinf isnan le lerp log log10 log1p log2 "
     "logical_and logical_not logical_or lt maximum minimum mul nan_to_num ne neg pow reciprocal "
     "relu remainder round rsqrt sigmoid sign sin sqrt square sub tan tanh trunc where"),
    ("layers",
     "adaptive_avg_pool1d avg_pool1d avg_pool2d conv_transpose1d conv_transpose2d conv_transpose3d "
     "cosine_similarity glu pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm "
     "softplus"),
    ("linear",
     "addmm baddbmm bmm conv1d conv2d conv3d cross diag dot gelu kron linear log_softmax matmul mm "
     "mv one_hot outer pad scaled_dot_product_attention softmax"),
    ("methods",
     "add_ clamp_ clone contiguous copy_ detach div_ expand expand_as fill_ index_add_ "
     "masked_fill_ mul_ new_full new_ones new_zeros normal_ repeat scatter_ scatter_add_ sub_ "
     "unfold uniform_ view view_as zero_"),
    ("reductions",
     "all amax any argmax argmin argsort bincount bucketize count_nonzero cumprod cumsum logsumexp "
     "max mean median min prod quantile searchsorted sort std sum topk var"),
    ("selecting",
     "argwhere broadcast_to diagonal hstack index_add movedim scatter_add select t take_along_dim "
     "tile unbind vstack"),
)  # fmt: skip
