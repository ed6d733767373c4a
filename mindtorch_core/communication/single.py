"""A group of one process, where no communicator is installed: programs for many run as one of one.

``init_process_group("gloo", rank=0, world_size=1)`` then needs no MPI. A group of more does, and says so.
"""

from __future__ import annotations

from typing import Final

from ..tensors.tensor import Tensor
from ..values.errors import BackendUnavailableError
from .calls import Call
from .engine import Communicator, Source
from .fake import Alone, FakeEngine
from .stores import Store

__all__ = ["SINGLE"]


class _Single(Alone):
    """The calls of the only rank: what it has is everybody's."""

    def recv(self, call: Call, tensor: Tensor, peer: int | None, tag: int) -> Source:
        """Refuse to wait for a message that nobody can send."""
        raise call.error("the group has no other rank that could send", None)


class _SingleEngine(FakeEngine):
    """Connects one process with none."""

    name = "single"

    def connect(self, rank: int, size: int, store: Store, timeout: float) -> Communicator:
        """This process alone.

        Raises:
            BackendUnavailableError: if there are to be others.
        """
        self.refuse_others(size)
        return _Single(rank, size)

    def refuse_others(self, size: int) -> None:
        """Say what a group needs that is not of one process.

        Raises:
            BackendUnavailableError: if it is not.
        """
        if size != 1:
            raise BackendUnavailableError(
                "a group of several processes needs a communicator, and none that works is installed."
                "\n  fix: pip install mindtorch-mpi",
                device="mpi",
                package="mindtorch-mpi",
            )


SINGLE: Final = _SingleEngine()
