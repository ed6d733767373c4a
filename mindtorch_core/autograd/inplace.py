"""In-place ops: version counters, and history when the changed tensor is a view.

A recorded in-place op replaces the tensor's history by its own node. If the tensor is a view, the
history that changes is its base's: the base gets a `CopySlices` node, which hands the view's part
of a gradient to the op's node and the rest on unchanged, and every live view of the base gets the
history "a strided part of the base as it is now".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..autograd_state import AutogradMeta
from ..devices import TABLE
from ..dispatch.keys import AUTOGRAD
from ..dispatch.registry import Kernel, OpEntry, registry
from ..shapes import Shape
from ..tensor import Tensor, make_tensor
from .formulas import as_strided_backward
from .grad_mode import is_grad_enabled, no_grad
from .node import Node

__all__ = ["inplace_kernel", "version_kernel"]

Geometry = tuple[Shape, Shape, int]


def version_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What ADInplaceOrView runs: bump the version of what an op writes. None for other ops."""
    schema = entry.schema
    if schema is None or not schema.is_mutable:
        return None
    below = resolve(below_mask)
    first = schema.arguments[0]
    if first.alias is None or not first.alias.is_write:
        raise TypeError(f"{entry.name} writes an argument other than its first one: {schema}")

    # Writing one number everywhere is the same however often an element is shown.
    idempotent = entry.name in ("aten::fill_.Scalar", "aten::fill_.Tensor", "aten::zero_")
    copies = entry.name == "aten::copy_"

    def writing(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if self._base is not None:
            if copies and args[0] is self:
                return self
            refuse_views(self, idempotent)
        result = below(self, *args, **kwargs)
        s = self._storage
        if s is None:
            s = self._own_storage()
        s.version += 1
        return result

    return writing


def refuse_views(t: Tensor, idempotent: bool) -> None:
    """Refuse to write views whose elements share memory, or whose base's history would miss it.

    Raises:
        RuntimeError: if ``t`` is such a view.
    """
    base = t._base
    if base is not None and base._keys & AUTOGRAD and not t._keys & AUTOGRAD and is_grad_enabled():
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
            "Make the view where gradients are enabled, or change it under torch.no_grad()."
        )
    if not idempotent and shares_elements(t):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single "
            "memory location. Please clone() the tensor before performing the operation."
        )


def shares_elements(t: Tensor) -> bool:
    """Whether a view shows some element several times, as `expand` makes it do."""
    return any(step == 0 and n > 1 for step, n in zip(t._geometry()[0], t._shape, strict=True))


def inplace_kernel(entry: OpEntry, below: Kernel) -> Kernel:
    """What the Autograd keys run for an in-place op."""
    from .record import formula_needs, recorder

    d = entry.definition
    if d is None or d.functional is None:
        raise TypeError(f"{entry.name} is not an in-place variant")
    functional = registry.entry(d.functional.name)
    formulas = d.grad.values() if isinstance(d.grad, Mapping) else ()
    needs_self = any("self" in formula_needs(f) for f in formulas)
    make = recorder(functional)

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        refuse_leaves(self)
        # The node is recorded for a stand-in that is what the tensor was before the op.
        if needs_self:
            with no_grad():
                shadow = self.clone()
        else:
            shadow = make_tensor(
                None, self._shape, self._dtype, self._device, 0, self._storage, self._layout
            )
        shadow._autograd, shadow._keys = self._autograd, self._keys
        base = self._base
        make(lambda _, *a, **k: below(self, *a, **k))(shadow, *args, **kwargs)
        meta = self._autograd
        if not self._keys & AUTOGRAD or meta is None or meta.node is None:
            return self
        if base is not None:
            _rebase(base, self, meta.node)
        elif self._storage is not None:
            _refresh_views(self)
        return self

    return kernel


def refuse_leaves(t: Tensor) -> None:
    """Refuse in-place changes of leaves that require grad.

    Raises:
        RuntimeError: if ``t`` is such a leaf or a view of one.
    """
    if t._keys & AUTOGRAD and t.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Wrap it in "
            "torch.no_grad() to change its value without recording."
        )
    base = t._base
    if base is not None and base._keys & AUTOGRAD and base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Wrap it in torch.no_grad() to change its value without recording."
        )


def geometry(t: Tensor) -> Geometry:
    """Shape, strides and offset of a tensor."""
    strides, offset = t._geometry()
    return t._shape, strides, offset


class CopySlices(Node):
    """History of a base after an in-place op on one of its views.

    Attributes:
        inner: the op's own node, for the view.
        base, view: geometries.
    """

    __slots__ = ("base", "inner", "view")

    def __init__(
        self, edge: AutogradMeta | None, inner: Node, base: Geometry, view: Geometry
    ) -> None:
        super().__init__((edge, *inner.edges[1:]), (), None)
        self.inner = inner
        self.base = base
        self.view = view

    def apply(self, *grads: Tensor | None) -> tuple[Any, ...]:
        """Hand the view's slice of the gradient through the op, keep the rest."""
        from ..operators.define import fn

        g = grads[0]
        if g is None:
            return (None,) * len(self.edges)
        shape, strides, offset = self.base
        dense = fn.empty_strided(shape, strides, dtype=g._dtype, device=g._device)
        whole = dense.copy_(g)
        vshape, vstrides, voffset = self.view
        part = whole.as_strided(vshape, vstrides, voffset - offset)
        inner = self.inner.apply(part.clone())
        if inner[0] is None:
            part.zero_()
        else:
            part.copy_(inner[0])
        return (whole, *inner[1:])

    def release(self) -> None:
        """Free what the op's formulas needed."""
        super().release()
        self.inner.release()


class AsStridedBackward0(Node):
    """History of a view, as a strided part of its base."""

    __slots__ = ("base", "view")

    def __init__(self, edge: AutogradMeta | None, base: Geometry, view: Geometry) -> None:
        super().__init__((edge,), (), None)
        self.base = base
        self.view = view

    def apply(self, *grads: Tensor | None) -> tuple[Any, ...]:
        """Put the view's gradient into its place in the base."""
        g = grads[0]
        return (None if g is None else as_strided_backward(g, self.base, self.view),)


def _rebase(base: Tensor, view: Tensor, inner: Node) -> None:
    """Make ``inner``, the node of an in-place op on ``view``, part of the base's history."""
    edge = base._autograd if base._keys & AUTOGRAD else None
    base._autograd = AutogradMeta(CopySlices(edge, inner, geometry(base), geometry(view)))
    base._keys |= TABLE[base._device.type].autograd_key
    _refresh_views(base)


def _refresh_views(base: Tensor) -> None:
    """Give every live view of ``base`` the history that its base has now."""
    meta, storage = base._autograd, base._storage
    if storage is None:
        return
    for v in storage.live_views():
        if v._base is base:
            v._autograd = AutogradMeta(AsStridedBackward0(meta, geometry(base), geometry(v)))
            v._keys |= base._keys & AUTOGRAD
