"""Memory as an allocator hands it out: blocks, and the pieces of segments that they are."""

from __future__ import annotations

from typing import Final

from .lending import Lent, Return

__all__ = ["FREE", "HELD", "READY", "USED", "Block", "Piece"]

# What a piece is.
FREE: Final = 0  # memory between blocks
READY: Final = 1  # was a small block, and will be one of the same size
USED: Final = 2  # a block
HELD: Final = 3  # was a block that other streams may still use


class Piece:
    """A part of a segment: a block, or free memory between blocks.

    Attributes:
        address, size: where it is.
        stream: on which stream it is reused.
        small: whether its segment is of the small ones.
        preceding, following: its neighbours in the segment.
        state: one of the four.
        requested: of its bytes, how many were asked for.
        users: other streams that use the block.
        events: how many of them it waits for.
        back: brings the piece back as its block goes; None if it is no block.
    """

    __slots__ = (
        "address", "back", "events", "following", "preceding", "requested", "size", "small", "state",
        "stream", "users",
    )  # fmt: skip

    def __init__(self, address: int, size: int, stream: int, small: bool) -> None:
        self.address = address
        self.size = size
        self.stream = stream
        self.small = small
        self.preceding: Piece | None = None
        self.following: Piece | None = None
        self.state = FREE
        self.requested = 0
        self.users: set[int] | None = None
        self.events = 0
        self.back: Return | None = None

    @property
    def whole(self) -> bool:
        """Whether it is a segment of its own."""
        return self.preceding is None and self.following is None


class Block(Lent):
    """Memory of a tensor; it is reused after the last reference to the block has gone.

    Attributes:
        ptr: its address; 0 if it has no bytes.
        nbytes: how many bytes were asked for.
        device: index of its device.
        stream: number of the stream on which it is reused.
    """

    __slots__ = ("_piece", "device", "nbytes", "ptr", "stream")

    def __init__(self, piece: Piece | None, nbytes: int, device: int, stream: int) -> None:
        self._piece = piece
        self.ptr = 0 if piece is None else piece.address
        self.nbytes = nbytes
        self.device = device
        self.stream = stream

    def used_on(self, stream: int) -> None:
        """Hold the memory back until what is queued on another stream, as the block goes, is done."""
        piece = self._piece
        if piece is not None and stream != piece.stream:
            if piece.users is None:
                piece.users = set()
            piece.users.add(stream)

    def streams(self) -> set[int]:
        """The numbers of all streams that use it."""
        others = None if self._piece is None else self._piece.users
        return {self.stream, *(others or ())}

    def __repr__(self) -> str:
        return f"<Block of {self.nbytes} bytes at {self.ptr:#x}>"
