"""What other modules attach to `Tensor`: one table of all that its class body does not show.

The body (`mindtorch_core.tensors.tensor`) holds what reads a tensor's metadata, and a base class its place in
the graph. Everything else needs modules that stand above: they attach it as they are imported. So do
ops, whose methods are placeholders until they are first looked at (`opdefs.packets.OpMethod`).
Type checkers see all of it in ``mindtorch_core-stubs/stubs/methods.pyi``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .tensor import Tensor

__all__ = ["ATTACHED", "WHEN_ATTACHED", "attach", "detach"]

ATTACHED: Final[dict[str, str]] = {}  # by name, the module that gives it
WHEN_ATTACHED: Final[list[Callable[[Mapping[str, Any]], None]]] = []  # told of what came


def attach(source: str, members: Mapping[str, Any]) -> None:
    """Give `Tensor` methods, properties or placeholders of them.

    Args:
        source: name of the module that gives them; of ops' methods, as far as the table of those
            that are defined on demand says it.
        members: what is attached, by name.
    """
    for name, member in members.items():
        ATTACHED[name] = source
        setattr(Tensor, name, member)
    for tell in WHEN_ATTACHED:
        tell(members)


def detach(name: str) -> None:
    """Take off what was attached."""
    ATTACHED.pop(name, None)
    delattr(Tensor, name)
