"""Plans of backends that compile programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from ...runtime import Runtime
from ...tensors.tensor import Tensor
from ...values.devices import TABLE
from ..trace import Entry, Plan, Step, StepFailed, StepStopped
from .checks import Checked
from .describing import Description, Undescribable
from .kept import PROGRAMS, Kept
from .payloads import as_tensor
from .program import Halted, Program

__all__ = ["compiled", "compiled_plan", "compiled_program", "compiles"]


def compiles(runtime: Runtime) -> bool:
    """Whether a backend compiles blocks."""
    return type(runtime).compile is not Runtime.compile


def compiled_plan(device: str, entries: Sequence[Entry | None]) -> Plan | None:
    """What a backend's compiler makes of recorded ops; None where it declines them.

    Args:
        device: type of the backend's device.
        entries: its ops, in program order; None for those that nobody needs.
    """
    runtime = TABLE[device].runtime
    positions = [i for i, e in enumerate(entries) if e is not None]
    present = [e for e in entries if e is not None]
    try:
        found = Description(present, donates=runtime.donates)
    except Undescribable:
        return None
    kept, cached = compiled(device, found)
    if kept.executable is None:
        return None
    launch = _Launch(kept, present, positions, found)
    peak = getattr(kept.executable, "peak_bytes", 0)
    step = Step(tuple(positions), launch)
    return Plan([step], groups=1, fused=len(present), cached=cached, peak_bytes=peak)


def compiled(device: str, found: Description) -> tuple[Kept, bool]:
    """What a backend makes of a program, and whether that was kept from an earlier launch."""
    kept = PROGRAMS.get(device, found.key)
    return (compiled_program(found.program(device)), False) if kept is None else (kept, True)


def compiled_program(program: Program) -> Kept:
    """What a backend makes of a program that is not kept."""
    start = time.perf_counter()
    kept = Kept(program, TABLE[program.device].runtime.compile(program))
    PROGRAMS.put(kept, time.perf_counter() - start)
    return kept


_MISSING: Final = object()


class _Launch:
    """One launch of a program.

    Attributes:
        checks: what its device has still to answer, with the entries that it is about and the
            tensors that depend on it.
        donated: whether it may overwrite operands, so that its ops must not run again.
    """

    __slots__ = (
        "_entries",
        "_inputs",
        "_kept",
        "_number_of",
        "_numbers",
        "_positions",
        "checks",
        "donated",
    )

    def __init__(
        self, kept: Kept, entries: Sequence[Entry], positions: Sequence[int], found: Description
    ) -> None:
        self._kept = kept
        self._entries = entries
        self._positions = positions
        self._inputs, self._numbers = found.inputs, found.numbers
        self._number_of = found.number_of
        self.donated = bool(kept.program.donated)
        self.checks: list[tuple[int, Any, list[Tensor]]] = []

    def __call__(self) -> list[Any]:
        """Results of the entries; None for those that nobody can see, and for views."""
        program, executable = self._kept.program, self._kept.executable
        assert executable is not None
        try:  # what the inputs wait for may come later: their memory is there, and the payloads
            results: Any = executable([*self._inputs], self._numbers)
        except StepFailed as failed:
            if isinstance(failed.entry, int):
                at = self._positions[program.positions[failed.entry]]
                raise StepFailed(at, failed.cause) from None
            raise
        except Halted as halted:
            raise self._stopped(halted) from None
        checks: Sequence[Any] = ()
        if isinstance(results, Checked):
            results, checks = results
        results = list(results)
        if len(results) != len(program.outputs):
            raise RuntimeError(
                f"its executable gave {len(results)} results for {len(program.outputs)} outputs"
            )
        if checks:
            self._note(checks)
        made = dict(zip(program.outputs, results, strict=True))
        return [self._result(entry, made) for entry in self._entries]

    def _stopped(self, halted: Halted) -> StepStopped:
        positions = self._kept.program.positions
        at = positions[halted.instruction]
        results = [self._result(entry, halted.made) for entry in self._entries[:at]]
        return StepStopped(at, results, halted.cause, halted.span(positions))

    def _result(self, entry: Entry, made: dict[int, Any]) -> Any:
        """What an op has given, or None for what was not made; of values by their numbers."""
        outs, op = entry.outs, entry.op
        if op.writes:
            return outs[0] if len(outs) == 1 else outs
        given = [self._given(t, made.get(self._number_of[id(t)], _MISSING)) for t in outs]
        return given[0] if len(given) == 1 else tuple(given)

    def _given(self, t: Tensor, result: Any) -> Any:
        if result is _MISSING:
            return None
        return as_tensor(result, t._shape, t._dtype, t._device, t._layout)

    def _note(self, checks: Sequence[Any]) -> None:
        program = self._kept.program
        by_number = dict(zip(program.inputs, self._inputs, strict=True))
        for position, instruction in zip(program.positions, program.instructions, strict=True):
            entry = self._entries[position]
            pairs = zip(instruction.outs, entry.outs, strict=True)
            by_number |= {n: t for n, t in pairs if n is not None}
        for check in checks:
            depending = [by_number[n] for n in program.depending_on(check.instruction)]
            at = self._positions[program.positions[check.instruction]]
            self.checks.append((at, check, depending))
