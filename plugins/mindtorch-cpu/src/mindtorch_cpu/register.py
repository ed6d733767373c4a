"""The CPU's kernels by op, collected as their modules are imported and registered by the plugin.

So an import of one of those modules registers nothing: what belongs to the plugin is registered, and
taken back, by its loading.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from mindtorch_core.backend import in_format
from mindtorch_core.dispatch.registry import registry

__all__ = ["KERNELS", "composition_of", "kernel", "register", "register_in_format", "rule_of"]

KERNELS: Final[dict[str, Callable[..., Any]]] = {}  # by qualified name


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
    """Name a function as an op's kernel. It handles differing dtypes and numbers itself."""
    KERNELS[f"aten::{name}"] = fn


def register_in_format(name: str, fn: Callable[..., Any]) -> None:
    """As `register`, for a kernel with row-major results where those of the composition may not be."""
    of = getattr(composition_of(name), "follows", None)
    register(name, fn if of is None else in_format(fn, of))


def kernel(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: name a function as the kernel of ops."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            register(name, fn)
        return fn

    return decorate
