"""CANN's operators: call them by name with tensors and Python values.

    aclnn.call("Add", a, b, 1, out)                      # both phases, on the current stream

    prepared = aclnn.prepare("Add", a, b, 1, out)        # or each in its time
    prepared.launch(workspace, stream)

Arguments are those of the table (`operator`), in its order or by name; results go into tensors that
the caller made. Nothing here waits for the device, unless ``ACL_LAUNCH_BLOCKING`` is set.
"""

from __future__ import annotations

from typing import Any

from .calls import bound
from .descriptors import Scalar
from .errors import UnsupportedOperator
from .launching import Host, blocking, install
from .prepared import Prepared
from .signatures import Operator, accepts, declare, operator, operators, takes_strides

__all__ = [
    "Host",
    "Operator",
    "Prepared",
    "Scalar",
    "UnsupportedOperator",
    "accepts",
    "available",
    "blocking",
    "call",
    "call_sized",
    "declare",
    "install",
    "operator",
    "operators",
    "prepare",
    "takes_strides",
]


def call(name: str, *arguments: Any, **named: Any) -> None:
    """Queue an operator on the current stream of its tensors' device.

    Args:
        name: the operator, without the prefix ``aclnn``.
        *arguments: its arguments; None for what is optional.
        **named: further ones, by the names that the table gives them.

    Raises:
        UnsupportedOperator: if the installed toolkit does not have it.
        ACLError: if it refuses its arguments, or cannot be queued.
    """
    bound(name).call(*arguments, **named)


def prepare(name: str, *arguments: Any, **named: Any) -> Prepared:
    """Run phase one of an operator: what it is given is checked, and its workspace known.

    Errors and arguments are those of `call`.
    """
    prepared: Prepared = bound(name).prepare(*arguments, **named)
    return prepared


def call_sized(name: str, *arguments: Any, **named: Any) -> list[tuple[int, ...]]:
    """Run an operator whose results have a size that depends on the data, and wait for it.

    Returns:
        The shape of each result. The tensors that were given for them hold that many elements at
        their beginning, row by row.
    """
    shapes: list[tuple[int, ...]] = bound(name).call_sized(*arguments, **named)
    return shapes


def available(name: str) -> bool:
    """Whether the installed toolkit has an operator."""
    try:
        bound(name)
    except UnsupportedOperator:
        return False
    return True
