"""Following a known trace: is a call the expected one, and what becomes of what was followed."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence, Set
from types import CodeType, FrameType
from typing import Any, Final

from ...tensors.making import make_view
from ...tensors.storage import Storage
from ...tensors.tensor import Tensor, make_tensor
from ...values.shapes import numel
from ..bounds import size_of
from ..dependence import memory_of
from ..frames import INSIDE
from ..programs.program import Number, Ref
from ..trace import TENSORS, Entry, tensors_of
from .known import END, NOTHING, Expected, Known, Unmade, strides_of
from .matching import is_alias, retraced, same, stands_at

__all__ = [
    "MISSED",
    "Following",
    "follow",
    "follow_at_once",
    "hand_out",
    "located",
    "options",
    "put",
    "takes",
]

MISSED: Final = object()  # what `follow_at_once` returns for a call that is not the expected one
_USED_ELSEWHERE: Final = "another pipeline"
_NONE: Final[
    list[Any]
] = []  # the values of a pipeline that has followed nothing yet; never written


class Following:
    """The part of a pipeline that follows a known trace.

    Attributes:
        recorded: recorded and not yet launched ops, to which those that were followed are added where
            the trace ends.
        nbytes: size of their results; of what is followed, its trace knows.
        expected: the next op; `NOTHING` where no trace is followed.
        values, numbers: what was met so far, by its place.
        known: the trace.
        skipped: views among what was followed that are there already, and were none of the trace.
        aliases: other tensors over memory that ops have still to make, see `remember`.
        tried: the traces that were followed, or tried, since the last flush.
    """

    # What is read several times for each op stands in slots, which are found fastest.
    __slots__ = (
        "aliases", "expected", "known", "lock", "nbytes", "numbers", "recorded", "skipped", "tried",
        "values",
    )  # fmt: skip

    recorded: list[Entry]
    lock: Any

    def __init__(self) -> None:
        self.nbytes = 0
        self.known: Known | None = None
        self.skipped: Sequence[Expected] = ()
        self.tried: Sequence[Known] = ()
        self.expected = NOTHING
        self.values: list[Any] = _NONE
        self.numbers: list[Any] = _NONE
        self.aliases: tuple[weakref.ref[Tensor], ...] = ()

    def fill_aliases(self) -> None:
        """Give aliases their payloads, now that the memory is there."""
        waiting, count = [], len(self.aliases)
        for ref in self.aliases[:count]:
            t = ref()
            if t is not None and t._payload is None and (s := t._storage) is not None:
                if s.memory is not None:
                    t._fill(s)
                elif s.pending is not None:
                    waiting.append(ref)
        self.aliases = (*waiting, *self.aliases[count:])

    def remember(self, t: Tensor) -> None:
        """Give another tensor over memory that is still to be made its payload when it is there."""
        alias = weakref.ref(t)
        self.aliases += (alias,)

    @property
    def entries(self) -> list[Entry]:
        """Recorded and not yet launched ops, in program order."""
        self.unfold()
        return self.recorded

    @property
    def followed(self) -> int:
        """How many ops were followed that are no entries."""
        known, count = self.known, 0
        at = NOTHING if known is None else known.first
        while at is not self.expected and at.op is not None:
            count += 1
            at = at.next
        return 0 if self.expected is NOTHING else count

    def draws(self) -> bool:
        """Whether an op that is not launched yet draws random numbers, or may."""
        known, at = self.known, self.expected
        e = NOTHING if known is None or at is NOTHING else known.first
        while e is not at and e.op is not None:
            if e.op.draws:
                return True
            e = e.next
        return any(entry.op.draws for entry in self.recorded)

    def writes_to(self, memory: object) -> bool:
        """Whether an op that is not launched yet writes to some memory, as `memory_of` gives it."""
        known, at, values = self.known, self.expected, self.values
        e = NOTHING if known is None or at is NOTHING else known.first
        while e is not at and e.op is not None:
            if e.op.writes and any(memory_of(values[n]) is memory for n in e.outs):
                return True
            e = e.next
        return any(memory_of(t) is memory for e in self.recorded if e.op.writes for t in e.outs)

    def uses(self, memories: Set[int]) -> bool:
        """Whether an op that is not launched yet reads or writes memory, by identities of it."""
        if any(TENSORS[t.__class__] and id(memory_of(t)) in memories for t in self.values):
            return True
        return any(
            id(memory_of(t)) in memories
            for e in self.recorded
            for t in tensors_of((*e.outs, *e.args, *e.kwargs.values()))
        )

    def others(self) -> Sequence[Known]:
        """Traces that may come in the stead of the one that is followed."""
        return ()

    def turn(self, e: Expected, *, ends: bool = False) -> bool:
        """Follow another trace, where what comes is not what is expected, or unfold what was followed.

        Args:
            e: what is expected, and does not come.
            ends: whether nothing more comes.

        Returns:
            Whether nothing else is expected: no other trace begins with what was followed.
        """
        known, values, numbers = self.known, self.values, self.numbers
        others = () if known is None or self.skipped else self.others()
        if others and known is not None and self.expected is e:
            self.make_all(known, e, values)
            entries = entries_of(known, e, values, numbers)
            self.tried = [*self.tried, known]
            for other in others:
                # A handler may have gone on wherever something is called: the values may be over.
                if self.expected is not e or self.values is not values:
                    break
                self.tried = [*self.tried, other]
                found = retraced(other, entries)
                if found is not None and (found[0] is END or not ends):
                    if self.expected is e and self.values is values:  # from here on together
                        self.expected, self.values, self.numbers = found
                        self.known = other
                        return False
                    break
            del entries
        self.unfold()
        return True

    def make_all(self, known: Known, end: Expected, values: list[Any]) -> None:
        """Make what backward passes that were followed have not handed out.

        Args:
            known: the trace.
            end: the op that was to come.
            values: of the run. Where an interrupt comes, the rest of them is made by the next call.
        """
        e = known.first if known.hidden else end
        while e is not end:
            if any(values[n] is None or values[n].__class__ is Unmade for n in e.outs):
                for n in e.outs:
                    values[n] = None
                hand_out(self, values, e)
            e = e.next

    def unfold(self) -> None:
        """Make entries of what was followed, and follow no more."""
        while (at := self.expected) is not NOTHING:
            known, values, numbers = self.known, self.values, self.numbers
            if known is None:
                return
            self.make_all(known, at, values)
            found = entries_of(known, at, values, numbers, self.skipped)
            count, nbytes = len(self.recorded), size_of(found)
            # Together: a handler, or the thread that records, may go on wherever something is called.
            if self.expected is at and self.values is values:
                self.expected = NOTHING
                self.recorded[count:] = found
                self.nbytes += nbytes
                self.values, self.known = [], None


def entries_of(
    known: Known,
    end: Expected,
    values: list[Any],
    numbers: list[Any],
    skipped: Sequence[Expected] = (),
) -> list[Entry]:
    """What was followed before an op, as entries."""
    found: list[Entry] = []
    e = known.first
    while e is not end:
        op = e.op
        if op is None:
            raise RuntimeError("this op is none of the trace")
        if skipped and e in skipped:
            e = e.next
            continue
        args = tuple([_given(v, values, numbers) for v in e.args])
        kwargs = {k: _given(v, values, numbers) for k, v in e.kwargs.items()}
        outs = tuple([values[n] for n in e.outs])
        found.append(Entry(op, args, kwargs, outs, e.code, e.instruction))
        e = e.next
    return found


def _given(value: Any, values: list[Any], numbers: list[Any]) -> Any:
    kind = value.__class__
    if kind is Ref:
        return values[value]
    if kind is Number:
        return numbers[value]
    if kind is list or kind is tuple:
        return kind([_given(each, values, numbers) for each in value])
    return value


# ---- what recorders ask -------------------------------------------------------------------------


def takes(pipe: Following, place: int, t: Tensor) -> bool:
    """Whether a tensor is the operand that is expected at a place, where it is not what stands there."""
    values, known = pipe.values, pipe.known
    try:
        have = values[place]
    except IndexError:
        return False  # a handler or finaliser has ended what was followed
    if have is not None or known is None:
        return have is t or is_alias(have, t)
    try:
        guard = known.guards[place]
    except KeyError:
        return False
    s = t._storage
    if s is not None and (pending := s.pending) is not None:
        if pending is not pipe:
            pending.flush_because(_USED_ELSEWHERE)
        elif s.memory is None:
            return False  # it shows what an op has still to make
    layout = t._strided or t._geometry()
    if (t._shape, t._dtype, t._device, layout[0]) != guard:
        return False
    values[place] = t
    return True


def put(pipe: Following, e: Expected, at: int, value: Any) -> bool:
    """Whether an argument that is no tensor is the expected one; a number may be another one."""
    return _put(pipe, e, e.args[at], value)


def _put(pipe: Following, e: Expected, wanted: Any, value: Any) -> bool:
    if wanted.__class__ is Number:
        known, numbers = pipe.known, pipe.numbers
        # A handler or finaliser may have gone on, by this trace or by another one: these are its numbers.
        if pipe.expected is not e or known is None or value.__class__ is not known.kinds[wanted]:
            return False
        numbers[wanted] = value
        return True
    return same(value, wanted)


def located(e: Expected, above: int = 2) -> bool:
    """Whether an op was called where that is expected; remembers how far up the stack.

    Args:
        e: the op.
        above: which frame is that of the recorder's caller.
    """
    frame: FrameType | None = sys._getframe(above)
    depth = 1
    while frame is not None and INSIDE[frame.f_globals.get("__name__")]:
        frame = frame.f_back
        depth += 1
    if frame is None or not stands_at(e, frame.f_code, frame.f_lasti):
        return False
    e.depth = depth
    return True


def follow_at_once(
    pipe: Following, e: Expected, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What an expected op returns that has a `kind`, or `MISSED`: no rule is asked.

    Args:
        pipe: the pipeline.
        e: what is expected; it has the call's op.
        args: the arguments of the call.
        kwargs: those by name.
    """
    try:
        user = sys._getframe(e.depth + 1)
    except ValueError:
        return MISSED
    if not (user.f_lasti == e.instruction and user.f_code is e.code) and not located(e, 3):
        return MISSED
    values = pipe.values
    if pipe.expected is not e or len(args) != len(e.args) or len(kwargs) != len(e.kwargs):
        return MISSED
    for value, wanted in zip(args, e.args, strict=True):
        if wanted.__class__ is Ref:
            if value is not values[wanted] and not _matches(pipe, e, value, wanted):
                return MISSED
        elif value is not wanted and not _matches(pipe, e, value, wanted):
            return MISSED
    for name, value in kwargs.items():
        if name not in e.kwargs or not _matches(pipe, e, value, e.kwargs[name]):
            return MISSED
    if e.kind == "several":
        outs = _several(values, e)
        for n, made in zip(e.outs, outs, strict=True):  # nobody has seen them yet
            made._own_storage().pending = pipe
            values[n] = made
        with pipe.lock:
            if pipe.expected is not e:
                return MISSED
            pipe.expected = e.next
        return outs
    t = values[e.out] if e.kind == "write" else _result(values, e)
    storage = t._own_storage()
    with pipe.lock:
        if pipe.expected is not e:
            return MISSED
        storage.pending = pipe
        values[e.out] = t
        pipe.expected = e.next
    return t


def _result(values: list[Any], e: Expected) -> Tensor:
    """A new tensor, or a view, that an expected op with one result gives."""
    if e.kind == "made":
        return _made(values, e)
    base = values[e.args[0]]
    shape, dtype, strides = e.results[0]
    offset = (base._geometry()[1] * base._dtype.itemsize + e.start) // dtype.itemsize
    t = make_view(base, shape, strides, offset, dtype)
    if e.kind == "detached":
        t._base = None
    return t


def hand_out(pipe: Following, values: list[Any], e: Expected) -> None:
    """Make the results of an op that writes nothing, which the caller expects to be the next one.

    Args:
        pipe: the pipeline.
        values: its values: a handler may give it others.
        e: the op.
    """
    if e.kind == "made":
        values[e.out] = made = _made(values, e)
        made._own_storage().pending = pipe
        return
    outs = (_result(values, e),) if e.kind not in ("", "several") else _several(values, e)
    for n, t in zip(e.outs, outs, strict=True):
        t._own_storage().pending = pipe
        values[n] = t


def _several(values: list[Any], e: Expected) -> tuple[Tensor, ...]:
    """New tensors that an expected op gives."""
    outs = []
    for n, (shape, dtype, strides) in zip(e.outs, e.results, strict=True):
        t: Tensor | None = values[n]
        if t is None:
            storage = Storage(None, numel(shape) * dtype.itemsize, e.device)
            layout = None if strides is None else (strides, 0)
            t = make_tensor(None, shape, dtype, e.device, e.keys, storage, layout)
        t._keys = e.keys
        outs.append(t)
    return tuple(outs)


def _made(values: list[Any], e: Expected) -> Tensor:
    spare: Tensor | None = values[e.out]
    if spare is not None:
        spare._keys = e.keys
        return spare
    storage = Storage(None, e.nbytes, e.device)
    shape, dtype, layout, _ = e.spec
    return make_tensor(None, shape, dtype, e.device, e.keys, storage, layout)


def follow(
    pipe: Following,
    e: Expected,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    outs: Sequence[Tensor],
    place: tuple[CodeType, int],
) -> bool:
    """Whether a call is the expected one; for ops whose recorders take any arguments.

    Args:
        pipe: the pipeline, whose lock is held.
        e: what is expected; it has the call's op.
        args: the arguments of the call.
        kwargs: those by name.
        outs: what its results go into.
        place: where it was called.
    """
    values = pipe.values
    if (
        pipe.expected is not e  # a handler or finaliser has gone on by another trace
        or not stands_at(e, *place)
        or len(args) != len(e.args)
        or kwargs.keys() != e.kwargs.keys()
        or len(outs) != len(e.outs)
        or not all(_matches(pipe, e, v, w) for v, w in zip(args, e.args, strict=True))
        or not all(_matches(pipe, e, v, e.kwargs[k]) for k, v in kwargs.items())
    ):
        return False
    for n, t, result in zip(e.outs, outs, e.results, strict=True):
        if (t._shape, t._dtype, strides_of(t)) != result or not (
            values[n] is None or values[n] is t
        ):
            return False
    for n, t in zip(e.outs, outs, strict=True):
        values[n] = t
    if pipe.expected is not e:
        return False
    pipe.expected = e.next
    if e.op is not None and not e.op.view:
        pipe.nbytes -= e.nbytes  # who has made the results has added it
    return True


def _matches(pipe: Following, e: Expected, value: Any, wanted: Any) -> bool:
    if TENSORS[value.__class__]:
        if wanted.__class__ is not Ref:
            return False
        return takes(pipe, wanted, value)
    kind = value.__class__
    if kind is list or kind is tuple:
        return (
            kind is wanted.__class__
            and len(value) == len(wanted)
            and all(_matches(pipe, e, v, w) for v, w in zip(value, wanted, strict=True))
        )
    return _put(pipe, e, wanted, value)


def options(pipe: Following, e: Expected, kwargs: dict[str, Any]) -> bool:
    """Whether keyword arguments that are no tensors are the expected ones."""
    expected = e.kwargs
    if len(kwargs) != len(expected):
        return False
    for name, value in kwargs.items():
        wanted = expected.get(name, MISSED)
        if value is not wanted and not _put(pipe, e, wanted, value):
            return False
    return True
