"""In-place ops: version counters, and history when the changed tensor is a view.

A recorded in-place op replaces the tensor's history by its own node. If the tensor is a view, the
history that changes is its base's: the base gets a `CopySlices` node, which hands the view's part
of a gradient to the op's node and the rest on unchanged, and every live view of the base gets the
history "a strided part of the base as it is now".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..autograd_state import AutogradMeta
from ..devices import TABLE
from ..dispatch.adapters import tensors_in
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import AUTOGRAD
from ..dispatch.opdef import OpDef
from ..dispatch.registry import registry
from ..dispatch.schema import OperatorSchema
from ..shapes import Shape, is_dense, numel
from ..tensor import Tensor, make_tensor
from .formulas import as_strided_backward
from .grad_mode import is_grad_enabled, no_grad
from .hooks import move_kept
from .node import Error, Node, freed_error, short_name

__all__ = [
    "inplace_kernel",
    "rebase",
    "refresh_views",
    "refuse_leaves",
    "version_kernel",
    "written",
    "written_places",
]

Geometry = tuple[Shape, Shape, int]
Place = tuple[int, str]

# Name of the attribute of views that inference mode made of tensors that require grad.
IN_INFERENCE: Final = "_made_in_inference_mode"


def written_places(schema: OperatorSchema | None) -> tuple[Place, ...]:
    """Where the arguments that an op writes are: position and name; keyword-only ones at -1."""
    arguments = () if schema is None else schema.arguments
    return tuple(
        (-1 if a.kwarg_only else i, a.name)
        for i, a in enumerate(arguments)
        if a.alias is not None and a.alias.is_write
    )


def written(
    places: tuple[Place, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Tensor]:
    """The tensors among a call's arguments that the op writes, those in lists included."""
    for i, name in places:
        yield from tensors_in((args[i] if 0 <= i < len(args) else kwargs.get(name),))


def version_kernel(
    entry: OpEntry, below_mask: int, resolve: Callable[[int], Kernel]
) -> Kernel | None:
    """What ADInplaceOrView runs: bump the version of what an op writes. None for other ops."""
    schema = entry.schema
    if schema is None or not schema.is_mutable:
        return None
    below = resolve(below_mask)
    places = written_places(schema)
    first = schema.arguments[0]
    if places != ((0, first.name),) or first.is_list or first.optional:
        return _writing_several(below, places)
    d = traits(entry)
    copies = d is not None and d.copies
    # Ops with formulas of their own; what others are made of checks its own arguments.
    elementwise = d is not None and d.grad is not None and not d.fills

    def writing(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        s = self._storage
        if s is not None and s.views is not None:
            if self._base is not None:
                if copies and args[0] is self:  # nothing to do, but counted
                    s.version += 1
                    return self
                refuse_views(entry, self)
            if elementwise:
                refuse_partners(self, args)
        before = 0 if s is None else s.version
        result = below(self, *args, **kwargs)
        s = self._storage
        if s is None:
            s = self._own_storage()
        if s.version == before or d is None:
            # Else the ops that an op of the core is made of have counted. What third parties' ops
            # do inside is counted as well as the ops themselves, as in PyTorch.
            s.version += 1
        return result

    return writing


def _writing_several(below: Kernel, places: tuple[Place, ...]) -> Kernel:
    """`version_kernel` of ops that write other arguments than the first, or several, or lists."""

    def writing(*args: Any, **kwargs: Any) -> Any:
        result = below(*args, **kwargs)
        for t in written(places, args, kwargs):
            t._own_storage().version += 1
        return result

    return writing


def refuse_views(entry: OpEntry, t: Tensor) -> None:
    """Refuse to write views whose elements share memory, or whose base's history would miss it.

    Raises:
        RuntimeError: if ``t`` is such a view.
    """
    base = t._base
    if base is not None and base._keys & AUTOGRAD and not t._keys & AUTOGRAD and is_grad_enabled():
        inference = IN_INFERENCE in vars(t)
        raise RuntimeError(
            f"A view was created in {'inference' if inference else 'no_grad'} mode and is being modified "
            f"inplace {'in normal mode' if inference else 'with grad mode enabled'}. Make the view "
            f"where gradients are enabled, or change it under torch.no_grad()."
        )
    refuse_overlap(entry, t)


def traits(entry: OpEntry) -> OpDef | None:
    """The definition that says what an op does: an in-place variant's is its op's."""
    d = entry.definition
    return d if d is None or d.functional is None else d.functional


def refuse_partners(t: Tensor, args: Sequence[Any]) -> None:
    """Refuse arguments that show another part of the memory an in-place op writes.

    Their elements would change while the op reads them. What shows exactly the same elements is
    fine, and tensors with gaps between their elements are not looked into.

    Raises:
        RuntimeError: if there is such an argument.
    """
    for a in args:
        if a.__class__ is Tensor and a is not t and a._storage is t._storage and overlaps(a, t):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor "
                "refer to a single memory location. Please clone() the tensor before performing the "
                "operation."
            )


def overlaps(a: Tensor, b: Tensor) -> bool:
    """Whether two dense tensors of one storage share elements without showing the same ones."""
    (strides, start), (others, begin) = a._geometry(), b._geometry()
    count, number = numel(a._shape), numel(b._shape)
    if not (count and number and is_dense(a._shape, strides) and is_dense(b._shape, others)):
        return False
    if (start, count) == (begin, number):
        return strides != others
    return start < begin + number and begin < start + count


def refuse_overlap(entry: OpEntry, t: Tensor) -> None:
    """Refuse to write tensors that show some element several times.

    Raises:
        RuntimeError: if ``t`` is one, and it matters to the op.
    """
    d = traits(entry)
    if d is None or not d.fills:
        refuse_shared(t)


def refuse_shared(t: Tensor) -> None:
    """Refuse tensors that show some element several times.

    Raises:
        RuntimeError: if ``t`` is one.
    """
    if shares_elements(t):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single "
            "memory location. Please clone() the tensor before performing the operation."
        )


def shares_elements(t: Tensor) -> bool:
    """Whether a view shows some element several times, as `expand` makes it do."""
    strides = t._geometry()[0]
    if 0 not in strides or 0 in t._shape:
        return False
    return any(step == 0 and n > 1 for step, n in zip(strides, t._shape, strict=True))


def inplace_kernel(entry: OpEntry, below: Kernel, *, guarded: bool = False) -> Kernel:
    """What the Autograd keys run for an in-place op.

    Args:
        entry: the op.
        below: what runs it.
        guarded: whether an argument may be an inference tensor.
    """
    from .record import formula_needs, recorder

    d = entry.definition
    if d is None or d.functional is None:
        raise TypeError(f"{entry.name} is not an in-place variant")
    functional = registry.entry(d.functional.name)
    formulas = d.grad.values() if isinstance(d.grad, Mapping) else ()
    needs_self = any("self" in formula_needs(f) for f in formulas)
    make = recorder(functional, guarded=guarded)

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
        base, before = self._base, self._autograd
        make(lambda _, *a, **k: below(self, *a, **k))(shadow, *args, **kwargs)
        meta = self._autograd
        if not self._keys & AUTOGRAD or meta is None or meta.node is None:
            return self
        if before is not None and before.node is not None and before.node.hooks is not None:
            move_kept(before, self)
        if base is not None:
            rebase(base, self, meta.node)
        elif self._storage is not None:
            refresh_views(self, before)
        return self

    return kernel


def refuse_leaves(t: Tensor) -> None:
    """Refuse in-place changes of leaves that require grad, and of views whose history is not theirs.

    Raises:
        RuntimeError: if ``t`` is such a leaf, a view of one, a view that a custom Function made, or
            one of several that an op made at once.
    """
    if t._keys & AUTOGRAD and t.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Wrap it in "
            "torch.no_grad() to change its value without recording."
        )
    base, meta = t._base, t._autograd
    if base is None:
        return
    if meta is not None:
        if isinstance(meta.node, Error):
            raise RuntimeError(meta.node.why)
        found = _bound(t, base._autograd)
        if found is not None:
            raise RuntimeError(
                f"Output {meta.output_nr} of {short_name(meta.node)} is a view and is being modified "
                f"inplace. {_why_bound(found)}"
            )
    if (base._keys | t._keys) & AUTOGRAD and base.is_leaf:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation. "
            "Wrap it in torch.no_grad() to change its value without recording."
        )


def _bound(t: Tensor, base: AutogradMeta | None) -> AutogradMeta | None:
    """Where a view's history passes a node that must stay in it on the way to its base, or None.

    Changing a view in place gives it a history of its own from the base on. It must not lose the
    backward of a custom Function, nor part from the views that an op made together with it.
    """
    meta = t._autograd
    while meta is not None and meta is not base and not meta.is_leaf and meta.node is not None:
        if meta.node.custom or meta.node.splits:
            return meta
        meta = meta.node.edges[0] if meta.node.edges else None
    return None


def _why_bound(meta: AutogradMeta) -> str:
    """What `_bound` found, and what to do."""
    if meta.node is not None and meta.node.splits:
        return (
            "This view is the output of a function that returns multiple views. Such views must not be "
            "changed in place while their history is recorded: replace the in-place op by an "
            "out-of-place one, or make the view by itself, with narrow() or select()."
        )
    return (
        "This view was created inside a custom Function (or because an input was returned as-is), and "
        "the history of a view that changes in place would go around the Function's backward. Clone the "
        "output of the Function and change the clone."
    )


def geometry(t: Tensor) -> Geometry:
    """Shape, strides and offset of a tensor."""
    strides, offset = t._geometry()
    return t._shape, strides, offset


class CopySlices(Node):
    """History of a base after an in-place op on one of its views.

    Attributes:
        inner: the op's own node, for the view.
        at: which of its inputs was the view.
        base, view: geometries.
    """

    __slots__ = ("at", "base", "inner", "view")

    def __init__(
        self, edge: AutogradMeta | None, inner: Node, at: int, base: Geometry, view: Geometry
    ) -> None:
        super().__init__((*inner.edges[:at], edge, *inner.edges[at + 1 :]), (), None)
        self.inner = inner
        self.at = at
        self.base = base
        self.view = view

    def apply(self, *grads: Tensor | None) -> tuple[Any, ...]:
        """Hand the view's slice of the gradient through the op, keep the rest."""
        from ..operators.define import fn

        if self.saved is None:
            raise freed_error()
        g = grads[0]
        if g is None:
            return (None,) * len(self.edges)
        shape, strides, offset = self.base
        dense = fn.empty_strided(shape, strides, dtype=g._dtype, device=g._device)
        whole = dense.copy_(g)
        vshape, vstrides, voffset = self.view
        part = whole.as_strided(vshape, vstrides, voffset - offset)
        inner = self.inner.apply(part.clone())
        through = inner[self.at]
        if through is None:
            part.zero_()
        else:
            part.copy_(through)
        return (*inner[: self.at], whole, *inner[self.at + 1 :])

    def release(self) -> None:
        """Free what the op's formulas needed. As in PyTorch, there is no second walk then."""
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


def rebase(base: Tensor, view: Tensor, inner: Node, at: int = 0) -> None:
    """Make ``inner``, the node of an in-place op on ``view``, part of the base's history.

    Args:
        base: the tensor that ``view`` is a view of.
        view: what the op changed.
        inner: the op's node.
        at: which of its inputs the view was.
    """
    before = base._autograd
    edge = before if base._keys & AUTOGRAD else None
    base._autograd = AutogradMeta(CopySlices(edge, inner, at, geometry(base), geometry(view)))
    base._keys |= TABLE[base._device.type].autograd_key
    if before is not None and before.node is not None and before.node.hooks is not None:
        move_kept(before, base)
    refresh_views(base, before, changed=view)


def refresh_views(base: Tensor, before: AutogradMeta | None, changed: Tensor | None = None) -> None:
    """Give every live view of ``base`` the history that its base has now.

    Args:
        base: a tensor whose memory changed.
        before: its place in the graph before that.
        changed: the view through which it changed, if it was one.
    """
    meta, storage = base._autograd, base._storage
    if storage is None:
        return
    for v in storage.live_views():
        if v._base is not base:
            continue
        lost = None if v is changed else _bound(v, before)
        if lost is not None:
            node: Node = Error(
                f"Output {lost.output_nr} of {short_name(lost.node)} is a view and its base or another "
                f"view of its base has been modified inplace. {_why_bound(lost)}"
            )
        else:
            node = AsStridedBackward0(meta, geometry(base), geometry(v))
        earlier, v._autograd = v._autograd, AutogradMeta(node)
        if earlier is not None and earlier.node is not None and earlier.node.hooks is not None:
            move_kept(earlier, v)
        v._keys |= base._keys & AUTOGRAD
