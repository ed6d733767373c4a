"""Functions of PyTorch's compiled part, which its pickles call by other names than programs do."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from ...gradients.node import AccumulateGrad

__all__ = ["AccumulateGrad", "_VariableFunctions", "_VariableFunctionsClass", "functions_of"]


def _function(module: ModuleType, name: str, shown: str) -> Any:
    found = getattr(module, name, None)
    if not isinstance(found, FunctionType):
        owner, _, asked = shown.rpartition(".")
        raise AttributeError(
            f"{owner!r} has no attribute {asked!r}: mindtorch lacks it", name=asked
        )
    return found


def functions_of(namespace: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of ``torch._C._<namespace>``, where ``torch.fft.rfft`` is ``fft_rfft``."""

    def __getattr__(name: str) -> Any:
        public = name.removeprefix("_").removeprefix(f"{namespace}_")
        module = import_module(f"mindtorch_core.{namespace}")
        return _function(module, public, f"torch._C._{namespace}.{name}")

    return __getattr__


class _Functions(type):
    def __getattr__(cls, name: str) -> Any:
        return _function(import_module("mindtorch_core"), name, f"torch._C.{cls.__name__}.{name}")

    def __dir__(cls) -> list[str]:
        every = vars(import_module("mindtorch_core"))
        return [*super().__dir__(), *(n for n, f in every.items() if isinstance(f, FunctionType))]


class _VariableFunctionsClass(metaclass=_Functions):
    """The functions of ``torch``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(type(self), name)

    def __dir__(self) -> list[str]:
        return dir(type(self))


_VariableFunctions = _VariableFunctionsClass()
