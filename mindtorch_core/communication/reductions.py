"""How values of several ranks become one: `ReduceOp`."""

from __future__ import annotations

from enum import Enum
from typing import Any

__all__ = ["Premultiplied", "ReduceOp", "reduce_op_named"]


class ReduceOp(Enum):
    """How values of several ranks become one.

    ``AVG`` is the sum divided by the number of ranks. ``PREMUL_SUM`` stands for sums whose terms are
    multiplied by a factor first; `Premultiplied` holds the factor.

    Attributes:
        op: itself, as PyTorch's objects of this name show it.
        word: its name, as calls of ranks are compared.
        how: what an engine is told: means and sums of multiples are made of sums.
    """

    op: ReduceOp  # attributes: that a member has a property's value is asked of its class each time
    word: str
    how: str

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8
    UNUSED = 9

    def __init__(self, value: int) -> None:
        self.op = self
        self.word = self._name_.lower()
        self.how = "sum" if self._name_ in ("AVG", "PREMUL_SUM") else self.word

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # PyTorch's name of the enumeration


class Premultiplied:
    """A sum whose terms are multiplied by a number, or a tensor of one element, before they are added.

    Attributes:
        factor: this rank's.
    """

    def __init__(self, factor: Any) -> None:
        self.factor = factor
        self.op = ReduceOp.PREMUL_SUM

    def __repr__(self) -> str:
        return f"<RedOpType.PREMUL_SUM: {self.factor}>"


def reduce_op_named(name: str) -> ReduceOp:
    """The op that ``_c10d_functional`` names, such as ``sum`` or ``avg``.

    Raises:
        ValueError: if there is none.
    """
    found = ReduceOp.__members__.get(name.upper())
    if found is None or found in (ReduceOp.UNUSED, ReduceOp.PREMUL_SUM):
        raise ValueError(
            f"Unknown reduce op {name!r}: one of sum, avg, product, min, max, band, bor, bxor"
        )
    return found
