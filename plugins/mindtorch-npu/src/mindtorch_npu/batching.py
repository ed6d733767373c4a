"""Pipelines on NPUs: phase one of all recorded operators first, one workspace, then the launches.

While a pipeline launches, the thread has a batch. What kernels would launch is prepared and kept
there instead (`LaunchBatch.collected`), so that the host's work on the operators is done before the device
gets the first of them, and all share one workspace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from mindtorch_core.dispatch.pipeline import Batch, Unsent

from .acl import ACLError
from .aclnn.prepared import Collected
from .allocator import Allocator
from .collecting import COLLECTING, Collector, send_collected

__all__ = ["LaunchBatch"]


class LaunchBatch(Batch):
    """Operators of one launch of a pipeline, prepared and not queued yet.

    Attributes:
        kind: what operators are after phase one.
        opened: the one whose phase one runs.
        collected: those that are to be queued, with the positions of their entries.
    """

    kind = Collected

    def __init__(
        self,
        stream: Callable[[int], int | None],
        workspace: Callable[[int, int], Any],
    ) -> None:
        """Make an empty batch.

        Args:
            stream: gives the thread's current stream on a device.
            workspace: gives memory of a size on a device for what is queued next.
        """
        self._stream = stream
        self._workspace = workspace
        self._outer: Collector | None = None
        self._sent_by = -1  # the last position at which something was to be queued
        self.opened: Collected | None = None
        self.collected: deque[tuple[int, Collected]] = deque()

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """What is collected uses memory that may have gone: nobody else may get it meanwhile."""
        return Allocator.turn

    def start(self) -> None:
        """Collect what this thread launches; a batch that is open already is sent first."""
        send_collected()
        self._outer, COLLECTING.batch = COLLECTING.batch, self

    def stop(self) -> None:
        """Collect no more, and release what was not sent."""
        if COLLECTING.batch is self:
            COLLECTING.batch, self._outer = self._outer, None
        self._release()

    def send(self) -> None:
        """Queue all operators on their devices' current streams.

        An interrupt leaves what was not queued for the next call.

        Raises:
            Unsent: if one cannot be queued; it and those after it are released.
        """
        self._sent_by = self.position
        collected = self.collected
        if not collected:
            return
        try:
            COLLECTING.batch = None  # what is called from here on is not to be collected
            COLLECTING.sending = True
            sizes: dict[int, int] = {}
            for _, each in collected:
                wanted = max(sizes.get(each.device_index, 0), each.workspace_size)
                sizes[each.device_index] = wanted
            held = {index: self._workspace(n, index) if n else 0 for index, n in sizes.items()}
            while collected:
                each = collected[0][1]
                index, needs = each.device_index, each.workspace_size
                if each.launched:  # an interrupt came right after that
                    each.release()
                else:
                    each.launch(held[index] if needs else 0, self._stream(index))
                del collected[0]
        except Exception as error:
            position = collected[0][0]
            self._release()
            raise Unsent(position, error) from error
        finally:
            COLLECTING.batch = self
            COLLECTING.sending = False

    def forget(self) -> bool:
        """Forget what the op at `position` wanted; gives whether nothing was queued since it began."""
        self._release(self.position)
        return self._sent_by < self.position

    def _release(self, position: int = 0) -> None:
        """Let go of what was collected from a position on.

        Raises:
            ACLError: the first failure.
        """
        failure: ACLError | None = None
        collected = self.collected
        while self.opened is not None or (collected and collected[-1][0] >= position):
            each = self.opened or collected[-1][1]
            try:
                each.release()
            except ACLError as error:
                failure = failure or error
            if each is self.opened:
                self.opened = None
            else:
                del collected[-1]
        if failure is not None:
            raise failure
