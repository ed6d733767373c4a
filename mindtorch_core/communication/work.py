"""`Work`: an asynchronous call, as users hold it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final

from ..tensors.tensor import Tensor
from .engine import Source, Ticket
from .errors import DistBackendError
from .futures import Future

__all__ = ["COLLECTING", "Work"]

# What is begun in a block that waits for it at its end; None outside.
COLLECTING: Final[ContextVar[list[Work] | None]] = ContextVar("COLLECTING", default=None)


class Work:
    """A call that is under way.

    Args:
        ticket: the communicator's.
        outputs: the tensors that it writes.
        position_to_rank: for messages, what a position is in the default group.
    """

    def __init__(
        self,
        ticket: Ticket,
        outputs: Sequence[Tensor] = (),
        position_to_rank: Callable[[int], int] | None = None,
    ) -> None:
        self._ticket = ticket
        self._outputs = list(outputs)
        self._rank_of = position_to_rank
        self._exception: BaseException | None = None
        self._future: Future[list[Tensor]] | None = None
        if (together := COLLECTING.get()) is not None:
            together.append(self)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it is done, and return True.

        Args:
            timeout: shorter than the group's; the call goes on after it.

        Raises:
            DistributedError: if it failed.
            DistBackendError: if the timeout passes.
        """
        deadline = None
        if timeout is not None and timeout > timedelta(0):
            deadline = time.monotonic() + timeout.total_seconds()
        try:
            self._ticket.wait(deadline)
        except TimeoutError as error:
            raise DistBackendError(f"Operation timed out after {timeout}!") from error
        except BaseException as error:
            self._exception = error
            raise
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """Whether it has ended, well or not; if so, what it writes can be read."""
        if not self._ticket.done:
            return False
        self.exception()  # does what is left to do at its end, as `wait` does
        return True

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> BaseException | None:
        """What it failed with, or None."""
        if self._exception is None and self._ticket.done:
            try:
                self._ticket.wait()
            except Exception as error:  # noqa: BLE001 (told, not raised)
                self._exception = error
        return self._exception

    def result(self) -> list[Tensor]:
        """The tensors that it writes."""
        return self._outputs

    def get_future(self) -> Future[list[Tensor]]:
        """The tensors that it writes, as a value that comes when it is done; the same object each time."""
        if self._future is None:
            self._future = _OfWork(self)
        return self._future

    def source_rank(self) -> int:
        """The rank that a received message came from."""
        ticket: Any = self._ticket
        while not isinstance(ticket, Source):
            (ticket,) = ticket._tickets
        return ticket.source if self._rank_of is None else self._rank_of(ticket.source)


class _OfWork(Future[list[Tensor]]):
    """What `Work.get_future` gives: whoever waits for it waits for the work."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work
        self._asking = threading.Lock()

    def _pull(self, *, waits: bool) -> None:
        if self._done or not (waits or self._work.is_completed()):
            return
        with self._asking:
            if self._done:
                return
            try:
                self._work.wait()
            except Exception as error:  # noqa: BLE001 (given to whoever asks for the value)
                self.set_exception(error)
            else:
                self.set_result(self._work.result())

    def _pulled(self) -> bool:
        return True
