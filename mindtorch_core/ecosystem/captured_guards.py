"""What a captured function was given has to be like, and the error where it is not."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, Final

from ..dispatch.keys import AUTOGRAD, FORWARD, UNRESOLVED
from ..dispatch.overrides import DISABLED
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.shapes import show

__all__ = ["Identities", "guard_of", "hooks_of", "kind_of", "shown"]

# Whether it requires grad, has a tangent, or is one that still has to be conjugated or negated.
_KEYS: Final = AUTOGRAD | FORWARD | UNRESOLVED
# What code loads that asks where a tensor stands in a graph.
_ASKING_HISTORY: Final = frozenset({"grad_fn", "is_leaf", "retains_grad"})


def guard_of(t: Tensor) -> tuple[Any, ...]:
    """What a tensor has to be like."""
    kind = Tensor if t.__class__ is Tensor else kind_of(t)
    return t._shape, t._dtype, t._device, t._geometry()[0], t._keys & _KEYS, kind


def kind_of(t: Tensor) -> type[Tensor]:
    """The class that results of ops on a tensor have, such as `Tensor` for a parameter."""
    kind: Any = t.__class__
    return Tensor if kind.__torch_function__ is DISABLED else kind


def hooks_of(meta: AutogradMeta) -> tuple[Any, ...]:
    """The hooks at a leaf, by the numbers of their handles."""
    hooks = None if meta.node is None else meta.node.hooks
    if hooks is None:
        return ()
    tables = (*hooks.tensor.values(), hooks.pre, hooks.post, hooks.accumulated)
    return tuple([number for table in tables for number in table])


def shown(guard: tuple[Any, ...]) -> str:
    """The same as an error says it."""
    shape, dtype, device, strides, keys, kind = guard
    text = f"{show(shape)} {dtype} on {device} with strides {strides}"
    if kind is not Tensor:
        text += f" of class {kind.__qualname__}"
    if keys & UNRESOLVED:
        text += ", to be conjugated or negated,"
    if keys & FORWARD:
        text += ", with a tangent,"
    return f"{text}, requiring grad," if keys & AUTOGRAD else text


def _history_of(t: Tensor) -> str:
    """Where a tensor stands in a graph."""
    node = t.grad_fn
    if node is not None:
        return f"a result of {node.name()}"
    return "a leaf" if t.is_leaf else "no leaf"


class Identities:
    """Which arguments were one tensor, or one that the function reads besides: they have to be so again.

    Nothing tells by which of its names the function has read such a tensor.

    Args:
        leaves: the arguments.
        name_of: by which name the function reads a tensor besides its arguments, or None.
        names: what the code loads, which may ask where arguments stand in a graph.
    """

    def __init__(
        self, leaves: Sequence[Any], name_of: Callable[[Tensor], str | None], names: Set[str]
    ) -> None:
        self._histories: list[tuple[int, str]] = []
        if names & _ASKING_HISTORY:
            self._histories = [
                (i, _history_of(t)) for i, t in enumerate(leaves) if isinstance(t, Tensor)
            ]
        first: dict[int, int] = {}
        self._same: list[tuple[int, int]] = []
        self._bound: list[tuple[int, Tensor, str]] = []
        for i, t in enumerate(leaves):
            if not isinstance(t, Tensor):
                continue
            if (before := first.setdefault(id(t), i)) != i:
                self._same.append((before, i))
            elif (name := name_of(t)) is not None:
                self._bound.append((i, t, name))

    def difference(self, leaves: Sequence[Any], argument: Callable[[int], str]) -> str | None:
        """What is not so in a call; None where all is.

        Args:
            leaves: its arguments.
            argument: how an error names one.
        """
        for i, was in self._histories:
            if (now := _history_of(leaves[i])) != was:
                return f"{argument(i)} was {was} when it was captured, and is {now} now"
        for i, j in self._same:
            if leaves[i] is not leaves[j]:
                names = f"{argument(i)} and {argument(j)}"
                return f"{names} were one tensor when it was captured, and are two now"
        for i, t, name in self._bound:
            if leaves[i] is not t:
                return (
                    f"{argument(i)} was {name} when it was captured, which the function reads besides, and "
                    f"is another tensor now"
                )
        return None
