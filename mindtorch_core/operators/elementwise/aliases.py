"""Second names of element-wise ops, which NumPy has too."""

from __future__ import annotations

from ...opdefs.define import EVERYWHERE
from .composed import alias

# Other names of functions of one tensor, and the kinds of dtypes that they serve.
_ONE = {
    "absolute": ("abs", "ifc"),
    "arccos": ("acos", "bifc"),
    "arccosh": ("acosh", "bifc"),
    "arcsin": ("asin", "bifc"),
    "arcsinh": ("asinh", "bifc"),
    "arctan": ("atan", "bifc"),
    "arctanh": ("atanh", "bifc"),
    "fix": ("trunc", "if"),
    "negative": ("neg", "ifc"),
}
# Other names of ops of a tensor and a tensor or number.
_TWO = {
    "greater": ("gt", "bif"),
    "greater_equal": ("ge", "bif"),
    "less": ("lt", "bif"),
    "less_equal": ("le", "bif"),
    "multiply": ("mul", "bifc"),
    "not_equal": ("ne", "bifc"),
}
_EITHER = ("Tensor", "Scalar")

for _name, (_of, _kinds) in _ONE.items():
    _shown = ("Tensor",) if _name == "absolute" else EVERYWHERE  # PyTorch has no torch.absolute_
    alias(_name, _of, kinds=_kinds, inplace_namespaces=_shown)
for _name, (_of, _kinds) in _TWO.items():
    alias(
        _name,
        _of,
        "Tensor self, Tensor other",
        _kinds,
        numbers=True,
        number_first="any" if _name == "multiply" else "",
        overloads=_EITHER,
    )
alias(
    "subtract",
    "sub",
    "Tensor self, Tensor other, *, Scalar alpha=1",
    "ifc",
    numbers=True,
    number_first="any",
    overloads=_EITHER,
)
alias("arctan2", "atan2", "Tensor self, Tensor other", "bif")
