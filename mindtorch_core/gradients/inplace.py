"""History of tensors that are changed in place, views among them.

A recorded in-place op replaces the tensor's history by its own node. If the tensor is a view, the
history that changes is its base's: the base gets a `CopySlices` node, which hands the view's part
of a gradient to the op's node and the rest on unchanged, and every live view of the base gets the
history "a strided part of the base as it is now".
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD, CONJUGATE, NEGATIVE, UNRESOLVED
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.devices import TABLE
from ..values.dtypes import dtype as DType
from ..values.overlap import Geometry
from .formulas import as_strided_backward
from .hooks import move_kept
from .node import Error, Node, freed_error, short_name
from .saved import Packed, saved_output

__all__ = [
    "lose_history",
    "rebase",
    "refresh_views",
    "refuse_leaves",
]


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


class Seen(NamedTuple):
    """How a tensor shows its memory.

    Attributes:
        geometry: shape, strides and offset.
        dtype: element type.
        marks: the bits of a conjugate or negative view.
    """

    geometry: Geometry
    dtype: DType
    marks: int

    @classmethod
    def by(cls, t: Tensor) -> Seen:
        """How a tensor shows its memory."""
        strides, offset = t._geometry()
        return cls((t._shape, strides, offset), t._dtype, t._keys & UNRESOLVED)

    def marked(self, t: Any) -> Any:
        """Memory's elements as the tensor shows them, and the other way round."""
        if self.marks & CONJUGATE:
            t = t.conj()
        return fn._neg_view(t) if self.marks & NEGATIVE else t

    def part_of(self, memory: Any, start: int, held: DType) -> Any:
        """The same view of other memory.

        Args:
            memory: a tensor.
            start: which element of the memory that is shown is the first one there.
            held: the dtype of that memory.
        """
        shape, strides, offset = self.geometry
        if self.dtype.is_complex and not held.is_complex:
            pairs = (*(2 * s for s in strides), 1)
            part = fn.view_as_complex(memory.as_strided((*shape, 2), pairs, 2 * offset - start))
        elif held.is_complex and not self.dtype.is_complex:
            part = fn.view_as_real(memory).as_strided(shape, strides, offset - 2 * start)
        else:
            part = memory.as_strided(shape, strides, offset - start)
        return self.marked(part)


class CopySlices(Node):
    """History of a base after an in-place op on one of its views.

    Attributes:
        inner: the op's own node, for the view.
        at: which of its inputs was the view.
        base, view: how they show their memory.
    """

    __slots__ = ("at", "base", "inner", "view")

    def __init__(
        self, edge: AutogradMeta | None, inner: Node, at: int, base: Seen, view: Seen
    ) -> None:
        super().__init__((*inner.edges[:at], edge, *inner.edges[at + 1 :]), (), None)
        self.inner = inner
        self.at = at
        self.base = base
        self.view = view
        kept = [field.at for field in inner.fields if field.kind == "output"]
        if kept and inner.saved:
            inner.saved = tuple(
                _OfView(v, self) if i in kept else v for i, v in enumerate(inner.saved)
            )

    def apply(self, *grads: Tensor | None) -> tuple[Any, ...]:
        """Hand the view's slice of the gradient through the op, keep the rest."""
        if self.saved is None:
            raise freed_error()
        g = grads[0]
        if g is None:
            return (None,) * len(self.edges)
        base = self.base
        shape, strides, offset = base.geometry
        memory = g.new_empty_strided(shape, strides)
        memory.copy_(base.marked(g))
        part = self.view.part_of(memory, offset, base.dtype)
        inner = self.inner.apply(part.clone())
        through = inner[self.at]
        if through is None:
            part.zero_()
        else:
            part.copy_(through)
        return (*inner[: self.at], base.marked(memory), *inner[self.at + 1 :])

    def release(self) -> None:
        """Free what the op's formulas needed. As in PyTorch, there is no second walk then."""
        super().release()
        self.inner.release()


class _OfView(Packed):
    """A result that an op on a view has saved: its history is the view's, which leads over the base."""

    __slots__ = ("place",)

    def __init__(self, parts: Any, place: CopySlices) -> None:
        super().__init__(parts, lambda value: value, None, 0)
        self.place = ref(place)  # which keeps the op's node

    def unpack(self, node: Node | None = None) -> Tensor:
        """The result as it was, as a part of the base."""
        if node is None:
            raise TypeError("a result is unpacked for its node")
        t = saved_output(node, 0, self.value)
        place = self.place()
        if place is not None:
            t._autograd = AutogradMeta(
                AsStridedBackward0(AutogradMeta(place), place.base, place.view)
            )
        return t


class AsStridedBackward0(Node):
    """History of a view, as a strided part of its base."""

    __slots__ = ("base", "view")

    def __init__(self, edge: AutogradMeta | None, base: Seen, view: Seen) -> None:
        super().__init__((edge,), (), None)
        self.base = base
        self.view = view

    def apply(self, *grads: Tensor | None) -> tuple[Any, ...]:
        """Put the view's gradient into its place in the base."""
        g = grads[0]
        if g is None:
            return (None,)
        base, view = self.base, self.view
        held = as_strided_backward(view.marked(g), base.geometry, view.geometry, base.dtype)
        return (base.marked(held),)


def lose_history(t: Tensor, op: str) -> None:
    """Let backward refuse a tensor that an op may or may not have changed when it was interrupted."""
    base = t if t._base is None else t._base
    before = base._autograd
    why = (
        f"{op} was interrupted while it changed this tensor, or one that shares its memory, in place: what "
        f"its gradient is depends on how far it came"
    )
    base._autograd = AutogradMeta(Error(why))
    base._keys |= TABLE[base._device.type].autograd_key
    refresh_views(base, before)


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
    base._autograd = AutogradMeta(CopySlices(edge, inner, at, Seen.by(base), Seen.by(view)))
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
        if v._base is not base or v._dtype.category < 2:  # bits of it as whole numbers have none
            continue
        lost = None if v is changed else _bound(v, before)
        if lost is not None:
            node: Node = Error(
                f"Output {lost.output_nr} of {short_name(lost.node)} is a view and its base or another "
                f"view of its base has been modified inplace. {_why_bound(lost)}"
            )
        else:
            node = AsStridedBackward0(meta, Seen.by(base), Seen.by(v))
        earlier, v._autograd = v._autograd, AutogradMeta(node)
        if earlier is not None and earlier.node is not None and earlier.node.hooks is not None:
            move_kept(earlier, v)
        v._keys |= base._keys & AUTOGRAD
