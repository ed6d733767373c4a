"""Meta kernels: each op's own rule, wrapped so that it gives tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import OpEntry, registry
from mindtorch_core.operators.define import OpDef, TensorSpec
from mindtorch_core.operators.variants import check_inplace_result
from mindtorch_core.tensor import Tensor

from .creation import made
from .runtime import no_data

__all__ = ["meta_kernel", "register_all"]


def meta_kernel(d: OpDef) -> Callable[..., Any] | None:
    """The Meta kernel of an op, from its rule; None where the op is a composition or a view."""
    rule = d.rule
    if d.data_dependent:
        return lambda *args, **kwargs: no_data(d.name)
    if rule is None or d.view:
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
        return tuple(None if each is None else made(each) for each in spec)

    return infer


def register(entries: Iterable[OpEntry]) -> None:
    """Register a kernel for each op that needs one; ops that come later fall back to their rule."""
    for entry in entries:
        d = entry.definition
        fn = None if d is None else meta_kernel(d)
        if fn is not None:
            registry.register_kernel(entry.name, DispatchKey.Meta, fn, promoted=True)


def register_all() -> None:
    """Register kernels for the ops that are defined now, and for the others when they are."""
    now = registry.defined()
    known = set(now)
    register(now)
    registry.rest.when_defined(lambda: register(e for e in registry if e not in known))


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


register_all()
registry.register_fallback(DispatchKey.Meta, fallback)
