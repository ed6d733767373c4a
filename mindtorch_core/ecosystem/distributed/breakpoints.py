"""``torch.distributed.breakpoint``: a debugger on one rank, while the others wait."""

from __future__ import annotations

import logging
import sys
from datetime import timedelta
from typing import Any, Final

from ...communication.exchanges import barrier
from ...communication.groups import WORLD
from ...communication.membership import get_rank

__all__ = ["breakpoint"]

log: Final = logging.getLogger("torch.distributed")
_breakpoint_cache: Final[dict[tuple[str, int], int]] = {}  # how often each place was passed


def _make_distributed_pdb() -> Any:
    """A debugger for processes whose input is the launcher's, which children of `multiprocessing` lack."""
    import pdb

    class DistributedPdb(pdb.Pdb):
        def interaction(self, *args: Any, **kwargs: Any) -> None:
            own = sys.stdin
            try:
                with open("/dev/stdin", encoding=own.encoding if own else None) as sys.stdin:
                    super().interaction(*args, **kwargs)
            finally:
                sys.stdin = own

    return DistributedPdb()


def breakpoint(rank: int = 0, skip: int = 0, timeout_s: float | None = 3600) -> None:
    """Stop in a debugger on one rank; the others wait until it goes on. All ranks call it.

    Args:
        rank: which one stops.
        skip: how many calls at the beginning do nothing.
        timeout_s: timeout of all groups from now on, so that nobody gives up waiting meanwhile; None to
            leave it as it is.
    """
    if skip > 0:
        caller = sys._getframe(1)
        place = caller.f_code.co_filename, caller.f_lineno
        counter = _breakpoint_cache[place] = _breakpoint_cache.get(place, 0) + 1
        if counter <= skip:
            log.warning("Skip the breakpoint, counter=%d", counter)
            return
    if timeout_s is not None:
        for group in WORLD.groups.values():
            group.timeout = timedelta(seconds=timeout_s)
    if get_rank() == rank:
        debugger = _make_distributed_pdb()
        debugger.message(
            "\n!!! ATTENTION !!!\n\n"
            f"Type 'up' to get to the frame that called dist.breakpoint(rank={rank})\n"
        )
        debugger.set_trace()
    barrier()
