"""`Work`: an asynchronous call, as users hold it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from ..tensors.tensor import Tensor
from .engine import Source, Ticket
from .errors import DistBackendError

__all__ = ["Work"]


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
        """Whether it has ended, well or not."""
        return self._ticket.done

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

    def source_rank(self) -> int:
        """The rank that a received message came from."""
        ticket: Any = self._ticket
        while not isinstance(ticket, Source):
            (ticket,) = ticket._tickets
        return ticket.source if self._rank_of is None else self._rank_of(ticket.source)
