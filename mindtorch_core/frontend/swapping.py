"""Exchange of what two tensor objects are: ``torch.utils.swap_tensors``."""

from __future__ import annotations

import weakref
from typing import Any, Final

from ..tensors.attached import attach
from ..tensors.tensor import FIELDS, Tensor

__all__ = ["SETTINGS", "swap_tensors"]

# How modules convert themselves, of all threads: `torch.__future__`.
SETTINGS: Final = {"overwrite": False, "swap": False}


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Let two tensor objects change places: each is what the other was, of its class.

    Whoever refers to one of the objects sees the other tensor. Graphs that were recorded stay with the
    tensor that they were recorded for: a backward pass gives its gradient to the other object.

    Raises:
        RuntimeError: if their classes have different slots.
        TypeError: if one is no tensor.
    """
    for t in (t1, t2):
        if not isinstance(t, Tensor):
            raise TypeError(f"swap_tensors takes two tensors, got a {type(t).__name__}")
    if t1 is t2:
        return
    views = [_views_of(t) for t in (t1, t2)]
    kinds: tuple[Any, Any] = type(t1), type(t2)
    try:
        t1.__class__, t2.__class__ = kinds[1], kinds[0]
    except TypeError as error:
        t1.__class__, t2.__class__ = kinds
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots") from error
    attributes = dict(t1.__dict__), dict(t2.__dict__)
    for t, own in ((t1, attributes[1]), (t2, attributes[0])):
        t.__dict__.clear()
        t.__dict__.update(own)
    setters: Any = [vars(Tensor)[name] for name in FIELDS]
    for field in setters:
        first = field.__get__(t1)
        field.__set__(t1, field.__get__(t2))
        field.__set__(t2, first)
    for t, shown in ((t1, views[1]), (t2, views[0])):
        if t._autograd is not None and hasattr(t._autograd, "owner"):
            t._autograd.owner = weakref.ref(t)
        if t._base is not None:
            t._own_storage().add_view(t)
        for view in shown:
            view._base = t


def _views_of(t: Tensor) -> list[Tensor]:
    """The views that name a tensor as their base."""
    storage = t._own_storage()
    return [view for view in storage.live_views() if view._base is t]


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What a module gets in this tensor's place when it loads another one, if modules swap tensors.

    Classes of tensors may give something else; ``torch.__future__`` says when it is asked for.

    Args:
        self: the tensor of the module.
        other: the tensor that is loaded.
        assign: as of ``Module.load_state_dict``.
    """
    loaded: Any = other if assign else self.copy_(other)
    return loaded.detach()  # type: ignore[no-any-return]


attach(__name__, {"module_load": module_load})
