"""An end to waiting in a library that no thread of the process can interrupt: another process ends it.

It is run by its path, and then imports nothing of the package: ``python patience.py PID SECONDS TEXT``.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ended_after"]


@contextmanager
def ended_after(seconds: float, text: str) -> Iterator[None]:
    """While it is open, this process may live for so long; then it is killed, and standard error says why.

    Args:
        seconds: how long.
        text: what is said.
    """
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(seconds), text]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        guard.kill()
        guard.communicate()


def _main(pid: int, seconds: float, text: str) -> None:
    """Wait for the process's end, which closes the pipe, or for its time to be over."""
    ended, _, _ = select.select([sys.stdin], [], [], seconds)
    if not ended:
        print(text, file=sys.stderr, flush=True)
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    _main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
