"""Types that libraries name when imported, and that nothing here has: quantized, symbolic, of few bits.

They can be compared, printed and pickled. A tensor of such a dtype is refused where it would be made.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from .dtypes import COMPLEX, FLOATING, INTEGER, dtype

__all__ = [
    "NAMED_DTYPES",
    "QSCHEMES",
    "SymBool",
    "SymFloat",
    "SymInt",
    "qscheme",
]


class _Named(dtype):
    """A dtype that no tensor has."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return _dtype_named, (self.name,)


def _dtype_named(name: str) -> dtype:
    return NAMED_DTYPES[name]


NAMED_DTYPES: Final[dict[str, dtype]] = {
    name: _Named(name, label, size, category, None, index)
    for name, label, size, category, index in (
        ("complex32", "ComplexHalf", 4, COMPLEX, 8),
        ("qint8", "QInt8", 1, INTEGER, 12),
        ("quint8", "QUInt8", 1, INTEGER, 13),
        ("qint32", "QInt32", 4, INTEGER, 14),
        ("quint4x2", "QUInt4x2", 1, INTEGER, 16),
        ("quint2x4", "QUInt2x4", 1, INTEGER, 17),
        ("bits1x8", "Bits1x8", 1, INTEGER, 18),
        ("bits2x4", "Bits2x4", 1, INTEGER, 19),
        ("bits4x2", "Bits4x2", 1, INTEGER, 20),
        ("bits8", "Bits8", 1, INTEGER, 21),
        ("bits16", "Bits16", 2, INTEGER, 22),
        *((f"uint{n}", f"UInt{n}", 1, INTEGER, 29 + n) for n in range(1, 8)),
        *((f"int{n}", f"Int{n}", 1, INTEGER, 36 + n) for n in range(1, 8)),
        ("float4_e2m1fn_x2", "Float4_e2m1fn_x2", 1, FLOATING, 45),
    )
}


class qscheme:
    """How a quantized tensor keeps scale and zero point."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return _qscheme_named, (self.name,)


def _qscheme_named(name: str) -> qscheme:
    return QSCHEMES[name]


QSCHEMES: Final[dict[str, qscheme]] = {
    name: qscheme(name)
    for name in (
        "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric",
        "per_channel_affine_float_qparams",
    )
}  # fmt: skip


class _Symbolic:
    """A number of a program that is being traced; none is made here."""

    def __init__(self, node: Any = None) -> None:
        self.node = node
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(
            f"torch.{type(self).__name__} stands for numbers of traced programs, and nothing is traced here: "
            f"use Python's numbers"
        )


class SymInt(_Symbolic):
    """An integer of a traced program, for ``isinstance``."""


class SymFloat(_Symbolic):
    """A float of a traced program, for ``isinstance``."""


class SymBool(_Symbolic):
    """A truth value of a traced program, for ``isinstance``."""
