"""Plans of backends that compile programs."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...runtime import Runtime
from ...values.devices import TABLE
from ..remaking.of_programs import remade
from ..trace import Entry, Plan, Step
from .calls import Call
from .describing import Description, Undescribable
from .kept import PROGRAMS, Kept
from .program import Program

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
    executable = kept.executable
    if executable is None:
        return None
    call = Call(
        kept.program, executable, present, positions, found.inputs, found.numbers, found.number_of,
        trusted=getattr(executable, "trusted", False),
    )  # fmt: skip
    peak, program = getattr(executable, "peak_bytes", 0), kept.program
    step = Step(tuple(positions), call)
    return Plan(
        [step], groups=1, fused=len(present), cached=cached, peak_bytes=peak, remade=len(program.again),
        remade_bytes=program.saved,
    )  # fmt: skip


def compiled(device: str, found: Description) -> tuple[Kept, bool]:
    """What a backend makes of a program, and whether that was kept from an earlier launch."""
    kept = PROGRAMS.get(device, found.key)
    return (compiled_program(found.program(device)), False) if kept is None else (kept, True)


def compiled_program(program: Program) -> Kept:
    """What a backend makes of a program that is not kept."""
    start = time.perf_counter()
    program = remade(program)
    kept = Kept(program, TABLE[program.device].runtime.compile(program))
    PROGRAMS.put(kept, time.perf_counter() - start)
    return kept
