"""Several processes that run one function, and end together when one of them fails."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

from ..values.user_warnings import warn_user

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process failed.

    Attributes:
        msg: how.
        error_index: its number.
        pid: its id.
    """

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception, whose traceback is in the text."""


class ProcessExitedException(ProcessException):
    """A process ended by a signal or with an exit code.

    Attributes:
        exit_code: the code.
        signal_name: the signal's name, or None.
    """

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], number: int, args: tuple[Any, ...], report: str) -> None:
    """What a process does."""
    try:
        fn(number, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted too, and says so
    except Exception:  # noqa: BLE001 (the parent raises it)
        with open(report, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that run together.

    Attributes:
        processes: they.
        sentinels: by sentinel, the number of a process that has not been joined.
    """

    def __init__(self, processes: list[Any], reports: list[str]) -> None:
        self.processes, self.error_files = processes, reports
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """Ids of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until some process has ended.

        Args:
            timeout: seconds to wait at most.
            grace_period: seconds that the others have to end by themselves when one has failed.

        Returns:
            Whether all have ended.

        Raises:
            ProcessExitedException: if one ended otherwise than well; the others are ended.
            ProcessRaisedException: if one raised an exception.
        """
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout)
        failed = None
        for sentinel in ready:
            number = self.sentinels.pop(sentinel)
            self.processes[number].join()
            if self.processes[number].exitcode != 0:
                failed = number
                break
        if failed is None:
            if not self.sentinels:
                self._clear()
            return not self.sentinels
        self._end(grace_period)
        try:
            raise self._error(failed)
        finally:
            self._clear()

    def _end(self, grace_period: float | None) -> None:
        """End the others: by themselves, then by SIGTERM, then by SIGKILL."""
        if grace_period is not None:
            end = time.monotonic() + grace_period
            for process in self.processes:
                process.join(max(0.0, end - time.monotonic()))
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(30)
            if process.is_alive():
                process.kill()
                process.join()

    def _error(self, number: int) -> ProcessException:
        process, report = self.processes[number], self.error_files[number]
        pid = process.pid
        if os.path.getsize(report):
            with open(report, "rb") as file:
                text = pickle.load(file)
            return ProcessRaisedException(
                f"\n\n-- Process {number} terminated with the following error:\n{text}", number, pid
            )
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            text = f"process {number} terminated with signal {name}"
            return ProcessExitedException(text, number, pid, code, name)
        text = f"process {number} terminated with exit code {code}"
        return ProcessExitedException(text, number, pid, code)

    def _clear(self) -> None:
        for report in self.error_files:
            if os.path.exists(report):
                os.unlink(report)


class SpawnContext(ProcessContext):
    """`ProcessContext`, under its name of old."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Start processes that each call a function with their number and further arguments.

    Args:
        fn: the function, which processes that do not fork must be able to import.
        args: the further arguments.
        nprocs: how many.
        join: whether to wait for all.
        daemon: whether they are ended with this process.
        start_method: of `multiprocessing`.

    Returns:
        None if they were waited for, else what `ProcessContext.join` waits by.

    Raises:
        ProcessException: if one fails that is waited for; the others are ended.
    """
    mp = multiprocessing.get_context(start_method)
    processes: list[Any] = []
    reports = []
    for number in range(nprocs):
        handle, report = tempfile.mkstemp(prefix="mindtorch-errors-", suffix=".pickle")
        os.close(handle)
        reports.append(report)
        process: Any = mp.Process(target=_run, args=(fn, number, args, report), daemon=daemon)  # type: ignore[attr-defined]  # every context has it
        process.start()
        processes.append(process)
    context = SpawnContext(processes, reports)
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes`, with new interpreters.

    Raises:
        ProcessException: if a process fails that is waited for; the others are ended.
    """
    if start_method != "spawn":
        warn_user(
            f"spawn() starts new interpreters, whatever start_method says (got: {start_method}): use "
            f"torch.multiprocessing.start_processes(..., start_method={start_method!r})",
            FutureWarning,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
