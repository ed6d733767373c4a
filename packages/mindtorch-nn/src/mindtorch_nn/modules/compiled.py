"""The module that ``torch.compile`` gives for a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .module import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """A module whose calls are compiled; everything else is the original's.

    Its state has the original's names after ``_orig_mod.``, as in PyTorch.

    Attributes:
        _orig_mod: the original.
        dynamo_ctx: makes of a function one whose calls are compiled as the module's are.

    Args:
        mod: the original.
        compiled_call: makes of a function one whose calls are compiled.
    """

    _is_compiled_module = True
    _orig_mod: Any  # a module, with all that its class adds

    def __init__(self, mod: Module, compiled_call: Callable[..., Any]) -> None:
        super().__init__()
        self._orig_mod = mod
        self.__dict__["dynamo_ctx"] = compiled_call
        self.__dict__["forward"] = compiled_call(mod.__call__)
        self.__dict__["training"] = mod.training

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or "_orig_mod" not in self.__dict__.get("_modules", ()):
            super().__setattr__(name, value)
        elif name != "training" or value != self._orig_mod.training:
            setattr(self._orig_mod, name, value)
            if name == "training":
                self.__dict__["training"] = value

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __bool__(self) -> bool:
        return bool(self._orig_mod)  # which may have no length

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self._orig_mod)]

    def __reduce__(self) -> Any:
        return OptimizedModule, (self._orig_mod, self.__dict__["dynamo_ctx"])


def _compiled(self: Module, compiled_call: Callable[..., Any]) -> OptimizedModule:
    """What ``torch.compile`` gives for a module: the function makes one of another, with compiled calls."""
    return OptimizedModule(self, compiled_call)


Module.__compiled__ = _compiled  # type: ignore[attr-defined]
