"""An end to waiting in a library that no thread of the process can interrupt: another process ends it.

It is run by its path, and then imports nothing of the package: ``python patience.py PID SECONDS TEXT MARKS``.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ended_after"]


@contextmanager
def ended_after(seconds: float, text: str, marks: Sequence[Path] = ()) -> Iterator[None]:
    """While it is open, this process may live for so long; then it is killed, and standard error says why.

    Args:
        seconds: how long.
        text: what is said; ``WHO`` in it stands for the ranks that have not come.
        marks: a file for each rank, which is there once it has come; none where that cannot be known.
    """
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(seconds), text]
    guard = subprocess.Popen([*command, *map(str, marks)], stdin=subprocess.PIPE)
    try:
        yield
    finally:
        guard.kill()
        guard.communicate()


def _missing(marks: Sequence[str]) -> str:
    """Who has not come, in words."""
    late = [str(rank) for rank, mark in enumerate(marks) if not Path(mark).exists()]
    if not late:
        return "not all of them have"
    return f"rank{'s' * (len(late) > 1)} {', '.join(late)} {'have' if len(late) > 1 else 'has'} not"


def _main(pid: int, seconds: float, text: str, marks: Sequence[str]) -> None:
    """Wait for the process's end, which closes the pipe, or for its time to be over."""
    ended, _, _ = select.select([sys.stdin], [], [], seconds)
    if not ended:
        print(text.replace("WHO", _missing(marks)), file=sys.stderr, flush=True)
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    _main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:])
