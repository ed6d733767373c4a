"""Files of what processes write, and which of it is shown: torchrun's options and layout.

A process's lines go into ``DIR/<run>_<unique>/attempt_<number>/<rank>/stdout.log`` and ``stderr.log`` if it
is redirected, which shows nothing of it, or teed, which does.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Final, TextIO

__all__ = ["NO_LOGS", "Logs", "ranks_of", "streams_of"]

_ONE: Final = re.compile(r"[0-3]")
_MANY: Final = re.compile(r"\d+:[0-3](,\d+:[0-3])*")
_NAMES: Final = ("stdout.log", "stderr.log")


def streams_of(text: str) -> dict[int | None, int]:
    """Which streams of which rank are meant: 1 stdout, 2 stderr, 3 both, as ``3`` or ``0:1,1:2``.

    Raises:
        ValueError: for another text.
    """
    if _ONE.fullmatch(text):
        return {None: int(text)}
    if not _MANY.fullmatch(text):
        raise ValueError(f"{text} does not match: <^[0-3]$> or <^RANK:[0-3],RANK:[0-3],...$>")
    pairs = (each.split(":") for each in text.split(","))
    return {int(rank): int(streams) for rank, streams in pairs}


def _streams_for(option: str, text: str) -> dict[int | None, int]:
    try:
        return streams_of(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def ranks_of(text: str) -> set[int]:
    """Ranks as ``0,2``; empty for all.

    Raises:
        ValueError: for another text.
    """
    if text and not re.fullmatch(r"\d+(,\d+)*", text):
        raise ValueError(
            "--local-ranks-filter: local ranks are whole numbers with commas between them, such as 0,1, "
            f"got {text!r}"
        )
    return {int(each) for each in text.split(",") if each}


class Logs:
    """Where the lines of processes go.

    Args:
        folder: where files are; a new one for temporary files if they are asked for without it.
        run: name of the run.
        redirects: what goes into files alone, see `streams_of`.
        tee: what goes into files and is shown.
        shown: ranks of which anything is shown, see `ranks_of`.

    Raises:
        ValueError: for texts that mean nothing.
        NotADirectoryError: if the folder is a file.
    """

    def __init__(
        self,
        folder: str | None = None,
        run: str = "none",
        redirects: str = "0",
        tee: str = "0",
        shown: str = "",
    ) -> None:
        self._redirects = _streams_for("--redirects", redirects)
        self._tee = _streams_for("--tee", tee)
        self._shown = ranks_of(shown)
        self.attempt: Path | None = None
        self.folder: Path | None = None
        if folder or any(self._redirects.values()) or any(self._tee.values()):
            if folder and Path(folder).is_file():
                raise NotADirectoryError(f"log_dir: {folder} is a file")
            base = Path(folder or tempfile.mkdtemp(prefix="torchelastic_"))
            base.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=f"{run}_", dir=base))

    def begin(self, attempt: int, count: int) -> None:
        """Make the folders of a start of all processes."""
        if self.folder is not None:
            self.attempt = self.folder / f"attempt_{attempt}"
            for rank in range(count):
                (self.attempt / str(rank)).mkdir(parents=True, exist_ok=True)

    def place(self, rank: int, stream: int) -> Path | None:
        """The file of a process's stdout, 0, or stderr, 1; None if it has none."""
        asked = self._asked(self._redirects, rank, stream) or self._asked(self._tee, rank, stream)
        return self.attempt / str(rank) / _NAMES[stream] if asked and self.attempt else None

    def file(self, rank: int, stream: int) -> TextIO | None:
        """That file, to be written to."""
        place = self.place(rank, stream)
        return None if place is None else open(place, "a", encoding="utf-8", buffering=1)

    def shows(self, rank: int, stream: int) -> bool:
        """Whether what a process writes is shown."""
        if self._shown and rank not in self._shown:
            return False
        hidden = self._asked(self._redirects, rank, stream)
        return not hidden or self._asked(self._tee, rank, stream)

    def _asked(self, streams: dict[int | None, int], rank: int, stream: int) -> bool:
        return bool(streams.get(rank, streams.get(None, 0)) & (1 << stream))


NO_LOGS: Final = Logs()
