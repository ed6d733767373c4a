"""Results whose channels lie innermost in memory where those of an operand do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..dispatch.opdef import TensorSpec
from ..values.memory_formats import format_strides, memory_format
from .rules import format_of, laid

__all__ = ["in_format", "put"]


def in_format(make: Callable[..., Any], of: int = 0) -> Callable[..., Any]:
    """A rule, a composition or a kernel whose results are in the memory format of an operand.

    Args:
        make: gives tensors or specifications of tensors, row-major ones.
        of: which operand it is; kept as ``follows``.
    """

    @functools.wraps(make)
    def made_so(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        lies = format_of(args[of])
        if not lies.order:
            return made
        return tuple(put(x, lies) for x in made) if isinstance(made, tuple) else put(made, lies)

    made_so.follows = of  # type: ignore[attr-defined]
    return made_so


def put(made: Any, lies: memory_format) -> Any:
    """A tensor or a specification in a memory format, with its strides in dimensions of size 1 too."""
    if isinstance(made, TensorSpec):
        return laid(made.shape, made.dtype, lies)
    made = made.contiguous(memory_format=lies)
    strides = format_strides(made._shape, lies)
    if made._geometry()[0] == strides:
        return made
    return made.new_empty_strided(made._shape, strides).copy_(made)
