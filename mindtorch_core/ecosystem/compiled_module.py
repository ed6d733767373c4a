"""The class that programs ask for to find out whether a module was compiled."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["OptimizedModule"]


class _Compiled(type):
    """The type of `OptimizedModule`: what ``torch.compile`` gives for a module is one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return getattr(type(instance), "_is_compiled_module", False) is True


class OptimizedModule(metaclass=_Compiled):
    """What ``torch.compile(module)`` gives is an instance of this; modules are made by that call alone."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("an OptimizedModule is what torch.compile(module) gives")
