"""What a compiler is given: recorded ops as plain data, without tensors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...values.devices import device
from ...values.dtypes import dtype
from ...values.shapes import Shape, show
from ..positions import whole
from ..trace import location_of, refuse_cause
from .fingerprint import fingerprint_of
from .operands import Number, Ref

if TYPE_CHECKING:
    from types import CodeType

    from ..trace import RecordedOp
    from .checks import Checked

__all__ = ["Executable", "Halted", "Instruction", "Number", "Program", "Ref", "Value", "refs_of"]


class Value(NamedTuple):
    """A tensor of a program. An op in place changes its elements; the value stays the same.

    Attributes:
        shape, dtype, device: of the tensor.
        strides: in elements.
        offset: of its first element from that of the first value of its memory, in elements.
        memory: number of its memory. Values with the same one share it.
    """

    shape: Shape
    dtype: dtype
    device: device
    strides: Shape
    offset: int
    memory: int


class Instruction(NamedTuple):
    """One op of a program.

    Attributes:
        op: the op: its ``name``, its ``impl`` that computes it, whether it ``writes`` its first
            argument, or is a ``view`` of it.
        args, kwargs: its arguments, with a `Ref` for each tensor and a `Number` for each number.
        outs: numbers of its results; None for one of several that nobody wants. For an op in place,
            the values that it writes.
        where: the place in the user's code that recorded it first.
    """

    op: RecordedOp
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[int | None, ...]
    where: tuple[CodeType, int]

    @property
    def location(self) -> str:
        """``file:line`` where it was recorded first."""
        return location_of(*self.where)

    @property
    def name(self) -> str:
        """Qualified name of the op."""
        return self.op.name


class Program:
    """Recorded ops of one backend, in program order, as plain data: it holds no tensor.

    Numbers (of Python) that an op computes with are no part of it, only their types are: they come
    with each call. So steps that differ in a learning rate are one program. Dimensions, sizes and
    flags are part of it.

    Attributes:
        device: type of the backend's device.
        instructions: the ops.
        values: all tensors, by their number.
        inputs: numbers of the values that are there before, in the order of a call's tensors.
        numbers: types of the Python numbers, in the order of a call's.
        outputs: numbers of the values that a call has to return, in this order: those that somebody
            can see, or whose memory somebody can see. Views are none: they show what their memory holds.
        donated: inputs that nobody can see any more, whose memory may serve again; only where
            `Runtime.donates` says that the backend makes use of it.
        positions: where the instructions stand among the ops that were recorded, of which those that
            nobody needs are left out.
        key: equal for equal programs, and hashable; of this process alone. `fingerprint` is for others.
        again: by position of an instruction that makes a value again, so that nobody has to hold it until
            then, where the op stands among those that were recorded that has made it first; empty unless
            `Runtime.remakes` says that there may be any. Its own position is that of the op which reads it.
        saved: by how many bytes less is held for it at the fullest moment.
    """

    __slots__ = (
        "again", "device", "donated", "inputs", "instructions", "key", "numbers", "outputs", "positions",
        "saved", "values",
    )  # fmt: skip

    def __init__(
        self,
        device: str,
        instructions: Sequence[Instruction],
        values: Sequence[Value],
        inputs: Sequence[int],
        numbers: Sequence[type],
        outputs: Sequence[int],
        donated: Sequence[int],
        positions: Sequence[int],
        key: Hashable,
        again: Mapping[int, int] = MappingProxyType({}),
        saved: int = 0,
    ) -> None:
        self.device = device
        self.instructions = tuple(instructions)
        self.values = tuple(values)
        self.inputs = tuple(inputs)
        self.numbers = tuple(numbers)
        self.outputs = tuple(outputs)
        self.donated = frozenset(donated)
        self.positions = tuple(positions)
        self.key = key
        self.again = again
        self.saved = saved

    @property
    def written(self) -> frozenset[int]:
        """Numbers of the memories that instructions write, besides those that they make."""
        return frozenset(
            self.values[o].memory
            for i in self.instructions
            if i.op.writes
            for o in i.outs
            if o is not None
        )

    @property
    def fingerprint(self) -> str | None:
        """A text that is equal for equal programs in all processes, for what is kept on disk.

        It says nothing of versions: whoever keeps something by it adds those of its compiler and of
        mindtorch. None where an argument of an op is an object that no text says.
        """
        return fingerprint_of(self)

    def position(self, instruction: int) -> int:
        """Where an instruction stands among the ops that were recorded.

        Raises:
            IndexError: if an executable names one that is none.
        """
        count = len(self.positions)
        try:
            at = whole(instruction)
        except TypeError:
            at = -1
        if not 0 <= at < count:
            raise IndexError(
                f"its executable names instruction {instruction!r} of {count}, which are counted from 0"
            )
        return self.positions[at]

    def as_outputs(self, results: Iterable[Any] | None) -> list[Any]:
        """What an executable gave, a result for each output.

        Raises:
            TypeError: if it gave nothing.
            RuntimeError: if it gave too few, or too many.
        """
        count = len(self.outputs)
        if results is None:
            raise TypeError(f"its executable gave None for {count} outputs")
        found = [*results]
        if len(found) != count:
            raise RuntimeError(f"its executable gave {len(found)} results for {count} outputs")
        return found

    def depending_on(self, instruction: int) -> frozenset[int]:
        """Outputs, and inputs that are written, whose elements depend on those of an instruction."""
        values = self.values
        reached = {values[o].memory for o in self.instructions[instruction].outs if o is not None}
        for each in self.instructions[instruction + 1 :]:
            if any(values[n].memory in reached for n in refs_of((each.args, each.kwargs))):
                reached.update(values[o].memory for o in each.outs if o is not None)
        seen = (*self.outputs, *self.inputs)
        return frozenset(n for n in seen if values[n].memory in reached)

    def __str__(self) -> str:
        lines = [f"program of {len(self.instructions)} ops on {self.device}"]
        lines += [f"  %{n} = input {_shown(self.values[n])}" for n in self.inputs]
        for at, each in enumerate(self.instructions):
            given = [*map(repr, each.args), *(f"{k}={v!r}" for k, v in each.kwargs.items())]
            outs = ", ".join("_" if o is None else f"%{o}" for o in each.outs)
            shown = ", ".join(_shown(self.values[o]) for o in each.outs if o is not None)
            kind = "  in place" if each.op.writes else "  view" if each.op.view else ""
            kind += "  again" if at in self.again else ""
            lines.append(f"  {outs} = {each.op.name}({', '.join(given)})  {shown}{kind}")
        return "\n".join([*lines, f"  return {', '.join(f'%{n}' for n in self.outputs)}"])


def _shown(value: Value) -> str:
    return f"{show(value.shape)} {str(value.dtype).removeprefix('torch.')}"


class Halted(BaseException):
    """What an executable may raise instead of the error of an instruction, or of an interrupt.

    What it has computed by then is kept, and the instructions after the one that failed are computed
    one by one, as far as they do not depend on it.

    Attributes:
        instruction: position of the one that did not come to its end.
        made: by number, the payloads or tensors of the values that were made before.
        cause: the error.
        under_way: how many instructions, from that one on, may have written something: they are computed
            together.
    """

    def __init__(
        self, instruction: int, made: dict[int, Any], cause: BaseException, under_way: int = 1
    ) -> None:
        super().__init__(instruction, made, cause, under_way)
        refuse_cause(self, cause)
        self.instruction = instruction
        self.made = made
        self.cause = cause
        self.under_way = under_way

    def span(self, program: Program) -> tuple[int, int]:
        """Where the recorded ops begin and end that may have written something.

        Raises:
            BaseException: an interrupt that is the cause of one that tells of no such instructions.
            TypeError, IndexError: instead of any other such cause.
        """
        try:
            if not isinstance(self.made, dict):
                raise TypeError(
                    f"what its executable has made is {self.made!r}, where a dict is expected"
                )
            start = program.position(self.instruction)
            last = self.instruction + whole(self.under_way) - 1
            if not self.instruction <= last < len(program.positions):
                raise IndexError(
                    f"its executable has {self.under_way} instructions under way from {self.instruction} "
                    f"on, of {len(program.positions)}"
                )
            return start, program.positions[last] + 1
        except (TypeError, IndexError) as mistake:
            if not isinstance(self.cause, Exception):
                raise self.cause from None
            raise mistake from self.cause


class Executable(Protocol):
    """What a backend makes of a `Program`; it is kept, and called for each launch of that program.

    It may have an attribute ``peak_bytes``, the memory that a call takes at most, and ``in_order``, true
    where it computes one instruction after the other in the memory of its inputs, so that it is right
    also for inputs that share memory in another way than the program's did. ``trusted``, if true, says
    that each output is as its value says, and has memory of its own: nobody looks whether it has.
    ``calls_ops``, if it is there and false, says that it calls no op: those of others are run at once,
    below autograd and the pipeline.
    """

    def __call__(self, inputs: list[Any], numbers: list[Any]) -> Sequence[Any] | Checked:
        """Compute the program.

        Args:
            inputs: the tensors of `Program.inputs`. It writes those that the program writes.
            numbers: the Python numbers.

        Returns:
            The tensors of `Program.outputs`, laid out as their values say, or `Checked`. In the place
            of a tensor there may be its payload (`Tensor.raw_data`), where `Runtime.storage_of`
            finds the memory behind one.

        Raises:
            StepFailed: an instruction, by its position, could not be computed.
            Halted: the same, with what was computed before.
        """
        ...


def refs_of(value: Any) -> Iterator[Ref]:
    """Every tensor of a value of an instruction's arguments, lists and dicts looked into."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from refs_of(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from refs_of(each)
