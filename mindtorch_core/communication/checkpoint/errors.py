"""`CheckpointException`: what went wrong, on every rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..errors import DistError
from ..membership import get_rank, get_world_size, is_initialized
from ..objects import all_gather_object

__all__ = ["CheckpointException", "Together"]

T = TypeVar("T")
_NOTE: Final = "It was a call of torch.distributed.checkpoint."


class CheckpointException(RuntimeError):
    """A checkpoint could not be written or read. Every rank raises it.

    Args:
        msg: what was being done.
        failures: the error of each rank that has one.
    """

    def __init__(self, msg: str, failures: dict[int, BaseException]) -> None:
        self._failures = failures
        lines = [f"CheckpointException ranks:{list(failures)}: {msg}"]
        lines += [
            f"  rank {rank}: {type(error).__name__}: {error}" for rank, error in failures.items()
        ]
        super().__init__("\n".join(lines))

    @property
    def failures(self) -> dict[int, BaseException]:
        """The error of each rank that has one."""
        return self._failures


class Together:
    """Steps that the processes of a group make together: an error of one is an error of all.

    Args:
        group: the processes; None for all.
        alone: whether there is only this one.
    """

    def __init__(self, group: Any = None, *, alone: bool = False) -> None:
        self.alone = alone or not is_initialized()
        self.group = group
        self.rank = 0 if self.alone else get_rank(group)
        self.size = 1 if self.alone else get_world_size(group)

    def step(self, what: str, work: Callable[[], T]) -> list[T]:
        """Do something; what all ranks' gave.

        An interrupt, or ``sys.exit``, is an error of all ranks too; on its own rank it goes on.

        Args:
            what: is said where it fails, and must be the same on all ranks.
            work: of this rank; what it gives is pickled.

        Raises:
            CheckpointException: if it fails somewhere.
        """
        result, own = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 (all ranks raise it)
            own = error
        if isinstance(own, DistError):  # of a call in it, which other ranks have raised too
            own.add_note(_NOTE)
            raise own
        found = what, result, None if own is None else _sendable(own)
        every: list[Any] = [found]
        if not self.alone and self.size > 1:
            every = [None] * self.size
            try:
                all_gather_object(every, found, group=self.group)
            except DistError as error:  # a rank is gone, or makes another call
                error.add_note(_NOTE)
                if own is None:
                    raise
                stopped = not isinstance(own, Exception)
                raise own if stopped else CheckpointException(what, {self.rank: own}) from error
        if own is not None and not isinstance(own, Exception):
            raise own
        failures = {rank: error for rank, (_, _, error) in enumerate(every) if error is not None}
        if not failures and len({each[0] for each in every}) > 1:  # after one that broke off
            what = "the ranks do not do the same with it"
            failures = {r: RuntimeError(f"would say: {each[0]}") for r, each in enumerate(every)}
        if failures:
            raise CheckpointException(what, failures) from own
        return [result for _, result, _ in every]


def _sendable(error: BaseException) -> BaseException:
    """An error as other ranks can have it."""
    kind = type(error) if type(error).__module__ == "builtins" else RuntimeError
    try:
        return kind(str(error)).with_traceback(error.__traceback__)
    except TypeError:  # of a kind that wants more than a text
        return RuntimeError(f"{type(error).__name__}: {error}")
