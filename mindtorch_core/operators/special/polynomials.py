"""Orthogonal polynomials of degree ``n``, element by element.

All follow recurrences of three terms (NIST Digital Library of Mathematical Functions, 18.9):
``p[k+1] = (a[k] * x + b[k]) * p[k] - c[k] * p[k-1]``, from ``p[0] = 1`` and a ``p[1]``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...opdefs.operands import as_operand
from ..elementwise.composed import by_name, two

Terms = tuple[float, float, float]


def _recurrence(first: Callable[[Any], Any], terms: Callable[[int], Terms]) -> Any:
    """A formula ``f(x, n)``; degrees are cut to integers, negative, infinite and undefined ones give 0."""

    def formula(x: Any, n: Any) -> Any:
        n = as_operand(x, n).trunc()
        n = fn.where(n.isfinite(), n, -1)
        below, at = fn.ones_like(x), first(x)
        value = fn.where(n < 0, 0, fn.where(n == 0, below, at))
        top = int(n.max()) if n.numel() else 0
        for k in range(1, top):
            a, b, c = terms(k)
            below, at = at, (x * a + b) * at - below * c
            value = fn.where(n == k + 1, at, value)
        return value

    return formula


def _shifted(formula: Any) -> Any:
    return lambda x, n: formula(x * 2 - 1, n)


def _chebyshev(first: Callable[[Any], Any]) -> Any:
    return _recurrence(first, lambda k: (2.0, 0.0, 1.0))


_KINDS: Final = {
    "t": ("first", _chebyshev(lambda x: x)),
    "u": ("second", _chebyshev(lambda x: x * 2)),
    "v": ("third", _chebyshev(lambda x: x * 2 - 1)),
    "w": ("fourth", _chebyshev(lambda x: x * 2 + 1)),
}


def polynomial(name: str, doc: str, formula: Any) -> None:
    """Define ``special_<name>(x, n)`` and its overloads with a number."""

    def no_derivative(g: Any) -> Any:
        raise NotImplementedError(
            f"the derivative of {name} is not implemented; detach() its inputs"
        )

    two(
        f"special_{name}",
        doc,
        {"x": no_derivative, "n": no_derivative},
        formula,
        signature="Tensor x, Tensor n",
        numbers=True,
        overloads=("", "n_scalar"),
        inplace=False,
        namespaces=(f"special:{name}",),
    )
    op(
        f"special_{name}.x_scalar(Scalar x, Tensor n) -> Tensor",
        doc=doc,
        decomposition=lambda x, n: by_name(f"special_{name}")(as_operand(n, x, floating=True), n),
        out=True,
        namespaces=(f"special:{name}",),
        tags=frozenset({"pointwise"}),
    )


for _letter, (_kind, _formula) in _KINDS.items():
    polynomial(
        f"chebyshev_polynomial_{_letter}",
        f"Chebyshev polynomial of the {_kind} kind of degree ``n``.",
        _formula,
    )
    polynomial(
        f"shifted_chebyshev_polynomial_{_letter}",
        f"Chebyshev polynomial of the {_kind} kind of degree ``n`` at ``2 x - 1``.",
        _shifted(_formula),
    )
polynomial(
    "hermite_polynomial_h",
    "Hermite polynomial of degree ``n`` (physicists').",
    _recurrence(lambda x: x * 2, lambda k: (2.0, 0.0, 2.0 * k)),
)
polynomial(
    "hermite_polynomial_he",
    "Hermite polynomial of degree ``n`` (probabilists').",
    _recurrence(lambda x: x, lambda k: (1.0, 0.0, float(k))),
)
polynomial(
    "laguerre_polynomial_l",
    "Laguerre polynomial of degree ``n``.",
    _recurrence(lambda x: 1 - x, lambda k: (-1 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1))),
)
polynomial(
    "legendre_polynomial_p",
    "Legendre polynomial of degree ``n``.",
    _recurrence(lambda x: x, lambda k: ((2 * k + 1) / (k + 1), 0.0, k / (k + 1))),
)
