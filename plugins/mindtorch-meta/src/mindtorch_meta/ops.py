"""Meta kernels: each op's own rule, wrapped so that it gives tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from mindtorch_core.backend import OpDef, Tensor, TensorSpec, check_inplace_result
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry

from .creation import made
from .runtime import no_data

__all__ = ["meta_kernel", "register_all"]


def meta_kernel(d: OpDef) -> Callable[..., Any] | None:
    """The Meta kernel of an op, from its rule; None where the op is a composition or a view."""
    rule = d.rule
    if d.traits.data_dependent:
        return lambda *args, **kwargs: no_data(d.name)
    if rule is None or d.traits.view:
        return None
    if d.functional is not None:

        def write(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            spec = rule(self, *args, **kwargs)
            check_inplace_result(self, spec.shape, spec.dtype)
            return self

        return write

    def infer(*args: Any, **kwargs: Any) -> Any:
        spec = rule(*args, **kwargs)
        if spec.__class__ is TensorSpec:
            return made(spec)
        return tuple(None if each is None else made(each) for each in spec) or None

    return infer


def register(key: DispatchKey, names: Iterable[str]) -> None:
    """Register a kernel for each op that needs one; other ops than the core's fall back."""
    for name in names:
        d = registry.entry(name).definition
        fn = None if d is None else meta_kernel(d)
        if fn is not None:
            registry.register_kernel(name, key, fn, promoted=True)


def register_all(key: DispatchKey) -> None:
    """Register kernels for the core's ops as they are defined; other ops fall back to their rule."""
    registry.when_defined(functools.partial(register, key))
    registry.register_fallback(key, fallback)


def fallback(name: str, *args: Any, **kwargs: Any) -> Any:
    """Serve ops that were defined after this plugin was loaded.

    Raises:
        NotImplementedError: if the op has no shape rule.
    """
    entry = registry.entry(name)
    d = entry.definition
    fn = None if d is None else meta_kernel(d)
    if fn is None:
        raise NotImplementedError(
            f"{name}: attempted to run this operator with Meta tensors, but there was no fake impl or "
            f"Meta kernel registered. Give its definition a rule, or register a kernel at "
            f"DispatchKey.Meta."
        )
    return fn(*args, **kwargs)
