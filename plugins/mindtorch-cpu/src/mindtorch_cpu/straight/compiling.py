"""From a program to the function that computes it."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    Halted,
    Instruction,
    Program,
    Ref,
    Tensor,
    numel,
    storage_extent,
)

from ..arrays import QUIET
from ..large import LARGE
from .gains import Find, tiles_pay
from .lines import Writer
from .runs import run_from

__all__ = ["compile_program"]

_NUMBER: Final = iter(range(1 << 62))


def compile_program(program: Program, empty: Callable[..., Tensor]) -> Executable | None:
    """What computes a program; None where tiles do better.

    Nor where a view shows more of the memory than what it is a view of: arrays do not tell of that.

    Args:
        program: recorded ops of the CPU.
        empty: makes a tensor of a shape, strides, dtype and device.
    """
    find = _finder(program)
    if tiles_pay(program, find) or any(_reaches_out(program, i) for i in program.instructions):
        return None
    return Executable(program, empty, find)


def _finder(program: Program) -> Find:
    """What finds the runs of a program: only where values are large rows are looked for."""
    if all(numel(v.shape) < LARGE for v in program.values):
        return run_from
    from .row_runs import kernel_from

    return kernel_from


def _reaches_out(program: Program, instruction: Instruction) -> bool:
    """Whether a view shows memory that what it is a view of does not reach, as `as_strided` may."""
    base, out = next(iter(instruction.args), None), next(iter(instruction.outs), None)
    if not (instruction.op.view and isinstance(base, Ref)) or out is None:
        return False
    view, source = program.values[out], program.values[base]
    if not numel(view.shape) or view.dtype is not source.dtype:
        return False
    start = view.offset - source.offset
    reach = storage_extent(source.shape, source.strides, 0)
    return start < 0 or storage_extent(view.shape, view.strides, start) > reach


class Executable:
    """A function over arrays that computes a program.

    Attributes:
        source: the function's text; a debugger shows it.
        in_order: whether it is right however the inputs share memory.
        trusted: what it gives is what kernels give that the tests cover.
        calls_ops: whether it may call ops, as kernels do: not where all is done on arrays.
    """

    trusted: Final = True

    def __init__(self, program: Program, empty: Callable[..., Tensor], find: Find) -> None:
        writer = Writer(program, empty, find)
        self.source = writer.source()
        name = f"<straight code {next(_NUMBER)}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        scope = writer.scope
        exec(compile(self.source, name, "exec"), scope)
        self._run: Any = scope["run"]
        self._code = self._run.__code__
        self._at = writer.instruction_at
        self._names = writer.names
        self._under_way = writer.under_way
        self.calls_ops: Final = writer.calls_kernels
        # What one kernel computes and writes, it may have read before.
        self.in_order = not self._under_way

    def __call__(self, inputs: list[Any], numbers: list[Any]) -> Any:
        """Compute the program; see `mindtorch_core.backend.Executable`."""
        try:
            try:
                return QUIET.__dict__["outer"](self._run, inputs, numbers)
            except RuntimeError as error:
                if "cannot enter context" not in str(error):
                    raise
                with np.errstate(all="ignore"):  # of a finaliser that runs inside such a call
                    return self._run(inputs, numbers)
        except BaseException as error:  # noqa: BLE001 (interrupts as well)
            raise self._halted(error) from None

    def _halted(self, error: BaseException) -> BaseException:
        """What was computed before an error."""
        tb = error.__traceback__
        while tb is not None and tb.tb_frame.f_code is not self._code:
            tb = tb.tb_next
        if tb is None:
            return error
        found = tb.tb_frame.f_locals
        at = self._at.get(tb.tb_lineno, 0)  # none for where the function begins
        made = {
            n: found[name]
            for n, (name, made_at) in self._names.items()
            if made_at < at and found.get(name) is not None
        }
        return Halted(at, made, error, self._under_way.get(tb.tb_lineno, 1))
