"""The one place from which operators are launched, and what the runtime supplies to it."""

from __future__ import annotations

import os
from typing import Any, Final, Protocol

from ..acl import ACLError, acl, recent_message

__all__ = ["BLOCKING", "Host", "Launchable", "blocking", "host", "install", "launch"]

BLOCKING: Final = "ACL_LAUNCH_BLOCKING"
_OFF: Final = frozenset({"", "0", "false", "no"})


class Host(Protocol):
    """What launching needs of the runtime."""

    def launch_stream(self, index: int) -> int | None:
        """Make a device the calling thread's, and give the handle of its current stream there."""

    def workspace(self, nbytes: int, index: int) -> int:
        """Memory of a device for what is queued next on the thread's current stream there.

        The number is its address, and keeps it. It is dropped when phase two has returned; what is
        queued may go on using it, so that its memory may be reused on that stream only.
        """


class _Seam:
    """The runtime's functions."""

    __slots__ = ("launch_stream", "workspace")

    def __init__(self) -> None:
        self.launch_stream: Any = _absent
        self.workspace: Any = _absent


def _absent(*_: Any) -> Any:
    raise RuntimeError("no runtime is installed that could launch operators")


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
    workspace: int,
    size: int,
    executor: int,
    stream: int | None,
) -> None:
    """Queue an operator's kernels on a stream. The executor is used up, whatever happens.

    Args:
        operator: the operator.
        arguments: what it was called with, for errors.
        workspace: address of its workspace, 0 if it needs none.
        size: bytes of the workspace, as phase one gave it.
        executor: what phase one made.
        stream: handle of the stream; None is the context's default stream.

    Raises:
        ACLError: if it could not be queued; where launches are blocking, also if it fails.
    """
    code = operator.phase2(workspace, size, executor, stream)
    if code:
        raise ACLError(operator.text(arguments), code, recent_message())
    if blocking():
        code = acl.aclrtSynchronizeStream(stream)
        if code:
            call = f"aclrtSynchronizeStream after {operator.text(arguments)}"
            raise ACLError(call, code, recent_message())
