"""What was recorded, with ops that make values again where late ones read them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...dispatch.keys import AUTOGRAD
from ...tensors.making import make_view
from ...tensors.storage import Storage
from ...tensors.tensor import Tensor, make_tensor
from ...values.devices import TABLE
from ...values.shapes import numel
from ..programs.describing import Description, Undescribable
from ..trace import TENSORS, Entry, tensors_of
from .choosing import LIMITS, Again
from .of_programs import chosen_of

if TYPE_CHECKING:
    from ..launch import Launch

__all__ = ["Remade", "make_again"]

_KEPT: Final = 256
# By the structure of what was recorded: the positions of what is made again, and the bytes saved by it.
_CHOSEN: Final[dict[Hashable, tuple[list[Again], int]]] = {}


class Remade(NamedTuple):
    """Recorded ops, some of which make values again.

    Attributes:
        entries: all of them; None for those that nobody needs.
        origins: for each, where the op stands among those that were recorded, or the one which it repeats.
        again: positions of those that make a value again.
        saved: by how many bytes less is held at the fullest moment.
    """

    entries: list[Entry | None]
    origins: list[int]
    again: frozenset[int]
    saved: int


def make_again(launch: Launch, nbytes: int) -> tuple[int, int]:
    """Have a launch that has not begun make values again.

    Returns:
        How many, and by how many bytes less it holds for that.

    Args:
        launch: of ops to which nothing else refers.
        nbytes: size of their results.
    """
    small = nbytes < LIMITS.least_bytes
    found = None if small or launch.retold is not None else _remade(launch.entries)
    if found is None:
        return 0, 0
    launch.take(found)
    return len(found.again), found.saved


def _remade(entries: Sequence[Entry | None]) -> Remade | None:
    """Recorded ops that hold less at their fullest moment; None if nothing is gained.

    Args:
        entries: the ops, in program order; None for those that nobody needs.
    """
    if not _may_gain(entries):
        return None
    positions = [i for i, e in enumerate(entries) if e is not None]
    again, saved = _chosen([e for e in entries if e is not None])
    if not again:
        return None
    again = [Again(tuple(positions[i] for i in a.makers), positions[a.before]) for a in again]
    return _Remaking(entries, again).found(saved)


def _may_gain(entries: Sequence[Entry | None]) -> bool:
    """Whether a large value that may be made again is read, and long after that once more."""
    least = LIMITS.least_bytes
    last: dict[int, int] = {}  # by id of such a value, where it was read
    for i, entry in enumerate(entries):
        if entry is None:
            continue
        if last:
            for t in tensors_of(
                (*entry.args, *entry.kwargs.values()) if entry.kwargs else entry.args
            ):
                if (before := last.get(id(t))) is not None:
                    if 0 <= before < i - 1:
                        return True
                    last[id(t)] = i
        if entry.op.remakes:
            t = entry.outs[0]
            if numel(t._shape) * t._dtype.itemsize >= least:
                last[id(t)] = -1
    return False


def _chosen(entries: Sequence[Entry]) -> tuple[list[Again], int]:
    """What had better be made again, by positions among these entries."""
    try:
        found = Description(entries, donates=True)
    except Undescribable:
        return [], 0
    key = found.key, LIMITS.least_bytes, LIMITS.least_share
    known = _CHOSEN.get(key)
    if known is None:
        program = found.program(entries[0].op.device)
        again, saved = chosen_of(program)
        at = program.positions
        again = [Again(tuple(at[i] for i in a.makers), at[a.before]) for a in again]
        if len(_CHOSEN) >= _KEPT:
            _CHOSEN.clear()
        known = _CHOSEN[key] = again, saved
    return known


class _Remaking:
    """Goes through recorded ops once."""

    def __init__(self, entries: Sequence[Entry | None], again: Sequence[Again]) -> None:
        self._entries: list[Entry | None] = []
        self._origins: list[int] = []
        self._again: set[int] = set()
        self._now: dict[
            int, Tensor
        ] = {}  # by id of a tensor, the one that stands for it from here on
        todo = iter(again)
        following = next(todo, None)
        for i, entry in enumerate(entries):
            while following is not None and following.before == i:
                self._make(entries, following.makers)
                following = next(todo, None)
            self._add(i, None if entry is None else self._renamed(entry))

    def found(self, saved: int) -> Remade:
        """What was found; by how many bytes less is held."""
        return Remade(self._entries, self._origins, frozenset(self._again), saved)

    def _add(self, origin: int, entry: Entry | None) -> None:
        self._entries.append(entry)
        self._origins.append(origin)

    def _make(self, entries: Sequence[Entry | None], makers: Sequence[int]) -> None:
        now = dict(self._now)
        for i in makers:
            entry = entries[i]
            assert entry is not None
            (out,) = entry.outs
            made = _like(out)
            self._again.add(len(self._entries))
            args, kwargs = (_replaced(v, now) for v in (entry.args, entry.kwargs))
            self._add(
                i, entry._replace(op=entry.op.repeated(), args=args, kwargs=kwargs, outs=(made,))
            )
            now[id(out)] = made
        self._now[id(out)] = made

    def _renamed(self, entry: Entry) -> Entry:
        given = tensors_of((*entry.args, *entry.kwargs.values()))
        if not self._now or not any(id(t) in self._now for t in given):
            return entry
        args, kwargs = (_replaced(v, self._now) for v in (entry.args, entry.kwargs))
        outs = entry.outs
        if entry.op.view:
            (view,) = outs
            outs = (_view_like(view, args[0]),)
            self._now[id(view)] = outs[0]
        return entry._replace(args=args, kwargs=kwargs, outs=outs)


def _like(t: Tensor) -> Tensor:
    """A pending tensor like another one, with memory of its own."""
    of = t._own_storage()
    storage = Storage(None, of.size_bytes, of.device)
    storage.pending = of.pending
    keys = TABLE[t._device.type].runtime.key & ~AUTOGRAD
    return make_tensor(None, t._shape, t._dtype, t._device, keys, storage, t._strided)


def _view_like(view: Tensor, base: Tensor) -> Tensor:
    """A pending view that shows of other memory what a view shows."""
    strides, offset = view._geometry()
    made = make_view(base, view._shape, strides, offset, view._dtype)
    if view._base is None:
        made._base = None
    return made


def _replaced(value: Any, by: dict[int, Tensor]) -> Any:
    kind = value.__class__
    if TENSORS[kind]:
        return by.get(id(value), value)
    if kind is list or kind is tuple:
        return kind([_replaced(each, by) for each in value])
    if kind is dict:
        return {k: _replaced(each, by) for k, each in value.items()}
    return value
