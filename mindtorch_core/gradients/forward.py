"""The key ForwardGrad: kernels that run the op below and give its results their tangents.

No op has a formula for this. Its gradient is a linear function of the gradients ``v`` of its results:
``h(v)`` for a Jacobian J is J transposed times v. Differentiated by ``v``, and given the tangents of the
arguments, ``h`` gives J times these. So an op is recorded for stand-ins of its arguments, walked back
once for variables ``v``, and that walk is walked back. What is walked may be recorded itself: tangents
have gradients, and gradients tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ..dispatch.adapters import tensors_in
from ..dispatch.choice import choose
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.functions import fn
from ..dispatch.keys import (
    AUTOGRAD,
    BACKEND_BITS,
    FORWARD,
    DispatchKey,
    is_recording,
)
from ..dispatch.opdef import OpDef
from ..dispatch.registry import registry
from ..opdefs.packets import front
from ..tensors.autograd_state import INFERENCE
from ..tensors.tensor import Tensor
from ..values.containers import filled
from ..values.dtypes import FLOATING
from ..values.promotion import check_inplace_result
from .duals import changed, give, keep_tangents, tangent_of, unseen
from .engine import run
from .grad_mode import enable_grad
from .record import recording

__all__ = ["install"]


def forward_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the key runs for an op; None for what is made of others, or has no tangent."""
    d, schema = entry.definition, entry.schema
    if schema is None:
        return None
    if d is None:
        backends = below_mask & BACKEND_BITS
        backend = DispatchKey(1 << (backends.bit_length() - 1)) if backends else None
        if choose(entry, backend).rule == "implicit":
            return None
        return _composed(entry, resolve(below_mask))
    if d.functional is not None and d.functional.traits.copies:
        return _copying(resolve(below_mask))
    if d.functional is not None:
        return _in_place(d.functional)
    if isinstance(d.grad, str):
        return _constant(resolve(below_mask))
    if d.grad is None:
        return _refusing(entry, resolve(below_mask)) if d.decomposition is None else d.decomposition
    if d.traits.view:
        return _viewing(entry, resolve(below_mask))
    shares = any(r.alias and not r.alias.is_write for r in schema.returns)
    if shares and d.decomposition is not None:
        return d.decomposition  # its parts say whether the result is a view
    return _pushing(entry, d, resolve(below_mask))


def install() -> None:
    """Serve the key."""
    registry.wrappers[DispatchKey.ForwardGrad] = forward_kernel


def _results(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


def _new(results: list[Any], args: Any) -> list[tuple[int, Tensor]]:
    """The tensors among results that are no arguments, with their places."""
    given = {id(t) for t in tensors_in(args)}
    found = [(i, r) for i, r in enumerate(results) if isinstance(r, Tensor) and id(r) not in given]
    for _, r in found:
        r._keys &= ~FORWARD
    return found


def _constant(below: Kernel) -> Kernel:
    """An op whose results do not move."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        result = unseen(below, *args, **kwargs)
        _new(_results(result), (args, kwargs.values()))
        return result

    return kernel


def _composed(entry: OpEntry, below: Kernel) -> Kernel:
    """A third party's op: what its kernel calls gives tangents, or it has not said its derivative."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        result = below(*args, **kwargs)
        moved = any(tangent_of(t) is not None for t in tensors_in((args, *kwargs.values())))
        given = [t for t in tensors_in((result,)) if t._dtype.category >= FLOATING]
        if moved and any(tangent_of(t) is None for t in given):
            raise _unknown(entry)
        return result

    return kernel


def _refusing(entry: OpEntry, below: Kernel) -> Kernel:
    """An op that nobody has said the derivative of."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        result = unseen(below, *args, **kwargs)
        moved = any(tangent_of(t) is not None for t in tensors_in((args, *kwargs.values())))
        if moved and any(t._dtype.category >= FLOATING for t in tensors_in((result,))):
            raise _unknown(entry)
        return result

    return kernel


def _unknown(entry: OpEntry) -> NotImplementedError:
    return NotImplementedError(
        f"Trying to use forward AD with {entry.name.partition('::')[2]} that does not support it because "
        f"it has not been implemented yet."
    )


def _viewing(entry: OpEntry, below: Kernel) -> Kernel:
    """A view: its tangent is the same view of the tangent."""

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        result = unseen(below, self, *args, **kwargs)
        tangent = tangent_of(self)
        new = _new(_results(result), (self,))
        if tangent is not None:
            moved = _results(unseen(front(entry), tangent, *args, **kwargs))
            for i, r in new:
                if r._dtype.category >= FLOATING:
                    unseen(give, r, moved[i])
        return result

    return kernel


# ---- in place -----------------------------------------------------------------------------------


def _copying(below: Kernel) -> Kernel:
    """``copy_``: the tangent is copied as well."""

    def kernel(self: Tensor, src: Any, *args: Any, **kwargs: Any) -> Tensor:
        tangent = tangent_of(src)  # before it changes, if it is the same
        unseen(below, self, src, *args, **kwargs)
        if src is not self:
            unseen(changed, self, tangent)
        return self

    return kernel


def _in_place(functional: OpDef) -> Kernel:
    """The in-place form of an op: compute, then copy. What formulas need is as it was before."""

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        def as_it_is(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return filled(type(value), map(as_it_is, value))
            shown = isinstance(value, Tensor) and value._storage is storage
            return value.clone() if shown else value

        storage = self._own_storage()
        given = {name: as_it_is(value) for name, value in kwargs.items()}
        result = front(registry.entry(functional.name))(*map(as_it_is, (self, *args)), **given)
        check_inplace_result(self, result._shape, result._dtype)
        copied: Tensor = front(registry.entry("copy_"))(self, result)
        return copied

    return kernel


# ---- ops with a gradient ------------------------------------------------------------------------


def _pushing(entry: OpEntry, d: OpDef, below: Kernel) -> Kernel:
    """An op with gradient formulas."""
    record = recording(entry, d, guarded=False)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = below(*args, **kwargs)
        results = _results(result)
        new = _new(results, (args, kwargs.values()))
        moved = [(i, r) for i, r in new if r._dtype.category >= FLOATING]
        if not moved:
            return result
        tangents = _pushed(record, args, kwargs, result, moved)
        for (_, r), tangent in zip(moved, tangents, strict=True):
            if tangent is not None:
                give(r, tangent)
        meta = moved[0][1]._autograd
        if meta is not None:
            keep_tangents(meta.node, results)
        return result

    def kernel(*args: Any, **kwargs: Any) -> Any:
        try:
            return unseen(call, *args, **kwargs)
        except NotImplementedError as error:
            if "derivative" not in str(error):
                raise
        if d.decomposition is None:
            raise _unknown(entry)
        return d.decomposition(*args, **kwargs)

    return kernel


def _pushed(
    record: Callable[[Kernel], Kernel],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    result: Any,
    moved: list[tuple[int, Tensor]],
) -> list[Tensor | None]:
    """The tangents of results.

    Args:
        record: makes the recording kernel of the op.
        args: of the call.
        kwargs: of the call.
        result: what it returned.
        moved: the results that may have a tangent, and their places among all.
    """
    given = [*tensors_in((args, kwargs.values()))]
    duals = {id(t): (t, tangent) for t in given if (tangent := tangent_of(t)) is not None}
    if not duals:
        return [None] * len(moved)
    tangents = [tangent for _, tangent in duals.values()]
    recorded = is_recording() and any(t._keys & AUTOGRAD for t in (*given, *tangents))
    with enable_grad():
        stands = {n: _stand_in(t, recorded) for n, (t, _) in duals.items()}
        plain = _mapped(_detached, result)

        def instead(t: Tensor) -> Tensor:
            return stands[id(t)] if id(t) in stands else t.clone() if t._keys & INFERENCE else t

        made = record(lambda *_, **__: plain)(
            *_mapped(instead, args), **{n: _mapped(instead, v) for n, v in kwargs.items()}
        )
        places = _results(made)
        outs = [places[i] for i, _ in moved if places[i]._keys & AUTOGRAD]
        ends = [_passing(fn.zeros_like(o.detach())) for o in outs]
        targets: list[Any] = [stand._autograd for stand in stands.values()]
        back = run([o._autograd for o in outs], list(ends), True, True, targets)
    leading = [
        (h._autograd, tangent)
        for h, tangent in zip(back, tangents, strict=True)
        if h is not None and h._keys & AUTOGRAD
    ]
    starts, seeds = [place for place, _ in leading], [seed for _, seed in leading]
    metas: list[Any] = [end._autograd for end in ends]
    found = run(starts, seeds, recorded, recorded, metas) if starts else [None] * len(ends)
    by_place = dict(zip(map(id, outs), found, strict=True))
    return [_of_result(r, by_place.get(id(places[i])), tangents) for i, r in moved]


def _of_result(r: Tensor, g: Tensor | None, tangents: list[Tensor]) -> Tensor:
    """The tangent of a result, in memory of its own: what changes in place changes no other tensor."""
    if g is None:
        return fn.zeros_like(r.detach())
    for t in tangents:
        if g is t or (g._storage is not None and g._storage is t._storage):
            return g.clone()
    return g


def _stand_in(t: Tensor, recorded: bool) -> Tensor:
    """An argument as an op is differentiated by it: its other uses are not."""
    if recorded and t._keys & AUTOGRAD:
        return t.view(t._shape)
    return _passing(_detached(t))


def _passing(t: Tensor) -> Tensor:
    """A leaf that nobody differentiates by but this file: `torch.func` does not take it for another's."""
    t._transform_depth = inf  # type: ignore[attr-defined]
    return t.requires_grad_()


def _detached(t: Tensor) -> Tensor:
    """A tensor without history that may be saved: not one of inference mode."""
    return t.clone() if t._keys & INFERENCE else t.detach()


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of each tensor in a value."""
    if isinstance(value, list | tuple):
        return filled(type(value), [_mapped(function, v) for v in value])
    return function(value) if isinstance(value, Tensor) else value
