"""What nodes are called: the names that PyTorch gives them, which printed tensors show."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from .node import Node

__all__ = ["name_by_dim", "node_name"]

# Ops whose nodes are not called after them.
_OTHERS: Final = {
    "_index_positions": "IndexBackward0",
    "_index_put_positions": "IndexPutBackward0",
    "_to_dtype": "ToCopyBackward0",
    "copy": "CopyBackwards",
    "max.dim": "MaxBackward0",
    "min.dim": "MinBackward0",
    "reshape": "ViewBackward0",
}
# Ops that are two in PyTorch: over everything, and over dimensions.
_BY_DIM: Final = frozenset({"mean", "prod", "sum"})


def node_name(op_name: str) -> str:
    """The name of an op's node: ``log_softmax`` gives ``LogSoftmaxBackward0``."""
    name = op_name.rpartition("::")[2]
    if name in _OTHERS:
        return _OTHERS[name]
    base, _, overload = name.partition(".")
    words = base.removesuffix("_forward").split("_")
    camel = "".join(word[:1].upper() + word[1:] for word in words)
    camel = re.sub(r"(?<=\d)[a-z]", lambda letter: letter[0].upper(), camel)  # log1p: Log1P
    return f"{camel}Backward{1 if overload in ('dim', 'other') else 0}"


def name_by_dim(op_name: str, position: int | None) -> Callable[[Node], str] | None:
    """`Node.name` for an op's nodes, if it depends on whether dimensions were given.

    Args:
        op_name: the op.
        position: where its nodes save the dimensions, None if they do not.
    """
    if position is None or op_name.rpartition("::")[2] not in _BY_DIM:
        return None

    def name(self: Node) -> str:
        whole = type(self).__name__
        given = self.saved is not None and self.saved[position] is not None
        return whole.removesuffix("0") + "1" if given else whole

    return name
