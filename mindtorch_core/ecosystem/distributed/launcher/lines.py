"""Lines of processes that `elastic_launch` starts: into files, and shown from there with who wrote them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, TextIO

from ..elastic.multiprocessing.api import LogsDest

__all__ = ["Shown", "redirect", "streams_of"]

_PAUSE: Final = 0.1  # between two looks at the files, in seconds


def streams_of(files: LogsDest, rank: int) -> tuple[str, str]:
    """The files of a process's stdout and stderr; empty for those of the launcher."""
    return files.stdouts.get(rank, ""), files.stderrs.get(rank, "")


def redirect(paths: Sequence[str]) -> None:
    """Have this process's stdout and stderr go into files, where they are named."""
    for number, (path, stream) in enumerate(zip(paths, (sys.stdout, sys.stderr), strict=True), 1):
        if path:
            stream.flush()
            with open(path, "ab") as file:
                os.dup2(file.fileno(), number)


class Shown:
    """A block in which lines that come into files are shown, each after who wrote it.

    Args:
        files: those whose lines are shown.
        prefix: of a line; ``${role_name}``, ``${rank}`` and ``${local_rank}`` stand for who wrote it.
        role: of the processes.
    """

    def __init__(self, files: LogsDest, prefix: str | None, role: str) -> None:
        template = "[${role_name}${local_rank}]:" if prefix is None else prefix
        self._rows = [
            (path, stream, _filled(template, role, rank))
            for shown, stream in ((files.tee_stdouts, sys.stdout), (files.tee_stderrs, sys.stderr))
            for rank, path in shown.items()
            if path != os.devnull
        ]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> Self:
        if self._rows:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._rows:
            self._thread.join()

    def _follow(self) -> None:
        with ExitStack() as stack:
            files = []
            for path, stream, label in self._rows:
                Path(path).touch()
                files.append((stack.enter_context(open(path, "rb")), stream, label))
            while not self._over.wait(_PAUSE):
                _show(files, whole=True)
            _show(files, whole=False)


def _show(files: Sequence[tuple[BinaryIO, TextIO, str]], *, whole: bool) -> None:
    """Show what has come.

    Args:
        files: with where their lines go, and what stands before each.
        whole: whether the beginning of a line waits for its end.
    """
    for file, stream, label in files:
        while line := file.readline():
            if whole and not line.endswith(b"\n"):
                file.seek(-len(line), os.SEEK_CUR)
                break
            stream.write(f"{label}{line.decode(errors='replace')}")


def _filled(template: str, role: str, rank: int) -> str:
    values: Mapping[str, object] = {"role_name": role, "rank": rank, "local_rank": rank}
    for name, value in values.items():
        template = template.replace(f"${{{name}}}", str(value))
    return template
