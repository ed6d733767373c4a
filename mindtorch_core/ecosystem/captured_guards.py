"""What a captured function was given has to be like, and the error where it is not."""

from __future__ import annotations

from typing import Any

from ..dispatch.keys import AUTOGRAD
from ..dispatch.overrides import DISABLED
from ..tensors.autograd_state import AutogradMeta
from ..tensors.tensor import Tensor
from ..values.shapes import show

__all__ = ["guard_of", "hooks_of", "kind_of", "shown"]


def guard_of(t: Tensor) -> tuple[Any, ...]:
    """What a tensor has to be like."""
    kind = Tensor if t.__class__ is Tensor else kind_of(t)
    return t._shape, t._dtype, t._device, t._geometry()[0], bool(t._keys & AUTOGRAD), kind


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
    shape, dtype, device, strides, grad, kind = guard
    text = f"{show(shape)} {dtype} on {device} with strides {strides}"
    if kind is not Tensor:
        text += f" of class {kind.__qualname__}"
    return f"{text}, requiring grad," if grad else text
