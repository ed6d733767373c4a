"""``torch.onnx``: names for libraries; nothing is exported."""

from __future__ import annotations

from typing import Any

from ..absent import names_of

__all__ = ["is_in_onnx_export", "register_custom_op_symbolic", "unregister_custom_op_symbolic"]

__getattr__ = names_of(__name__)


def is_in_onnx_export() -> bool:
    """False: nothing is being exported."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Any, opset_version: int) -> None:
    """Do nothing: there is no exporter that would call the function."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Do nothing: nothing is registered."""
