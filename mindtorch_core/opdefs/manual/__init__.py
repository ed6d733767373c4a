"""Pages on the functions that programs use most: what arguments are, errors, examples.

A row says in a line what an op does. What a reader of ``help(torch.sum)`` wants besides stands here, by
the function's name, and is read when such a function is made: the import has none of it.
"""

from __future__ import annotations

import importlib
from typing import Final

__all__ = ["FAMILIES", "page"]

# Which module of this package has which pages.
FAMILIES: Final = {
    "arranging": (
        "cat chunk flatten flip gather index_select masked_fill masked_select narrow permute "
        "repeat_interleave reshape roll scatter split squeeze stack transpose tril triu unsqueeze"
    ),
    "creating": (
        "arange empty empty_like eye full full_like linspace multinomial ones ones_like rand "
        "rand_like randint randn randn_like randperm zeros zeros_like"
    ),
    "elementwise": (
        "abs add allclose bitwise_and bitwise_not bitwise_or ceil clamp cos div eq erf exp expm1 "
        "floor floor_divide fmod ge gt isclose isfinite isinf isnan le lerp log log10 log1p log2 "
        "logical_and logical_not logical_or lt maximum minimum mul nan_to_num ne neg pow reciprocal "
        "relu remainder round rsqrt sigmoid sign sin sqrt square sub tan tanh trunc where"
    ),
    "layers": (
        "adaptive_avg_pool1d avg_pool1d avg_pool2d conv_transpose1d conv_transpose2d "
        "conv_transpose3d cosine_similarity glu pairwise_distance pixel_shuffle pixel_unshuffle "
        "prelu rms_norm softplus"
    ),
    "linear": (
        "addmm baddbmm bmm conv1d conv2d conv3d cross diag dot gelu kron linear log_softmax "
        "matmul mm mv one_hot outer pad scaled_dot_product_attention softmax"
    ),
    "methods": (
        "add_ clamp_ clone contiguous copy_ detach div_ expand expand_as fill_ index_add_ "
        "masked_fill_ mul_ new_full new_ones new_zeros normal_ repeat scatter_ scatter_add_ sub_ "
        "unfold uniform_ view view_as zero_"
    ),
    "reductions": (
        "all amax any argmax argmin argsort bincount bucketize count_nonzero cumprod cumsum "
        "logsumexp max mean median min prod quantile searchsorted sort std sum topk var"
    ),
    "selecting": (
        "argwhere broadcast_to diagonal hstack index_add movedim scatter_add select t "
        "take_along_dim tile unbind vstack"
    ),
}
_HOMES: Final = {name: family for family, names in FAMILIES.items() for name in names.split()}

_NONE: Final = "none on the samples that PyTorch tests it with; see docs/opinfo.md."
_OF_CHANCE: Final = "none on the CPU, where a seed gives the same numbers; see docs/random.md."
_NO_SAMPLES: Final = "none; PyTorch has no samples to test it with, apart from those of other ops."
DIFFERENCES: Final = {
    "copy_": _NO_SAMPLES,
    "detach": _NO_SAMPLES,
    "zero_": _NO_SAMPLES,
    "normal_": _OF_CHANCE,
    "multinomial": "``out`` may be of another dtype, as for every op.",
    "rand": _OF_CHANCE,
    "randn": _OF_CHANCE,
    "randint": _OF_CHANCE,
    "randperm": _OF_CHANCE,
    "rand_like": _OF_CHANCE,
    "randn_like": _OF_CHANCE,
    "uniform_": _OF_CHANCE,
}


def page(name: str) -> str:
    """What is to be said of a function beyond a line; empty if there is no page on it."""
    family = _HOMES.get(name)
    if family is None:
        return ""
    pages: dict[str, str] = importlib.import_module(f"{__name__}.{family}").PAGES
    body, _, example = pages[name].partition("Example:\n")
    differs = DIFFERENCES.get(name, _NONE)
    return f"{body}Differences from PyTorch: {differs}\n\nExample:\n{example.rstrip()}"
