"""The Autograd keys: kernels that run the op below and record a node for backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import (
    ADINPLACE,
    AUTOGRAD,
    AUTOGRAD_OF,
    UNRESOLVED,
    DispatchKey,
    without_gradients,
)
from ..dispatch.opdef import OpDef
from ..dispatch.registry import registry
from ..dispatch.schema import OperatorSchema
from ..tensors.autograd_state import INFERENCE, AutogradMeta
from ..tensors.tensor import Tensor, make_tensor
from . import fallback, inference, inplace, unresolved, versions
from .compositions import is_decomposed, unrecorded
from .derivative import Derivative, formula_needs
from .hooks import move_kept
from .node import Node
from .node_classes import node_class
from .recorder import recorder
from .whole import whole_kernel

__all__ = ["autograd_kernel", "install"]


class _Made:
    """What was generated for a definition. It does not refer to it, which would keep it.

    Attributes:
        schema: the schema it was generated from; another one may be registered over it.
        node: the class of the op's nodes.
        makers: of recording kernels, by whether inference tensors are looked for, and whether the
            op's in-place form is recorded.
    """

    def __init__(self, schema: OperatorSchema | None, node: type[Node]) -> None:
        self.schema = schema
        self.node = node
        self.makers: dict[tuple[bool, bool], Callable[..., Kernel]] = {}


# By definition: what a scope of the registry undoes is forgotten.
_MADE: Final[WeakKeyDictionary[OpDef, _Made]] = WeakKeyDictionary()


def autograd_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What the Autograd keys run for an op; None where there is nothing to record."""
    d = entry.definition
    if d is None:
        return fallback.warning_kernel(entry, resolve(below_mask)) if entry.has_schema else None
    if isinstance(d.grad, str) and d.functional is None:
        return None
    below = resolve(below_mask)
    if is_decomposed(entry, below_mask):
        below = unrecorded(below)
    if d.grad is None and d.functional is None and d.decomposition is not None:
        return whole_kernel(entry, below)
    guarded = bool(below_mask & INFERENCE)
    if d.functional is not None:
        return inplace_kernel(entry, below, guarded=guarded)
    return recording(entry, d, guarded=guarded)(below)


def recording(
    entry: OpEntry, d: OpDef, *, guarded: bool, inplace: bool = False
) -> Callable[..., Kernel]:
    """The generated maker of recording kernels for an op: ``maker(below) -> kernel``.

    Args:
        entry: the op.
        d: its definition.
        guarded: whether an argument may be an inference tensor; it is then refused if it would
            have to be saved.
        inplace: whether its in-place form is recorded.
    """
    made = _MADE.get(d)
    if made is None or made.schema is not entry.schema:
        made = _MADE[d] = _Made(entry.schema, node_class(Derivative(entry)))
    maker = made.makers.get((guarded, inplace))
    if maker is None:
        maker = recorder(Derivative(entry), made.node, guarded=guarded, inplace=inplace)
        made.makers[guarded, inplace] = maker
    return maker


def inplace_kernel(entry: OpEntry, below: Kernel, *, guarded: bool = False) -> Kernel:
    """What the Autograd keys run for an in-place op.

    Args:
        entry: the op.
        below: what runs it.
        guarded: whether an argument may be an inference tensor.
    """
    d = entry.definition
    if d is None or d.functional is None:
        raise TypeError(f"{entry.name} is not an in-place variant")
    functional = registry.entry(d.functional.name)
    formulas = d.grad.values() if isinstance(d.grad, Mapping) else ()
    needed = {name for f in formulas for name in formula_needs(f)}
    needs_self = "self" in needed
    arguments = () if entry.schema is None else entry.schema.arguments[1:]
    needs_others = any(a.name in needed for a in arguments)
    make = recording(functional, d.functional, guarded=guarded, inplace=True)

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        inplace.refuse_leaves(self)
        # The node is recorded for a stand-in that is what the tensor was before the op.
        if needs_self:
            shadow = without_gradients(self.clone)
            keys = self._keys & ~UNRESOLVED
        else:
            shadow = make_tensor(
                None, self._shape, self._dtype, self._device, 0, self._storage, self._strided
            )
            keys = self._keys
        shadow._autograd, shadow._keys = self._autograd, keys
        others = args
        if needs_others:
            for a in args:
                if a is self or (a.__class__ is Tensor and a._storage is self._storage is not None):
                    others = tuple(_as_it_is(a, self) for a in args)
        try:
            make(lambda *_, **__: below(self, *args, **kwargs))(shadow, *others, **kwargs)
            _hand_on(self, shadow._autograd)
        except Exception:
            raise
        except BaseException:  # an interrupt
            inplace.lose_history(self, entry.name)
            raise
        return self

    return kernel


def _as_it_is(value: Any, changed: Tensor) -> Any:
    """A stand-in for what shows elements of a tensor that is about to change; other values as they are."""
    if value.__class__ is not Tensor:
        return value
    if value is not changed and (value._storage is None or value._storage is not changed._storage):
        return value
    shadow: Tensor = without_gradients(value.clone)
    shadow._autograd, shadow._keys = value._autograd, value._keys & ~UNRESOLVED
    return shadow


def _hand_on(t: Tensor, before: AutogradMeta | None) -> None:
    """Give what belongs to a tensor that changed in place the history that this made.

    Args:
        t: the tensor, with its own node if the change was recorded.
        before: its place in the graph before that.
    """
    meta, base = t._autograd, t._base
    if not t._keys & AUTOGRAD or meta is None or meta.node is None:
        return
    if before is not None and before.node is not None and before.node.hooks is not None:
        move_kept(before, t)
    if base is not None:
        inplace.rebase(base, t, meta.node)
    elif t._storage is not None:
        inplace.refresh_views(t, before)


def install() -> None:
    """Serve the Autograd keys, ADInplaceOrView, Inference, Conjugate and Negative."""
    for key in (*AUTOGRAD_OF.values(), DispatchKey.AutogradOther, DispatchKey.AutogradNestedTensor):
        registry.wrappers[key] = autograd_kernel
    registry.wrappers[ADINPLACE] = versions.version_kernel
    inference.install()
    unresolved.install()
