"""Which in-place methods are functions as well: ``torch.exp_(x)`` for ``x.exp_()``."""

from __future__ import annotations

from typing import Final

__all__ = ["INPLACE_FUNCTIONS"]

# Those of PyTorch; the definitions name a few more themselves (`OpDef.inplace_namespaces`).
INPLACE_FUNCTIONS: Final = frozenset(
    {
        "abs_", "acos_", "acosh_", "addmv_", "arccos_", "arccosh_", "arcsin_", "arcsinh_",
        "arctan_", "arctanh_", "as_strided_", "asin_", "asinh_", "atan_", "atanh_", "ceil_",
        "clamp_", "clamp_max_", "clamp_min_", "clip_", "conj_physical_", "cos_", "cosh_",
        "deg2rad_", "erf_", "erfc_", "exp2_", "exp_", "expm1_", "fill_", "fix_",
        "floor_", "frac_", "gcd_", "i0_", "index_put_", "lcm_", "ldexp_", "log10_", "log1p_",
        "log2_", "log_", "logit_", "nan_to_num_", "neg_", "negative_", "rad2deg_",
        "reciprocal_", "round_", "rsqrt_", "sigmoid_", "sin_", "sinc_", "sinh_", "sqrt_",
        "square_", "tan_", "tanh_", "trunc_", "xlogy_",
    }
)  # fmt: skip
