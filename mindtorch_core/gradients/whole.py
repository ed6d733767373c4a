"""A backend's own kernel for a composition, recorded as one node.

Such an op has no gradient formula. Backward computes the composition anew from the saved arguments and
differentiates that, with whatever kernels the backend has for its parts and their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ..dispatch.adapters import tensors_in
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import AUTOGRAD, is_grad_enabled, is_recording
from ..tensors.tensor import Tensor
from ..values.containers import filled
from .custom_call import FunctionCtx, FunctionNode, record_call
from .derivative import formula_needs
from .engine import run
from .grad_mode import enable_grad
from .names import node_name

__all__ = ["whole_kernel"]


class _Call(FunctionCtx):
    """What a node keeps of its call besides the tensors in it."""

    _materialize = False
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any]


class _WholeNode(FunctionNode):
    """Node of a call of a backend's own kernel; each op has a subclass."""

    __slots__ = ()
    ctx: _Call
    custom: ClassVar[bool] = False
    shows: ClassVar[bool] = False
    anew: ClassVar[Callable[..., Any]]

    def run(self, *grads: Any) -> Any:
        """The gradients of the composition, computed anew."""
        recorded = is_grad_enabled()
        tensors = iter(self.ctx.saved_tensors)
        edges = iter(self.edges)
        sources: list[Tensor | None] = []

        def source() -> Any:
            """The next saved tensor as it is differentiated: its other uses are not."""
            t: Any = next(tensors)
            if next(edges) is None:
                sources.append(None)
                return t.detach()
            t = t.view(t._shape) if recorded else t.detach().requires_grad_()
            sources.append(t)
            return t

        with enable_grad():
            args, kwargs = _with(self.ctx.args, source), _with(self.ctx.kwargs, source)
            result = type(self).anew(*args, **kwargs)
            made = list(result) if isinstance(result, list | tuple) else [result]
        places = [(t, g) for t, g in zip(made, grads, strict=False) if _wanted(t, g)]
        starts: list[Any] = [t._autograd for t, _ in places]
        targets: list[Any] = [t._autograd for t in sources if t is not None]
        given = [g if g._dtype is t._dtype else g.to(t._dtype) for t, g in places]
        found = iter(run(starts, given, recorded, recorded, targets))
        return tuple([None if t is None else next(found) for t in sources])


def _wanted(made: Tensor | None, g: Any) -> bool:
    return made is not None and g is not None and bool(made._keys & AUTOGRAD)


def _with(values: Any, source: Callable[[], Any]) -> Any:
    """Arguments of a call, with what ``source`` gives in the place of each tensor."""
    if isinstance(values, dict):
        return {name: _with(value, source) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return type(values)([_with(value, source) for value in values])
    return source() if values is _TENSOR else values


# Stands for a tensor in the arguments that a node keeps: the tensors are saved apart, with versions.
_TENSOR = object()


def _without(values: Any) -> Any:
    """Arguments of a call without their tensors."""
    if isinstance(values, dict):
        return {name: _without(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return type(values)([_without(value) for value in values])
    return _TENSOR if hasattr(values, "_keys") else values


def _needed(
    conditions: Mapping[str, Callable[..., bool]], names: Sequence[str], args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Arguments with None for those that the row says backward does not need."""
    given = dict(zip(names, args, strict=False))
    for name, condition in conditions.items():
        if name in given and not condition(*[given[n] for n in formula_needs(condition)]):
            given[name] = None
    return tuple(given.values())


def whole_kernel(entry: OpEntry, below: Kernel) -> Kernel:
    """What the Autograd keys run for a composition that a backend has a kernel of its own for."""
    d, schema = entry.definition, entry.schema
    if d is None or schema is None or d.decomposition is None:
        raise TypeError(f"{entry.name} is no composition")
    parts = d.decomposition
    anew = d.remade or parts
    members = {"__slots__": (), "anew": staticmethod(anew)}
    node_class = type(node_name(d), (_WholeNode,), members)
    draws = d.traits.draws_if
    names = [a.name for a in schema.positional]
    at = next((i for i, name in enumerate(names) if name == draws), len(schema.arguments))

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if draws and (args[at] if at < len(args) else kwargs.get(draws)):
            return parts(*args, **kwargs)
        kept = _needed(d.saved_if, names, args) if d.saved_if else args
        flat = [*tensors_in(kept), *tensors_in(tuple(kwargs.values()))]
        if not (is_recording() and any(t._keys & AUTOGRAD for t in flat)):
            return below(*args, **kwargs)
        ctx = _Call()
        ctx.args, ctx.kwargs = _without(kept), _without(kwargs)
        several: type | None = None

        def forward() -> list[Any]:
            nonlocal several
            result = below(*args, **kwargs)
            several = type(result) if isinstance(result, list | tuple) else None
            ctx._to_save = tuple(flat)
            return [result] if several is None else list(result)

        outputs = record_call(node_class, ctx, flat, forward)
        return outputs[0] if several is None else filled(several, outputs)

    kernel.__doc__ = (
        "records one node: runs the kernel below; backward computes the composition anew and "
        "differentiates that"
    )
    return kernel
