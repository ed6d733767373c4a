"""What a backend declares of its numbers is true, and what it does not declare does not occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...tensors.tensor import Tensor
from ...values.dtypes import DTYPES, finfo
from ..comparison import outcome
from .base import ConformanceBase
from .checks import has_dtype, made, require, works_with

__all__ = ["NumericTests"]

# What gives a number below the smallest normal one, of a tensor with that one.
_FLUSHING: Final[tuple[Callable[[Tensor], Tensor], ...]] = (
    lambda tiny: tiny * 0.5,
    lambda tiny: tiny * 0.5 * 0.5,
    lambda tiny: tiny / 4,
    lambda tiny: tiny * 1.5 - tiny,
    lambda tiny: (tiny.log() - 1).exp(),
)


def _is_zero(call: Callable[[Tensor], Tensor], dtype: str, device: str) -> bool:
    """Whether the device gives 0 there; not where it lacks an op."""
    tiny = made([1.0], device, dtype) * finfo(DTYPES[dtype]).tiny
    found = outcome(lambda: call(tiny).tolist())
    return bool(found == [0.0])


class NumericTests(ConformanceBase):
    """The device's numbers are as its backend says."""

    def test_subnormal_numbers(self) -> None:
        """Numbers below the smallest normal one stay, or it is declared that they become zeros."""
        names = [n for n in ("float32", "float64") if has_dtype(self.device, n)]
        if self.numerics().flushes_subnormals:
            require(
                any(_is_zero(call, name, self.device) for name in names for call in _FLUSHING),
                f"Numerics(flushes_subnormals=True) is declared, and {self.device} flushes none where it "
                "multiplies, divides, adds or takes exponentials: leave it out, it hides lost signs of zeros",
            )
            return
        for name in names:
            require(
                not any(_is_zero(call, name, self.device) for call in _FLUSHING[:2]),
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
        """Precision is declared of ops that there are."""
        from ...opdefs.define import definitions

        ops = [d.name for d in definitions()]
        numerics = self.numerics()
        for pattern in numerics.precision:
            alone = type(numerics)(precision={pattern: 0.5})
            named = any(alone.error_of(name) for name in ops)
            require(named, f"Numerics(precision=...) names {pattern!r}, and there is no such op")
