"""Pipelines on NPUs: phase one of all recorded operators first, one workspace, then the launches.

While a pipeline launches, the thread has a batch. What kernels would launch is prepared and kept
there instead (`LaunchBatch.add`), so that the host's work on the operators is done before the device
gets the first of them, and all share one workspace. Whatever else queues work on a stream, or waits
for it, calls `send_collected` first: the order on the device is that of the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Protocol

from mindtorch_core.dispatch.pipeline import Batch, Unsent

from .allocator import Allocator

__all__ = ["COLLECTING", "LaunchBatch", "send_collected"]


class Collectable(Protocol):
    """An operator after phase one.

    Attributes:
        device_index: the device it is for.
        workspace_size: bytes of workspace that it wants.
    """

    device_index: int
    workspace_size: int

    def launch(self, workspace: int, stream: int | None) -> None:
        """Run phase two."""

    def release(self) -> None:
        """Let go of what was not launched."""

    def forget_arguments(self) -> None:
        """Let go of the tensors it was called with: their memory may serve again."""


class _Local(threading.local):
    """What a thread's launches are collected in, if they are.

    Attributes:
        batch: where they go; None if they are queued at once.
        sending: whether a batch is just being queued.
    """

    batch: LaunchBatch | None = None
    sending: bool = False


COLLECTING: Final = _Local()


def send_collected() -> None:
    """Queue what this thread has collected, before something else goes to a stream."""
    batch = COLLECTING.batch
    if batch is not None:
        batch.send()


class LaunchBatch(Batch):
    """Operators of one launch of a pipeline, prepared and not queued yet."""

    def __init__(
        self,
        stream: Callable[[int], int | None],
        workspace: Callable[[int, int], int],
    ) -> None:
        """Make an empty batch.

        Args:
            stream: gives the thread's current stream on a device.
            workspace: gives memory of a size on a device for what is queued next.
        """
        self._stream = stream
        self._workspace = workspace
        self._collected: list[tuple[int, Collectable]] = []
        self._outer: LaunchBatch | None = None

    def start(self) -> None:
        """Collect what this thread launches; a batch that is open already is sent first."""
        send_collected()
        Allocator.turn.acquire()  # what is collected uses memory that may have gone
        self._outer, COLLECTING.batch = COLLECTING.batch, self

    def stop(self) -> None:
        """Collect no more, and release what was not sent."""
        COLLECTING.batch, self._outer = self._outer, None
        try:
            self._release()
        finally:
            Allocator.turn.release()

    def add(self, prepared: Collectable) -> None:
        """Keep an operator for `send`."""
        prepared.forget_arguments()
        self._collected.append((self.position, prepared))

    def send(self) -> None:
        """Queue all operators on their devices' current streams.

        Raises:
            Unsent: if one cannot be queued; it and those after it are released.
        """
        collected = self._collected
        if not collected:
            return
        COLLECTING.batch = None  # what is called from here on is not to be collected
        COLLECTING.sending = True
        sent = 0
        try:
            sizes: dict[int, int] = {}
            for _, each in collected:
                wanted = max(sizes.get(each.device_index, 0), each.workspace_size)
                sizes[each.device_index] = wanted
            held = {index: self._workspace(n, index) if n else 0 for index, n in sizes.items()}
            for _, each in collected:
                index = each.device_index
                each.launch(held[index] if each.workspace_size else 0, self._stream(index))
                sent += 1
        except Exception as error:
            raise Unsent(collected[sent][0], error) from error
        finally:
            del collected[:sent]
            COLLECTING.batch = self
            COLLECTING.sending = False
            self._release()

    def _release(self) -> None:
        rest, self._collected = self._collected, []
        for _, each in rest:
            each.release()
