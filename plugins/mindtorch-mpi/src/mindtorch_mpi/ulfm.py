"""Going on after a death, with an MPI that has ULFM (user-level failure mitigation), such as Open MPI's.

The survivors revoke the group, so that nobody waits in it any more, shrink it to those that live, start
new processes, and merge with these; then each has its old number again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Final, cast

from mpi4py import MPI

from mindtorch_core.communication import DistBackendError

__all__ = ["parted", "rejoined", "renewed"]

_WHOLE: Final[list[MPI.Intracomm]] = []  # the last group that was made whole again
_PATIENCE: Final = 600.0  # for ranks that end later, in seconds


def renewed(
    comm: MPI.Intracomm, start: Callable[[Sequence[int]], list[list[str]]]
) -> MPI.Intracomm:
    """See `Communicator.renewed`.

    Raises:
        DistBackendError: if nobody has died, no process may be started, or one more dies meanwhile.
    """
    try:
        comm.Revoke()
        left = cast(MPI.Intracomm, comm.Shrink())
        left.Set_errhandler(MPI.ERRORS_RETURN)
        living = MPI.Group.Translate_ranks(left.Get_group(), None, comm.Get_group())
        dead = [rank for rank in range(comm.Get_size()) if rank not in living]
        if not dead:
            raise DistBackendError("no process has died: there is nothing to replace")
        commands = _agreed(left, dead, start)
        new = left.Spawn_multiple(
            [command[0] for command in commands],
            [command[1:] for command in commands],
            [1] * len(commands),
        )
        return _in_order(new.Merge(high=False), comm.Get_rank())
    except (MPI.Exception, NotImplementedError) as error:
        raise DistBackendError(f"MPI cannot replace what has died: {error}") from error


def _agreed(
    left: MPI.Intracomm, dead: list[int], start: Callable[[Sequence[int]], list[list[str]]]
) -> list[list[str]]:
    """The commands that one survivor is given, on all; or the error that it meets."""
    told: tuple[list[list[str]], str] = [], ""
    if left.Get_rank() == 0:
        try:
            told = start(dead), ""
        except RuntimeError as error:
            told = [], str(error)
    told = left.bcast(told, root=0)
    commands, why = told
    if why:
        raise DistBackendError(why)
    return commands


def rejoined(rank: int) -> MPI.Intracomm:
    """Meet the survivors, as a process that they have started."""
    try:
        return _in_order(MPI.Comm.Get_parent().Merge(high=True), rank)
    except MPI.Exception as error:
        raise DistBackendError(f"MPI cannot join the processes that are left: {error}") from error


def _in_order(merged: MPI.Intracomm, rank: int) -> MPI.Intracomm:
    """All processes by their old numbers; also a failure here is an error, and not the end."""
    merged.Set_errhandler(MPI.ERRORS_RETURN)
    made = cast(MPI.Intracomm, merged.Split(0, rank))
    made.Set_errhandler(MPI.ERRORS_RETURN)
    _WHOLE[:] = [made]
    return made


def parted() -> bool:
    """At the end of a process whose group was made whole again: wait, in place of MPI_Finalize.

    That would wait for ever for the processes which have died, if none is left of those MPI began with.

    Returns:
        Whether that was so.
    """
    if not _WHOLE:
        return False
    with contextlib.suppress(MPI.Exception):  # another has died, or has gone already
        last, end = _WHOLE[0].Ibarrier(), time.monotonic() + _PATIENCE
        while not last.Test() and time.monotonic() < end:
            time.sleep(0.001)
    return True
