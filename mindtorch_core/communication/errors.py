"""What goes wrong between processes.

Names and bases are PyTorch's, but for `DistributedError`::

    RuntimeError
    └── DistError
        ├── DistBackendError        an engine, or a rank, failed
        │   └── DistributedError    a call that ranks make together: who, what, which call
        │       └── RecordedCallError    the same of one that a pipeline has launched; also a PipelineError
        ├── DistNetworkError        no connection to the store
        └── DistStoreError          a key of the store did not come in time
            └── QueueEmptyError     nothing is in a queue of the store that is not waited for

Arguments that cannot be meant are a ValueError or TypeError by one engine of PyTorch's, and a RuntimeError by
another, such as gloo: `UnfitError` and `UnfitTypeError` are both. `NoSuchDimensionError` is all that PyTorch
raises for a dimension along which a DTensor cannot be cut, as each of its functions raises another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..values.errors import PipelineError

__all__ = [
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "DistributedError",
    "NoSuchDimensionError",
    "QueueEmptyError",
    "RecordedCallError",
    "UnfitError",
    "UnfitTypeError",
]


class UnfitError(ValueError, RuntimeError):
    """Arguments of a call do not go together: numbers of tensors, of elements, ranks."""


class UnfitTypeError(TypeError, RuntimeError):
    """Tensors of a call do not have the same dtype."""


class NoSuchDimensionError(IndexError, AssertionError, RuntimeError):
    """A DTensor is to be cut along a dimension that it does not have."""


class DistError(RuntimeError):
    """An error of `torch.distributed`."""


class DistBackendError(DistError):
    """An engine, or a rank that it reaches, failed."""


class DistNetworkError(DistError):
    """The store cannot be reached."""


class DistStoreError(DistError):
    """The store did not answer in time."""


class QueueEmptyError(DistStoreError):
    """A queue of the store is empty."""


class DistributedError(DistBackendError):
    """Ranks did not make the same call together: another call, too late, or not at all.

    Every rank of the group that is left raises it. After a mismatch the group can be used again; after a
    death or a call that came too late it cannot.

    Attributes:
        rank: the rank, in the default group, that differs, died, or did not come; None if unknown.
        op: the op that this rank called, such as ``all_reduce``.
        number: which call of the group it was, counted from 1.
        by_rank: what is known of each rank: what it called, and at which line.
    """

    def __init__(
        self,
        message: str,
        *,
        rank: int | None,
        op: str,
        number: int,
        by_rank: Mapping[int, str],
    ) -> None:
        listed = "".join(f"\n  rank {each}: {said}" for each, said in sorted(by_rank.items()))
        super().__init__(message + listed)
        self.rank = rank
        self.op = op
        self.number = number
        self.by_rank = dict(by_rank)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), str(self), self.rank, self.op, self.number, self.by_rank)

    def in_pipeline(self, message: str, *, op: str, location: str) -> RecordedCallError:
        """What a pipeline raises that has launched the call.

        Args:
            message: names op and line.
            op: qualified name of the op that was recorded.
            location: where it was.
        """
        return RecordedCallError(message, self, location)


class RecordedCallError(PipelineError, DistributedError):
    """A call of ranks failed when a pipeline launched it: ``except`` around a block catches it as either.

    Args:
        message: names op and line.
        cause: what went wrong, which says the attributes of `DistributedError`.
        location: ``file:line`` of the user's code that recorded it.
    """

    def __init__(self, message: str, cause: DistributedError, location: str) -> None:
        RuntimeError.__init__(self, message)
        self.location = location
        self.rank = cause.rank
        self.op = cause.op
        self.number = cause.number
        self.by_rank = cause.by_rank

    def __reduce__(self) -> tuple[object, ...]:
        facts = self.rank, self.op, self.number, self.by_rank
        return _recorded_again, (str(self), self.location, *facts)


def _recorded_again(text: str, location: str, *facts: Any) -> RecordedCallError:
    """The same of one that a pipeline had launched."""
    return RecordedCallError(text, _again(DistributedError, "", *facts), location)


def _again(
    kind: type[DistributedError],
    text: str,
    rank: int | None,
    op: str,
    number: int,
    by_rank: dict[int, str],
) -> DistributedError:
    """An error that was pickled in another process."""
    made = kind(text, rank=rank, op=op, number=number, by_rank={})
    made.by_rank = by_rank
    return made
