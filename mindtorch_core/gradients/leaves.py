"""Leaves: how gradients get into ``grad``, and when, if hooks wait there.

Without hooks, all gradients of leaves are delivered when the walk has ended, so a backward that
fails changes none. A leaf with hooks gets its gradient as soon as it is complete, so that what the
hooks do with it (update the leaf, drop the gradient) happens while others are still computed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Final

from ..dispatch.functions import fn
from ..dispatch.keys import AUTOGRAD
from ..tensors.autograd_state import GRADS_USED, AutogradMeta
from ..tensors.storage import held_once
from ..tensors.subclasses import dispatches
from ..tensors.tensor import Tensor
from ..values.forks import fork_safe
from ..values.layouts import strided
from ..values.references import if_counted
from ..values.shapes import Shape, contiguous_strides, is_dense, show
from .hooks import run_posthooks, run_prehooks, run_tensor_hooks
from .node import HOOKED_LEAVES, accumulator
from .walks import reachable
from .within import marks

__all__ = ["HookedLeaves", "accumulate", "deliver"]

# Several threads may walk graphs that end at the same leaf.
_LOCK: Final = fork_safe(threading.RLock())


def deliver(leaves: dict[AutogradMeta, Any], create_graph: bool) -> None:
    """Add gradients to the ``grad`` of their leaves; empties ``leaves``."""
    if GRADS_USED:
        _tell_of(leaves)
    with _LOCK:
        while leaves:
            meta, g = leaves.popitem()
            accumulate(meta, g, create_graph)


def _tell_of(leaves: Iterable[AutogradMeta]) -> None:
    """Tell whoever follows grads that those of leaves are about to change."""
    for meta in leaves:
        leaf = meta.tensor()
        if leaf is not None and leaf._keys & AUTOGRAD:
            for note in GRADS_USED:
                note(leaf, "add")


def accumulate(meta: AutogradMeta, g: Any, create_graph: bool) -> None:
    """Add a gradient to a leaf's ``grad``: in place, unless the sum is recorded, or ``grad`` alone is sparse.

    A first gradient is taken over as it is when nobody else holds it and it lies in memory as the
    leaf does. Otherwise it is copied, so that changing one ``grad`` in place never changes another
    tensor, and ``grad`` can be viewed as the leaf can. Leaves that are gone, or do not require grad
    any more, get nothing.
    """
    leaf = meta.tensor()
    if leaf is None or not leaf._keys & AUTOGRAD:
        return
    if g._shape != leaf._shape or g._dtype is not leaf._dtype:
        raise _invalid(leaf, g)
    if meta.grad is not None:
        if create_graph or (
            meta.grad._payload is None  # it is pending, or perhaps sparse, and cannot become dense
            and meta.grad.layout is not strided
            and g.layout is strided
        ):
            meta.grad = meta.grad + g
        else:
            meta.grad.add_(g)
    elif (
        sys.getrefcount(g) <= _UNSHARED + (g._storage is not None)
        and (g._storage is None or _alone_and_pending(g))
        and (create_graph or not g._keys & AUTOGRAD)
        and (len(g._shape) < 2 or _lies_as(leaf, g))
    ):
        meta.grad = g
    else:
        meta.grad = _copy(leaf, g if create_graph else g.detach())


def _invalid(leaf: Tensor, g: Any) -> RuntimeError:
    """The error for what a backend's kernel, or a formula, has taken for a leaf's gradient."""
    return RuntimeError(
        f"a backward pass gave an invalid gradient - got {show(g._shape)} {g._dtype} but expected shape "
        f"compatible with {show(leaf._shape)}, of {leaf._dtype}: the kernel or the formula of an op that "
        f"uses this leaf is wrong"
    )


def _lies_as(leaf: Tensor, g: Any) -> bool:
    """Whether a gradient has the strides that a leaf's ``grad`` should have."""
    strides = (g._strided or g._geometry())[0]
    if strides == (leaf._strided or leaf._geometry())[0]:  # dense, as fresh memory is
        return True
    wanted = _wanted_strides(leaf)
    return all(n == 1 or a == b for n, a, b in zip(g._shape, strides, wanted, strict=True))


def _wanted_strides(leaf: Tensor) -> Shape:
    """The strides that a leaf's ``grad`` should have: its own, if it has no gaps or repetitions."""
    strides = leaf._geometry()[0]
    return strides if is_dense(leaf._shape, strides) else contiguous_strides(leaf._shape)


def _copy(leaf: Tensor, g: Any) -> Any:
    """A copy of a gradient that lies in memory as the leaf does."""
    if len(g._shape) < 2 or g.layout is not strided or dispatches(type(g)):
        return g.clone()  # a class with a handler makes its own
    made: Any = fn.empty_strided(g._shape, _wanted_strides(leaf), dtype=g._dtype, device=g._device)
    return made.copy_(g)


def _alone_and_pending(g: Any) -> bool:
    """Whether a gradient's memory waits for a pipeline, and no other tensor will have it.

    Such a gradient is referred to once more than others, by what the pipeline recorded.
    """
    storage = g._storage
    return (
        storage is not None  # it is None where a handler has just launched all
        and storage.pending is not None
        and storage.memory is None
        and storage.views is None
        and held_once(g, 1)
    )


def _count_references() -> int:
    """What `sys.getrefcount` says in `accumulate` of a gradient that nobody else holds."""

    def probe(meta: Any, g: Any, create_graph: bool) -> int:
        return sys.getrefcount(g)

    pairs: dict[Any, Any] = {object(): object()}
    meta, g = pairs.popitem()
    return if_counted(probe(meta, g, False))


_UNSHARED = _count_references()


class HookedLeaves:
    """The leaves with hooks that one walk comes to.

    Args:
        roots: where the walk begins.
        needed: what it visits: a node leads further if its value is true; None for everything.
        targets: the places that gradients are wanted for; None for all.
        finish: called with a leaf's place and a list of its gradient, when that is complete; it may empty it.
    """

    def __init__(
        self,
        roots: Sequence[AutogradMeta],
        needed: dict[Any, bool] | None,
        targets: Container[tuple[Any, int]] | None,
        finish: Callable[[AutogradMeta, list[Any]], None],
    ) -> None:
        self._finish = finish
        hooked = {meta for ref in list(HOOKED_LEAVES) if (meta := ref()) is not None}
        nodes = reachable(r.node for r in roots if not r.is_leaf)
        self._waiting: dict[AutogradMeta, int] = {}  # how many gradients are still to come
        for edges in [roots, *(n.edges for n in nodes if needed is None or needed.get(n))]:
            for e in edges:
                if e in hooked and (targets is None or (e, 0) in targets):
                    self._waiting[e] = self._waiting.get(e, 0) + 1

    def passed(self, edges: Iterable[AutogradMeta | None], leaves: dict[AutogradMeta, Any]) -> None:
        """Gradients were sent along these edges."""
        for e in edges:
            if e is not None and e.is_leaf:
                left = self._waiting.get(e)
                if left is not None:
                    self._waiting[e] = left - 1
                    if left == 1:
                        del self._waiting[e]
                        self._finish(e, [leaves.pop(e, None)])


@marks("leaf")
def hooked_gradient(meta: AutogradMeta, arrived: list[Any]) -> None:
    """Let the hooks of a leaf see, or replace, the gradient that is in a list."""
    run_tensor_hooks(accumulator(meta).own_hooks(), arrived)


@marks("leaf")
def finish_leaf(meta: AutogradMeta, arrived: list[Any], create_graph: bool) -> None:
    """Add the gradient that is in a list to a leaf's ``grad``, with the hooks around that.

    Without hooks behind it the list is emptied: a gradient that nobody else holds is not copied.
    """
    if GRADS_USED:
        _tell_of([meta])
    hooks = accumulator(meta).own_hooks()
    arrived = run_prehooks(hooks, arrived)
    g = arrived[0] if hooks.post else arrived.pop()
    with _LOCK:
        if g is not None:
            accumulate(meta, g, create_graph)
    del g
    leaf = meta.tensor() if hooks.accumulated else None
    if leaf is not None and leaf._keys & AUTOGRAD:
        for hook in list(hooks.accumulated.values()):
            found = hook(leaf)
            if found is not None:
                kind = RuntimeError if isinstance(found, Tensor) else TypeError
                raise kind("Tensor post accumulate grad hooks should return None.")
    run_posthooks(hooks, (), arrived)
