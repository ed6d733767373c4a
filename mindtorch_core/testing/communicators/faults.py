"""What a communicator must notice: calls that do not go together, and ranks that do not come."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from ... import distributed as dist
from ...communication.groups import default_group
from ...frontend.creation import tensor as make
from .checks import check

__all__ = ["LATE"]

LATE: Final = 2.0  # the deadline of the calls that somebody is late for, in seconds


def _refused(call: Callable[[], object], text: str, rank: int) -> None:
    """A call that must raise, naming the last rank.

    Raises:
        AssertionError: if it does not.
    """
    try:
        call()
    except dist.DistributedError as error:
        if text not in str(error) or error.rank != rank:
            raise AssertionError(
                f"the error should say {text!r} of rank {rank}, and says of rank {error.rank}: {error}"
            ) from error
    else:
        raise AssertionError(f"no error, though {text!r} differs on rank {rank}")


@check
def mismatches(rank: int, size: int) -> None:
    """Every rank hears who differs and in what, and the group goes on."""
    if size == 1:
        return
    odd, last = rank == size - 1, size - 1
    t, ops = make([1.0, 2.0]), dist.ReduceOp
    cases: dict[str, Callable[[], object]] = {
        "shape": lambda: dist.all_reduce(make([1.0]) if odd else t),
        "dtype": lambda: dist.all_reduce(t.double() if odd else t),
        "reduction": lambda: dist.all_reduce(t, ops.MAX if odd else ops.SUM),
        "root": lambda: dist.broadcast(t, int(odd)),
        "op": lambda: dist.broadcast(t, 0) if odd else dist.all_reduce(t),
    }
    for text, call in cases.items():
        _refused(call, text, last)
        after = make([1])
        dist.all_reduce(after)
        if after.item() != size:
            raise AssertionError(f"the sum after a mismatch of {text}: {after.item()}")
    if rank < 2:
        found = make([0.0, 0.0, 0.0])
        _refused(lambda: dist.recv(found, 0) if rank else dist.send(t, 1), "a message of", 1 - rank)


@check
def deadlines(rank: int, size: int) -> None:
    """A rank that does not come in time is named by the others, and hears of it when it comes."""
    if size == 1:
        return
    group = dist.new_group(timeout=timedelta(seconds=LATE))
    # How much later an error may come, on a machine that has other things to do.
    grace = default_group().timeout
    store = dist.distributed_c10d._get_default_store()
    last = size - 1
    others = [f"raised/{r}" for r in range(last)]
    if rank == last:  # comes when all have raised, or should have long ago
        with suppress(dist.DistStoreError):
            store.wait(others, timedelta(seconds=LATE) + grace)
        in_time = store.check(others)
    began = time.monotonic()
    try:
        dist.all_reduce(make([1.0]), group=group)
    except dist.DistributedError as error:
        took = time.monotonic() - began
        if rank != last:
            store.set(others[rank], "raised")
            if took < LATE - 0.1:
                text = f"the deadline of {LATE} s was over after {took:.1f} s: {error}"
                raise AssertionError(text) from error
        elif not in_time:
            raise AssertionError(
                f"the others raised nothing {grace.total_seconds():g} s after the deadline"
            ) from error
        if error.rank != last:
            raise AssertionError(f"the error names rank {error.rank}: {error}") from error
    else:
        raise AssertionError(f"no error, though rank {last} came more than {LATE} s too late")
