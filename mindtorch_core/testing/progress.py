"""How far long work is, such as a run of the kit: one line that is written over, on terminals only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Progress"]

_PAUSE = 0.1  # seconds: more often than that nobody reads


class Progress:
    """A line such as ``1200 of 4086 tests, 2 failed, 0:12``; nothing where no person looks.

    Args:
        stream: where it is written; that is asked whether it is a terminal.
        total: how many tests, or others, there are.
        clock: tells seconds.
        what: what is counted.
    """

    def __init__(
        self,
        stream: TextIO,
        total: int,
        clock: Callable[[], float] = time.monotonic,
        what: str = "tests",
    ) -> None:
        self._stream = stream
        self._total = total
        self._clock = clock
        self._what = what
        self._start = self._shown = clock()
        self._width = 0
        self._on = stream.isatty()
        self.done = 0
        self.failed = 0

    def add(self) -> None:
        """Count a test that has ended; who knows that it failed counts that."""
        self.done += 1
        now = self._clock()
        if self._on and (now - self._shown >= _PAUSE or self.done == self._total):
            self._shown = now
            self._write(self.text())

    def text(self) -> str:
        """The line."""
        seconds = int(self._clock() - self._start)
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.done} of {self._total} {self._what}{failed}, {seconds // 60}:{seconds % 60:02}"
        )

    def end(self) -> None:
        """Take the line away."""
        if self._on:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text:{self._width}}")
        self._stream.flush()
        self._width = len(text)
