"""What a backend declares of its numbers is true, and what it does not declare does not occur."""

from __future__ import annotations

import pytest

from ...values.dtypes import DTYPES, finfo
from .base import ConformanceBase
from .checks import has_dtype, made, require, works_with

__all__ = ["NumericTests"]


class NumericTests(ConformanceBase):
    """The device's numbers are as its backend says."""

    def test_subnormal_numbers(self) -> None:
        """Numbers below the smallest normal one stay, unless it is declared that they become zeros."""
        if self.numerics().flushes_subnormals:
            pytest.skip(f"{self.device} declares that it flushes them")
        for name in ("float32", "float64"):
            if has_dtype(self.device, name):
                half = made([1.0, 0.5], self.device, name) * finfo(DTYPES[name]).tiny
                require(
                    half.tolist()[1] > 0 and (half * 0.5).tolist()[1] > 0,
                    f"{name} numbers below the smallest normal one become zeros: declare "
                    f"Numerics(flushes_subnormals=True)",
                )

    def test_declared_dtypes(self) -> None:
        """A dtype that is declared to be absent is."""
        leftover = [name for name in self.numerics().without if works_with(self.device, name)]
        require(
            not leftover,
            f"Numerics(without=...) names {', '.join(leftover)}, which {self.device} computes with",
        )

    def test_declared_precision(self) -> None:
        """Precision is declared of ops that there are, and of results that are rounded."""
        from ...opdefs.define import definitions

        ops = [d.name for d in definitions()]
        numerics = self.numerics()
        for pattern in numerics.precision:
            alone = type(numerics)(precision={pattern: 1.0})
            named = any(alone.error_of(name) for name in ops)
            require(named, f"Numerics(precision=...) names {pattern!r}, and there is no such op")
