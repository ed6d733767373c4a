"""A barrier that says who has not come, by the store alone."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from .errors import DistError
from .failures import await_keys
from .groups import ProcessGroup, chosen, outside

__all__ = ["monitored_barrier"]


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks have called it; rank 0 says who has not. It uses the store alone.

    Args:
        group: the ranks.
        timeout: by default the group's.
        wait_all_ranks: whether the error names all that are missing, in place of the first.

    Raises:
        DistributedError: on all ranks that have come, if one has not.
    """
    if outside(group, "monitored_barrier"):
        return
    own: ProcessGroup = chosen(group)
    limit = own.timeout if timeout is None else timeout
    seconds = limit.total_seconds()
    call = own.call("monitored_barrier", timeout=limit + timedelta(seconds=_MORE))
    deadline = time.monotonic() + seconds
    base, store = f"monitored/{call.number}", own.store
    if own.position == 0:
        names = {f"{base}/{n}": n for n in range(1, own.size())}
        missing = [names[key] for key in await_keys(call, store, [*names], deadline)]
        shown = missing if wait_all_ranks else missing[:1]
        store.set(f"{base}/end", ",".join(map(str, shown)))
    else:
        try:
            store.set(f"{base}/{own.position}", call.described())
        except DistError:  # it may be gone with its rank, which the news name
            await_keys(call, store, [f"{base}/end"], deadline)
            raise
        if await_keys(call, store, [f"{base}/end"], deadline + _LISTEN):
            text = f"rank {own.ranks[0]} did not come in {seconds:g} s"
            raise call.error(text, own.ranks[0], {own.ranks[0]: "did not come"})
        shown = [int(n) for n in store.get(f"{base}/end").decode().split(",") if n]
    if shown:
        ranks = [own.ranks[n] for n in shown]
        text = (
            f"[Rank 0]: Ranks {', '.join(map(str, ranks))} failed to pass monitoredBarrier in "
            f"{round(seconds * 1000)} ms"
        )
        raise call.error(text, ranks[0], dict.fromkeys(ranks, "did not come"))
    return


_LISTEN = 2.0  # how much longer than rank 0 the others wait, which waits for them
_MORE = 60.0  # and until when news of ranks are asked for: longer than all of that
