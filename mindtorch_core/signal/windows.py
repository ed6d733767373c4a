"""Window functions: those of ``torch.signal.windows``.

Each gives ``M`` samples, symmetric or, with ``sym=False``, periodic: the symmetric window of ``M + 1``
samples without its last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import float32, float64, get_default_dtype

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(
    name: str,
    M: int,
    sym: bool,
    made: Callable[[Any, int], Any],
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A window of M samples from a function of positions 0, 1, ... and the last symmetric position.

    Raises:
        ValueError: if M is negative, or dtype or layout are not served.
    """
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and str(layout) not in ("strided", "torch.strided"):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    d = dtype or get_default_dtype()
    if d not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {d}")
    if M < 2:
        result = fn.ones(M, dtype=d, device=device)
    else:
        n = fn.arange(M, dtype=float64, device=device)
        result = made(n, M - 1 if sym else M).to(d)
    return result.requires_grad_() if requires_grad else result


def _cosines(a: Iterable[float]) -> Callable[[Any, int], Any]:
    """``a0 - a1 cos(x) + a2 cos(2x) - ...`` with x from 0 to 2 pi."""
    coefficients = list(a)

    def made(n: Any, last: int) -> Any:
        x = n * (2 * math.pi / last)
        terms = [(x * i).cos() * ((-1) ** i * c) for i, c in enumerate(coefficients)]
        return sum(terms[1:], terms[0])

    return made


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any
) -> Tensor:
    """Exponential window ``exp(-abs(n - center) / tau)``.

    Raises:
        ValueError: if ``tau`` is not positive, or a symmetric window is given a center.
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def made(n: Any, last: int) -> Any:
        middle = last / 2 if center is None else center
        return (-(n - middle).abs() / tau).exp()

    return _window("exponential", M, sym, made, **options)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Cosine window: half a period of the sine."""

    def made(n: Any, last: int) -> Any:
        return ((n + 0.5) * (math.pi / (last + 1))).sin()

    return _window("cosine", M, sym, made, **options)


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """Gaussian window with standard deviation ``std`` in samples.

    Raises:
        ValueError: if ``std`` is not positive.
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def made(n: Any, last: int) -> Any:
        x = (n - last / 2) / (std * math.sqrt(2))
        return (-x * x).exp()

    return _window("gaussian", M, sym, made, **options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """Kaiser window: Bessel functions of a half circle of radius ``beta`` (Kaiser, 1966).

    Raises:
        ValueError: if ``beta`` is negative.
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def made(n: Any, last: int) -> Any:
        x = n * (2 / last) - 1
        top = fn.i0((1 - x * x).clamp(0).sqrt() * beta)
        return top / fn.i0(fn.full_like(x, beta))

    return _window("kaiser", M, sym, made, **options)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Bartlett window: a triangle from zero to zero."""

    def made(n: Any, last: int) -> Any:
        return 1 - (n * (2 / last) - 1).abs()

    return _window("bartlett", M, sym, made, **options)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Tensor:
    """Sum of cosines with coefficients ``a`` and alternating signs.

    Raises:
        TypeError: if ``a`` is no sequence.
        ValueError: if it is empty.
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = list(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, sym, _cosines(coefficients), **options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """``alpha - (1 - alpha) cos``."""
    return _window("general_hamming", M, sym, _cosines([alpha, 1 - alpha]), **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Hamming window: ``0.54 - 0.46 cos``."""
    return _window("hamming", M, sym, _cosines([0.54, 0.46]), **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Hann window: ``0.5 - 0.5 cos``."""
    return _window("hann", M, sym, _cosines([0.5, 0.5]), **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Blackman window: ``0.42 - 0.5 cos(x) + 0.08 cos(2x)``."""
    return _window("blackman", M, sym, _cosines([0.42, 0.5, 0.08]), **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Nuttall's four-term Blackman-Harris window (Nuttall, 1981)."""
    a = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return _window("nuttall", M, sym, _cosines(a), **options)
