"""Window functions under their older names; those of ``torch.signal.windows`` are the newer ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...values.dtypes import FLOATING, float64, get_default_dtype
from ..creation.factory import OPTIONS


def cosine_sum(n: int, coefficients: tuple[float, ...], device: Any) -> Any:
    """``a0 - a1 cos(x) + a2 cos(2x) - ...`` with x from 0 to 2 pi, in float64."""
    x = fn.arange(n, dtype=float64, device=device) * (2 * math.pi / (n - 1))
    made: Any = coefficients[0]
    for i, a in enumerate(coefficients[1:], 1):
        made = made + (x * i).cos() * (-a if i % 2 else a)
    return made


def _bartlett(n: int, device: Any) -> Any:
    x = fn.arange(n, dtype=float64, device=device) * (2 / (n - 1))
    return fn.where(x < 1, x, 2 - x)


def kaiser(n: int, beta: float, device: Any) -> Any:
    """Bessel functions of a half circle of radius ``beta`` (Kaiser, 1966), in float64."""
    x = fn.arange(n, dtype=float64, device=device) * (2 / (n - 1)) - 1
    half: Any = fn.i0((1 - x * x).clamp(0).sqrt() * beta)
    return half / fn.i0(fn.full((), float(beta), dtype=float64, device=device))


def _windowed(
    name: str, made: Callable[..., Any], n: int, periodic: bool, dtype: Any, device: Any
) -> Any:
    """A window of n elements; a periodic one is the longer symmetric one without its last element.

    Raises:
        RuntimeError: if the dtype is no floating one, or the length negative.
    """
    d = dtype or get_default_dtype()
    if d.category != FLOATING:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {d}")
    if n < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={n}")
    if n < 2:
        return fn.ones(n, dtype=d, device=device)
    return made(n + periodic, device).narrow(0, 0, n).to(d)


def _define(name: str, doc: str, window: Callable[..., Any], *forms: tuple[str, str]) -> None:
    """Define the overloads of a window.

    Args:
        name: of the op.
        doc: what it computes.
        window: ``window(n, device, **parameters)``.
        *forms: overload names and the parameters they have after the length.
    """
    for overload, parameters in forms:

        def decomposition(
            window_length: int,
            periodic: bool = True,
            *parameters: float,
            dtype: Any = None,
            device: Any = None,
        ) -> Any:
            def made(n: int, device: Any) -> Any:
                return window(n, device, *parameters)

            return _windowed(name, made, window_length, periodic, dtype, device)

        op(
            f"{name}{overload}(int window_length{parameters}, {OPTIONS}) -> Tensor",
            doc=doc,
            decomposition=decomposition,
            grad="nondiff",
            out=True,
            namespaces=("torch",),
        )


_PERIODIC = ("", ""), (".periodic", ", bool periodic")
_define(
    "hann_window",
    "Hann window: ``0.5 - 0.5 cos``.",
    lambda n, device: cosine_sum(n, (0.5, 0.5), device),
    *_PERIODIC,
)
_define(
    "hamming_window",
    "Hamming window: ``alpha - beta cos``.",
    lambda n, device, alpha=0.54, beta=0.46: cosine_sum(n, (alpha, beta), device),
    *_PERIODIC,
    (".periodic_alpha", ", bool periodic, float alpha"),
    (".periodic_alpha_beta", ", bool periodic, float alpha, float beta"),
)
_define("bartlett_window", "Bartlett window: a triangle.", _bartlett, *_PERIODIC)
_define(
    "blackman_window",
    "Blackman window: ``0.42 - 0.5 cos(x) + 0.08 cos(2x)``.",
    lambda n, device: cosine_sum(n, (0.42, 0.5, 0.08), device).clamp(0),
    *_PERIODIC,
)
_define(
    "kaiser_window",
    "Kaiser window with shape ``beta``.",
    lambda n, device, beta=12.0: kaiser(n, beta, device),
    *_PERIODIC,
    (".beta", ", bool periodic, float beta"),
)
