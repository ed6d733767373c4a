"""Registering the CPU's kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

__all__ = ["kernel", "register"]


def register(name: str, fn: Callable[..., Any]) -> None:
    """Register a kernel that handles dtypes and numbers itself."""
    registry.register_kernel(name, DispatchKey.CPU, fn, promoted=True)


def kernel(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: register a function as the kernel of the named ops."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            register(name, fn)
        return fn

    return decorate
