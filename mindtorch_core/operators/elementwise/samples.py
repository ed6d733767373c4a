"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ..family_samples import SHARES, FamilySamples, call, mask
from ..family_samples import sample as s
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_NAN: Final = float("nan")
_INF: Final = float("inf")
_PARTS: Final = (
    s("float32", t(2, 3), t(2, 3)),
    s("float64", t(4, dtype="float64"), t(dtype="float64")),
    s("broadcast", t(2, 1), t(3)),
    s("empty", t(0, 3), t(0, 3)),
)
_SCALED: Final = (
    s("same", t(2, 3), t(2, 3)),
    s("row", t(2, 3), t(3, dtype="int64")),
    s("float64", t(4, dtype="float64"), t(dtype="float64")),
)
_THREE: Final = (
    s("same", t(2, 3), t(2, 3), t(2, 3, low=1.0)),
    s("broadcast", t(2, 3), t(3), t(2, 1, low=1.0)),
    s("value", t(4, dtype="float64"), t(4, dtype="float64"), t(low=1.0), value=-0.5),
    s("bfloat16", t(4, dtype="bfloat16"), t(4, dtype="bfloat16"), t(4, dtype="bfloat16", low=1.0)),
    s("complex", *(t(3, dtype="complex64", low=1.0) for _ in range(3))),
    s("empty", t(0, 3), t(0, 3), t(3, low=1.0)),
)
_LOGARITHMS: Final = (s("number", 2.0, t(2, 3, low=0.25)), s("zero", 0, t(3, low=0.25)))
_CLAMP: Final = (
    s("both", t(2, 3), -1.0, 1.5),
    s("low", t(2, 3), 0),
    s("high", t(2, 3), None, 0.5),
    s("int64", t(5, dtype="int64"), -1, 2),
    s("widening", t(5, dtype="int64"), 0.5),
    s("0d", t(), -1.0, 1.0),
    s("empty", t(0, 3), 0.0),
)
_CLAMP_TENSOR: Final = (
    s("both", t(2, 3), t(3, high=0.0), t(2, 1, low=0.0)),
    s("low", t(2, 3), t(2, 3)),
    s("high", t(2, 3), None, t(3)),
    s("widening", t(2, 3, dtype="int64"), t(3)),
)
_LIMIT: Final = (s("float32", t(2, 3), 0.5), s("int64", t(5, dtype="int64"), 1), s("0d", t(), 0))
_LIMIT_TENSOR: Final = (s("same", t(2, 3), t(2, 3)), s("broadcast", t(2, 1), t(3)))
_COMPARED: Final = (
    s("equal", t(3, values=(1.0, 2.0, 0.0)), t(3, values=(1.0, 2.0, 0.0))),
    s("near", t(2, values=(1.0, 2.0)), t(2, values=(1.00000095, 2.0))),
    s("different", t(2, 3), t(2, 3)),
    s("bool", mask(4), mask(4)),
    s("int64", t(4, dtype="int64"), t(4, dtype="int64")),
    s("0d", t(), t()),
    s("empty", t(0, 3), t(0, 3)),
)
_MASK: Final = t(2, 4, dtype="bool", values=(True, False, True, True, True, True, False, True))
_POSITIVE: Final = (0.25, 4.0)
_INSIDE: Final = (-0.875, 0.875)
_ANY: Final = (-3.0, 3.0)

SAMPLES: Final = FamilySamples(
    calls={
        # angles
        **dict.fromkeys(("complex", "polar"), _PARTS),
        # arithmetic
        **dict.fromkeys(("pow.Scalar", "float_power.Scalar"), (s("number", 2.0, t(2, 3)),)),
        # closeness
        **dict.fromkeys(("equal", "isclose", "allclose"), _COMPARED),
        # combined
        **dict.fromkeys(("addcmul", "addcdiv"), _THREE),
        "lerp.Scalar": (
            s("near", t(2, 3), t(2, 3), 0.25),
            s("far", t(4, dtype="float64"), t(dtype="float64"), 0.75),
            s("beyond", t(3, dtype="complex64"), t(3, dtype="complex64"), 1.5),
        ),
        "lerp.Tensor": (
            s("same", t(2, 3), t(2, 3), t(2, 3, low=-1.0, high=1.0)),
            s(
                "broadcast",
                t(2, 3, dtype="float64"),
                t(3, dtype="float64"),
                t(2, 1, dtype="float64"),
            ),
        ),
        # exponentials
        "logit": SHARES,
        "logit_backward": (
            s("float32", t(2, 3), t(2, 3, low=0.125, high=0.875)),
            s("eps", t(2, 3), t(2, 3, low=0.125, high=0.875), 0.25),
            s("bfloat16", t(4, dtype="bfloat16"), t(4, dtype="bfloat16", low=0.25, high=0.75)),
            s("mixed", t(2, 3), t(3, dtype="float64", low=0.125, high=0.875)),
            s("empty", t(0, 3), t(0, 3)),
        ),
        **dict.fromkeys(("xlogy.Scalar_Self", "special_xlog1py.self_scalar"), _LOGARITHMS),
        "float_power": (
            s("float64", t(2, 3, dtype="float64", low=0.25), t(3, dtype="float64")),
            s("number", t(2, dtype="float64", low=0.25), 2),
            s("complex128", t(3, dtype="complex128", low=0.25), 0.5),
        ),
        # floats
        "ldexp_": _SCALED,
        "heaviside": (
            s("float32", t(2, 3), t(3)),
            s("zeros", t(4, values=(0.0, -0.0, 1.0, -1.0)), t(4)),
            s("int64", t(5, dtype="int64"), t(5, dtype="int64")),
        ),
        "nan_to_num": (
            s("given", t(5, values=(_NAN, _INF, -_INF, 0.0, 1.0)), 1.0, 2.0, -3.0),
            s("nan", t(3, values=(_NAN, 0.5, -1.0))),
            s("int64", t(4, dtype="int64")),
            s("complex64", t(3, dtype="complex64")),
        ),
        # functions
        "round.decimals": (
            s("one", t(2, 3), decimals=1),
            s("tens", t(4, low=0, high=99), decimals=-1),
        ),
        # multiples
        **dict.fromkeys(
            ("bitwise_left_shift.Scalar_Tensor", "bitwise_right_shift.Scalar_Tensor"),
            (s("int64", 37, t(4, dtype="int64", low=0, high=4)),),
        ),
        # selection
        "where.self": (
            s("same", mask(2, 3), t(2, 3), t(2, 3)),
            s("broadcast", mask(2, 1), t(3), t(2, 3)),
            s("numbers", mask(2, 3), t(2, 3), 0),
            s("mixed", mask(2, 3), t(2, 3, dtype="int64"), t(2, 3)),
            s("0d", mask(), t(), t()),
            s("empty", mask(0, 3), t(3), t(3)),
        ),
        "where": (s("2d", mask(3, 4)), s("1d", mask(5))),
        **dict.fromkeys(("clamp", "clip"), _CLAMP),
        **dict.fromkeys(("clamp.Tensor", "clip.Tensor"), _CLAMP_TENSOR),
        **dict.fromkeys(("clamp_min", "clamp_max"), _LIMIT),
        **dict.fromkeys(("clamp_min.Tensor", "clamp_max.Tensor"), _LIMIT_TENSOR),
        "masked_fill": (
            s("number", t(2, 3), mask(2, 3), 1.5),
            s("broadcast", t(2, 3), mask(3), -1),
            s("tensor", t(2, 3), mask(2, 3), t()),
            s("int64", t(4, dtype="int64"), mask(4), 7),
        ),
    },
    functions={
        # functions
        "nn.relu": call(t(2, 5)),
        # selection
        "Tensor.where": call(t(2, 4), _MASK, t(2, 4)),
    },
    domains={
        **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"), (_POSITIVE,)),
        "pow": (_POSITIVE, (0.0, 3.0)),
        **dict.fromkeys(("_rdiv", "_rfloordiv", "_rmod"), ((1.0, 4.0),)),
        "_rpow": ((1.0, 4.0), (0.0, 3.0)),
        **dict.fromkeys(("asin", "acos", "arcsin", "arccos"), ((-1.0, 1.0),)),
        "log1p": ((-0.75, 4.0),),
        **dict.fromkeys(("acosh", "arccosh"), ((1.25, 4.0),)),
        **dict.fromkeys(("atanh", "arctanh"), (_INSIDE,)),
        "copysign": ((0.25, 3.0),),
        "hypot": ((0.25, 3.0), (0.25, 3.0)),
        **dict.fromkeys(
            ("div", "divide", "true_divide", "floor_divide", "remainder", "fmod"),
            (_ANY, (1.0, 4.0)),
        ),
        "xlogy": (_ANY, _POSITIVE),
        "special_xlog1py": (_ANY, (-0.75, 4.0)),
    },
    no_limits=(
        *("div", "divide", "true_divide", "floor_divide", "remainder", "fmod"),
        *("pow", "ldexp", "bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm"),
        *("_rdiv", "_rfloordiv", "_rmod", "_rpow", "_rlshift", "_rrshift"),
        "float_power",
    ),
    signed_zeros=("neg", "abs", "mul", "floor", "ceil", "trunc", "round", "copysign"),
    no_differences=("remainder", "fmod", "_rmod", "frexp", "asin", "acos", "arcsin", "arccos"),
    few=("add", "mul", "div", "eq", "exp", "where.self", "clamp"),
    closely=(
        *("add", "sub", "mul", "div", "neg", "abs", "sign", "square", "reciprocal", "maximum"),
        *("minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_not", "isnan"),
        *("isinf", "isfinite", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "tanh", "sigmoid"),
        *("floor", "ceil", "round", "trunc", "relu", "bitwise_and", "bitwise_or", "bitwise_xor"),
        *("bitwise_not", "fmax", "fmin", "signbit", "copysign", "where.self", "nan_to_num"),
    ),
)
