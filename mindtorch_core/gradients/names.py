"""What nodes are called: the names that PyTorch gives them, which printed tensors show."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..dispatch.opdef import OpDef
from .node import Node

__all__ = ["name_by_dim", "node_name"]


def node_name(d: OpDef) -> str:
    """The name of an op's node: ``log_softmax`` gives ``LogSoftmaxBackward0``, if its row says no other."""
    if d.node_names:
        return d.node_names[0]
    name = d.name.rpartition("::")[2]
    base, _, overload = name.partition(".")
    words = base.removesuffix("_forward").split("_")
    camel = "".join(word[:1].upper() + word[1:] for word in words)
    camel = re.sub(r"(?<=\d)[a-z]", lambda letter: letter[0].upper(), camel)  # log1p: Log1P
    return f"{camel}Backward{1 if overload in ('dim', 'other') else 0}"


def name_by_dim(d: OpDef, position: int | None) -> Callable[[Node], str] | None:
    """`Node.name` for an op's nodes, if it depends on whether dimensions were given.

    Args:
        d: the op.
        position: where its nodes save the dimensions, None if they do not.
    """
    if position is None or len(d.node_names) < 2:
        return None
    whole, by_dim = d.node_names

    def name(self: Node) -> str:
        given = self.saved is not None and self.saved[position] is not None
        return by_dim if given else whole

    return name
