"""Modules made without drawing values that are overwritten anyway."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from ..modules.module import Module

__all__ = ["skip_init"]

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """A module whose parameters have whatever values were in memory.

    Args:
        module_cls: its class, which takes a ``device``.
        *args: the class's.
        **kwargs: the class's; ``device`` is where the module will be.

    Raises:
        RuntimeError: for a class that is none of a module, or takes no ``device``.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    makers = [vars(c)["__init__"] for c in module_cls.__mro__ if "__init__" in vars(c)]
    if not any("device" in inspect.signature(make).parameters for make in makers):
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", None) or "cpu"
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
