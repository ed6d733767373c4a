"""What was followed and has failed, or is wrong: a launch settles it op by op, as what is not replayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..planning import Part, plan_parts
from ..programs.calls import Call
from ..trace import Entry, Plan, Step
from .following import entries_of
from .known import END, Known, Ready

__all__ = ["Retold"]


class Retold:
    """A block that was followed, and what its executable has done.

    Attributes:
        entries: its ops, until they are recorded.
        positions: where they stand among those that are recorded.
        interrupt: what came meanwhile.

    Args:
        known: the trace.
        ready: what was called.
        values, numbers: of the run.
        found: what the executable gave.
        raised: what it has raised instead.
    """

    __slots__ = (
        "_found", "_inputs", "_number_of", "_numbers", "_raised", "_ready", "entries", "interrupt",
        "positions",
    )  # fmt: skip

    interrupt: BaseException | None

    def __init__(
        self,
        known: Known,
        ready: Ready,
        values: list[Any],
        numbers: list[Any],
        found: Any,
        raised: BaseException | None,
    ) -> None:
        self.entries: list[Entry] = entries_of(known, END, values, numbers)
        self.positions = tuple(range(len(self.entries)))
        self._ready, self._found, self._raised = ready, found, raised
        self._inputs = [values[n] for n in ready.program.inputs]
        self._numbers = numbers
        self._number_of = {id(t): n for n, t in enumerate(values)}

    def parts(self, entries: Sequence[Entry | None], nbytes: int) -> list[Part]:
        """How a launch of its ops, and of others behind them, is divided."""
        count, ready = len(self.positions), self._ready
        call = Call(
            ready.program, self._executed, entries[:count], self.positions, self._inputs, self._numbers,
            self._number_of, trusted=ready.trusted,
        )  # fmt: skip
        own = Part(self.positions, Plan([Step(self.positions, call)]))
        return [own, *plan_parts([*[None] * count, *entries[count:]], nbytes)]

    def _executed(self, inputs: list[Any], numbers: list[Any]) -> Any:
        """What the executable has done, once more."""
        if self._raised is not None:
            raise self._raised
        return self._found
