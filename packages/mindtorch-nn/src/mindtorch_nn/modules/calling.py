"""The call of a module: forward with its hooks around it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import warn_user

from .backward_hooks import BackwardHook, warn_of_partial_hook
from .base import ModuleBase
from .hooks import HookRegistration, OfAllModules, WrappedHook

__all__ = ["Calling"]

# What a tensor that does not fit makes ops raise.
_MISFITS = (RuntimeError, ValueError, TypeError, IndexError)


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Compute the module's output; every subclass defines it.

    Raises:
        NotImplementedError: if it does not.
    """
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Calling(HookRegistration):
    """The part of `Module` that calls it."""

    forward: Callable[..., Any] = _forward_unimplemented
    _compiled_call_impl: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call ``forward``, and the hooks before and after it."""
        try:
            if self._compiled_call_impl is not None:
                return self._compiled_call_impl(*args, **kwargs)
            if (
                self._forward_hooks
                or self._forward_pre_hooks
                or self._backward_hooks
                or self._backward_pre_hooks
                or OfAllModules.forward
                or OfAllModules.forward_pre
                or OfAllModules.backward
                or OfAllModules.backward_pre
            ):
                return self._call_impl(*args, **kwargs)
            return self.forward(*args, **kwargs)
        except _MISFITS as error:
            _say_where(self, error)
            raise

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        call = _Call(self, args, kwargs)
        try:
            return call.run()
        except Exception:
            call.after_failure()
            raise

    def _backward_hooks_by_kind(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Those before backward, full ones, others."""
        kinds: dict[bool | None, list[Any]] = {True: [], False: [], None: []}
        kinds[OfAllModules.full] += OfAllModules.backward.values()
        kinds[self._is_full_backward_hook] += self._backward_hooks.values()
        before = [*OfAllModules.backward_pre.values(), *self._backward_pre_hooks.values()]
        return before, kinds[True], kinds[False]


class _Call:
    """One call of a module with hooks."""

    def __init__(self, module: Calling, args: Any, kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.called: set[int] = set()  # of the hooks that are to be called in any case

    def run(self) -> Any:
        """Call everything in order."""
        module = self.module
        before, full, partial = module._backward_hooks_by_kind()
        self._pre_hooks()
        gate = BackwardHook(module, full, before) if full or before else None
        if gate is not None:
            self.args = gate.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        always = (OfAllModules.forward_always, module._forward_hooks_always_called)
        for table in (OfAllModules.forward, module._forward_hooks):
            for number, hook in list(table.items()):
                if number in always[0] or number in always[1]:
                    self.called.add(number)
                self._after(number, hook)
        if gate is not None:
            if not isinstance(self.result, torch.Tensor | tuple):
                warn_user(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of "
                    f"Tensors but received {type(self.result)}",
                )
            self.result = gate.setup_output_hook(self.result)
        if partial:
            self._partial_hooks(partial)
        return self.result

    def _pre_hooks(self) -> None:
        module = self.module
        for table in (OfAllModules.forward_pre, module._forward_pre_hooks):
            for number, hook in list(table.items()):
                if number in module._forward_pre_hooks_with_kwargs:
                    found = hook(module, self.args, self.kwargs)
                    if found is None:
                        continue
                    if not (isinstance(found, tuple) and len(found) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {found}."
                        )
                    self.args, self.kwargs = found
                else:
                    found = hook(module, self.args)
                    if found is not None:
                        self.args = found if isinstance(found, tuple) else (found,)

    def _after(self, number: int, hook: Callable[..., Any]) -> None:
        module = self.module
        if (
            number in module._forward_hooks_with_kwargs
            or number in OfAllModules.forward_with_kwargs
        ):
            found = hook(module, self.args, self.kwargs, self.result)
        else:
            found = hook(module, self.args, self.result)
        if found is not None:
            self.result = found

    def _partial_hooks(self, hooks: list[Any]) -> None:
        found = self.result
        while not isinstance(found, torch.Tensor):
            if isinstance(found, dict):
                found = next(v for v in found.values() if isinstance(v, torch.Tensor))
            else:
                found = found[0]
        node: Any = found.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(WrappedHook(hook, self.module))
            warn_of_partial_hook(self.args, self.result, node)

    def after_failure(self) -> None:
        """Call what is to be called in any case and has not been."""
        module = self.module
        for kind, table, always in (
            ("global module", OfAllModules.forward, OfAllModules.forward_always),
            ("module", module._forward_hooks, module._forward_hooks_always_called),
        ):
            for number, hook in list(table.items()):
                if number not in always or number in self.called:
                    continue
                try:
                    self._after(number, hook)
                except Exception as error:  # noqa: BLE001  (a user's hook may raise anything)
                    warn_user(
                        f"{kind} forward hook with ``always_call=True`` raised an exception that was "
                        f"silenced as another error was raised in forward: {error}",
                    )


# ---- where an error happened --------------------------------------------------------------------


def _say_where(module: ModuleBase, error: BaseException) -> None:
    """Note at an error on which path of submodules it came here; each module on it adds its part.

    Frames of mindtorch's modules leave the traceback of an error that mindtorch raised on purpose.
    """
    from mindtorch_core.utils._own_frames import arguments_of, hide, reword

    at = error.__traceback__
    if isinstance(error, TypeError) and at is not None and at.tb_next is None:
        own: Any = module.forward  # type: ignore[attr-defined]  # Python refused the arguments
        if hasattr(own, "__func__"):
            reword(error, f"{error}{arguments_of(own, str(error))}")
    hide(error)
    known = getattr(error, "_came_through", None)
    if known is None:
        inner, path, note = module, "", ""
    else:
        last, inner, path, note = known
        found = next((name for name, m in module.named_modules() if m is last), "")  # type: ignore[attr-defined]
        path = ".".join(filter(None, (found, path)))
    with contextlib.suppress(AttributeError, ValueError):
        if note:
            error.__notes__.remove(note)
        shown = f"{inner._get_name()}(...)" if inner._modules else repr(inner)
        note = f"in {path} ({shown})" if path else f"in {shown}"
        error.add_note(note)
    with contextlib.suppress(AttributeError):
        error._came_through = module, inner, path, note  # type: ignore[attr-defined]
