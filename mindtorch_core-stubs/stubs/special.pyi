"""Functions of ``torch.special``.

Written by `docs/make.py` from the ops' schemas. Do not edit.
"""

# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from numpy import ndarray  # for type checkers alone: where it is not installed, it is of no type

from mindtorch_core.gradients.handles import RemovableHandle
from mindtorch_core.values.devices import device as _device
from mindtorch_core.values.dtypes import dtype as _dtype
from ..random import Generator
from ..tensors.tensor import Tensor
from . import results

__all__: list[str] = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]

def airy_ai(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Airy function Ai."""

def bessel_j0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind of order 0."""

def bessel_j1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind of order 1."""

def bessel_y0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the second kind of order 0."""

def bessel_y1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bessel function of the second kind of order 1."""

@overload
def chebyshev_polynomial_t(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the first kind of degree ``n``."""
@overload
def chebyshev_polynomial_t(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the first kind of degree ``n``."""

@overload
def chebyshev_polynomial_u(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the second kind of degree ``n``."""
@overload
def chebyshev_polynomial_u(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the second kind of degree ``n``."""

@overload
def chebyshev_polynomial_v(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the third kind of degree ``n``."""
@overload
def chebyshev_polynomial_v(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the third kind of degree ``n``."""

@overload
def chebyshev_polynomial_w(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the fourth kind of degree ``n``."""
@overload
def chebyshev_polynomial_w(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the fourth kind of degree ``n``."""

def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `digamma`."""

def entr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Entropy ``-x * log(x)``: 0 at 0, minus infinity for negative numbers."""

def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `erf`."""

def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `erfc`."""

def erfcx(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Scaled complementary error function ``exp(x**2) * erfc(x)``."""

def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `erfinv`."""

def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `exp2`."""

def expit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `sigmoid`."""

def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `expm1`."""

def gammainc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `igamma`."""

def gammaincc(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `igammac`."""

def gammaln(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `lgamma`."""

@overload
def hermite_polynomial_h(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Hermite polynomial of degree ``n`` (physicists')."""
@overload
def hermite_polynomial_h(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Hermite polynomial of degree ``n`` (physicists')."""

@overload
def hermite_polynomial_he(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Hermite polynomial of degree ``n`` (probabilists')."""
@overload
def hermite_polynomial_he(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Hermite polynomial of degree ``n`` (probabilists')."""

def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `i0`."""

def i0e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`i0` times ``exp(-|x|)``."""

def i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind of order 1."""

def i1e(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`i1` times ``exp(-|x|)``."""

@overload
def laguerre_polynomial_l(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Laguerre polynomial of degree ``n``."""
@overload
def laguerre_polynomial_l(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Laguerre polynomial of degree ``n``."""

@overload
def legendre_polynomial_p(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Legendre polynomial of degree ``n``."""
@overload
def legendre_polynomial_p(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Legendre polynomial of degree ``n``."""

def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `log1p`."""

def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Logarithm of `ndtr`, accurate far to the left as well."""

def log_softmax(input: Tensor, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
    """Alias of `log_softmax`."""

def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Alias of `logit`."""

def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int],
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `logsumexp`."""

def modified_bessel_i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `i0`."""

def modified_bessel_i1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `i1`."""

def modified_bessel_k0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the second kind of order 0."""

def modified_bessel_k1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the second kind of order 1."""

def multigammaln(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """Alias of `mvlgamma`."""

def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Probability that a standard normal number is below ``x``."""

def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Number below which a standard normal one is with the given probability."""

def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `polygamma`."""

def psi(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `digamma`."""

def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """Alias of `round`."""

def scaled_modified_bessel_k0(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`modified_bessel_k0` times ``exp(x)``."""

def scaled_modified_bessel_k1(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`modified_bessel_k1` times ``exp(x)``."""

@overload
def shifted_chebyshev_polynomial_t(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the first kind of degree ``n`` at ``2 x - 1``."""
@overload
def shifted_chebyshev_polynomial_t(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the first kind of degree ``n`` at ``2 x - 1``."""

@overload
def shifted_chebyshev_polynomial_u(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the second kind of degree ``n`` at ``2 x - 1``."""
@overload
def shifted_chebyshev_polynomial_u(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the second kind of degree ``n`` at ``2 x - 1``."""

@overload
def shifted_chebyshev_polynomial_v(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the third kind of degree ``n`` at ``2 x - 1``."""
@overload
def shifted_chebyshev_polynomial_v(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the third kind of degree ``n`` at ``2 x - 1``."""

@overload
def shifted_chebyshev_polynomial_w(
    x: Tensor,
    n: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the fourth kind of degree ``n`` at ``2 x - 1``."""
@overload
def shifted_chebyshev_polynomial_w(
    x: _float | _complex,
    n: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Chebyshev polynomial of the fourth kind of degree ``n`` at ``2 x - 1``."""

def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `sinc`."""

def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None) -> Tensor:
    """Alias of `softmax`."""

def spherical_bessel_j0(x: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Spherical Bessel function of the first kind of order 0: ``sin(x) / x``, and 1 at 0."""

@overload
def xlog1py(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``input * log1p(other)``, and 0 where ``input`` is 0."""
@overload
def xlog1py(input: _float | _complex, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """``input * log1p(other)``, and 0 where ``input`` is 0."""

@overload
def xlogy(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Alias of `xlogy`."""
@overload
def xlogy(input: _float | _complex, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Alias of `xlogy`."""

@overload
def zeta(
    input: Tensor,
    other: Tensor | _float | _complex,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Hurwitz zeta function: the sum of ``(other + k)**-input`` over k from 0."""
@overload
def zeta(input: _float | _complex, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz zeta function: the sum of ``(other + k)**-input`` over k from 0."""
