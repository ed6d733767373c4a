"""``torch.fx``: names for libraries that say what must not be traced; nothing is traced."""

from __future__ import annotations

from typing import TypeVar

from ..absent import names_of

__all__ = ["wrap"]

_T = TypeVar("_T")

__getattr__ = names_of(__name__)


def wrap(fn_or_name: _T) -> _T:
    """The function itself: there is no tracer that would enter it.

    Raises:
        RuntimeError: for what is neither a function nor a name of one.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            f"Unsupported type for global function! Must be either a callable or string name, got "
            f"{type(fn_or_name)}"
        )
    return fn_or_name
