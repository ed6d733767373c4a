"""What HCCL does not reduce itself, and how it is reduced all the same.

HCCL has no bits, no uint8, no float64, and some types without products. Small integers are widened where
that is exact; everything else is gathered and reduced on each NPU, in the order of the ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mindtorch_core import Tensor
from mindtorch_core.backend import dtype, int32

from ..runtime import RUNTIME

__all__ = ["fold", "native", "wider"]

_COMMON: Final = frozenset({"int8", "int32", "float16", "float32"})
_SECOND: Final = _COMMON | {"int16", "int64", "bfloat16"}
_FIRST: Final = _COMMON | {"int64"}
_FIRST_NAMES: Final = ("Ascend910A", "Ascend910Pr", "Ascend910Premium")
_NO_PRODUCT: Final = frozenset({"int16", "bfloat16"})
_WIDENED: Final = frozenset({"uint8", "int16"})

_FOLDS: Final[dict[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "sum": lambda a, b: a.add_(b),
    "product": lambda a, b: a.mul_(b),
    "min": lambda a, b: a.copy_(a.minimum(b)),
    "max": lambda a, b: a.copy_(a.maximum(b)),
    "band": lambda a, b: a.bitwise_and_(b),
    "bor": lambda a, b: a.bitwise_or_(b),
    "bxor": lambda a, b: a.bitwise_xor_(b),
}


def native(kind: str, reduction: str) -> bool:
    """Whether HCCL reduces a dtype in a way on this chip."""
    if reduction not in ("sum", "product", "min", "max"):
        return False
    chip = RUNTIME.name()
    if chip.startswith("Ascend310"):
        return kind in _COMMON or (kind == "int16" and reduction == "sum")
    first = chip == "Ascend910B" or chip.startswith(_FIRST_NAMES)  # 910B1 to B4 are the second
    if kind not in (_FIRST if first else _SECOND):
        return False
    return not (reduction == "product" and kind in _NO_PRODUCT)


def wider(kind: str, reduction: str) -> dtype | None:
    """The dtype in which another one is reduced with the same result, or None."""
    return int32 if kind in _WIDENED and native("int32", reduction) else None


def fold(rows: Tensor, reduction: str) -> Tensor:
    """The rows of a tensor, reduced into the first one of them."""
    found = rows[0]
    for row in range(1, rows.shape[0]):
        _FOLDS[reduction](found, rows[row])
    return found
