"""What a pipeline keeps of each recorded op."""

from __future__ import annotations

import dis
import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from types import CodeType
from typing import Any, Final, NamedTuple

from ..dispatch.entry import Kernel
from ..dispatch.opdef import OpDef
from ..tensors.tensor import Tensor
from .positions import whole

__all__ = [
    "COPIES",
    "NO_OPTIONS",
    "TENSORS",
    "Batch",
    "Entry",
    "Plan",
    "RecordedOp",
    "Share",
    "Step",
    "StepFailed",
    "StepStopped",
    "Unsent",
    "called_at",
    "location_of",
    "refuse_cause",
    "tensors_of",
]


_NUMBERS: Final = itertools.count()
_LOADS: Final = frozenset({"LOAD_ATTR", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME"})
NO_OPTIONS: Final[dict[str, Any]] = {}  # of all entries that have none; never written
Share = tuple[str, bool]
COPIES: Final[Share] = ("", False)  # of copies between devices: they are no backend's to plan


class RecordedOp:
    """What all recordings of an op on one backend share.

    Attributes:
        name: qualified name.
        device: type of the device whose backend runs it.
        number: no other op's, ever: for plans that are kept, which must not keep the op.
        impl: what a launch calls: the backend's kernel, and what stands around it.
        kernel: the kernel as it was registered at the backend's key, or None if another key's serves.
        plan: the backend's plan function for the op, or None. Called with the op's arguments, whose
            values may still be pending; returns a function without arguments that gives the result.
        definition: the op's definition, or None.
        writes: whether the op writes its first argument and returns it, or writes several arguments and
            returns nothing.
        view: whether the result shares the first argument's memory.
        pure: whether the op only makes its results: it may be left out if nobody wants them.
        draws: whether it draws random numbers; of one that somebody else has defined nobody knows.
        moves: whether it makes its first argument anew on the device that the second one names.
        numbers: positions and names of the arguments that are numbers to compute with.
        compiled: whether its backend compiles it.
        remakes: whether its result may be made again where a late op reads it, see `Runtime.remakes`.
        repeats: whether it is just what does so.
        fallback: whether the backend has no kernel for it: launched alone, it goes to its fallback.
        share: what is planned together with it: its device, and whether it is compiled at once;
            `COPIES` for a copy between devices.
    """

    __slots__ = (
        "_repeated", "compiled", "definition", "device", "draws", "fallback", "impl", "kernel", "moves",
        "name", "number", "numbers", "plan", "pure", "remakes", "repeats", "share", "view", "writes",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        device: str,
        impl: Kernel,
        plan: Kernel | None,
        definition: OpDef | None,
        *,
        kernel: Kernel | None,
        writes: bool,
        view: bool,
        numbers: frozenset[int | str] = frozenset(),
        fallback: bool = False,
    ) -> None:
        self.name = name
        self.device = device
        self.number = next(_NUMBERS)
        self.impl = impl
        self.kernel = kernel
        self.plan = plan
        self.definition = definition
        self.writes = writes
        self.view = view
        self.pure = definition is not None and not (writes or definition.traits.random)
        self.draws = definition is None or definition.traits.random
        self.moves = definition is not None and definition.traits.moves
        self.numbers = numbers
        self.fallback = fallback
        self.compiled = self.remakes = self.repeats = False
        self.share: Share = device, False
        self._repeated: RecordedOp | None = None

    @property
    def elementwise(self) -> bool:
        """Whether it only makes one result, each element of what stands at its place in the operands."""
        d = self.definition
        return (
            d is not None
            and "pointwise" in d.tags
            and self.pure
            and not (self.view or self.fallback)
            and self.plan is None
        )

    def repeated(self) -> RecordedOp:
        """The same op where it makes a value again that was let go."""
        found = self._repeated
        if found is None:
            found = copy(self)
            found.number, found.repeats = next(_NUMBERS), True
            self._repeated = found
        return found

    def __repr__(self) -> str:
        return f"<RecordedOp {self.name}>"


class Entry(NamedTuple):
    """One recorded op.

    Attributes:
        op: what all recordings of the op share.
        args, kwargs: its arguments; tensors among them may be pending.
        outs: tensors that the results go into; for an op in place, what it writes.
        code, instruction: where the user's code called it.
    """

    op: RecordedOp
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Tensor, ...]
    code: CodeType
    instruction: int

    @property
    def location(self) -> str:
        """``file:line`` of the user's code that called it."""
        return location_of(self.code, self.instruction)


class Step:
    """Entries that a backend computes at once.

    Attributes:
        entries: their positions, in program order.
        compute: returns for each entry its result (a tensor, or a tuple of them), the written
            tensor itself for an op in place, or None where nobody needs the result or that part of
            it; None to launch the entries one by one. It may raise a `StepFailed`. Its attribute ``note``,
            if it has one, says in a few words how it computed them; traces and profiles show it. ``trusted``,
            if true, says that results have memory of their own, so that nobody looks; ``donated``, that
            they may have that of operands which nobody can see any more.
        borrowed: positions of entries of later steps that it computes for itself as well, and gives no
            results for: their values need not be kept in memory until then.
    """

    __slots__ = ("_planned", "borrowed", "compute", "entries")

    def __init__(
        self,
        entries: tuple[int, ...],
        compute: Callable[[], Sequence[Any]] | None = None,
        borrowed: tuple[int, ...] = (),
    ) -> None:
        if compute is not None and not callable(compute):
            raise TypeError(
                f"what computes a Step is a function without arguments, or None, not {compute!r}"
            )
        self.entries = tuple(entries)
        self.compute = compute
        self.borrowed = tuple(borrowed)
        self._planned = self.entries

    def moved(self, positions: Sequence[int]) -> Step:
        """The same step among other entries: those it was planned with stand at these positions."""
        own, borrowed = (tuple(positions[i] for i in at) for at in (self.entries, self.borrowed))
        step = Step(own, self.compute, borrowed)
        step._planned = self.entries
        return step

    def position(self, entry: Entry | int, entries: Sequence[Entry | None]) -> int | None:
        """Where an entry of the step stands, which may be told as it was counted by the plan."""
        for i, planned in zip(self.entries, self._planned, strict=True):
            if entries[i] is entry or (planned == entry and not isinstance(entry, bool)):
                return i
        return None


def refuse_cause(error: BaseException, cause: object) -> None:
    """Refuse what is no exception as the cause of an error.

    Raises:
        TypeError: if it is none.
    """
    if not isinstance(cause, BaseException):
        raise TypeError(f"the cause of a {type(error).__name__} is an exception, not {cause!r}")


class StepFailed(Exception):
    """An op of a `Step` could not be computed: its error names that op, and its line.

    Attributes:
        entry: the `Entry`, or its position among those that were planned.
        cause: what went wrong.
    """

    def __init__(self, entry: Entry | int, cause: Exception) -> None:
        super().__init__(entry, cause)
        refuse_cause(self, cause)
        self.entry = entry
        self.cause = cause


class StepStopped(BaseException):
    """A step has come to a part of its entries: an op failed, or an interrupt came.

    Attributes:
        count: how many entries of the step it has computed, from the first on.
        results: of those.
        cause: the error of the next one.
        under_way: how many, from the next one on, may have written something.
        again: positions of those before whose values are gone by now and needed once more.
    """

    def __init__(
        self, count: int, results: Sequence[Any], cause: BaseException, under_way: int = 1,
        again: frozenset[int] = frozenset(),
    ) -> None:  # fmt: skip
        super().__init__(count, results, cause, under_way, again)
        self.again = again
        self.count = count
        self.results = results
        self.cause = cause
        self.under_way = under_way


class Unsent(Exception):
    """An op that a `Batch` had collected could not be sent; nor was what came after it.

    Attributes:
        position: of its entry.
        cause: what went wrong.
    """

    def __init__(self, position: int, cause: Exception) -> None:
        super().__init__(position, cause)
        refuse_cause(self, cause)
        self.position = whole(position)
        self.cause = cause


class Batch(ABC):
    """Collects what kernels would launch, so that it goes to the device at once.

    Kernels of a batch run in program order and make their results as always; only what they queue
    on the device waits for `send`. A backend has to send before anything that reads memory.

    Attributes:
        position: of the entry whose kernel is running.
    """

    position: int = 0

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """What is held from before `start` until after `stop`; nothing by default."""
        return nullcontext()

    @abstractmethod
    def start(self) -> None:
        """Collect what this thread launches from now on."""

    @abstractmethod
    def stop(self) -> None:
        """Collect no more, and forget what was not sent.

        It is called again if an interrupt ended it, and also where one ended `start`.
        """

    @abstractmethod
    def send(self) -> None:
        """Queue on the device what was collected.

        It is called again if an interrupt ended it, and goes on from there.

        Raises:
            Unsent: if the device refuses one.
        """

    def forget(self) -> bool:
        """Forget what the kernel at `position`, which an interrupt has ended, wanted to be queued.

        Returns:
            Whether nothing of it was queued, so that the op may run as if it never had; False by default.
        """
        return False


class Plan:
    """What a backend makes of recorded ops.

    Attributes:
        steps: what to launch, in this order; together they cover every entry that was not dropped.
            None launches the entries one by one.
        groups, fused: how many steps compute several entries, and how many entries those are.
        peak_bytes: memory that results, and what is computed between them, take at most.
        cached: whether an earlier plan of the same structure was used.
        batch: collects what the entries launch; None where they launch it themselves.
        notes: counts by a short text how steps were computed, filled as they are.
        kernels: by name, what there is to say of the compiled kernels that steps ran, filled as they do; its
            ``launches`` are added up over plans.
        remade, remade_bytes: how many values are made again, and by how many bytes less is held for it.
    """

    __slots__ = (
        "batch", "cached", "fused", "groups", "kernels", "notes", "peak_bytes", "remade", "remade_bytes",
        "steps",
    )  # fmt: skip

    def __init__(
        self, steps: Iterable[Step | None] | None = None, *, groups: int = 0, fused: int = 0,
        peak_bytes: int = 0, cached: bool = False, batch: Batch | None = None,
        notes: Counter[str] | None = None, kernels: dict[str, dict[str, Any]] | None = None,
        remade: int = 0, remade_bytes: int = 0,
    ) -> None:  # fmt: skip
        self.steps = None if steps is None else _steps_of(steps)
        self.remade = whole(remade)
        self.remade_bytes = whole(remade_bytes)
        self.kernels = kernels
        self.notes = notes
        self.batch = batch
        self.groups = whole(groups)
        self.fused = whole(fused)
        self.peak_bytes = whole(peak_bytes)
        self.cached = cached


def _steps_of(steps: Any) -> list[Step | None]:
    """The steps of a plan, which stay the list that they are.

    Raises:
        TypeError: if one is none.
    """
    found = (
        steps if isinstance(steps, list) else [*steps] if isinstance(steps, Iterable) else [steps]
    )
    for each in found:
        if each is not None and not isinstance(each, Step):
            raise TypeError(
                f"the steps of a Plan are a list of Step or None, but {each!r} is neither"
            )
    return found


class _Classes(dict[type, bool]):
    """Whether values of a class are tensors, parameters for instance; asked once for each class."""

    def __missing__(self, kind: type) -> bool:
        if len(self) >= _CLASSES:
            self.clear()
        found = self[kind] = issubclass(kind, Tensor)
        return found


_CLASSES: Final = 1_000  # some make classes as they go
TENSORS: Final = _Classes()


def tensors_of(args: Any) -> Iterator[Tensor]:
    """Every tensor among arguments, looking into lists and tuples."""
    for value in args:
        if TENSORS[value.__class__]:
            yield value
        elif value.__class__ is list or value.__class__ is tuple:
            yield from tensors_of(value)


def called_at(code: CodeType, instruction: int) -> str:
    """By which name a call names what it calls; empty where it has none, or nothing tells places.

    A call begins where the expression of what it calls begins, in the source.
    """
    places = list(code.co_positions())
    line, _, column, _ = places[instruction // 2]
    name = ""
    for each in dis.get_instructions(code):
        if each.offset >= instruction:
            break
        at = places[each.offset // 2]
        if column is not None and (at[0], at[2]) == (line, column) and each.opname in _LOADS:
            name = str(each.argval)
    return name


def location_of(code: CodeType, instruction: int) -> str:
    """``file:line`` of an instruction."""
    line = next(
        (n for start, end, n in code.co_lines() if start <= instruction < end and n is not None),
        code.co_firstlineno,
    )
    return f"{code.co_filename}:{line}"
