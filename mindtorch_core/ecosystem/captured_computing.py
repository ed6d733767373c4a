"""The ops of a captured step, computed: by what a backend has made of them, or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from ..deferred import Pipeline, StepFailed
from ..deferred.failures import error_from
from ..deferred.owners import Owners
from ..deferred.planning import backend_of, warn_of_plan
from ..deferred.programs.checks import Checked, verify
from ..deferred.programs.payloads import as_tensor, fitting
from ..deferred.programs.planned import compiled_program
from ..deferred.programs.program import Halted, Number, Program, Ref
from ..deferred.replay.replaying import computed
from ..deferred.settling import laid_out, mismatch
from ..deferred.telling import TELLING, called_at
from ..dispatch.dispatcher import dispatch
from ..tensors.tensor import Tensor
from ..values.errors import PipelineError

__all__ = ["Computing"]

_BY = "the executable"


class Computing:
    """What computes a program.

    Args:
        program: it.
    """

    __slots__ = ("_executable", "_outputs", "_program", "_trusted")

    def __init__(self, program: Program) -> None:
        made = compiled_program(program).executable
        self._program = program
        self._executable = made or partial(_one_by_one, program)
        self._trusted = made is None or getattr(made, "trusted", False)
        values = [program.values[n] for n in program.outputs]
        self._outputs = [(v, (v.strides, v.offset)) for v in values]

    def __call__(self, inputs: list[Any], numbers: list[Any]) -> list[Tensor]:
        """The outputs.

        Raises:
            PipelineError: where an op has failed, or an output is not what was recorded.
            RuntimeError: where a backend's executable has failed in another way, and nobody knows what it
                has written. Where it writes nothing the ops are computed one by one, with a warning.
        """
        if self._trusted:
            return self._around(self._given(inputs, numbers))
        try:
            given = self._given(inputs, numbers)
            return self._looked_at(inputs, self._program.as_outputs(given))
        except PipelineError:
            raise
        except Exception as mistake:
            program = self._program
            if program.written:
                raise RuntimeError(
                    f"the plan of {backend_of(program.device)} failed in a step that writes: "
                    f"{type(mistake).__name__}: {mistake}"
                ) from mistake
            warn_of_plan(program.device, mistake)
            return self._around(_one_by_one(program, inputs, numbers))

    def _given(self, inputs: list[Any], numbers: list[Any]) -> Sequence[Any]:
        try:
            found = computed(self._executable, inputs, numbers)
            if isinstance(found, Checked):
                found, checks = found
                for check in verify(checks, self._program):
                    if not check.passed():
                        raise StepFailed(check.instruction, check.error)
        except Halted as halted:
            halted.span(self._program)
            if not isinstance(halted.cause, Exception):
                raise halted.cause from None
            self._fail(halted.instruction, halted.cause)
        except StepFailed as failed:
            where: Any = failed.entry  # an instruction: executables know no entries
            self._program.position(where)
            self._fail(where, failed.cause)
        return found  # type: ignore[no-any-return]

    def _around(self, found: Sequence[Any]) -> list[Tensor]:
        return [
            as_tensor(t, v.shape, v.dtype, v.device, layout)
            for t, (v, layout) in zip(found, self._outputs, strict=True)
        ]

    def _looked_at(self, inputs: list[Any], found: Sequence[Any]) -> list[Tensor]:
        """Outputs that a backend vouches for in no way."""
        made: list[Tensor] = []
        owners = Owners(inputs)
        for n, given, (v, layout) in zip(self._program.outputs, found, self._outputs, strict=True):
            t = fitting(given, v.shape, v.dtype, v.device, layout)
            if not isinstance(t, Tensor) or (t._shape, t._dtype, t._device) != (
                v.shape,
                v.dtype,
                v.device,
            ):
                self._fail(self._maker(n), mismatch(t, v.shape, v.dtype, v.device, _BY))
            try:
                owners.claim(t, _BY)
            except RuntimeError as error:
                self._fail(self._maker(n), error)
            made.append(t if t._geometry() == layout else laid_out(t, v.strides))
        Owners.hand_out(made)
        return made

    def _maker(self, output: int) -> int:
        """The instruction that makes an output."""
        return next(i for i, e in enumerate(self._program.instructions) if output in e.outs)

    def _fail(self, instruction: int, cause: Any) -> NoReturn:
        if not isinstance(cause, Exception):
            raise TypeError(f"its executable has failed without an error: {cause!r}")
        at = self._program.instructions[instruction]
        raise error_from(at.op, None, at.where, cause) from cause


def _one_by_one(program: Program, inputs: list[Any], numbers: list[Any]) -> list[Any]:
    """Compute a program that its backend does not compile: in a pipeline, whose plan is kept."""
    values: dict[int, Any] = dict(zip(program.inputs, inputs, strict=True))

    def given(v: Any) -> Any:
        if isinstance(v, Ref):
            return values[v]
        if isinstance(v, Number):
            return numbers[v]
        return type(v)([given(each) for each in v]) if isinstance(v, list | tuple) else v

    made = several = None
    with Pipeline():
        for each in program.instructions:
            kwargs = {k: given(v) for k, v in each.kwargs.items()}
            call = partial(called_at, each.where, dispatch) if each.op.name in TELLING else dispatch
            made = call(each.op.name, program.device, *map(given, each.args), **kwargs)
            if each.op.writes:
                continue
            several = made if isinstance(made, tuple | list) else (made,)
            if len(several) != len(each.outs):
                several = [t for t in several if t is not None]
            values.update((n, t) for n, t in zip(each.outs, several, strict=True) if n is not None)
        del made, several
        dead = values.keys() - {*program.outputs}
        for n in dead:
            del values[n]
    return [values[n] for n in program.outputs]
