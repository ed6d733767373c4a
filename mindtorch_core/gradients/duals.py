"""Tangents: along which direction tensors move, while a level of forward mode is open.

A tensor with a tangent, a *dual* one, carries the key ForwardGrad, whose kernels
(`mindtorch_core.gradients.forward`) give results their tangents. A tangent lies in memory as its tensor
does, so that views of the one show the same elements as views of the other. When the level ends, all
tensors lose their tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import ref

from ..dispatch.functions import fn
from ..dispatch.keys import FORWARD, MASKS, UNRESOLVED, with_masks
from ..tensors.tensor import Tensor
from ..values.shapes import show
from .inplace import Seen
from .node import Node
from .saved import Packed, saved_output

__all__ = [
    "LEVELS", "OF_MANY", "Level", "accompanied", "changed", "drop", "give", "keep_tangents",
    "other_size", "tangent_of", "unseen",
]  # fmt: skip

# Name of the attribute of tensors that holds their tangent.
_NAME: Final = "_tangent"


class Level:
    """A level of forward mode.

    Attributes:
        duals: the tensors that have a tangent, by their ids.
    """

    def __init__(self) -> None:
        self.duals: dict[int, ref[Tensor]] = {}

    def end(self) -> None:
        """Take all tangents off."""
        for each in list(self.duals.values()):
            t = each()
            if t is not None:
                drop(t)


# The level that is open: none, or one. As in PyTorch it is open in every thread.
LEVELS: Final[list[Level]] = []

# ``call(function, *tensors)``: what `func` does for tensors that stand for many, once it is imported.
OF_MANY: Final[list[Callable[..., Any]]] = []


def unseen(call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``call(*args, **kwargs)``, in which no tensor has a tangent."""
    return with_masks(MASKS.include, MASKS.keep & ~FORWARD, call, *args, **kwargs)


def tangent_of(value: Any) -> Tensor | None:
    """The tangent of a tensor; None without one."""
    return vars(value).get(_NAME) if getattr(value, "_keys", 0) & FORWARD else None


def drop(t: Tensor) -> None:
    """Take the tangent off a tensor, if it has one."""
    if t._keys & FORWARD:
        vars(t).pop(_NAME, None)
        t._keys &= ~FORWARD


def give(t: Tensor, tangent: Tensor) -> None:
    """Give a tensor a tangent, which is copied if it lies in memory in another way."""
    if not LEVELS:
        return
    duals, key = LEVELS[-1].duals, id(t)
    vars(t)[_NAME] = tangent if _lies_as(tangent, t) else _copied(tangent, t)
    t._keys |= FORWARD
    duals[key] = ref(t, lambda _: duals.pop(key, None))


def other_size(t: Tensor, tangent: Tensor) -> RuntimeError:
    """What is raised for a tangent of another shape than the tensor's."""
    return RuntimeError(
        f"Trying to set a forward gradient that has a different size than that of the original Tensor, "
        f"this is not supported. Tensor is of size {show(t._shape)} while the given forward gradient is "
        f"of size {show(tangent._shape)}."
    )


def _lies_as(tangent: Tensor, t: Tensor) -> bool:
    if (tangent._keys ^ t._keys) & UNRESOLVED or tangent._dtype is not t._dtype:
        return False
    strides, offset = t._geometry()
    others, start = tangent._geometry()
    return offset == start and all(
        n < 2 or a == b for n, a, b in zip(t._shape, strides, others, strict=True)
    )


def _copied(tangent: Tensor, t: Tensor) -> Tensor:
    """A tangent that lies in memory as a tensor does."""
    strides, offset = t._geometry()
    if any(step == 0 and n > 1 for step, n in zip(strides, t._shape, strict=True)):
        return tangent if tangent._dtype is t._dtype else tangent.to(t._dtype)
    whole = offset + sum((n - 1) * step for n, step in zip(t._shape, strides, strict=True)) + 1
    memory = fn.zeros((whole if t.numel() else offset,), dtype=t._dtype, device=t._device)
    made: Tensor = fn.as_strided(memory, t._shape, strides, offset)
    made.copy_(tangent)
    return made


# ---- what changes in place ----------------------------------------------------------------------


def changed(t: Tensor, tangent: Tensor | None) -> None:
    """Write the tangent of what a tensor has become in place, and of all that shows its memory.

    Args:
        t: the tensor.
        tangent: None where it does not move; of a shape that broadcasts to the tensor's.
    """
    own = tangent_of(t)
    if own is None:
        if tangent is None or t._dtype.category < 2:
            return
        base = t if t._base is None else t._base
        memory = _copied(
            fn.zeros((), dtype=base._dtype, device=base._device).expand(base._shape), base
        )
        start = base._geometry()[1] - memory._geometry()[1]
        give(base, memory)
        storage = base._storage
        for view in () if storage is None else storage.live_views():
            if view._base is base and tangent_of(view) is None and view._dtype.category >= 2:
                give(view, Seen.by(view).part_of(memory, start, base._dtype))
        own = tangent_of(t)
        if own is None:
            return
    if tangent is None:
        own.zero_()
    else:
        own.copy_(tangent)


# ---- results that a node keeps for backward -----------------------------------------------------


class _Accompanied(Packed):
    """A saved result and its tangent, which its gradient needs where that is differentiated forward."""

    __slots__ = ("level", "tangent")

    def __init__(self, parts: Any, number: int, tangent: Tensor) -> None:
        super().__init__(parts, lambda value: value, None, number)
        self.tangent = tangent
        self.level = LEVELS[-1]

    def unpack(self, node: Node | None = None) -> Tensor:
        """The result as it was, with its tangent while its level lasts."""
        if node is None or self.number is None:
            raise TypeError("a result is unpacked for its node")
        t = saved_output(node, self.number, self.value)
        if LEVELS and LEVELS[-1] is self.level:
            give(t, self.tangent)
        return t


def keep_tangents(node: Node | None, results: list[Any]) -> None:
    """Let a node that was just recorded keep the tangents of the results that it has saved."""
    if node is None or not isinstance(node.saved, tuple) or not LEVELS:
        return
    saved = list(node.saved)
    for field in node.fields:
        if field.kind == "output":
            saved[field.at] = accompanied(saved[field.at], field.number, results[field.number])
    node.saved = tuple(saved)


def accompanied(parts: Any, number: int, result: Tensor) -> Any:
    """What is saved of a result, with its tangent if it has one.

    Args:
        parts: of the result, as `mindtorch_core.gradients.saved.output_parts` gives them.
        number: which result it is.
        result: the result.
    """
    tangent = tangent_of(result)
    if tangent is None or type(parts) is not tuple:
        return parts
    return _Accompanied(parts, number, tangent)
