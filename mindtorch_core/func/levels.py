"""What transforms differentiate: leaves of their own, in every ``vmap`` that is running."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ..autograd import grad as autograd_grad
from ..gradients.duals import give, tangent_of
from ..gradients.grad_mode import enable_grad, is_grad_enabled
from ..gradients.walks import reachable
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.interrupts import contextmanager
from .batched import LEVELS, Level, batched, level_of, plain

__all__ = ["Leaf", "cut", "deeper", "gradients", "physical", "sample"]


def physical(t: Tensor, levels: Iterable[Level] | None = None) -> Tensor:
    """What holds a tensor's samples, with a dimension for each running ``vmap`` in front."""
    for level in reversed(LEVELS.stack if levels is None else list(levels)):
        t = plain(t, level.number, level.size)
    return t


def sample(t: Tensor, levels: Iterable[Level] | None = None) -> Tensor:
    """The reverse of `physical`."""
    for level in LEVELS.stack if levels is None else levels:
        t = batched(t, 0, level.number)
    return t


class _Depth(threading.local):
    """The transforms of one thread that are running, one inside the other.

    Attributes:
        value: how many.
        recorded: whether what the innermost returns is recorded: whether gradients were enabled around it.
    """

    value = 0
    recorded = True


DEPTH: Final = _Depth()


@contextmanager
def deeper(calls: bool = True) -> Iterator[None]:
    """Run a transform: with gradients enabled.

    Args:
        calls: whether the function runs that is transformed, not only what it has recorded.
    """
    before = DEPTH.recorded
    DEPTH.recorded = is_grad_enabled()
    DEPTH.value += 1
    LEVELS.gradients += calls
    try:
        with enable_grad():
            yield
    finally:
        LEVELS.gradients -= calls
        DEPTH.value -= 1
        DEPTH.recorded = before


class Leaf:
    """An argument of a transform.

    Attributes:
        tensor: the physical tensor that gradients are computed for.
        given: what the function gets.
    """

    __slots__ = ("given", "own", "tensor")

    def __init__(self, t: Tensor) -> None:
        held = physical(t)
        # A view keeps what is differentiated around it; the function differentiates the view alone.
        self.own = not held.requires_grad
        self.tensor: Tensor = (
            _without_history(held).requires_grad_() if self.own else held.view_as(held)
        )
        self.given = sample(self.tensor)
        if self.own:
            self.tensor._transform_depth = DEPTH.value  # type: ignore[attr-defined]


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], cotangents: Sequence[Tensor | None]
) -> list[Tensor]:
    """Gradients that can be differentiated again; zeros where nothing leads to an input."""
    used = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    if not used:
        return [t.new_zeros(t._shape) for t in inputs]
    found = autograd_grad(
        [o for o, _ in used],
        list(inputs),
        [c for _, c in used],
        create_graph=True,
        allow_unused=True,
    )
    pairs = zip(found, inputs, strict=True)
    return [t.new_zeros(t._shape) if g is None else g for g, t in pairs]


def cut(t: Any, leaves: Iterable[Leaf]) -> Any:
    """A result without history, if nothing but the transform's own arguments is in that.

    Around a transform in ``no_grad`` there is none in any case.
    """
    if not isinstance(t, Tensor):
        return t
    if level_of(t):
        inner = cut(t._inner, leaves)  # type: ignore[attr-defined]
        return t if inner is t._inner else batched(inner, t._bdim, t._level)  # type: ignore[attr-defined]
    meta = t._autograd
    if not t.requires_grad or meta is None:
        return t
    own = {leaf.tensor._autograd for leaf in leaves if leaf.own}
    if meta in own or not DEPTH.recorded:
        return _without_history(t, leaves)
    if meta.is_leaf or meta.node is None:
        return t
    for node in reachable([meta.node]):
        for edge in node.edges:
            if edge is not None and edge.is_leaf and edge not in own and not _of_inner(edge):
                return t
    return _without_history(t, leaves)


def _without_history(t: Tensor, leaves: Iterable[Leaf] = ()) -> Tensor:
    """A tensor detached; what goes forward around a transform goes on."""
    made: Tensor = t.detach()
    tangent = tangent_of(t)
    if tangent is not None:
        give(made, cut(tangent, leaves))
    return made


def _of_inner(edge: AutogradMeta) -> bool:
    """Whether a leaf was made by a transform that ran inside this one, and has ended."""
    leaf = edge.tensor()
    return leaf is None or getattr(leaf, "_transform_depth", -1) > DEPTH.value
