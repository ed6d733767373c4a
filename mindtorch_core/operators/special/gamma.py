"""The gamma function and its relatives.

Formulas: NIST Digital Library of Mathematical Functions, chapters 5, 8 and 25.
"""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.keys import AUTOGRAD, FORWARD
from ...opdefs import rules
from ...opdefs.define import op, public
from ...opdefs.operands import as_operand
from ...tensors.tensor import Tensor
from ...values.promotion import check_cast, to_floating
from ..elementwise.composed import by_name, function, refused, two

function(
    "lgamma",
    "Logarithm of the absolute value of the gamma function.",
    lambda g, self: g * fn.digamma(self),
)
function(
    "digamma",
    "Derivative of `lgamma`.",
    lambda g, self: g * fn.polygamma(1, self),
)


def _not_differentiable(name: str, argument: str) -> Any:
    def formula(g: Any) -> Any:
        raise NotImplementedError(
            f"the derivative of {name} for '{argument}' is not implemented: it is no elementary "
            f"function; detach() that argument"
        )

    return formula


two(
    "special_zeta",
    "Hurwitz zeta function: the sum of ``(other + k)**-input`` over k from 0.",
    {
        "self": _not_differentiable("zeta", "self"),
        "other": lambda g, self, other: (
            g * -self * by_name("special_zeta")(as_operand(g, self) + 1, other)
        ),
    },
    numbers=True,
    overloads=("", "other_scalar"),
    inplace=False,
    namespaces=("special:zeta",),
)
op(
    "special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
    doc="Hurwitz zeta function: the sum of ``(other + k)**-input`` over k from 0.",
    decomposition=lambda self, other: by_name("special_zeta")(
        as_operand(other, self, floating=True), other
    ),
    out=True,
    namespaces=("special:zeta",),
    tags=frozenset({"pointwise"}),
)

# ---- incomplete gamma functions -----------------------------------------------------------------


def _density(self: Any, other: Any) -> Any:
    """Derivative of the lower incomplete gamma function for its bound (DLMF 8.8.13)."""
    return ((self - 1) * other.log() - other - fn.lgamma(self)).exp()


def _incomplete(name: str, doc: str, sign: int) -> None:
    two(
        name,
        doc,
        {
            "self": _not_differentiable(name, "self"),
            "other": lambda g, self, other: g * sign * _density(self, other),
        },
        kinds="f",
        result=None,
    )


_incomplete("igamma", "Regularized lower incomplete gamma function P(input, other).", 1)
_incomplete("igammac", "Regularized upper incomplete gamma function Q(input, other).", -1)

# ---- derivatives of digamma ---------------------------------------------------------------------


def _order(n: int) -> int:
    """A valid order of a derivative.

    Raises:
        RuntimeError: for a negative one.
    """
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}")
    return n


def _polygamma_rule(n: int, self: Tensor) -> Any:
    _order(n)
    if self._dtype.category > 2:
        raise refused("polygamma", self._dtype)
    return rules.pointwise_spec((self,), to_floating(self._dtype))


def _polygamma(n: int, self: Any) -> Any:
    d = _polygamma_rule(n, self).dtype
    if n == 0:
        return fn.digamma(self)
    x = self.to(d)
    sign = 1.0 if n % 2 else -1.0
    wide = x if d.itemsize > 4 else x.float()
    value = by_name("special_zeta")(as_operand(wide, float(n + 1)), wide)
    return (value * (sign * math.factorial(n))).to(d)


op(
    "polygamma(int n, Tensor self) -> Tensor",
    doc="The ``n``-th derivative of `digamma`.",
    rule=_polygamma_rule,
    grad={"self": lambda g, n, self: g * fn.polygamma(n + 1, self)},
    decomposition=_polygamma,
    out=True,
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)


def _polygamma_inplace(self: Any, n: int) -> Any:
    check_cast(_polygamma_rule(n, self).dtype, self._dtype)
    source = (
        self.clone() if self._keys & (AUTOGRAD | FORWARD) else self
    )  # what formulas save must not change
    return self.copy_(fn.polygamma(n, source))


op(
    "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
    doc="In-place version of `polygamma`.",
    decomposition=_polygamma_inplace,
    namespaces=("Tensor",),
    tags=frozenset({"pointwise"}),
)


@public("Tensor", name="polygamma")
def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The ``n``-th derivative of `digamma`."""
    return fn.polygamma(n, self)


# ---- the multivariate gamma function ------------------------------------------------------------


def _mvlgamma_rule(self: Tensor, p: int) -> Any:
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    if self._dtype.category > 2 or self._dtype.category == 0:
        raise refused("mvlgamma", self._dtype)
    return rules.pointwise_spec((self,), to_floating(self._dtype))


def _mvlgamma(self: Any, p: int) -> Any:
    d = _mvlgamma_rule(self, p).dtype
    x = self.to(d)
    total = sum(fn.lgamma(x - i / 2) for i in range(p))
    return total + p * (p - 1) / 4 * math.log(math.pi)


op(
    "mvlgamma(Tensor self, int p) -> Tensor",
    doc="Logarithm of the multivariate gamma function of dimension ``p``.",
    decomposition=_mvlgamma,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
)
