"""Calls of executables, as steps that a launch computes: what they give is settled op by op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...tensors.tensor import Tensor
from ..trace import Entry, StepFailed, StepStopped, tensors_of
from .checks import Checked, verify
from .payloads import as_tensor, fitting
from .program import Executable, Halted, Program

__all__ = ["Call"]

_MISSING: Final = object()


class Call:
    """One call of what a backend has made of a program.

    Attributes:
        checks: what its device has still to answer, with the entries that it is about and the
            tensors that depend on it.
        donated: whether it may overwrite operands, so that its ops must not run again.
        operands: those that it may not.
        trusted: see `Executable`.

    Args:
        program: the program.
        executable: computes it.
        entries: the ops of the program; None for those that nobody needs any more.
        positions: where they stand in the launch.
        inputs, numbers: what the program computes with.
        number_of: by id of a tensor, its number in the program.
        trusted: whether what it gives needs no look.
    """

    __slots__ = (
        "_entries", "_executable", "_inputs", "_number_of", "_numbers", "_positions", "_program",
        "checks", "donated", "operands", "trusted",
    )  # fmt: skip

    def __init__(
        self,
        program: Program,
        executable: Executable,
        entries: Sequence[Entry | None],
        positions: Sequence[int],
        inputs: Sequence[Tensor],
        numbers: list[Any],
        number_of: Mapping[int, int],
        *,
        trusted: bool,
    ) -> None:
        self._program, self._executable = program, executable
        self._entries = entries
        self._positions = positions
        self._inputs, self._numbers = inputs, numbers
        self._number_of = number_of
        self.trusted = trusted
        self.donated = bool(program.donated)
        pairs = zip(program.inputs, inputs, strict=True)
        self.operands = [t for n, t in pairs if n not in program.donated]
        self.checks: list[tuple[int, Any, list[Tensor]]] = []

    def __call__(self) -> list[Any]:
        """Results of the entries; None for those that nobody can see, and for views."""
        program = self._program
        try:  # what the inputs wait for may come later: their memory is there, and the payloads
            results: Any = self._executable([*self._inputs], self._numbers)
        except StepFailed as failed:
            raise StepFailed(self._at(failed.entry, failed.cause), failed.cause) from None
        except Halted as halted:
            raise self._stopped(halted) from None
        checks: Sequence[Any] = ()
        if isinstance(results, Checked):
            results, checks = results
        results = program.as_outputs(results)
        if checks:
            self._note(verify(checks, program))
        return self._results(dict(zip(program.outputs, results, strict=True)))

    def _at(self, instruction: Any, cause: BaseException) -> int:
        """Where an instruction stands in the launch."""
        try:
            return self._positions[self._program.position(instruction)]
        except IndexError as mistake:
            raise mistake from cause

    def _stopped(self, halted: Halted) -> StepStopped:
        start, end = halted.span(self._program)
        results = self._results(halted.made, start)
        under_way = sum(e is not None for e in self._entries[start:end])
        again = self._gone(start, halted.made) if self._program.again else frozenset()
        return StepStopped(len(results), results, halted.cause, under_way, again)

    def _gone(self, start: int, made: Mapping[int, Any]) -> frozenset[int]:
        """Where the ops stand whose values the program lets go, as far as the ops from one on need them."""
        entries, remade = self._entries, set(self._program.again.values())
        makers = {
            id(t): i for i in remade if i < start and (e := entries[i]) is not None for t in e.outs
        }
        gone: set[int] = set()
        needing = [e for e in entries[start:] if e is not None]
        while needing:
            entry = needing.pop()
            for t in tensors_of((*entry.args, *entry.kwargs.values())):
                i = makers.pop(id(t), None)
                if i is None or self._number_of[id(t)] in made or (maker := entries[i]) is None:
                    continue
                gone.add(i)
                needing.append(maker)
        return frozenset(self._positions[i] for i in gone)

    def _results(self, made: dict[int, Any], count: int | None = None) -> list[Any]:
        """What the first entries have given, of values by their numbers."""
        return [self._result(e, made) for e in self._entries[:count] if e is not None]

    def _result(self, entry: Entry, made: dict[int, Any]) -> Any:
        """What an op has given, or None for what was not made."""
        outs, op = entry.outs, entry.op
        if op.writes:
            return outs[0] if len(outs) == 1 else outs
        given = [self._given(t, made.get(self._number_of[id(t)], _MISSING)) for t in outs]
        return given[0] if len(given) == 1 else tuple(given)

    def _given(self, t: Tensor, result: Any) -> Any:
        if result is _MISSING:
            return None
        around = as_tensor if self.trusted else fitting
        return around(result, t._shape, t._dtype, t._device, t._strided)

    def _note(self, checks: Sequence[Any]) -> None:
        program = self._program
        by_number = dict(zip(program.inputs, self._inputs, strict=True))
        for position, instruction in zip(program.positions, program.instructions, strict=True):
            if (entry := self._entries[position]) is not None:
                pairs = zip(instruction.outs, entry.outs, strict=True)
                by_number |= {n: t for n, t in pairs if n is not None}
        for check in checks:
            depending = program.depending_on(check.instruction)
            at = self._positions[program.position(check.instruction)]
            self.checks.append(
                (at, check, [t for n in depending if (t := by_number.get(n)) is not None])
            )
