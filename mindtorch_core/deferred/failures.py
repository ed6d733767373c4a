"""What stands for a value that could not be computed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, Final, TypeVar

from ..dispatch.calls.failures import out_of_memory, say_as_called
from ..dispatch.registry import registry
from ..values.errors import PipelineError
from ..values.own_frames import hide
from ..values.shapes import show
from .demand import claim_key
from .trace import Entry, RecordedOp, called_at, location_of, tensors_of

__all__ = ["FAILURES", "PIPELINE", "Failed", "error_from", "error_of", "failure_in"]

PIPELINE: Final = "the pipeline"  # who launches an op, as errors say it

# All of them; they leave it as they die.
FAILURES: Final[set[weakref.ref[Failed]]] = set()


class Failed:
    """Stands in a storage's ``pending`` for a value that could not be computed.

    It keeps what the error says, not the error: that one's traceback would hold the operands. While
    one exists the Pipeline key is in every call, so that each op that is given the value asks here.
    """

    __slots__ = ("__weakref__", "_cause", "_claim", "_error")

    through_backward: Final = False

    def __init__(self, error: PipelineError) -> None:
        self._error = _without_traceback(error)
        self._cause = _without_traceback(error.__cause__)
        self._claim = claim_key()
        FAILURES.add(weakref.ref(self, FAILURES.discard))

    def flush_for(self, storage: Any) -> None:
        """Raise the error that prevented the value."""
        raise _without_traceback(self._error) from _without_traceback(self._cause)

    def remember(self, t: Any) -> None:
        """Do nothing for another tensor over the memory: it has no value either."""

    def flush_because(self, reason: str) -> None:
        """The same, for whoever asks a pipeline with a reason."""
        self.flush_for(None)


E = TypeVar("E", bound=BaseException | None)


def _without_traceback(error: E) -> E | RuntimeError:
    """Another exception that says the same, but not where."""
    if error is None:
        return error
    try:
        twin = type(error).__new__(type(error), *error.args)
        twin.args = error.args  # which an OSError leaves to its constructor
        twin.__dict__.update(error.__dict__)
    except Exception:  # noqa: BLE001 (a class with a constructor of its own)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return twin


def failure_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Failed | None:
    """The failure of an op that one with these arguments depends on."""
    for t in tensors_of((*args, *kwargs.values())):
        s = t._storage
        if s is not None and isinstance(s.pending, Failed):
            return s.pending
    return None


def error_of(
    entry: Entry, cause: BaseException, others: int = 0, by: str = PIPELINE
) -> PipelineError:
    """What is said of an op that failed, with its cause.

    Args:
        entry: the op.
        cause: what went wrong.
        others: how many ops failed with it, where nobody knows which one went wrong.
        by: who launched it.
    """
    given = tensors_of((*entry.args, *entry.kwargs.values()))
    where = entry.code, entry.instruction
    operands = [(t._shape, t._dtype) for t in given]
    return error_from(entry.op, operands, where, cause, others, by)


def error_from(
    op: RecordedOp,
    operands: list[tuple[Any, Any]] | None,
    where: tuple[CodeType, int],
    cause: BaseException,
    others: int = 0,
    by: str = PIPELINE,
) -> PipelineError:
    """The same for an op whose operands are gone.

    Args:
        op: the op.
        operands: their shapes and dtypes; None where nobody knows them any more.
        where: its place in the user's code.
        cause: what went wrong.
        others: how many ops failed with it, where nobody knows which one went wrong.
        by: who launched it.
    """
    if isinstance(cause, MemoryError):
        cause = out_of_memory(op.name, cause)
    hide(cause)
    d, name = op.definition, op.name
    shown = d.exposure.written if d is not None and d.exposure.written else name
    launched, location = "it", location_of(*where)
    names = [name.partition("::")[2].partition(".")[0], called_at(*where)]
    if names[0] != names[1] and registry.overloads(f"aten::{names[1]}"):
        launched = f"{shown}, of which it is made"
        name = shown = f"aten::{names[1]}"
    else:
        names.pop()
    for each in names:
        say_as_called(each, cause, {})
    if others:
        launched += f" as one with {others} more, any of which may be the cause"
    text = (
        f"{shown} failed when {by} launched {launched}: {type(cause).__name__}: {cause}\n"
        f"  recorded at: {location}"
    )
    if operands is not None:
        inputs = ", ".join(f"{show(shape)} {d}" for shape, d in operands)
        text += f"\n  inputs: {inputs or 'none'}"
    # What programs wait for by its type says of which further type it is when a pipeline raises it.
    kind: Callable[..., PipelineError] = getattr(cause, "in_pipeline", None) or PipelineError.like(
        type(cause)
    )
    error = kind(text, op=name, location=location)
    error.__cause__ = cause
    return error
