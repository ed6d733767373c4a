"""How exact products of float32 matrices are asked to be. Kernels here compute in float32 throughout."""

from __future__ import annotations

from typing import Final

__all__ = ["get_float32_matmul_precision", "set_float32_matmul_precision"]

_KNOWN: Final = ("highest", "high", "medium")
_chosen = ["highest"]


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told last; ``highest`` at first."""
    return _chosen[0]


def set_float32_matmul_precision(precision: str) -> None:
    """Allow products of float32 matrices to be less exact: ``highest``, ``high`` or ``medium``.

    It is remembered; no kernel makes use of it.

    Raises:
        RuntimeError: if there is no such precision.
    """
    if precision not in _KNOWN:
        raise RuntimeError(
            f"{precision!r} is no precision of products: expected one of {', '.join(_KNOWN)}"
        )
    _chosen[0] = precision
