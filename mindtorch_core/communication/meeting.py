"""All processes of a group meet in its store before an engine connects them, which may wait without end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from .errors import DistError, DistStoreError
from .stores import Store

__all__ = ["meet", "ranks_named", "shown_to_the_launcher"]

_ALL_CAME: Final = "all"
# How long a rank that gives up stays for others to hear of it, as it may serve the store.
_HEARD_IN: Final = timedelta(seconds=2)


def meet(store: Store, rank: int, size: int, limit: timedelta) -> None:
    """Wait for all processes.

    Args:
        store: of this start alone.
        rank: this process's.
        size: how many there are.
        limit: how long each waits.

    Raises:
        DistStoreError: on all ranks that have come, and on those that come later, naming who had not.
    """
    store.set(f"here/{rank}", "")
    if store.add("here", 1) == size:
        store.compare_set("end", "", _ALL_CAME)
    try:
        store.wait(["end"], limit)
    except DistStoreError:
        missing = [other for other in range(size) if not store.check([f"here/{other}"])]
        said = f"{limit.total_seconds():g} {' '.join(map(str, missing))}"
        store.compare_set("end", "", said if missing else _ALL_CAME)  # the first decides for all
    verdict = store.get("end").decode()
    if verdict == _ALL_CAME:
        return
    seconds, *late = verdict.split()
    store.set(f"heard/{rank}", "")
    with suppress(DistError, OSError):  # whoever serves it may have ended: all have heard
        store.wait([f"heard/{each}" for each in range(size) if str(each) not in late], _HEARD_IN)
    raise DistStoreError(
        f"Timed out after {seconds} seconds waiting for clients. {size - len(late)}/{size} clients "
        f"joined: {ranks_named(late)} did not come to init_process_group"
    )


def ranks_named(ranks: Sequence[int | str]) -> str:
    """Ranks in words."""
    return f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"


@contextmanager
def shown_to_the_launcher() -> Iterator[None]:
    """A block that waits for all ranks: `mindtorch run` ends it where one has ended without."""
    over = os.environ.get("MINDTORCH_RUN_OVER")
    shown = Path(over).with_suffix(".begins") if over else None
    if shown is not None:
        shown.touch()
    try:
        yield
    finally:
        if shown is not None:
            shown.unlink(missing_ok=True)
