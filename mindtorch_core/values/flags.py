"""Arguments that are true or false."""

from __future__ import annotations

from typing import Any

__all__ = ["check_bool", "is_bool"]


def is_bool(value: Any) -> bool:
    """Whether a value is True or False; NumPy's are as good."""
    return value.__class__ is bool or type(value).__name__.startswith("bool")


def check_bool(value: Any, what: str) -> None:
    """Refuse what is neither True nor False, as numbers are not.

    Args:
        value: the argument.
        what: the function and the argument, as PyTorch names them.

    Raises:
        TypeError: if so.
    """
    if not is_bool(value):
        raise TypeError(f"{what} must be bool, not {type(value).__name__}")
