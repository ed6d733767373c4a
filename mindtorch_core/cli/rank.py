"""What `mindtorch run -n` starts as each process: it says who the program is, and how that ended.

It is run by its path and imports nothing of mindtorch: ``python rank.py FOLDER COMMAND...``. Output goes
into the pipes ``FOLDER/<rank>.out`` and ``.err``, the program's process into ``FOLDER/<rank>.pid``, its exit
status into ``FOLDER/<rank>.end``; ``FOLDER/<rank>.over`` is there when the program has come to its end. Where
other ranks start it in place of one that has died, it is told which, and how often that has happened:
``python rank.py --instead=RANK/GENERATION FOLDER COMMAND...``.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

# What launchers call a process's rank, and its rank on this machine.
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK")
_LOCAL = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "LOCAL_RANK")
_END_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None)  # Linux; looked up before anything forks
GRACE = "MINDTORCH_RUN_GRACE"
OVER = "MINDTORCH_RUN_OVER"
ERRORS = "TORCHELASTIC_ERROR_FILE"  # `launch` says the folder; each rank has a file there
# Written into the pipes when the process has ended: what comes before it is all that it has said.
ENDED = "\0the process has ended\0\n"


def _grace() -> float:
    """How long the others may take to end by themselves after a failure, in seconds; `launch` says it."""
    return float(os.environ.get(GRACE, "5"))


def main(folder: Path, command: list[str], instead: str = "") -> int:
    """Run a command as one rank, and return its exit status."""
    env = dict(os.environ)
    if instead:
        rank, _, env["MINDTORCH_GENERATION"] = instead.partition("/")
        local = rank
    else:
        rank = next(env[name] for name in _RANKS if name in env)
        local = next((env[name] for name in _LOCAL if name in env), rank)
    env |= {"RANK": rank, "ROLE_RANK": rank, "LOCAL_RANK": local}
    env[OVER] = str(folder / f"{rank}.over")
    env[ERRORS] = str(Path(env.get(ERRORS, folder)) / rank / "error.json")
    _stay(folder, rank)
    for number, name in ((1, "out"), (2, "err")):
        pipe = os.open(folder / f"{rank}.{name}", os.O_WRONLY)
        os.dup2(pipe, number)
        os.close(pipe)
    # MPICH's launcher tells by it that another process has died, and most programs would die of it too.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    launcher = os.getppid()
    end_with_parent(signal.SIGTERM)  # not all launchers end what they have started
    child = subprocess.Popen(
        command,
        env=env,
        close_fds=False,  # MPICH's launcher speaks through one
        preexec_fn=lambda: end_with_parent(signal.SIGKILL),
    )
    (folder / f"{rank}.pid").write_text(str(child.pid), encoding="ascii")

    def end() -> None:
        # MPICH's launcher outlives the command while one of its processes does.
        if os.getppid() != launcher or _is_unread(1):
            child.kill()

    def pass_on(number: int, frame: FrameType | None) -> None:
        child.send_signal(number)
        timer = threading.Timer(_grace(), end)
        timer.daemon = True  # it has no part once the process has ended
        timer.start()

    if threading.current_thread() is threading.main_thread():
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, pass_on)
    status = child.wait()
    with suppress(OSError):  # nobody reads it any more
        for number in (1, 2):
            os.write(number, ENDED.encode())
    note_end(folder, rank, status)
    if status and "MINDTORCH_ELASTIC" in env:
        os.kill(os.getpid(), signal.SIGKILL)  # MPI's launcher tells ranks of those that die alone
    if status:
        _await_others(folder, int(env["WORLD_SIZE"]))
    return status if status >= 0 else 128 - status


def _stay(folder: Path, rank: str) -> None:
    """Let the launcher see that this process is there: it holds a lock until it ends, however that is."""
    taken = folder / f"{rank}.taking"
    fcntl.flock(os.open(taken, os.O_CREAT | os.O_WRONLY), fcntl.LOCK_EX)
    taken.rename(folder / f"{rank}.here")


def has_gone(folder: Path, rank: int) -> bool:
    """Whether a rank's process was killed before it could say how its command ended."""
    here, end = folder / f"{rank}.here", folder / f"{rank}.end"
    if end.exists() or not here.exists():
        return False
    with open(here, encoding="ascii") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return not end.exists()


def note_end(folder: Path, rank: int | str, status: int) -> None:
    """Say how a rank's process ended."""
    written = folder / f"{rank}.ending"
    written.write_text(str(status), encoding="ascii")
    written.rename(folder / f"{rank}.end")  # whole, or not there


def _is_unread(pipe: int) -> bool:
    """Whether nobody is left who reads a pipe: the command that has started all is gone."""
    watch = select.poll()
    watch.register(pipe, 0)
    return any(event & select.POLLERR for _, event in watch.poll(0))


def end_with_parent(by: signal.Signals) -> None:
    """Have the system send this process a signal when the one that started it has ended."""
    if _PRCTL is not None:
        _PRCTL(_END_WITH_PARENT, int(by))


def _await_others(folder: Path, count: int) -> None:
    """Let the others end by themselves and say why: MPI's launcher kills them when one fails."""
    asked = threading.Event()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda number, _: asked.set())
    end = time.monotonic() + _grace()
    while len(list(folder.glob("*.end"))) < count and time.monotonic() < end:
        if asked.wait(0.02):
            return


if __name__ == "__main__":
    flag, _, value = sys.argv[1].partition("=")
    given = sys.argv[1:] if flag != "--instead" else sys.argv[2:]
    sys.exit(main(Path(given[0]), given[1:], value if flag == "--instead" else ""))
