"""What the processes of `mindtorch run -n` write: labelled by rank, and in an order that helps."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Final, TextIO

__all__ = ["Output"]

_TRACEBACK: Final = "Traceback (most recent call last)"
# An error of this kind tells of a failure elsewhere.
_CONSEQUENCE: Final = "DistributedError"
_GRACE: Final = 5.0  # for what is left in a pipe, in seconds
_LOCK: Final = threading.Lock()
_END: Final = "\0end of mindtorch run\0\n"


class Output:
    """What one process writes: shown line by line, but for how it ends.

    From the first line of a traceback on it is held back, so that the first failure can be shown first.

    Args:
        folder: where its pipes are made.
        rank: whose it is.
        labelled: whether its lines begin with its rank.
    """

    def __init__(self, folder: Path, rank: int, *, labelled: bool = True) -> None:
        self.rank = rank
        self.held: list[str] = []
        self._label = f"[{rank}] " if labelled else ""
        self._pipes: list[int] = []
        self._readers: list[threading.Thread] = []
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            path = folder / f"{rank}.{name}"
            os.mkfifo(path)
            # Opened for both, so that it neither waits for a writer nor ends before one has come.
            pipe = os.open(path, os.O_RDWR)
            self._pipes.append(pipe)
            reader = threading.Thread(target=self._read, args=(pipe, stream), daemon=True)
            reader.start()
            self._readers.append(reader)

    def _read(self, pipe: int, stream: TextIO) -> None:
        with open(pipe, encoding="utf-8", errors="replace", closefd=False) as lines:
            for line in lines:
                line, ended, _ = line.partition(_END)
                if ended and not line:
                    return
                if stream is sys.stderr and (self.held or line.startswith(_TRACEBACK)):
                    self.held.append(line)
                else:
                    self._show(line, stream)
                if ended:
                    return

    def _show(self, line: str, stream: TextIO) -> None:
        with _LOCK:
            stream.write(f"{self._label}{line.rstrip(chr(10))}\n")
            stream.flush()

    def finish(self) -> None:
        """Read what is left."""
        for pipe in self._pipes:
            os.write(pipe, _END.encode())
        for thread in self._readers:
            thread.join(_GRACE)

    def show_held(self) -> None:
        """Show what was held back."""
        for line in self.held:
            if line.strip():
                self._show(line, sys.stderr)
        self.held.clear()

    def is_consequence(self) -> bool:
        """Whether the process ended by an error that tells of another's."""
        last = [line for line in self.held if line[:1] not in (" ", "\n", "\t")][-1:]
        return any(_CONSEQUENCE in line.partition(":")[0] for line in last)
