"""Direct kernels of functions that the core would otherwise compose of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .pointwise import function


def _erfc(a: Any) -> Any:
    from scipy.special import erfc

    return erfc(a)


for _name in ("tan", "sinh", "cosh"):
    function(_name, getattr(np, _name))
for _name in ("asin", "acos", "atan"):
    function(_name, getattr(np, f"arc{_name[1:]}"))
function("erfc", _erfc, plain=True, widen=True)
function("frac", lambda a: a - np.trunc(a), to_float=False, plain=True)
