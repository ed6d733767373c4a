"""Whole numbers: common divisors and multiples, shifts of bits."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...opdefs.define import EVERYWHERE, op
from ...opdefs.operands import as_operand
from ...tensors.tensor import Tensor
from .composed import two


def _gcd(a: Any, b: Any) -> Any:
    """Euclid's algorithm; every element takes the steps of the slowest one."""
    a, b = a.abs(), b.abs()
    while bool((b != 0).any()):
        rest = fn.where(b == 0, 0, fn.remainder(a, fn.where(b == 0, 1, b)))
        a, b = fn.where(b == 0, a, b), rest
    return a + b  # b is zero, and brings a the shape of both


def _lcm(a: Any, b: Any) -> Any:
    a, b = a.abs(), b.abs()
    divisor = fn.gcd(a, b)
    share = fn.floor_divide(a, fn.where(divisor == 0, 1, divisor))
    return share * b


two(
    "gcd",
    "Greatest common divisor.",
    NONDIFF,
    _gcd,
    kinds="i",
    result=None,
    inplace_namespaces=EVERYWHERE,
)
two(
    "lcm",
    "Least common multiple; 0 where either is 0.",
    NONDIFF,
    _lcm,
    kinds="i",
    result=None,
    inplace_namespaces=EVERYWHERE,
)


def _left(a: Any, count: Any) -> Any:
    """Powers of 2 wrap around as shifts do; counts of all the bits or more leave nothing."""
    count = as_operand(a, count)
    bits = 8 * a._dtype.itemsize
    inside = (count >= 0) & (count < bits)
    return fn.where(inside, a * 2 ** fn.where(inside, count, 0), 0)


def _right(a: Any, count: Any) -> Any:
    count = as_operand(a, count)
    most = 8 * a._dtype.itemsize - 2 if a._dtype.is_signed else 8 * a._dtype.itemsize - 1
    inside = (count >= 0) & (count <= most)
    kept = fn.floor_divide(a, 2 ** fn.where(inside, count, 0).to(a._dtype))
    return fn.where(inside, kept, fn.where(a < 0, -1, 0))


def _reflected(name: str) -> Any:
    def shifted(self: Tensor, other: Any) -> Tensor:
        result: Tensor = getattr(fn, name)(as_operand(self, other), self)
        return result

    return shifted


for _side, _formula, _doc in (
    ("left", _left, "Bits moved to the left by ``other`` places: a product with ``2**other``."),
    ("right", _right, "Bits moved to the right, the sign kept: ``input // 2**other``."),
):
    _name, _dunder = f"bitwise_{_side}_shift", f"{_side[0]}shift__"
    two(
        _name,
        _doc,
        NONDIFF,
        _formula,
        kinds="i",
        result=None,
        numbers=True,
        overloads=("Tensor", "Tensor_Scalar"),
        operators=(f"__{_dunder}",),
    )
    op(
        f"{_name}.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
        doc=_doc,
        decomposition=lambda self, other, _name=_name: getattr(fn, _name)(
            as_operand(other, self), other
        ),
        namespaces=("torch",),
        tags=frozenset({"pointwise"}),
    )
    op(
        f"_r{_dunder[:-2]}(Tensor self, Tensor other) -> Tensor",
        doc=f"`{_name}` with the operands exchanged.",
        decomposition=_reflected(_name),
        numbers=True,
        kinds="i",
        operators=(f"__r{_dunder}",),
        namespaces=(),
    )
