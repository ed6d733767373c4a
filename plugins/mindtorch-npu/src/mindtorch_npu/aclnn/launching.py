"""The one place from which operators are launched, and what the runtime supplies to it."""

from __future__ import annotations

import os
from itertools import starmap
from typing import Any, Final, Protocol

from ..acl import ACLError, acl, recent_message
from ..contexts import CONTEXTS

__all__ = ["BLOCKING", "Host", "Launchable", "blocking", "host", "install", "launch"]

BLOCKING: Final = "ACL_LAUNCH_BLOCKING"
_OFF: Final = frozenset({"", "0", "false", "no"})


class Host(Protocol):
    """What launching needs of the runtime."""

    def launch_stream(self, index: int) -> int | None:
        """Make a device the calling thread's, and give the handle of its current stream there."""

    def workspace(self, nbytes: int, index: int) -> Any:
        """Memory of a device for what is queued next on the thread's current stream there.

        It is passed to CANN as its address, and kept as long as what is given is: until phase two has
        returned. What is queued may go on using it, so that it may be reused on that stream only.
        """


class _Seam:
    """The runtime's functions."""

    __slots__ = ("launch_stream", "workspace")

    def __init__(self) -> None:
        self.launch_stream: Any = None  # until a runtime is installed, as the plugin is registered
        self.workspace: Any = None


host: Final = _Seam()


def install(supplied: Host) -> None:
    """Have operators launched on the streams of a runtime, with its memory as workspace."""
    host.launch_stream = supplied.launch_stream
    host.workspace = supplied.workspace


def blocking() -> bool:
    """Whether each operator is waited for: `ACL_LAUNCH_BLOCKING` is set, and not to a "no"."""
    value = os.environ.get(BLOCKING)
    return value is not None and value.strip().lower() not in _OFF


class Launchable(Protocol):
    """An operator whose functions are bound.

    Attributes:
        phase2: its second function.
    """

    phase2: Any

    def text(self, arguments: tuple[Any, ...]) -> str:
        """A call of it, for errors."""


def launch(
    operator: Launchable,
    arguments: tuple[Any, ...],
    workspace: Any,
    size: int,
    executor: int,
    index: int,
    stream: int | None,
    ran: list[int],
) -> None:
    """Queue an operator's kernels on a stream.

    Args:
        operator: the operator.
        arguments: what it was called with, for errors.
        workspace: address of its workspace, 0 if it needs none.
        size: bytes of the workspace, as phase one gave it.
        executor: what phase one made.
        index: the device.
        stream: handle of the stream; None is the context's default stream.
        ran: an empty list. It gets the code that phase two returned: from then on the executor is used
            up, whatever happens.

    Raises:
        ACLError: if it could not be queued; where launches are blocking, also if it fails.
    """
    running = starmap(operator.phase2, ((workspace, size, executor, stream),))
    if CONTEXTS.local.bound != index:  # an op of a finaliser came in
        CONTEXTS.activate(index)
    ran.extend(running)
    if code := ran[0]:
        raise ACLError(operator.text(arguments), code, recent_message())
    if blocking():
        code = acl.aclrtSynchronizeStream(stream)
        if code:
            call = f"aclrtSynchronizeStream after {operator.text(arguments)}"
            raise ACLError(call, code, recent_message())
