"""Which values are made again: those without which the fullest moment of a launch is less full.

Chen et al., "Training deep nets with sublinear memory cost" (2016), do so by layers; here it is done value by
value, and only as far as the ops that make one again read what is in memory then anyway.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

__all__ = ["LIMITS", "Again", "Memory", "Work", "chosen"]


@dataclass(slots=True)
class Limits:
    """Tests make them small.

    Attributes:
        least_bytes: of a value.
        least_share: how much less the fullest moment has to hold.
    """

    least_bytes: int = 1 << 18
    least_share: float = 1 / 32


LIMITS: Final = Limits()
_MOST: Final = 8  # ops for one value


class Work(NamedTuple):
    """An op, as far as memory goes.

    Attributes:
        reads: numbers of the memories that it reads.
        makes: those that it makes.
        writes: those that are there before, and that it changes.
        again: whether it may be computed again, to the same bits.
    """

    reads: Sequence[int]
    makes: Sequence[int]
    writes: Sequence[int]
    again: bool


@dataclass(slots=True)
class Memory:
    """What one or more values lie in.

    Attributes:
        nbytes: its size.
        there: whether it is there before the ops.
        seen: whether it is there behind them.
        views: of each view of it, the op that makes it and the last one that has it.
    """

    nbytes: int
    there: bool = False
    seen: bool = False
    views: list[tuple[int, int]] = field(default_factory=list)


class Again(NamedTuple):
    """A value that is made again.

    Attributes:
        makers: positions of the ops that make it, in program order: the last one makes it itself.
        before: position of the op before which they do so, the first one that reads what they make.
    """

    makers: tuple[int, ...]
    before: int


def chosen(works: Sequence[Work], memories: Sequence[Memory]) -> tuple[list[Again], int]:
    """What is made again, in the order in which that is done, and by how many bytes less are held for it.

    Args:
        works: the ops, in program order.
        memories: by number.
    """
    search = _Search(works, memories)
    return search.run() if search.candidates else ([], 0)


class _Search:
    """Takes value after value from the fullest moment, until one comes that no value need be held at.

    Attributes:
        candidates: memories of the values that may be made again, in the order in which they are made.
    """

    def __init__(self, works: Sequence[Work], memories: Sequence[Memory]) -> None:
        self._works, self._memories = works, memories
        self._made: dict[int, int] = {}  # by memory, the op that makes it
        self._uses: dict[int, list[int]] = {}  # where it is made, read and changed
        self._changed: dict[int, list[int]] = {}
        self._changed_before: list[int] = []  # where anything is that was there before
        for at, work in enumerate(works):
            self._add(at, work)
        self.candidates = [m for m in self._made if self._may_be_again(m)]
        self._gaps: dict[int, tuple[int, int]] = {}  # of what is made again, when it is not held
        self._found: dict[int, Again] = {}
        self._more: dict[int, int] = {}  # bytes that are held while that is done

    def _add(self, at: int, work: Work) -> None:
        for m in work.makes:
            self._made[m] = at
        for m in work.writes:
            self._changed.setdefault(m, []).append(at)
            if self._memories[m].there:
                self._changed_before.append(at)
        for m in {*work.makes, *work.reads, *work.writes}:
            self._uses.setdefault(m, []).append(at)

    def _may_be_again(self, m: int) -> bool:
        memory = self._memories[m]
        return (
            memory.nbytes >= LIMITS.least_bytes
            and len(self._uses[m]) > 2
            and self._is_free(m)
            and self._works[self._made[m]].again
        )

    def _is_free(self, m: int) -> bool:
        """Whether nobody can tell that a value is another one with the same elements."""
        memory = self._memories[m]
        return not (memory.seen or memory.there or m in self._changed)

    def run(self) -> tuple[list[Again], int]:
        """See `chosen`."""
        held = self._held = self._profile()
        before = peak = max(held)
        progress = True
        while progress:
            progress, at = False, held.index(peak)
            for m in self.candidates:
                if m not in self._gaps and self._let_go(m, at, peak):
                    progress, peak = True, max(held)
                    if held[at] < peak:
                        break
        saved = before - peak
        if saved < before * LIMITS.least_share:
            return [], 0
        self._keep_what_may_be(peak)
        order = sorted(self._found, key=lambda m: (self._found[m].before, self._made[m]))
        return [self._found[m] for m in order], saved

    def _profile(self) -> list[int]:
        """By op, the bytes that are held while it runs, without what is there before."""
        change = [0] * (len(self._works) + 1)
        for m, at in self._made.items():
            change[at] += self._memories[m].nbytes
            if not self._memories[m].seen:
                change[self._uses[m][-1] + 1] -= self._memories[m].nbytes
        total, held = 0, []
        for each in change[:-1]:
            total += each
            held.append(total)
        return held

    def _let_go(self, m: int, at: int, peak: int) -> bool:
        """Hold a value no more while an op runs, if it can be made again behind; whether it was done."""
        uses = self._uses[m]
        place = bisect_left(uses, at)
        # It is not held, or just read, or nothing has read it yet: then it might wait itself.
        if place < 2 or place == len(uses) or uses[place] == at:
            return False
        split, before = uses[place - 1], uses[place]
        if any(first < before and last > split for first, last in self._memories[m].views):
            return False
        makers = self._makers(m, before)
        for i in makers:
            (other,) = self._works[i].makes
            if self._make_sooner(other, before, peak):  # nobody has to make it a third time then
                makers = self._makers(m, before)
        return bool(makers) and self._put(m, split, makers, before, peak)

    def _make_sooner(self, m: int, before: int, peak: int) -> bool:
        """Have a value made where another one that follows from it is, and held from there on."""
        split, later = self._gaps.get(m, (before, before))
        if not split < before < later:
            return False
        was = self._found[m].makers
        self._hold(m, 1)
        if self._put(m, split, self._makers(m, before), before, peak):
            return True
        return not self._put(m, split, was, later, peak)

    def _put(self, m: int, split: int, makers: Sequence[int], before: int, peak: int) -> bool:
        """Hold a value no more from an op on until it is made again, if no moment becomes too full."""
        self._more[m] = sum(
            self._memories[o].nbytes for i in makers[:-1] for o in self._works[i].makes
        )
        self._gaps[m] = split, before
        self._found[m] = Again(tuple(makers), before)
        self._hold(m, -1)
        if max(self._held[before : self._uses[m][-1] + 1]) > peak:
            self._hold(m, 1)
            del self._gaps[m], self._found[m]
            return False
        for i in makers:
            for each in self._works[i].reads:
                if self._is_kept(each, i, before) and before not in self._uses[each]:
                    insort(self._uses[each], before)
        return True

    def _hold(self, m: int, sign: int) -> None:
        split, before = self._gaps[m]
        for i in range(split + 1, before):
            self._held[i] += sign * self._memories[m].nbytes
        self._held[before] -= sign * self._more[m]

    def _makers(self, m: int, before: int) -> list[int]:
        """The ops that make a value again before an op; none if they cannot."""
        makers: list[int] = []
        return makers if self._make(m, before, makers) else []

    def _make(self, m: int, before: int, makers: list[int]) -> bool:
        """Add what has to be computed again for a value; False if it cannot be."""
        at = self._made[m]
        if at in makers:
            return True
        work = self._works[at]
        if not work.again or not self._is_free(m):
            return False
        for each in work.reads:
            if self._is_kept(each, at, before):
                continue
            memory = self._memories[each]
            if each not in self._made or memory.views or not self._make(each, before, makers):
                return False
        makers.append(at)
        return len(makers) <= _MOST

    def _is_kept(self, m: int, since: int, until: int) -> bool:
        """Whether a value that an op has read is in memory when another runs, and still the same."""
        memory = self._memories[m]
        # What others have made may show what is changed by another name: arrays of NumPy do.
        changed = self._changed_before if memory.there else self._changed.get(m, [])
        if bisect_left(changed, since) != bisect_left(changed, until):
            return False
        split, again = self._gaps.get(m, (until, until))
        return (memory.seen or self._uses[m][-1] >= until) and not split < until < again

    def _keep_what_may_be(self, peak: int) -> None:
        """Keep values after all that turn out to be held at no moment as full as the fullest that is left."""
        for m in reversed([*self._found]):
            split, before = self._gaps[m]
            if max(self._held[split + 1 : before]) + self._memories[m].nbytes <= peak:
                self._hold(m, 1)
                del self._gaps[m], self._found[m]
