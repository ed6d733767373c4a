"""One rank of ``mindtorch verify --communicator``: runs all checks, or those that are named.

python -m mindtorch_core.testing.communicators NAME [--results=FILE] [CHECK...]
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from ... import distributed as dist
from ...communication.engines import engine
from ...communication.errors import DistError
from ...communication.groups import WORLD, default_group
from ...communication.stores import Store
from ...frontend.creation import tensor as make
from ...values.devices import set_default_device
from . import faults  # noqa: F401  (adds its checks)
from .checks import CHECKS

_RESULTS = "--results="
_START = 120.0  # for all ranks to begin and to load what they need, in seconds
_PATIENCE = 10.0  # for one call, at least
# As many times as long as it took all ranks to begin: the machine may have other things to do.
_TIMES = 8
_STUCK = 30.0  # without any call in a check, beyond that. How long the check takes is no matter.


def main(name: str, chosen: list[str], results_file: str = "") -> int:
    """Run the checks; 1 if one fails on any rank."""
    if unknown := [title for title in chosen if title not in CHECKS]:
        print(f"there is no check {unknown[0]!r}: there are {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    store = _begin(name)
    rank, size = dist.get_rank(), dist.get_world_size()
    bad = 0
    told: dict[str, list[str]] = {}
    for title, check in CHECKS.items():
        if chosen and title not in chosen:
            continue
        done = threading.Event()
        threading.Thread(target=_await_calls, args=(title, done), daemon=True).start()
        said = ""
        try:
            check(rank, size)
        except Exception as error:  # noqa: BLE001 (whatever a communicator raises is its fault)
            said = f"{type(error).__name__}: {error}"
        done.set()
        store.set(f"{title}/{rank}", said)
        results = [store.get(f"{title}/{r}").decode() for r in range(size)]
        wrong = [f"  rank {r}: {text}" for r, text in enumerate(results) if text]
        bad += bool(wrong)
        if rank == 0:
            told[title] = results
            if results_file:  # what is known so far: a rank may hang
                Path(results_file).write_text(json.dumps(told), encoding="utf-8")
            print(f"{'FAILED' if wrong else 'passed'} {title}", *wrong, sep="\n", flush=True)
    if rank == 0:
        print(f"{bad} of {len(chosen or CHECKS)} checks failed" if bad else "all checks passed")
    sys.stdout.flush()
    if not bad:  # a communicator that is wrong may not let go
        dist.destroy_process_group()
    with suppress(DistError):  # a rank that has died says so itself
        store.set(f"end/{rank}", "")
        if rank == 0:  # it serves the store, which the others may still be reading
            store.wait([f"end/{r}" for r in range(size)], timedelta(seconds=_PATIENCE))
    if bad:
        os._exit(1)
    return 0


def _begin(name: str) -> Store:
    """Make the default group and load what checks need, for which slow machines are given time."""
    start = time.monotonic()
    dist.init_process_group(name, timeout=timedelta(seconds=_START))
    devices = engine(name).devices
    if "cpu" not in devices:  # its own memory, in place of what is staged through it
        set_default_device(devices[0])
    (make([1.0]) + make([1.0])).item()
    group = default_group()
    group.store.barrier("begun", group.size())  # not the communicator's, which may be wrong
    took = time.monotonic() - start
    group.timeout = timedelta(seconds=max(_PATIENCE, _TIMES * took))
    return group.store


def _await_calls(title: str, done: threading.Event) -> None:
    """End the process where a check goes on, and has made no call for too long."""
    calls, since = -1, time.monotonic()
    limit = default_group().timeout.total_seconds() + _STUCK
    while not done.wait(0.5):
        made = sum(group.calls_made() for group in list(WORLD.groups.values()))
        if made != calls:
            calls, since = made, time.monotonic()
        elif time.monotonic() > since + limit:
            print(f"FAILED {title}\n  it hangs: no deadline ended it", flush=True)
            faulthandler.dump_traceback(all_threads=True)
            os._exit(1)


if __name__ == "__main__":
    given = sys.argv[2:]
    files = [word.removeprefix(_RESULTS) for word in given if word.startswith(_RESULTS)]
    sys.exit(main(sys.argv[1], [w for w in given if not w.startswith(_RESULTS)], *files))
