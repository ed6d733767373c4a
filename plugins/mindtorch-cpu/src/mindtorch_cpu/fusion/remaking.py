"""Which values a later group computes again, rather than have them kept in memory until then.

What backward needs of a chain of cheap ops follows from what it needs anyway: of ``x * x * x``, which is
kept of ``x`` alone. So does a compiler of whole training steps choose (Chen et al., "Training deep nets with
sublinear memory cost", 2016, for layers); here nothing is chosen that takes longer than to write the
value and to read it. Bits stay the same: the same kernels compute the same operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import numel
from mindtorch_core.dispatch.pipeline import Entry

from ..ops.ufuncs import UFUNCS
from .grouping import Block, memory_of, operands_of
from .survey import Survey

__all__ = ["computed_again"]

# What takes less time than the memory of an operand: no exponentials, powers and angles.
_CHEAP: Final = frozenset(
    [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.absolute, np.square]
)
_MOST: Final = 8  # ops for one value
_SMALL: Final = 16  # an operand of so many times fewer elements costs nothing to keep


class _Origin(NamedTuple):
    """What a value can be computed of.

    Attributes:
        entries: positions of the ops.
        leaves: tensors that they take.
    """

    entries: frozenset[int]
    leaves: dict[int, Any]


def computed_again(
    blocks: Sequence[Block], entries: Sequence[Entry | None], survey: Survey
) -> dict[int, set[int]]:
    """By position of an entry, the blocks that compute it: its own, and those that do so again.

    Args:
        blocks: in the order in which they are launched.
        entries: of the launch.
        survey: of these entries.
    """
    if sum(block.shape is not None for block in blocks) < 2:
        return {}
    return _Search(blocks, entries, survey).found


class _Search:
    """Goes through the entries once."""

    def __init__(
        self, blocks: Sequence[Block], entries: Sequence[Entry | None], survey: Survey
    ) -> None:
        self.found: dict[int, set[int]] = {}
        self._blocks = blocks
        self._survey = survey
        self._home = {i: b for b, block in enumerate(blocks) for i in block.entries}
        self._last = {key: max(self._home[i] for i in users) for key, users in survey.users.items()}
        self._makers: dict[int, int] = {}  # by id of a result
        self._origins: dict[int, _Origin] = {}
        for i, entry in enumerate(entries):
            if entry is None:
                continue
            origin = self._origin(i, entry)
            for t in entry.outs:
                if not entry.op.writes:
                    self._makers.setdefault(id(t), i)
            if origin is not None:
                self._origins[i] = origin
                if (others := self._others(i, entry)) and self._are_kept(
                    origin, entry, max(others)
                ):
                    for each in origin.entries:
                        self.found.setdefault(each, {self._home[each]}).update(others)

    def _origin(self, i: int, entry: Entry) -> _Origin | None:
        """What an entry's result can be computed of anew; None if it cannot, or had better not."""
        block, written = self._blocks[self._home[i]], self._survey.written
        if UFUNCS.get(entry.op.name) not in _CHEAP or entry.op.writes or i in block.reductions:
            return None
        out = entry.outs[0]
        if block.shape != out.raw_shape or memory_of(out) in written:
            return None
        made, leaves = {i}, {}
        for t in operands_of(entry):
            if memory_of(t) in written:
                return None
            maker = self._makers.get(id(t))
            if maker is None or self._is_stored(maker, id(t)):
                leaves[id(t)] = t
            elif (of := self._origins.get(maker)) is not None:
                made |= of.entries
                leaves |= of.leaves
            else:
                return None
        return _Origin(frozenset(made), leaves) if len(made) <= _MOST else None

    def _is_stored(self, maker: int, key: int) -> bool:
        """Whether a result stays in memory behind the group that makes it."""
        home = self._home[maker]
        if self._blocks[home].shape is None or key in self._survey.live:
            return True
        used = any(self._home[i] != home for i in self._survey.users.get(key, ()))
        return used and maker not in self.found

    def _others(self, i: int, entry: Entry) -> set[int]:
        """The groups that would have to compute a result again for nobody to need it in memory."""
        out, home = entry.outs[0], self._home[i]
        if id(out) in self._survey.live:
            return set()
        others = {self._home[user] for user in self._survey.users.get(id(out), ())} - {home}
        fits = all(self._blocks[b].shape == out.raw_shape for b in others)
        return others if fits else set()

    def _are_kept(self, origin: _Origin, entry: Entry, until: int) -> bool:
        """Whether all that a result is computed of is in memory until a block anyway."""
        size, survey = numel(entry.outs[0].raw_shape), self._survey
        return all(
            key not in survey.results
            or key in survey.live
            or self._last.get(key, -1) >= until
            or numel(t.raw_shape) * _SMALL <= size
            for key, t in origin.leaves.items()
        )
