"""What the processes of `mindtorch run -n` write: labelled by rank, and in an order that helps."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Final, TextIO

from .logs import NO_LOGS, Logs
from .rank import ENDED

__all__ = ["Output"]

_TRACEBACK: Final = "Traceback (most recent call last)"
# What stands between the tracebacks of one failure.
_CHAINED: Final = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
# An error of this kind tells of a failure elsewhere.
_CONSEQUENCE: Final = "DistributedError"
_BLAMED: Final = re.compile(r"rank (\d+) (?:is gone|has ended without this call)")
_GRACE: Final = 5.0  # for what is left in a pipe, in seconds
# A process that lives so long after a traceback has only told of it, in seconds.
_OLD: Final = 10.0
_LOCK: Final = threading.Lock()
_END: Final = "\0end of mindtorch run\0\n"


class Output:
    """What one process writes: shown line by line, but for how it ends.

    From the first line of a traceback on it is held back, so that the first failure can be shown first.

    Args:
        folder: where its pipes are made.
        rank: whose it is.
        labelled: whether its lines begin with its rank.
        logs: which files its lines go into, and whether they are shown.
    """

    def __init__(
        self, folder: Path, rank: int, *, labelled: bool = True, logs: Logs = NO_LOGS
    ) -> None:
        self.rank = rank
        self._files = [logs.file(rank, stream) for stream in (0, 1)]
        self._shown = [logs.shows(rank, stream) for stream in (0, 1)]
        self.held: list[str] = []
        self._last: list[str] = []  # the last tracebacks, shown or not
        self._since = 0.0
        self._label = f"[{rank}] " if labelled else ""
        self._pipes: list[int] = []
        self._readers: list[threading.Thread] = []
        self._ended = [0, 0]  # processes of this rank whose last line has been read, by pipe
        self._read_one = threading.Condition()
        for number, (name, stream) in enumerate((("out", sys.stdout), ("err", sys.stderr))):
            path = folder / f"{rank}.{name}"
            os.mkfifo(path)
            # Opened for both, so that it neither waits for a writer nor ends before one has come.
            pipe = os.open(path, os.O_RDWR)
            self._pipes.append(pipe)
            reader = threading.Thread(target=self._read, args=(number, pipe, stream), daemon=True)
            reader.start()
            self._readers.append(reader)

    def _read(self, number: int, pipe: int, stream: TextIO) -> None:
        with open(pipe, encoding="utf-8", errors="replace", closefd=False) as lines:
            for line in lines:
                line, ended, _ = line.partition(_END)
                line, gone, _ = line.partition(ENDED)
                if line:
                    if file := self._files[number]:
                        file.write(line)
                    self._take(line, stream)
                if gone:
                    with self._read_one:
                        self._ended[number] += 1
                        self._read_one.notify_all()
                if ended:
                    return

    def _take(self, line: str, stream: TextIO) -> None:
        """Show a line, or hold it back."""
        if stream is not sys.stderr:
            self._show(line, stream)
            return
        with _LOCK:
            begins = line.startswith(_TRACEBACK)
            if begins and not any(each.rstrip() in _CHAINED for each in self._last[-3:]):
                self._last.clear()
                self._since = time.monotonic()
            if begins or self._last:
                self._last.append(line)
            if begins or self.held:
                self.held.append(line)
                return
        self._show(line, stream)

    def _show(self, line: str, stream: TextIO) -> None:
        if not self._shown[stream is sys.stderr]:
            return
        with _LOCK:
            stream.write(f"{self._label}{line.rstrip(chr(10))}\n")
            stream.flush()

    def await_process(self, number: int) -> None:
        """Wait until all is read that the rank's first, second, ... process has said, if it has ended."""
        end = time.monotonic() + _GRACE
        with self._read_one:
            while min(self._ended) < number and (left := end - time.monotonic()) > 0:
                self._read_one.wait(left)

    def note_end(self) -> None:
        """Say in place of a process that it has ended."""
        for pipe in self._pipes:
            os.write(pipe, ENDED.encode())

    def finish(self) -> None:
        """Read what is left."""
        for pipe in self._pipes:
            os.write(pipe, _END.encode())
        for thread, file in zip(self._readers, self._files, strict=True):
            thread.join(_GRACE)
            if file is not None and not thread.is_alive():
                file.close()

    def show_if_old(self) -> None:
        """Show what is held back of a process that has gone on after a traceback."""
        if self.held and time.monotonic() > self._since + _OLD:
            self.show_held()
            self._last.clear()

    def show_held(self) -> None:
        """Show what was held back."""
        with _LOCK:
            lines, self.held = self.held, []
        for line in lines:
            if line.strip():
                self._show(line, sys.stderr)

    def is_consequence(self) -> bool:
        """Whether the process ended by an error that tells of another's, or by one that followed from it."""
        return _CONSEQUENCE in self._first_error().partition(":")[0]

    def blamed(self) -> int | None:
        """The rank that the error by which the process ended says to be gone, or None."""
        found = _BLAMED.search(self._first_error())
        return int(found[1]) if found else None

    def _first_error(self) -> str:
        return next((line for line in self._last[1:] if line[:1] not in (" ", "\n", "\t")), "")
