"""What every module consists of; the parts of `Module` in the files beside this one build on it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import ending

from ..parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .module import Module

__all__ = ["Hooks", "ModuleBase", "Undo", "ends", "undoing"]

Hooks = OrderedDict[int, Callable[..., Any]]


class ModuleBase:
    """The fields of a module, under the names that programs know."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _is_full_backward_hook: bool | None
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _state_dict_hooks: Hooks
    _state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks
    _version: int = 1

    def _get_name(self) -> str:
        return type(self).__name__


# Decorates what goes through a module and all below it.
ends = ending(lambda value: value._modules.values() if isinstance(value, ModuleBase) else None)


class Undo:
    """What a call that walks through modules has changed, to be taken back if it fails."""

    def __init__(self) -> None:
        self.steps: list[Callable[[], Any]] = []


class _Thread(threading.local):
    undo: Undo | None = None


_thread = _Thread()


@contextmanager
def undoing() -> Iterator[Undo]:
    """Take changes back if the outermost of these blocks is left by an exception.

    Yields:
        the list of the outermost block, to which each change adds what takes it back.
    """
    outer = _thread.undo
    if outer is not None:
        yield outer
        return
    undo = _thread.undo = Undo()
    try:
        yield undo
    except BaseException:
        for step in reversed(undo.steps):
            step()
        raise
    finally:
        _thread.undo = None
