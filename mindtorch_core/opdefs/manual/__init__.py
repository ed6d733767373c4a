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
        "arange empty eye full linspace multinomial ones ones_like rand randint randn randperm "
        "zeros zeros_like"
    ),
    "elementwise": (
        "abs add allclose ceil clamp cos div eq exp expm1 floor fmod ge gt isclose isfinite isinf "
        "isnan le lerp log log1p logical_and logical_not logical_or lt maximum minimum mul "
        "nan_to_num ne neg pow reciprocal relu remainder round rsqrt sigmoid sign sin sqrt sub "
        "tanh where"
    ),
    "linear": (
        "addmm bmm conv1d conv2d conv3d diag dot gelu kron linear log_softmax matmul mm one_hot "
        "outer pad scaled_dot_product_attention softmax"
    ),
    "reductions": (
        "all amax any argmax argmin argsort bincount cumprod cumsum logsumexp max mean median min "
        "prod searchsorted sort std sum topk var"
    ),
}
_HOMES: Final = {name: family for family, names in FAMILIES.items() for name in names.split()}

_NONE: Final = "none on the samples that PyTorch tests it with; see docs/opinfo.md."
_OF_CHANCE: Final = "none on the CPU, where a seed gives the same numbers; see docs/random.md."
DIFFERENCES: Final = {
    "multinomial": "``out`` may be of another dtype, as for every op.",
    "rand": _OF_CHANCE,
    "randn": _OF_CHANCE,
    "randint": _OF_CHANCE,
    "randperm": _OF_CHANCE,
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
