"""Hooks of modules: those of all modules, those of one, and how they are registered."""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from mindtorch_core.utils.hooks import RemovableHandle

from .base import Hooks, ModuleBase

__all__ = [
    "HookRegistration",
    "OfAllModules",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


class OfAllModules:
    """Hooks that every module calls, by what happens.

    Attributes:
        full: whether those of backward are full ones; None while there are none.
    """

    parameter: ClassVar[Hooks] = OrderedDict()
    buffer: ClassVar[Hooks] = OrderedDict()
    module: ClassVar[Hooks] = OrderedDict()
    forward_pre: ClassVar[Hooks] = OrderedDict()
    forward: ClassVar[Hooks] = OrderedDict()
    forward_with_kwargs: ClassVar[OrderedDict[int, bool]] = OrderedDict()
    forward_always: ClassVar[OrderedDict[int, bool]] = OrderedDict()
    backward_pre: ClassVar[Hooks] = OrderedDict()
    backward: ClassVar[Hooks] = OrderedDict()
    full: bool | None = None


def _add(
    table: Hooks,
    hook: Callable[..., Any],
    marks: dict[str, tuple[OrderedDict[int, bool], bool]] | None = None,
    *,
    prepend: bool = False,
) -> RemovableHandle:
    """Register a hook, and its number in the marks that apply to it."""
    marks = marks or {}
    handle = RemovableHandle(table, extra_dict=[mark for mark, _ in marks.values()])
    table[handle.id] = hook
    for mark, applies in marks.values():
        if applies:
            mark[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


# ---- of all modules -----------------------------------------------------------------------------


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a module registers one; it may return another."""
    return _add(OfAllModules.buffer, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a module registers one; it may return another."""
    return _add(OfAllModules.module, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a module registers one; it may return another."""
    return _add(OfAllModules.parameter, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before every forward; it may return other arguments."""
    return _add(OfAllModules.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after every forward; it may return another output.

    Args:
        hook: what is called.
        with_kwargs: call it with ``(module, args, kwargs, output)``.
        always_call: also if forward raises.
    """
    marks = {
        "kwargs": (OfAllModules.forward_with_kwargs, with_kwargs),
        "always": (OfAllModules.forward_always, always_call),
    }
    return _add(OfAllModules.forward, hook, marks)


def _add_backward(hook: Callable[..., Any], *, full: bool) -> RemovableHandle:
    if OfAllModules.full is not None and OfAllModules.full != full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
            "Please use only one of them."
        )
    OfAllModules.full = full
    return _add(OfAllModules.backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` at the last node of every module's forward.

    Superseded by `register_module_full_backward_hook`.

    Raises:
        RuntimeError: if there are full ones.
    """
    return _add_backward(hook, full=False)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` in backward; it may return other gradients.

    Raises:
        RuntimeError: if there are hooks that are not full.
    """
    return _add_backward(hook, full=True)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` in backward; it may return other gradients."""
    return _add(OfAllModules.backward_pre, hook)


# ---- of one module ------------------------------------------------------------------------------


class WrappedHook:
    """A hook that is given its module, which it does not keep alive."""

    def __init__(self, hook: Callable[..., Any], module: ModuleBase | None = None) -> None:
        functools.update_wrapper(self, hook)
        self.hook = hook
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the hook.

        Raises:
            RuntimeError: if its module is gone.
        """
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


class HookRegistration(ModuleBase):
    """The part of `Module` that registers hooks."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; it may return other arguments.

        Args:
            hook: what is called.
            prepend: before the hooks that are there.
            with_kwargs: call it with ``(module, args, kwargs)``; it may return both.

        Returns:
            A handle, whose ``remove()`` takes the hook away.

        Example:
            >>> model = torch.nn.ReLU()
            >>> handle = model.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
            >>> model(torch.zeros(2))
            tensor([1., 1.])
            >>> handle.remove()
        """
        marks = {"kwargs": (self._forward_pre_hooks_with_kwargs, with_kwargs)}
        return _add(self._forward_pre_hooks, hook, marks, prepend=prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; it may return another output.

        Args:
            hook: what is called.
            prepend: before the hooks that are there.
            with_kwargs: call it with ``(module, args, kwargs, output)``.
            always_call: also if forward raises.

        Returns:
            A handle, whose ``remove()`` takes the hook away.

        Example:
            >>> model = torch.nn.ReLU()
            >>> handle = model.register_forward_hook(lambda module, args, output: output + 1)
            >>> model(torch.zeros(2))
            tensor([1., 1.])
            >>> handle.remove()
        """
        marks = {
            "kwargs": (self._forward_hooks_with_kwargs, with_kwargs),
            "always": (self._forward_hooks_always_called, always_call),
        }
        return _add(self._forward_hooks, hook, marks, prepend=prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` in backward; it may return other gradients."""
        return _add(self._backward_pre_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` at the last node of forward.

        Superseded by `register_full_backward_hook`.

        Raises:
            RuntimeError: if the module has full ones.
        """
        self._only_backward_hooks(full=False)
        return _add(self._backward_hooks, hook)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in backward; it may return other gradients.

        ``grad_input`` and ``grad_output`` are tuples with an entry for each positional argument and
        each output, None for those that are no tensors.

        Raises:
            RuntimeError: if the module has hooks that are not full.
        """
        self._only_backward_hooks(full=True)
        return _add(self._backward_hooks, hook, prepend=prepend)

    def _only_backward_hooks(self, *, full: bool) -> None:
        if self._is_full_backward_hook is not None and self._is_full_backward_hook != full:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = full

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)``; it may return another dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict()``."""
        hook._from_public_api = True
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict()``."""
        return _add(self._state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call ``hook(*arguments)`` of ``_load_from_state_dict`` before it."""
        wrapped = WrappedHook(hook, self if with_module else None)
        return _add(self._load_state_dict_pre_hooks, wrapped)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, ...)`` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after loading; it may change the keys' lists."""
        return _add(self._load_state_dict_post_hooks, hook)
