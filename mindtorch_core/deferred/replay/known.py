"""The known trace of a block: what recorders expect, and what to call at its end."""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from types import CodeType
from typing import Any, Final

from ...dispatch.keys import AUTOGRAD
from ...dispatch.schema import parse_schema
from ...tensors.tensor import Tensor
from ...values.devices import TABLE
from ...values.dtypes import get_default_dtype
from ...values.references import if_counted
from ...values.shapes import numel
from ..dependence import memory_of
from ..programs.describing import Description, Undescribable
from ..programs.planned import compiled
from ..programs.program import Executable, Number, Program, Ref
from ..trace import Entry, RecordedOp
from .identities import Identities

_getrefcount = sys.getrefcount
_weakrefs = weakref.getweakrefcount

__all__ = [
    "END", "NOTHING", "Expected", "Known", "Ready", "Unmade", "are_apart", "getter", "partition",
    "strides_of",
]  # fmt: skip


class Expected:
    """An op that a block is expected to call next.

    Attributes:
        op: the op; None where nothing is expected.
        args, kwargs: its arguments, with a `Ref` for each tensor and a `Number` for each number.
        places: by position of an argument, where a tensor stands among the values; `Known.nowhere`
            for other arguments.
        numbers: by position, where a number stands among those of a run; 0 for other arguments.
        outs, out: where its results stand, and the first of them.
        results: of each, shape, dtype and strides.
        kind: how to make what an op returns: ``write``, ``view``, ``detached`` (a view that is none),
            ``made`` for one new tensor, ``several`` for a tuple of them; empty for others.
        start: of a view, where it lies behind the tensor that is viewed, in bytes.
        spec: shape, dtype, layout and bytes of the first, as `Memo` has them.
        device, keys: of the first, and the keys that new tensors there have.
        nbytes: bytes of all.
        kinds: by position of an argument, the type of a number that may be another one in each run;
            None for other arguments.
        code, instruction, depth: where it is called, and how far up the stack that is.
        next: what is expected after it.
        walk: the backward pass that begins with it, if it can be followed as a whole; see
            `mindtorch_core.gradients.replayed`.
    """

    __slots__ = (
        "args", "code", "depth", "device", "instruction", "keys", "kind", "kinds", "kwargs", "nbytes",
        "next", "numbers", "op", "out", "outs", "places", "results", "spec", "start", "walk",
    )  # fmt: skip

    op: RecordedOp | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    places: tuple[int, ...]
    numbers: tuple[int, ...]
    kinds: tuple[type | None, ...]
    outs: tuple[int, ...]
    out: int
    results: list[tuple[Any, ...]]
    spec: tuple[Any, ...]
    device: Any
    keys: int
    nbytes: int
    code: CodeType
    instruction: int
    depth: int
    kind: str
    start: int
    next: Expected
    walk: Any

    def __init__(self) -> None:
        self.walk = None


def _nothing() -> Expected:
    made = Expected()
    made.op = None
    return made


_KEPT: Final = 8  # of one trace
_COUNTED: Final = 64
NOTHING: Final = _nothing()  # the pipeline follows no trace
END: Final = _nothing()  # all that was expected has come


class _NoOperand:
    """What no operand is."""

    _storage = _autograd = None


class Unmade:
    """Stands among the values for a tensor that nobody can have: one between the ops of a backward pass.

    Each place has one of its own, so that counts of references to it are the same in each run.
    """

    _storage: Any = _NoOperand()
    _payload = _autograd = None


class Ready:
    """What to do at the end of a trace where certain results can be seen.

    Attributes:
        executable: computes the block.
        program: what it computes; its values stand at their numbers among those of the trace.
        did: how many ops there are, how many of them it computes, the memory that it takes at most, how many
            values it makes again, and by how many bytes less it holds for that.
        seen: places of the results that can be seen.
        spare: by the classes of what stands at `Known.hidden`, what gives the results that may be handed
            out again by the next run, and the places of all other values.
        in_order: whether it is right however the inputs share memory, see `Executable`.
        trusted: whether nobody looks at what it gives, see there.
        calls_ops: whether it may call ops, see there.
        inputs: gives what it takes, of the values.
        plain: whether what it gives is all that there is to settle: nobody looks, and nothing but new
            tensors is made.
    """

    __slots__ = (
        "calls_ops", "did", "executable", "in_order", "inputs", "plain", "program", "seen", "spare",
        "trusted",
    )  # fmt: skip

    plain: bool

    def __init__(
        self, executable: Executable, program: Program, size: int, seen: tuple[int, ...]
    ) -> None:
        self.executable = executable
        self.seen: Final = seen
        self.spare: dict[
            tuple[type, ...], tuple[Callable[[list[Any]], Sequence[Any]], Sequence[int]]
        ] = {}
        self.program = program
        self.inputs = getter(program.inputs)
        needed = len(program.positions) - len(program.again)
        peak = int(getattr(executable, "peak_bytes", 0))
        self.did: Final = size, needed, peak, len(program.again), program.saved
        self.in_order: bool = getattr(executable, "in_order", False)
        self.trusted: bool = getattr(executable, "trusted", False)
        self.calls_ops: bool = getattr(executable, "calls_ops", True)


class Known:
    """The trace of what a block records up to a flush.

    Args:
        entries: the ops.
        walks: the backward passes among them.
        apart: whether the inputs may be taken for tensors with memory of their own, if nothing is written.

    Raises:
        Undescribable: if it cannot be kept.

    Attributes:
        first: the first op.
        size, nbytes: number of ops, and bytes of their results.
        device: whose ops they are.
        default: the default dtype, by which ops without one go.
        blank: the values before the first op: None for each, and one that no operand is, at `nowhere`.
        spare: lists of values with tensors of a run that is over, see `keep_spare`.
        no_numbers, kinds: the same of the Python numbers, and their types.
        inputs: places of the tensors that are there before.
        guards: by place of one: shape, dtype, device and strides.
        made: places of what ops make, and of views.
        written: places of what ops write.
        views: places of views.
        shown: places of the inputs that these are of.
        sharing: which of the inputs have the same memory, and where they lie in it; None where it does
            not matter, as nothing is written.
        alone: whether no two of them do.
        identities: of what was recorded, until the pipeline takes them; None where nothing requires grad.
        hidden: of each backward pass that may be followed, the first place with an `Unmade`.
        reads_before: whether a backward pass in it uses what the part of the block before it has made.
        ready: what to call, by the places of the results that can be seen; None where the backend
            does not compile it.
        part: of which part of the block it is.
        next_time: the trace that came of the same part when the block came again; None for this one.
        next_part: the one that came of the next part; None where that is not known.
    """

    __slots__ = (
        "_again", "_apart", "_last", "_of_made", "_seen", "alone", "blank", "default", "device", "first",
        "guards", "hidden", "identities", "inputs", "kinds", "made", "nbytes", "next_part", "next_time",
        "no_numbers", "nowhere", "part", "reads_before", "ready", "sharing", "shown", "size", "spare",
        "views", "written",
    )  # fmt: skip

    def __init__(
        self, entries: Sequence[Entry], *, apart: bool = False, walks: Sequence[Any] = ()
    ) -> None:
        self._apart = apart and not any(e.op.writes for e in entries)
        found = Description(entries, apart=self._apart)
        if found.needs_more():
            raise Undescribable
        tensors = found.tensors
        self.device = entries[0].op.device
        self.default = get_default_dtype()
        self.size = len(entries)
        self.nbytes = 0
        self.nowhere = len(tensors)
        self.blank: list[Any] = [None] * len(tensors) + [_NoOperand()]
        self.spare: list[list[Any]] = []
        self.no_numbers: list[Any] = [None] * len(found.numbers)
        self.kinds = [type(v) for v in found.numbers]
        self.inputs = [found.number_of[id(t)] for t in found.inputs]
        self.guards: dict[int, tuple[Any, ...]] = {
            n: (t._shape, t._dtype, t._device, t._geometry()[0])
            for n, t in zip(self.inputs, found.inputs, strict=True)
        }
        self.made = [n for n in range(len(tensors)) if n not in self.guards]
        place = {id(t): n for n, t in enumerate(tensors)}
        self.written = list({place[id(t)] for e in entries if e.op.writes for t in e.outs})
        self.views = {place[id(t)] for e in entries if e.op.view for t in e.outs}
        viewed = {id(tensors[n]._storage) for n in self.views}
        self.shown = [n for n in self.inputs if id(tensors[n]._storage) in viewed]
        sharing = partition(found.inputs)
        alone = self._apart or len({memory for memory, _ in sharing}) == len(sharing)
        self.sharing = sharing if self.written or not alone else None
        self.alone = alone
        self.ready: dict[tuple[int, ...], Ready | None] = {}
        self.first = self._chain(entries, found)
        self._again = {n for e in self.chain() if e.kind in ("made", "several") for n in e.outs}
        self.part = 0
        self.next_time: Known | None = None
        self.next_part: Known | None = None
        self.reads_before = False
        self.hidden: list[int] = []
        for walk in walks:
            walk.place(self, found)
        self.identities = Identities.of(found)
        self._seen: dict[tuple[Any, ...], tuple[int, ...]] = {}
        self._last: tuple[list[Any], tuple[int, ...]] = [None], ()  # counts, and what they say
        self._of_made: dict[tuple[type, ...], Callable[[Sequence[Any]], Sequence[Any]]] = {}

    def _chain(self, entries: Sequence[Entry], found: Description) -> Expected:
        following = END
        told = found.instructions()
        for entry, instruction in zip(reversed(entries), reversed(told), strict=True):
            e = Expected()
            e.op, e.args, e.kwargs = instruction.op, instruction.args, instruction.kwargs
            # Plain ints: the interpreter finds them faster than those of a class of their own.
            e.places = tuple([int(v) if isinstance(v, Ref) else self.nowhere for v in e.args])
            e.numbers = tuple([int(v) if isinstance(v, Number) else 0 for v in e.args])
            e.kinds = tuple([self.kinds[v] if isinstance(v, Number) else None for v in e.args])
            e.outs = tuple([found.number_of[id(t)] for t in entry.outs])
            e.out = e.outs[0] if e.outs else self.nowhere
            e.results = [(t._shape, t._dtype, strides_of(t)) for t in entry.outs]
            e.nbytes = sum(numel(t._shape) * t._dtype.itemsize for t in entry.outs)
            first = entry.outs[0] if entry.outs else None
            e.spec = () if first is None else (first._shape, first._dtype, first._strided, e.nbytes)
            e.device = None if first is None else first._device
            e.keys = 0 if first is None else TABLE[first._device.type].keys & ~AUTOGRAD
            e.code, e.instruction, e.depth = entry.code, entry.instruction, 1
            e.kind = _kind_of(entry)
            e.start = 0
            if e.kind in ("view", "detached"):
                e.start = _start_of(entry.outs[0]) - _start_of(entry.args[0])
            e.next = following
            self.nbytes += e.nbytes
            following = e
        return following

    def chain(self) -> Iterator[Expected]:
        """The ops."""
        e = self.first
        while e is not END:
            yield e
            e = e.next

    def is_like(self, other: Known) -> bool:
        """Whether both are the same calls of the same operands, but for where these lie in memory."""
        return (
            self.size == other.size
            and self.guards == other.guards
            and all(
                (a.op, a.code, a.instruction, a.results) == (b.op, b.code, b.instruction, b.results)
                and repr((a.args, a.kwargs)) == repr((b.args, b.kwargs))
                for a, b in zip(self.chain(), other.chain(), strict=True)
            )
        )

    def prepare(self, seen: tuple[int, ...], entries: Sequence[Entry]) -> bool:
        """Have the trace compiled for a flush after which certain results can be seen.

        Args:
            seen: their places.
            entries: what was followed, which nothing else refers to now.

        Returns:
            Whether it was: not where one tensor stands for several, whose numbers are others then.
        """
        found = Description(entries, apart=self._apart)
        if len(found.tensors) != self.nowhere:
            return False
        if len(self.ready) >= _KEPT:
            self.ready.clear()
        kept, _ = compiled(self.device, found)
        executable = kept.executable
        self.ready[seen] = None
        if executable is not None:
            ready = Ready(executable, kept.program, self.size, seen)
            ready.plain = ready.trusted and not (self.written or self.views)
            self.ready[seen] = ready  # whole: an interrupt may come at any of these lines
        return True

    def keep_spare(self, ready: Ready, values: list[Any]) -> None:
        """Keep the results that nobody has come to see, to be handed out again by the next run.

        To make a tensor with its storage takes a third of what an op does that is followed. Who holds
        nothing of a tensor, not even weakly, cannot tell whether it is made or comes again.

        Args:
            ready: what the run has called.
            values: of the run, which is over.
        """
        if self.spare:
            return
        # Backward passes that were followed have made only some of them.
        made = tuple([values[n].__class__ for n in self.hidden]) if self.hidden else ()
        try:
            again_of, gone = ready.spare[made]
        except KeyError:
            again_of, gone = ready.spare[made] = self._spare_of(ready, values)
        again = again_of(values)
        for t in again:
            s = t._storage
            if t._payload is not None or t.__dict__ or _weakrefs(t) or _weakrefs(s):
                return
            s.pending = s.views = t._autograd = None
            s.version = 0
        spare = values.copy()  # who was interrupted by this run may look at its values yet
        for n in gone:
            spare[n] = None
        self.spare.append(spare)

    def _spare_of(
        self, ready: Ready, values: list[Any]
    ) -> tuple[Callable[[list[Any]], Sequence[Any]], Sequence[int]]:
        again = self._again.difference(ready.seen)
        again = {n for n in again if values[n].__class__ is not Unmade}
        return getter(sorted(again)), [n for n in range(self.nowhere) if n not in again]

    def seen(self, values: list[Any]) -> tuple[int, ...]:
        """Places of what was made that somebody refers to, to itself or its storage."""
        # A loop, as its calls are the cheapest; what the same counts say is known.
        there = tuple([values[n].__class__ for n in self.hidden]) if self.hidden else ()
        of_made = self._of_made.get(there)
        if of_made is None:
            made = [n for n in self.made if values[n].__class__ is not Unmade]
            of_made = self._of_made[there] = getter(made)
        counts: list[Any] = [*there]
        t = None
        for t in of_made(values):
            counts.append(_getrefcount(t))
            counts.append(_getrefcount(t._storage))
        last, found = self._last
        if counts == last:
            return found
        t = None  # `_look` counts as well
        if (key := tuple(counts)) not in self._seen:
            if len(self._seen) >= _COUNTED:
                self._seen.clear()
            self._seen[key] = self._look(values)
        self._last = counts, self._seen[key]
        return self._last[1]

    def _look(self, values: list[Any]) -> tuple[int, ...]:
        """The same, found place by place."""
        there = [n for n in range(self.nowhere) if values[n].__class__ is not Unmade]
        bases = Counter([id(values[n]._base) for n in there])
        storages = Counter([id(values[n]._storage) for n in there])
        storages.update({id(values[n]._storage): 1 << 60 for n in self.inputs})  # anybody's
        return tuple(
            [
                n
                for n in there
                if n not in self.guards
                and (
                    _getrefcount(values[n]) > 1 + bases[id(values[n])] + _LOOK
                    or _getrefcount(values[n]._storage) > storages[id(values[n]._storage)] + _LOOK
                )
            ]
        )


def getter(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """What gives the values at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1 or None) if places else slice(0))


def are_apart(tensors: Sequence[Tensor]) -> bool:
    """Whether no two tensors have the same memory."""
    memories = {id(t if (s := t._storage) is None else s.root) for t in tensors}
    return len(memories) == len(tensors)


def partition(tensors: Sequence[Tensor]) -> list[tuple[int, int]]:
    """For each tensor a number of its memory, and where it lies behind the first one there, in bytes."""
    memories: dict[int, tuple[int, int]] = {}
    found = []
    for t in tensors:
        start = 0 if t._storage is None else t._geometry()[1] * t._dtype.itemsize
        number, first = memories.setdefault(id(memory_of(t)), (len(memories), start))
        found.append((number, start - first))
    return found


def _kind_of(entry: Entry) -> str:
    op, d = entry.op, entry.op.definition
    if d is None:
        return ""
    if len(entry.outs) != 1:
        returns = parse_schema(d.schema).returns
        plain = all(r.type == "Tensor" and r.alias is None and not r.is_list for r in returns)
        several = plain and len(returns) == len(entry.outs) > 1
        return "several" if several and not (op.writes or op.view) else ""
    returned = d.schema.rpartition("->")[2].strip()
    if not returned.startswith("Tensor") or "," in returned:
        return ""
    if op.writes:
        return "write" if entry.outs[0] is entry.args[0] else ""
    if op.view:
        return "detached" if isinstance(d.grad, str) else "view"
    return "made" if returned == "Tensor" else ""


def _start_of(t: Tensor) -> int:
    return t._geometry()[1] * t._dtype.itemsize


def strides_of(t: Tensor) -> Any:
    """A tensor's strides; None where the backend is asked for them."""
    return None if t._strided is None else t._strided[0]


def _references_of_a_look() -> int:
    """What `sys.getrefcount` says in `Known.seen` beyond the references that others hold."""
    values = [_NoOperand()]
    (found,) = [_getrefcount(values[n]) for n in (0,)]
    return found - 1


_LOOK = if_counted(_references_of_a_look())
