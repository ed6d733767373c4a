"""``torch.distributed.elastic.multiprocessing.errors``: how a launcher tells of processes that failed."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from pathlib import Path
from string import Template
from typing import Any, Final, ParamSpec, TypeVar

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

P = ParamSpec("P")
R = TypeVar("R")
_NO_FILE: Final = "<N/A>"
_FILE: Final = "TORCHELASTIC_ERROR_FILE"
_WIDTH: Final = 60


class ErrorHandler:
    """Writes what a process has failed by into the file that ``TORCHELASTIC_ERROR_FILE`` names, as JSON."""

    def initialize(self) -> None:
        """What `record` does before the function: a fault of the interpreter shows where it was."""
        with suppress(Exception):  # without a stderr that is a file
            faulthandler.enable(all_threads=True)

    def record_exception(self, e: BaseException) -> None:
        """Write an exception and its traceback into the process's file, if it has one."""
        shown = "".join(traceback.format_exception(e))
        more = {"py_callstack": shown, "timestamp": str(int(time.time()))}
        self._write({"message": {"message": f"{type(e).__name__}: {e}", "extraInfo": more}})

    def dump_error_file(self, rootcause_error_file: str, error_code: int = 0) -> None:
        """Copy another process's file into this one's, with its exit status.

        Args:
            rootcause_error_file: the other's.
            error_code: the other's status; 0 if nobody knows it.
        """
        found = json.loads(Path(rootcause_error_file).read_text("utf-8"))
        if error_code:
            self.override_error_code_in_rootcause_data(rootcause_error_file, found, error_code)
        self._write(found)

    def override_error_code_in_rootcause_data(
        self, rootcause_error_file: str, rootcause_error: dict[str, Any], error_code: int = 0
    ) -> None:
        """Put an exit status into what was read from a file.

        Args:
            rootcause_error_file: the file.
            rootcause_error: what was read, which is changed.
            error_code: the status.
        """
        if isinstance(rootcause_error.get("message"), dict):
            rootcause_error["message"]["errorCode"] = error_code

    def _write(self, said: dict[str, Any]) -> None:
        if name := os.environ.get(_FILE):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(json.dumps(said), encoding="utf-8")


def get_error_handler() -> ErrorHandler:
    """The handler that `record` takes when it is given none."""
    return ErrorHandler()


@dataclass
class ProcessFailure:
    """How one process failed.

    Attributes:
        local_rank: its rank on this machine.
        pid: its id.
        exitcode: its exit status, or the negative number of a signal.
        error_file: where it wrote about it.
        error_file_data: what it wrote.
        message: what it said.
        timestamp: when, in seconds since 1970.
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str = _NO_FILE
    error_file_data: dict[str, Any] = field(init=False, default_factory=dict)
    message: Any = field(init=False, default="")
    timestamp: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        with suppress(OSError, ValueError):
            self.error_file_data = json.loads(Path(self.error_file).read_text("utf-8"))
            self.message = self.error_file_data["message"]
            if isinstance(self.message, str):
                self.timestamp = int(self.error_file_data.get("timestamp", 0))
            else:
                self.timestamp = int(self.message["extraInfo"]["timestamp"])
            return
        self.error_file, self.timestamp = _NO_FILE, int(time.time())
        self.message = (
            f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
            if self.exitcode < 0
            else "what failed was not written down: mark the main function by @record"
        )

    def signal_name(self) -> str:
        """Name of the signal that has ended it."""
        known = {-number.value: number.name for number in signal.Signals}
        return known.get(self.exitcode, _NO_FILE)

    def timestamp_isoformat(self) -> str:
        """When, as ``2026-11-29_23:37:05``."""
        return datetime.fromtimestamp(self.timestamp).isoformat(sep="_")


_FORMAT: Final = Template(
    """
$heavy
$title
$light
Failures:
$others
$light
Root Cause (first observed failure):
$first
$heavy"""
)
_ENTRY: Final = Template(
    """[$place]:
  time      : $time
  host      : $host
  rank      : $rank (local_rank: $local_rank)
  exitcode  : $status (pid: $pid) $name
  error_file: $file
  traceback : $said"""
)


class ChildFailedError(Exception):
    """Processes that a launcher has started failed; its text lists them, the first at the end.

    Attributes:
        name: of the script.
        failures: by rank, where they are known.
        exitcode: the first failure's.
    """

    def __init__(
        self, name: str, failures: Mapping[int, ProcessFailure], exitcode: int | None = None
    ) -> None:
        self.name, self.failures, self.exitcode = name, dict(failures), exitcode
        if self.failures and exitcode is None:
            self.exitcode = self.get_first_failure()[1].exitcode
        super().__init__(
            self.format_msg()
            if self.failures
            else f"{name} FAILED: exit status {self.exitcode}; what it said stands above"
        )

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """Rank and failure of the one that failed first.

        Raises:
            IndexError: if none is known.
        """
        if not self.failures:
            raise IndexError("which process failed stands in the output")
        rank = min(self.failures, key=lambda rank: self.failures[rank].timestamp)
        return rank, self.failures[rank]

    def format_msg(self, boundary_delim: str = "=", section_delim: str = "-") -> str:
        """All failures as a text.

        Args:
            boundary_delim: character of the outer lines.
            section_delim: of those between.
        """
        first = self.get_first_failure()[0]
        shown = {rank: self._shown(i, rank) for i, rank in enumerate(self.failures)}
        others = [text for rank, text in shown.items() if rank != first]
        return _FORMAT.substitute(
            heavy=boundary_delim * _WIDTH,
            light=section_delim * _WIDTH,
            title=f"{self.name} FAILED",
            others="\n".join(others or ["  <NO_OTHER_FAILURES>"]),
            first=shown[first],
        )

    def _shown(self, place: int, rank: int) -> str:
        failure = self.failures[rank]
        said = failure.message
        if isinstance(said, dict):
            said = said.get("extraInfo", {}).get("py_callstack", said.get("message", _NO_FILE))
            said = said.replace("\n", "\n  ")
        named = failure.signal_name()
        return _ENTRY.substitute(
            place=place,
            time=failure.timestamp_isoformat(),
            host=socket.gethostname(),
            rank=rank,
            local_rank=failure.local_rank,
            status=failure.exitcode,
            pid=failure.pid,
            name="" if named == _NO_FILE else f" ({named})",
            file=failure.error_file,
            said=said,
        )


def record(fn: Callable[P, R], error_handler: ErrorHandler | None = None) -> Callable[P, R | None]:
    """A script's main function that writes down the exception it ends by, for the launcher.

    The file is the one that ``TORCHELASTIC_ERROR_FILE`` names; `mindtorch run -n` and torchrun name one for
    each process. The exception goes on. A `SystemExit` of status 0 is a return of None.

    Args:
        fn: the function.
        error_handler: what writes.

    Example:
        >>> from mindtorch_core.distributed.elastic.multiprocessing.errors import record
        >>> @record
        ... def main():
        ...     return 3
        >>> main()
        3
    """
    handler = get_error_handler() if error_handler is None else error_handler

    @wraps(fn)
    def recorded(*args: P.args, **kwargs: P.kwargs) -> R | None:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as end:
            if end.code == 0:
                return None
            raise
        except ChildFailedError as error:
            with suppress(IndexError):
                _, failure = error.get_first_failure()
                if failure.error_file != _NO_FILE:
                    handler.dump_error_file(failure.error_file, failure.exitcode)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return recorded
