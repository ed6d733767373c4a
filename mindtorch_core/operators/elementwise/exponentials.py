"""Powers, exponentials and logarithms beyond the basic ones."""

from __future__ import annotations

import math
from typing import Any, Final

from ...dispatch.functions import fn
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...opdefs.formulas import conj
from ...opdefs.operands import as_operand
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, cast_number, complex128, dtype, float64, int64
from ...values.promotion import category_of
from .composed import by_name, composition, function, two

_LN2: Final = math.log(2)

function(
    "exp2",
    "Powers of 2.",
    lambda g, result: g * conj(result) * _LN2,
    lambda x: (x * _LN2).exp() if x._dtype.category == COMPLEX else fn.pow(2.0, x),
    kinds="bifc",
    inplace_namespaces=EVERYWHERE,
)

# ---- sums of exponentials -----------------------------------------------------------------------


def _logaddexp(a: Any, b: Any) -> Any:
    """The larger one is taken out of the sum, so that nothing overflows."""
    if a._dtype.category == COMPLEX:
        first = (a.real > b.real) | (a.real == b.real) & (a.imag >= b.imag)
        larger, smaller = fn.where(first, a, b), fn.where(first, b, a)
        return larger + fn.log1p((smaller - larger).exp())
    return _larger_and(a, b, (a - b).abs().neg().exp().log1p())


def _larger_and(a: Any, b: Any, more: Any) -> Any:
    larger = fn.maximum(a, b)
    return fn.where(a == b, larger + _at_equal(a, more), larger + more)


def _at_equal(a: Any, more: Any) -> Any:
    """Equal infinities have no difference to go by."""
    return fn.where(a.isinf(), 0.0, more)


def _logaddexp2(a: Any, b: Any) -> Any:
    if a._dtype.category == COMPLEX:
        return _logaddexp(a * _LN2, b * _LN2) / _LN2
    more = fn.exp2((a - b).abs().neg()).log1p() / _LN2
    return _larger_and(a, b, more)


two(
    "logaddexp",
    "``log(exp(input) + exp(other))``, computed without overflow.",
    {
        "self": lambda g, self, other: g * conj(fn.sigmoid(self - other)),
        "other": lambda g, self, other: g * conj(fn.sigmoid(other - self)),
    },
    _logaddexp,
    kinds="fc",
    result=None,
    inplace=False,
)
two(
    "logaddexp2",
    "``log2(2**input + 2**other)``, computed without overflow.",
    {
        "self": lambda g, self, other: g * conj(fn.sigmoid((self - other) * _LN2)),
        "other": lambda g, self, other: g * conj(fn.sigmoid((other - self) * _LN2)),
    },
    _logaddexp2,
    kinds="fc",
    result=None,
    inplace=False,
)

# ---- products with logarithms -------------------------------------------------------------------


def product_with_log(name: str, log: str, shift: int, doc: str, scalar: Any, **more: Any) -> None:
    """Define ``input * log(other + shift)``, zero where ``input`` is, whatever the logarithm.

    Args:
        name: the op.
        log: the logarithm's name.
        shift: what is added to ``other`` by that logarithm.
        doc: what it computes.
        scalar: names of the overloads with a number as the second and as the first operand.
        **more: further properties.
    """

    def formula(x: Any, y: Any) -> Any:
        y = as_operand(x, y)
        return fn.where(y != y, y, fn.where(x == 0, 0, x * getattr(y, log)()))

    def grad_of_factor(g: Any, self: Any, other: Any) -> Any:
        # No gradient is none, whatever the logarithm.
        return fn.where((self == 0) & (other <= -shift), 0.0, by_name(name)(g, other))

    two(
        name,
        doc,
        {
            "self": grad_of_factor,
            "other": lambda g, self, other: g * self / (other + shift if shift else other),
        },
        formula,
        numbers=True,
        overloads=("Tensor" if "Other" in scalar[0] else "", scalar[0]),
        **more,
    )
    spaces = more.get("namespaces", ("torch", "Tensor"))
    op(
        f"{name}.{scalar[1]}(Scalar self, Tensor other) -> Tensor",
        doc=doc,
        decomposition=lambda self, other: by_name(name)(
            as_operand(other, self, floating=True), other
        ),
        out=True,
        namespaces=[s for s in spaces if s != "Tensor"],
        tags=frozenset({"pointwise"}),
    )


product_with_log(
    "xlogy",
    "log",
    0,
    "``input * log(other)``, and 0 where ``input`` is 0.",
    ("Scalar_Other", "Scalar_Self"),
    inplace_namespaces=EVERYWHERE,
)
product_with_log(
    "special_xlog1py",
    "log1p",
    1,
    "``input * log1p(other)``, and 0 where ``input`` is 0.",
    ("other_scalar", "self_scalar"),
    inplace=False,
    namespaces=("special:xlog1py",),
)

# ---- the rest -----------------------------------------------------------------------------------


def _logit(x: Any, eps: float | None = None) -> Any:
    if eps is not None:
        # Where the bounds have changed places, the lower one is looked at first, as in PyTorch.
        x = x.clamp(eps, 1 - eps) if eps <= 0.5 else fn.where(x < eps, eps, x.clamp(max=1 - eps))
    return (x / (1 - x)).log()


def _logit_backward(g: Any, x: Any, eps: float | None = None) -> Any:
    slope = g / (x * (1 - x))
    if eps is None or eps < 0:
        return fn.where((x < 0) | (x > 1), math.nan, slope)
    return fn.where((x >= eps) & (x <= 1 - eps), slope, 0.0)


_LOGIT: Final = rules.limited(rules.pointwise(count=2), "logit_backward_cpu", "f")
op(
    "logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
    doc="Gradient of `logit`; 0 where ``eps`` has moved an element.",
    rule=_LOGIT,
    kinds="f",
    decomposition=composition(_LOGIT, _logit_backward, 2),
    namespaces=(),
    tags=frozenset({"pointwise"}),
)
function(
    "logit",
    "Log of the odds ``x / (1 - x)``; ``eps`` keeps ``x`` from the ends of [0, 1].",
    lambda g, self, eps: by_name("logit_backward")(g, self, eps),
    _logit,
    signature="Tensor self, float? eps=None",
    inplace_namespaces=EVERYWHERE,
)


def _double(*operands: Any) -> dtype:
    """The dtype of powers in double precision: numbers count by their kind, however large."""
    for v in operands:
        if isinstance(v, int):
            cast_number(v, int64)  # refuses what no dtype holds
    kinds = (v._dtype.category if hasattr(v, "_keys") else category_of(v) for v in operands)
    return complex128 if max(kinds) == COMPLEX else float64


def _float_power(base: Any, exponent: Any) -> Tensor:
    d = _double(base, exponent)
    base, exponent = (v.to(d) if hasattr(v, "_keys") else v for v in (base, exponent))
    return fn.pow(base, exponent)


def _float_power_inplace(base: Tensor, exponent: Any) -> Tensor:
    d = _double(base, exponent)
    if base._dtype is not d:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {base._dtype.label} but the operation's "
            f"result requires dtype {d.label}"
        )
    return base.pow_(exponent)


op(
    "float_power(Tensor self, Tensor exponent) -> Tensor",
    overloads=("Tensor_Tensor", "Tensor_Scalar"),
    doc="Power ``input ** exponent`` in double precision.",
    decomposition=_float_power,
    inplace_decomposition=_float_power_inplace,
    numbers=True,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
    out_needs=("dtype",),
)
op(
    "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
    doc="Power ``input ** exponent`` in double precision.",
    decomposition=lambda self, exponent: fn.pow(self, exponent.to(_double(self, exponent))),
    out=True,
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)
