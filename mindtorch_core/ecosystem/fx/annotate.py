"""Types of values that are recorded."""

from __future__ import annotations

from typing import Any

from .proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """Say of what type a value is, while a program is traced; gives the value.

    Raises:
        RuntimeError: if another type was said before.
    """
    if isinstance(val, Proxy):
        known = val.node.type
        if known:
            raise RuntimeError(
                f"Tried to annotate a value that already had a type on it! Existing type is {known} and "
                f"new type is {type}. This could happen if you tried to annotate a function parameter value "
                f"(in which case you should use the type slot on the function signature) or you called "
                f"annotate on the same value twice"
            )
        val.node.type = type
    return val
