"""How long a thread has stood ready without a core: what other programs and ranks have taken from it."""

from __future__ import annotations

import os
import threading

__all__ = ["LostTime"]


class LostTime:
    """Called, the seconds that the thread which has made it stood ready and did not run.

    Linux counts them; elsewhere they are 0.
    """

    def __init__(self) -> None:
        self._file = -1
        path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        if os.path.exists(path):
            self._file = os.open(path, os.O_RDONLY)

    def __call__(self) -> float:
        """The seconds."""
        if self._file < 0:
            return 0.0
        row = os.pread(self._file, 96, 0).split()
        return int(row[1]) / 1e9 if len(row) > 1 else 0.0
