"""What `mindtorch run -n` starts as each process: it says who the program is, and how that ended.

It is run by its path and imports nothing of mindtorch: ``python rank.py FOLDER COMMAND...``. Output goes
into the pipes ``FOLDER/<rank>.out`` and ``.err``, the exit status into ``FOLDER/<rank>.end``. Where other
ranks start it in place of one that has died, it is told which, and how often that has happened:
``python rank.py --instead=RANK/GENERATION FOLDER COMMAND...``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

# What launchers call a process's rank, and its rank on this machine.
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK")
_LOCAL = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "LOCAL_RANK")
_END_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG


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
    for number, name in ((1, "out"), (2, "err")):
        pipe = os.open(folder / f"{rank}.{name}", os.O_WRONLY)
        os.dup2(pipe, number)
        os.close(pipe)
    # MPICH's launcher tells by it that another process has died, and most programs would die of it too.
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    prctl = getattr(ctypes.CDLL(None), "prctl", None)  # Linux
    with_parent = None if prctl is None else lambda: prctl(_END_WITH_PARENT, int(signal.SIGKILL))
    child = subprocess.Popen(
        command,
        env=env,
        close_fds=False,  # MPICH's launcher speaks through one
        preexec_fn=with_parent,
    )
    if threading.current_thread() is threading.main_thread():
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda number, _: child.send_signal(number))
    status = child.wait()
    written = folder / f"{rank}.ending"
    written.write_text(str(status), encoding="ascii")
    written.rename(folder / f"{rank}.end")  # whole, or not there
    if status and "MINDTORCH_ELASTIC" in env:
        os.kill(os.getpid(), signal.SIGKILL)  # MPI's launcher tells ranks of those that die alone
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    flag, _, value = sys.argv[1].partition("=")
    given = sys.argv[1:] if flag != "--instead" else sys.argv[2:]
    sys.exit(main(Path(given[0]), given[1:], value if flag == "--instead" else ""))
