"""Settings of opt_einsum, which is not used: sums are contracted from left to right."""

from __future__ import annotations

__all__ = ["enabled", "get_opt_einsum", "is_available", "strategy"]

enabled: bool = False
strategy: str | None = None


def is_available() -> bool:
    """False: it is not used."""
    return False


def get_opt_einsum() -> None:
    """None: it is not used."""
