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

    It is counted apart: ranks that have called it in vain make the same next call as one that has not.

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
    call = own.call("monitored_barrier", apart=True, timeout=limit + timedelta(seconds=_MORE))
    deadline = time.monotonic() + seconds
    base, store = f"monitored/{call.number}", own.store
    if own.position == 0:
        names = {f"{base}/{n}": n for n in range(1, own.size())}
        missing = [names[key] for key in await_keys(call, store, [*names], deadline)]
        shown = missing if wait_all_ranks else missing[:1]
        end = store.compare_set(f"{base}/end", "", ",".join(map(str, shown)) or _ALL_CAME)
    else:
        try:
            store.set(f"{base}/{own.position}", call.described())
        except DistError:  # it may be gone with its rank, which the news name
            await_keys(call, store, [f"{base}/end"], deadline)
            raise
        if await_keys(call, store, [f"{base}/end"], deadline + _LISTEN):
            end = store.compare_set(f"{base}/end", "", "0")  # the first decides for all
        else:
            end = store.get(f"{base}/end")
    if end.decode() in (_ALL_CAME, ""):  # ranks that are not there write nothing
        return
    ranks = [own.ranks[int(n)] for n in end.decode().split(",")]
    text = (
        f"[Rank 0]: Ranks {', '.join(map(str, ranks))} failed to pass monitoredBarrier in "
        f"{round(seconds * 1000)} ms"
    )
    if ranks == [own.ranks[0]]:
        text = f"rank {ranks[0]} did not come in {seconds:g} s"
    here = own.ranks[own.position]  # it may have come later
    raise call.error(text, ranks[0], {rank: "did not come" for rank in ranks if rank != here})


_ALL_CAME = "all"
_LISTEN = 2.0  # how much longer than rank 0 the others wait, which waits for them
_MORE = 60.0  # and until when news of ranks are asked for: longer than all of that
