"""Registering the CPU's kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

__all__ = ["composition_of", "kernel", "register", "rule_of"]


@functools.cache
def rule_of(name: str) -> Callable[..., Any]:
    """The shape-and-dtype rule of an op, which also raises its errors."""
    d = registry.entry(name).definition
    if d is None or d.rule is None:
        raise LookupError(f"{name} has no rule")
    return d.rule


def composition_of(name: str) -> Callable[..., Any]:
    """The core's composition of an op, for operands that a kernel does not serve."""
    d = registry.entry(name).definition
    if d is None or d.decomposition is None:
        raise LookupError(f"{name} is not made of other ops")
    return d.decomposition


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
