"""The free memory of a device, by stream and by what it is cut for."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final

from .blocks import FREE, Piece
from .statistics import Statistics

__all__ = ["QUANTUM", "SMALL", "Pools", "absorb"]

QUANTUM: Final = 512  # sizes and addresses are multiples of it
SMALL: Final = 1 << 20  # blocks up to this size are cut from small segments


def absorb(piece: Piece) -> None:
    """Make one piece of a piece and the one that follows."""
    following = piece.following
    if following is None:
        return
    after = following.following
    piece.size += following.size
    piece.following = after
    if after is not None:
        after.preceding = piece


class Pools:
    """Free pieces, the smallest first."""

    def __init__(self, stats: Statistics) -> None:
        self._stats = stats
        self._by_use: dict[tuple[int, bool], list[tuple[int, int, Piece]]] = {}

    def clear(self) -> None:
        """Forget all pieces."""
        self._by_use = {}

    def segments(self) -> list[Piece]:
        """The free pieces that are segments."""
        return [each[2] for pool in self._by_use.values() for each in pool if each[2].whole]

    def best_fit(self, size: int, stream: int, small: bool) -> Piece | None:
        """The smallest free piece that is large enough, taken out of the pool."""
        pool = self._by_use.get((stream, small))
        if not pool:
            return None
        at = bisect_left(pool, (size,))
        if at == len(pool):
            return None
        piece = pool[at][2]
        self.take(piece)
        return piece

    def split(self, piece: Piece, size: int) -> None:
        """Leave what a block does not need to the pool, if that is worth it."""
        rest = piece.size - size
        if rest < QUANTUM if piece.small else rest <= SMALL:
            return
        remainder = Piece(piece.address + size, rest, piece.stream, piece.small)
        # No call from here to the last assignment.
        after = piece.following
        remainder.preceding, remainder.following = piece, after
        if after is not None:
            after.preceding = remainder
        piece.following = remainder
        piece.size = size
        self.put(remainder)

    def put(self, piece: Piece) -> None:
        """Add a free piece to its pool."""
        pool = self._by_use.setdefault((piece.stream, piece.small), [])
        insort(pool, (piece.size, piece.address, piece))
        if not piece.whole:
            self._count_split(piece, 1)

    def take(self, piece: Piece) -> None:
        """Take a free piece out of its pool."""
        pool = self._by_use[piece.stream, piece.small]
        del pool[bisect_left(pool, (piece.size, piece.address))]
        if not piece.whole:
            self._count_split(piece, -1)

    def _count_split(self, piece: Piece, sign: int) -> None:
        self._stats.add("inactive_split", piece.small, sign)
        self._stats.add("inactive_split_bytes", piece.small, sign * piece.size)

    def recycle(self, piece: Piece) -> None:
        """Put free memory into its pool, in one piece with free neighbours."""
        before, after = piece.preceding, piece.following
        if before is not None and before.state == FREE:
            self.take(before)
            absorb(before)
            piece = before
        if after is not None and after.state == FREE:
            self.take(after)
            absorb(piece)
        self.put(piece)
