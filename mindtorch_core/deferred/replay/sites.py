"""Sites: the places of blocks in the user's code, with the traces that are known there."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any, Final, Literal

from ...values.references import LOOK, NEVER
from ..programs.describing import Undescribable
from ..trace import Entry
from .known import Known

__all__ = ["HOPELESS", "SITES", "Site", "forget_sites", "site_here"]

_BOUND: Final = 512
_LARGEST: Final = 20_000  # ops of a trace
_TRACES: Final = 4  # of one part of a block
HOPELESS: Final = 6  # traces that did not fit, less those that did


class Site:
    """A place where blocks begin.

    Attributes:
        key: by which `SITES` has it; None where that has not.
        place: the instruction there; None where it is no statement.
        entered: how often.
        known: the trace of each part of the block, from one flush to the next, that came last.
        traces: all that are known of each part, the one that came last at the end: batches have two or
            three shapes, or a step is left out now and then.
        missed: how often a trace did not fit, less how often one did.
        floating: where views lie elsewhere in each run, see `floated`: by code object and instruction;
            False where they were found not to.
    """

    __slots__ = ("code", "entered", "floating", "key", "known", "missed", "place", "traces")

    def __init__(self, code: object, at: int = 0) -> None:
        self.code = code  # so that no other one gets its identity
        self.key: tuple[int, int, int, int] | None = None
        self.place = (code, at) if isinstance(code, CodeType) else None
        self.entered = 0
        self.known: dict[int, Known] = {}
        self.traces: dict[int, list[Known]] = {}
        self.missed = 0
        self.floating: dict[tuple[int, int], CodeType | Literal[False]] = {}

    @property
    def hopeless(self) -> bool:
        """Whether the block does something else each time."""
        return self.missed >= HOPELESS

    def give_up(self) -> None:
        """Learn nothing more: replaying does not pay here."""
        self.forget()
        self.missed = 1 << 30

    def forget(self) -> None:
        """Forget all traces."""
        self.known.clear()
        self.traces.clear()

    def others(self, part: int, tried: Sequence[Known]) -> list[Known]:
        """The traces of a part that were not tried, the last ones first."""
        return [known for known in reversed(self.traces.get(part, ())) if known not in tried]

    def came(self, known: Known) -> None:
        """Note that a trace has come, and after which one."""
        part = known.part  # a handler may have begun another one
        last, traces = self.known.get(part), self.traces.setdefault(part, [])
        if last is not None:
            last.next_time = None if last is known else known
        self.known[part] = known
        if known in traces:
            traces.remove(known)
        traces.append(known)
        if len(traces) > _TRACES:
            gone = traces.pop(0)
            gone.next_time = gone.next_part = None

    def learn(self, part: int, entries: Sequence[Entry], walks: Sequence[Any] = ()) -> Known | None:
        """Remember the trace of a part of the block, with its backward passes, if replaying it can pay.

        It comes in the stead of one of the same calls whose operands have lain otherwise, say.
        """
        if self.hopeless or len(entries) > _LARGEST:
            return None
        if len({e.op.device for e in entries}) != 1 or not all(e.op.compiled for e in entries):
            return None
        try:
            known = Known(entries, apart=bool(self.floating), walks=walks)
        except Undescribable:
            self.missed += 1
            return None
        known.part = part
        traces = self.traces.setdefault(part, [])
        traces[:] = [each for each in traces if not each.is_like(known)]
        self.came(known)
        return known


SITES: OrderedDict[tuple[int, int, int, int], Site] = OrderedDict()


def site_here(max_ops: int, max_bytes: int) -> Site | None:
    """The site of the statement that enters a block of a pipeline; None where nothing is replayed.

    Args:
        max_ops: bound of the pipeline, which ends parts of a block.
        max_bytes: the other one.
    """
    if LOOK == NEVER:
        return None
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    if frame is None:
        return None
    return site_of(frame.f_code, frame.f_lasti, max_ops, max_bytes)


def site_of(owner: object, at: int, max_ops: int, max_bytes: int) -> Site:
    """The site of a code object, or of whatever else enters blocks."""
    key = id(owner), at, max_ops, max_bytes
    found = SITES.get(key)
    if found is None:
        found = Site(owner, at)
        found.key = key
        SITES[key] = found
        while len(SITES) > _BOUND:
            SITES.popitem(last=False)
    return found


def forget_sites() -> None:
    """Forget all traces: they hold what backends have compiled, and kernels."""
    for site in [*SITES.values()]:
        site.key = None  # pipelines hold those of their last blocks, and are to look anew
        site.forget()
    SITES.clear()


_BETWEEN: Final = frozenset({"contextlib", "mindtorch_core.deferred.context"})
