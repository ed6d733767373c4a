"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sums of squared normal numbers.

    Args:
        df: how many.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"df": constraints.positive}
    _expanded = {"concentration": 0, "rate": 0}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """How many numbers are squared."""
        return self.concentration * 2
