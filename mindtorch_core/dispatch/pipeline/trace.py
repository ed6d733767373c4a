"""What a pipeline keeps of each recorded op."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from ...tensor import Tensor
from ..entry import Kernel
from ..opdef import OpDef

__all__ = ["Batch", "Entry", "Plan", "RecordedOp", "Step", "Unsent", "location_of", "tensors_of"]


class RecordedOp:
    """What all recordings of an op on one backend share.

    Attributes:
        name: qualified name.
        impl: what a launch calls: the backend's kernel, and what stands around it.
        kernel: the kernel as it was registered at the backend's key, or None if another key's serves.
        plan: the backend's plan function for the op, or None. Called with the op's arguments, whose
            values may still be pending; returns a function without arguments that gives the result.
        definition: the op's definition, or None.
        writes: whether the op writes its first argument and returns it.
        view: whether the result shares the first argument's memory.
        pure: whether the op only makes its results: it may be left out if nobody wants them.
    """

    __slots__ = ("definition", "impl", "kernel", "name", "plan", "pure", "view", "writes")

    def __init__(
        self,
        name: str,
        impl: Kernel,
        plan: Kernel | None,
        definition: OpDef | None,
        *,
        kernel: Kernel | None,
        writes: bool,
        view: bool,
    ) -> None:
        self.name = name
        self.impl = impl
        self.kernel = kernel
        self.plan = plan
        self.definition = definition
        self.writes = writes
        self.view = view
        self.pure = definition is not None and not (writes or definition.random)

    def __repr__(self) -> str:
        return f"<RecordedOp {self.name}>"


class Entry(NamedTuple):
    """One recorded op. The recorders make plain tuples of the same fields.

    Attributes:
        op: what all recordings of the op share.
        args, kwargs: its arguments.
        outs: tensors that the results go into.
        code, instruction: where the user's code called it.
    """

    op: RecordedOp
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Tensor, ...]
    code: CodeType
    instruction: int


class Step:
    """Entries that a backend computes at once.

    Attributes:
        entries: their positions, in program order.
        compute: returns for each entry its result (a tensor, or a tuple of them), the written
            tensor itself for an op in place, or None where nobody needs the result; None to
            launch the entries one by one.
    """

    __slots__ = ("compute", "entries")

    def __init__(
        self, entries: tuple[int, ...], compute: Callable[[], Sequence[Any]] | None = None
    ) -> None:
        self.entries = entries
        self.compute = compute


class Unsent(Exception):
    """An op that a `Batch` had collected could not be sent; nor was what came after it.

    Attributes:
        position: of its entry.
        cause: what went wrong.
    """

    def __init__(self, position: int, cause: Exception) -> None:
        super().__init__(position, cause)
        self.position = position
        self.cause = cause


class Batch(ABC):
    """Collects what kernels would launch, so that it goes to the device at once.

    Kernels of a batch run in program order and make their results as always; only what they queue
    on the device waits for `send`. A backend has to send before anything that reads memory.

    Attributes:
        position: of the entry whose kernel is running.
    """

    position: int = 0

    @abstractmethod
    def start(self) -> None:
        """Collect what this thread launches from now on."""

    @abstractmethod
    def stop(self) -> None:
        """Collect no more, and forget what was not sent."""

    @abstractmethod
    def send(self) -> None:
        """Queue on the device what was collected.

        Raises:
            Unsent: if the device refuses one.
        """


class Plan:
    """What a backend makes of recorded ops.

    Attributes:
        steps: what to launch, in this order; together they cover every entry that was not dropped.
            None launches the entries one by one.
        groups, fused: how many steps compute several entries, and how many entries those are.
        peak_bytes: memory that results, and what is computed between them, take at most.
        cached: whether an earlier plan of the same structure was used.
        batch: collects what the entries launch; None where they launch it themselves.
    """

    __slots__ = ("batch", "cached", "fused", "groups", "peak_bytes", "steps")

    def __init__(
        self, steps: list[Step | None] | None = None, *, groups: int = 0, fused: int = 0,
        peak_bytes: int = 0, cached: bool = False, batch: Batch | None = None,
    ) -> None:  # fmt: skip
        self.steps = steps
        self.batch = batch
        self.groups = groups
        self.fused = fused
        self.peak_bytes = peak_bytes
        self.cached = cached


def tensors_of(args: Any) -> Iterator[Tensor]:
    """Every tensor among arguments, looking into lists and tuples."""
    for value in args:
        if value.__class__ is Tensor:
            yield value
        elif value.__class__ is list or value.__class__ is tuple:
            yield from tensors_of(value)


def location_of(code: CodeType, instruction: int) -> str:
    """``file:line`` of an instruction."""
    line = next(
        (n for start, end, n in code.co_lines() if start <= instruction < end and n is not None),
        code.co_firstlineno,
    )
    return f"{code.co_filename}:{line}"
