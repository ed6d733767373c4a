"""What is said of operators that fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_core.backend import Tensor, contiguous_strides, tensors_in

from .signatures import Operator

__all__ = ["APART", "UnsupportedOperator", "call_text", "refused_argument"]

# What compiled calls say of such tensors; `refused_argument` names the devices.
APART: Final = "tensors on several devices"


class UnsupportedOperator(RuntimeError):
    """The installed toolkit does not have an operator: compute it in another way.

    Attributes:
        operator: its name.
    """

    def __init__(self, operator: str, toolkit: str) -> None:
        self.operator = operator
        super().__init__(
            f"{toolkit} has no operator aclnn{operator}.\n"
            f"  fix: install a newer toolkit, or move the computation to the CPU."
        )


def call_text(symbol: str, row: Operator, arguments: Sequence[Any]) -> str:
    """A call as text: the function and what each argument is, if that is still known."""
    if not arguments:
        return symbol
    shown = (
        f"{name}: {_shown(value)}"
        for (name, _), value in zip(row.parameters, arguments, strict=True)
    )
    return f"{symbol}({', '.join(shown)})"


def refused_argument(row: Operator, arguments: Sequence[Any], error: Exception) -> TypeError:
    """The error for an argument of a wrong kind, before anything was called."""
    reason = f"{type(error).__name__}: {error}"
    if str(error) == APART:
        devices = dict.fromkeys(str(t.raw_device) for t in tensors_in(arguments))
        reason = f"its tensors are on {' and '.join(devices)}"
    given = zip(row.parameters, arguments, strict=True)
    tensors = [(name, value) for (name, kind), value in given if kind in ("T", "T>", "T±")]
    for name, value in sorted(tensors, key=lambda pair: pair[1] is None):  # some may be None
        trouble = _tensor_trouble(value)
        if trouble and (value is not None or isinstance(error, AttributeError)):
            reason = f"{name} must be a tensor on an NPU, got {trouble}"
            break
    return TypeError(f"{call_text('aclnn' + row.name, row, arguments)}: {reason}")


def _tensor_trouble(value: Any) -> str:
    """Why a value cannot be passed as a tensor; empty if it can."""
    if value is None:
        return "None"
    if not isinstance(value, Tensor):
        return f"{type(value).__name__} {value!r}"
    storage = value.raw_storage
    if storage is None or not hasattr(storage.memory, "ptr"):
        waits = storage is not None and storage.pending is not None
        return f"one on {value.device}" + (" that is not computed yet" if waits else "")
    return ""


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        shape = tuple(value.raw_shape)
        strides = value.raw_geometry()[0]
        text = f"{value.raw_dtype.name} {list(shape)}"
        return text if strides == contiguous_strides(shape) else f"{text} strides {list(strides)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_shown(each) for each in value)}]"
    return repr(value)
