"""Element-wise ops that are one NumPy ufunc on operands of one floating dtype.

Fusion calls these directly, with ``out=``; for everything else it calls the op's kernel.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["UFUNCS"]

_NAMED: Final = (
    "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "floor", "ceil", "trunc", "maximum", "minimum",
)  # fmt: skip

# `neg` is missing: NumPy 2.4 skips elements of outputs with some strides.
UFUNCS: Final[dict[str, Any]] = {
    **{f"aten::{name}": getattr(np, name) for name in _NAMED},
    **{f"aten::a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan")},
    "aten::atan2": np.arctan2,
    "aten::add": np.add,
    "aten::sub": np.subtract,
    "aten::mul": np.multiply,
    "aten::div": np.true_divide,
    "aten::eq": np.equal,
    "aten::ne": np.not_equal,
    "aten::lt": np.less,
    "aten::le": np.less_equal,
    "aten::gt": np.greater,
    "aten::ge": np.greater_equal,
}
