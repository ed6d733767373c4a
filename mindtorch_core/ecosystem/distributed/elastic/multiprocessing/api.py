"""``torch.distributed.elastic.multiprocessing.api``: where processes of a launcher write their lines."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from pathlib import Path
from typing import Final

__all__ = ["DefaultLogsSpecs", "LogsDest", "LogsSpecs", "SignalException", "Std", "to_map"]

_ONE: Final = re.compile(r"[0123]")
_MANY: Final = re.compile(r"(\d:[0123],)*\d:[0123]")
_SHOWN: Final = ""  # in place of a file: lines go where those of the launcher go


class SignalException(Exception):
    """A launcher was told to end.

    Attributes:
        sigval: by which signal.
    """

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


class Std(IntFlag):
    """Which streams of a process are meant."""

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, vm: str) -> Std | dict[int, Std]:
        """Streams as ``3``, or by rank as ``0:3,1:0``.

        Raises:
            ValueError: for another text.
        """
        if _ONE.fullmatch(vm):
            return cls(int(vm))
        if _MANY.fullmatch(vm):
            pairs = (each.split(":") for each in vm.split(","))
            return {int(rank): cls(int(streams)) for rank, streams in pairs}
        raise ValueError(f"{vm} does not match: <^[0123]$> or <^(\\d:[0123],)*(\\d:[0123])$>")


def to_map(val_or_map: Std | Mapping[int, Std], local_world_size: int) -> dict[int, Std]:
    """Streams of each rank, from those of all, or of some ranks; none of the others."""
    ranks = range(local_world_size)
    if isinstance(val_or_map, Std):
        return dict.fromkeys(ranks, val_or_map)
    return {rank: val_or_map.get(rank, Std.NONE) for rank in ranks}


@dataclass
class LogsDest:
    """Paths of files, by rank.

    Attributes:
        stdouts: where lines of stdout go; an empty one stands for the launcher's own.
        stderrs: the same of stderr.
        tee_stdouts: those of them whose lines are shown as well.
        tee_stderrs: the same of stderr.
        error_files: where a process writes what it has failed by.
        filtered_stdout: for chosen lines of all ranks.
        filtered_stderr: the same of stderr.
    """

    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)
    tee_stdouts: dict[int, str] = field(default_factory=dict)
    tee_stderrs: dict[int, str] = field(default_factory=dict)
    error_files: dict[int, str] = field(default_factory=dict)
    filtered_stdout: str = ""
    filtered_stderr: str = ""


class LogsSpecs(ABC):
    """Where the lines of processes go; derive from it for places of your own.

    Args:
        log_dir: the folder.
        redirects: what goes into files alone, of all ranks or by rank.
        tee: what goes into files and is shown.
        local_ranks_filter: ranks of which anything is shown; None for all.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | dict[int, Std] = Std.NONE,
        tee: Std | dict[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        self._root_log_dir = log_dir
        self._redirects = redirects
        self._tee = tee
        self._local_ranks_filter = local_ranks_filter

    @abstractmethod
    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """The files of a start of all processes.

        Args:
            envs: what each is told by its environment, where its file of errors is added.
        """

    @property
    @abstractmethod
    def root_log_dir(self) -> str:
        """The folder."""


class DefaultLogsSpecs(LogsSpecs):
    """``LOG_DIR/RUN_UNIQUE/attempt_NUMBER/RANK/stdout.log`` and its like, as torchrun has it.

    Args:
        log_dir: the folder, which is made; a new one for temporary files if it is not given. `os.devnull`
            for no files.
        redirects: see `LogsSpecs`.
        tee: see `LogsSpecs`.
        local_ranks_filter: see `LogsSpecs`.

    Raises:
        NotADirectoryError: if the folder is a file.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | dict[int, Std] = Std.NONE,
        tee: Std | dict[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        if not log_dir:
            log_dir = tempfile.mkdtemp(prefix="torchelastic_")
        elif log_dir != os.devnull:
            if Path(log_dir).is_file():
                raise NotADirectoryError(f"log_dir: {log_dir} is a file")
            Path(log_dir).mkdir(parents=True, exist_ok=True)
        super().__init__(log_dir, redirects, tee, local_ranks_filter)
        self._run_log_dir = ""

    @property
    def root_log_dir(self) -> str:
        """The folder."""
        return str(self._root_log_dir)

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """See `LogsSpecs.reify`; the folder of the start is emptied."""
        if self._root_log_dir == os.devnull:
            nowhere = dict.fromkeys(envs, os.devnull)
            for env in envs.values():
                env["TORCHELASTIC_ERROR_FILE"] = ""
            shown = dict.fromkeys(envs, _SHOWN)
            return LogsDest(shown, dict(shown), nowhere, dict(nowhere), dict(nowhere))
        attempt = self._attempt(envs.get(0, {}))
        found = LogsDest(
            filtered_stdout=str(attempt / "filtered_stdout.log"),
            filtered_stderr=str(attempt / "filtered_stderr.log"),
        )
        redirects, tee = to_map(self._redirects, len(envs)), to_map(self._tee, len(envs))
        for rank, env in envs.items():
            folder = attempt / str(rank)
            folder.mkdir()
            rows = (
                (Std.OUT, "stdout.log", found.stdouts, found.tee_stdouts),
                (Std.ERR, "stderr.log", found.stderrs, found.tee_stderrs),
            )
            for stream, name, files, shown in rows:
                files[rank] = (
                    str(folder / name) if (redirects[rank] | tee[rank]) & stream else _SHOWN
                )
                if self._local_ranks_filter and rank not in self._local_ranks_filter:
                    files[rank] = files[rank] or os.devnull
                elif tee[rank] & stream:
                    shown[rank] = files[rank]
            env["TORCHELASTIC_ERROR_FILE"] = found.error_files[rank] = str(folder / "error.json")
        return found

    def _attempt(self, env: Mapping[str, str]) -> Path:
        """The folder of a start, new and empty."""
        if not self._run_log_dir:
            run = env.get("TORCHELASTIC_RUN_ID", "test_run_id")
            self._run_log_dir = tempfile.mkdtemp(prefix=f"{run}_", dir=self._root_log_dir)
        number = env.get("TORCHELASTIC_RESTART_COUNT", "0")
        made = Path(self._run_log_dir, f"attempt_{number}")
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        return made

    def _settings(self) -> tuple[object, ...]:
        return self._root_log_dir, self._redirects, self._tee, self._local_ranks_filter

    def __repr__(self) -> str:
        return (
            f"DefaultLogsSpecs(root_log_dir={self._root_log_dir}, redirects={self._redirects}, "
            f"tee={self._tee}, local_ranks_filter={self._local_ranks_filter})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DefaultLogsSpecs) and self._settings() == other._settings()

    __hash__ = None  # type: ignore[assignment]  # as in PyTorch
