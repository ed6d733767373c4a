"""Checks on data that a device has not answered yet: a failed one is told at the next look."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...tensors.storage import Storage
from ...tensors.tensor import Tensor
from ...values.errors import PipelineError
from ..demand import claim_key
from ..failures import Failed

if TYPE_CHECKING:
    from .program import Program

__all__ = ["Check", "Checked", "Unchecked", "verify"]


class Check(NamedTuple):
    """A check on data, such as bounds of an index, that the device has still to answer.

    Attributes:
        instruction: position of the instruction that is wrong if it fails.
        passed: waits for the answer, and says whether all is well.
        error: what eager execution would have raised.
    """

    instruction: int
    passed: Callable[[], bool]
    error: Exception


class Checked(NamedTuple):
    """What an executable returns instead of its outputs where checks are under way.

    Attributes:
        outputs: the tensors.
        checks: the checks, in program order.
    """

    outputs: Sequence[Any]
    checks: Sequence[Check]


def verify(checks: Iterable[Any], program: Program) -> list[Check]:
    """Checks, which may come once; those that an executable could not mean are refused.

    Raises:
        TypeError, IndexError: if one is no check, or of no instruction.
    """
    found = [*checks]
    for check in found:
        if not isinstance(check, Check) or not isinstance(check.error, Exception):
            raise TypeError(f"its executable gave {check!r} for a Check with an error")
        program.position(check.instruction)
    return found


class Unchecked:
    """Stands in a storage's ``pending`` for a value whose check is under way.

    Whoever uses the value, in whatever op, has the check answered first.
    """

    __slots__ = ("__weakref__", "_check", "_claim", "_error", "_storages")

    through_backward: Final = False

    def __init__(
        self, check: Callable[[], bool], error: PipelineError, results: Iterable[Tensor]
    ) -> None:
        self._check = check
        self._error = error
        self._claim = claim_key()
        self._storages: list[weakref.ref[Storage]] = []
        for t in results:
            storage = t._own_storage()
            if storage.pending is None or isinstance(storage.pending, Unchecked):
                # What another check says of the value is asked before.
                other = storage.pending
                if other is not None:
                    self._check = _both(other, self._check)
                storage.pending = self
                self._storages.append(weakref.ref(storage))

    def flush_for(self, storage: Any) -> None:
        """Have the check answered.

        Raises:
            PipelineError: if it failed, or its device could not answer.
        """
        try:
            failed = None if self._check() else Failed(self._error)
        except PipelineError:  # of another check, which is asked before
            raise
        except Exception as cause:  # noqa: BLE001 (whatever a backend raises is reported)
            failed = Failed(_unanswered(self._error, cause))
        for ref in self._storages:
            s = ref()
            if s is not None and s.pending is self:
                s.pending = failed
        if failed is not None:
            failed.flush_for(storage)

    def remember(self, t: Tensor) -> None:
        """Give another tensor over the memory its payload: the memory is there."""
        if t._storage is not None:
            t._fill(t._storage)

    def flush_because(self, reason: str) -> None:
        """The same, for whoever asks a pipeline with a reason."""
        self.flush_for(None)


def _unanswered(error: PipelineError, cause: Exception) -> PipelineError:
    """What is said of a check whose device gave no answer, by what would be said if it had failed."""
    where = str(error).partition("\n")[2]
    said = f"the check of {error.op} was not answered: {type(cause).__name__}: {cause}\n{where}"
    told = PipelineError.like(type(cause))(said, op=error.op, location=error.location)
    told.__cause__ = cause
    return told


def _both(first: Unchecked, then: Callable[[], bool]) -> Callable[[], bool]:
    def check() -> bool:
        first.flush_for(None)
        return then()

    return check
