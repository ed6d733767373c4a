"""Several processes of one program: by mpiexec where there is one, else as plain processes.

Their output is labelled by rank. The first that fails ends all; what it said is shown first. After that
all can begin again, or, where the MPI can do it, one that dies is replaced while the others go on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, Final

from ..communication.launchers import free_port, mpiexec, replaces
from .logs import NO_LOGS, Logs
from .outputs import Output
from .rank import ERRORS, GRACE, end_with_parent, has_gone, note_end
from .replacements import Replacements
from .standstill import Standstill, Unbegun

__all__ = ["launch"]

_RANK: Final = Path(__file__).parent / "rank.py"
# How long processes may take to end after SIGTERM, in seconds.
_GRACE: Final = 5.0
_PAUSE: Final = 0.02


def launch(
    command: Sequence[str],
    env: Mapping[str, str],
    count: int,
    *,
    restarts: int = 0,
    elastic: bool = False,
    labelled: bool = True,
    grace: float = 5.0,
    logs: Logs = NO_LOGS,
) -> int:
    """Run a command in several processes, and return the exit status: the first failure's, or 0.

    Args:
        command: program and arguments.
        env: of all processes.
        count: how many.
        restarts: how often all begin again after a failure, or one is replaced.
        elastic: whether a process that dies is replaced, if the MPI can do it.
        labelled: whether lines begin with the rank.
        grace: how long the others may take to end by themselves after a failure, and how long one that a
            signal has stopped may stand still when all others have ended, in seconds.
        logs: where their lines go.
    """
    if elastic and not replaces():
        _say("this MPI cannot replace a process: after a failure all begin again")
        elastic = False
    done = 0
    if logs.folder is not None:
        _say(f"logs are written into {logs.folder}")
    with _terminable():
        while True:
            with tempfile.TemporaryDirectory(prefix="mindtorch-run-") as name:
                logs.begin(done, count)
                attempt = _Attempt(Path(name), count, labelled, grace, logs)
                status = attempt.run(command, env, done, restarts, elastic)
            done += attempt.replaced
            if status == 0 or done >= restarts:
                return status
            done += 1
            _say(f"all processes begin again ({done} of {restarts})")


def _say(text: str) -> None:
    print(f"mindtorch run: {text}", file=sys.stderr, flush=True)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end the processes as an interrupt from the keyboard does, and then this one."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # another thread than the main one: a program's affair
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Attempt:
    """One start of all processes."""

    def __init__(self, folder: Path, count: int, labelled: bool, grace: float, logs: Logs) -> None:
        self._folder, self._count, self._grace, self._logs = folder, count, grace, logs
        self._outputs = [
            Output(folder, rank, labelled=labelled, logs=logs) for rank in range(count)
        ]
        self._replacements: Replacements | None = None
        self._waited: dict[
            int, int
        ] = {}  # ranks that waited to begin, and for whom: one that had ended

    @property
    def replaced(self) -> int:
        """How many processes were."""
        return 0 if self._replacements is None else self._replacements.used

    def run(
        self, command: Sequence[str], env: Mapping[str, str], done: int, limit: int, elastic: bool
    ) -> int:
        """Start all, wait, and report; returns the exit status."""
        start = [sys.executable, "-I", "-S", str(_RANK), str(self._folder), *command]
        more = {
            ERRORS: str(self._logs.attempt or self._folder),
            GRACE: str(self._grace),
            "TORCHELASTIC_RESTART_COUNT": str(done),
            "TORCHELASTIC_MAX_RESTARTS": str(limit),
        }
        if elastic:
            self._replacements = Replacements(self._count, limit - done)
            more |= self._replacements.variables(start)
        started = self._start(start, {**_variables(self._count, env), **more}, elastic)
        try:
            self._await(started)
        except (KeyboardInterrupt, SystemExit):
            _stop(started)
            raise
        for output in self._outputs:
            output.finish()
        return self._report(started)

    def _start(
        self, command: list[str], env: dict[str, str], elastic: bool
    ) -> list[subprocess.Popen[bytes]]:
        """Start mpiexec, or the processes themselves."""
        launcher = mpiexec(replaces=elastic)
        if launcher:
            if self._count > (os.cpu_count() or 1):
                _say(f"{self._count} processes on {os.cpu_count()} cores wait for each other")
            with open(self._folder / "mpiexec", "wb") as said:
                return [_started([*launcher, "-n", str(self._count), *command], env, said)]
        return [_started(command, {**env, "RANK": str(rank)}) for rank in range(self._count)]

    def _endings(self) -> dict[int, int]:
        """Exit statuses by rank, in the order in which the processes ended."""
        for rank, output in enumerate(self._outputs):
            if has_gone(self._folder, rank):
                output.note_end()
                note_end(self._folder, rank, -signal.SIGKILL)
        files = [self._folder / f"{rank}.end" for rank in range(self._count)]
        there = sorted((f for f in files if f.exists()), key=lambda f: f.stat().st_mtime_ns)
        return {int(f.stem): int(f.read_text("ascii")) for f in there}

    def _await(self, started: list[subprocess.Popen[bytes]]) -> None:
        """Wait until all have ended; after a failure that nobody is replaced for, not for long."""
        limit = float("inf")
        standstill = Standstill(self._folder, self._count, self._grace)
        unbegun = Unbegun(self._folder, self._count, self._grace)
        while any(each.poll() is None for each in started):
            time.sleep(_PAUSE)
            endings = self._endings()
            failed = [rank for rank, status in endings.items() if status]
            if limit == float("inf") and (failed or self._is_hopeless()):
                refused = [rank for rank in failed if not self._replace(rank, endings[rank])]
                if failed and not refused:
                    continue
                limit = time.monotonic() + (self._grace if failed else 0)
            for rank, process in standstill.end(endings).items():
                _say(
                    f"rank {rank} (process {process}) is stopped by a signal, and all others have ended: "
                    "it is ended, too; `kill -CONT PROCESS` lets one go on"
                )
            done = [rank for rank in endings if rank not in failed]
            self._waited |= dict.fromkeys(unbegun.end(done), done[0] if done else -1)
            if not failed:
                for output in self._outputs:
                    output.show_if_old()
            if len(endings) == self._count:
                limit = min(limit, time.monotonic() + _GRACE)
            if time.monotonic() > limit:
                _stop(started)
        self._restore()

    def _is_hopeless(self) -> bool:
        return self._replacements is not None and self._replacements.hopeless()

    def _replace(self, rank: int, status: int) -> bool:
        """Let the others start a process in place of one that has failed, or forbid it."""
        if self._replacements is None:
            return False
        output, number = self._outputs[rank], self._replacements.deaths(rank) + 1
        output.await_process(number)
        may = self._replacements.allow(rank, caused=not output.is_consequence())
        if may:
            _say(f"rank {rank} ended with {_how(status)}: another takes its place")
            output.show_held()
            ended = self._folder / f"{rank}.end"
            ended.with_suffix(".here").unlink(missing_ok=True)
            ended.rename(ended.with_suffix(f".end{number}"))
        return may

    def _restore(self) -> None:
        """Remember how those ended whose place nobody has taken."""
        if self._replacements is not None:
            for rank in self._replacements.missing():
                ended = self._folder / f"{rank}.end"
                if not ended.exists():
                    ended.with_suffix(f".end{self._replacements.deaths(rank)}").rename(ended)

    def _report(self, started: list[subprocess.Popen[bytes]]) -> int:
        """Show the first failure, then the others'; returns the exit status."""
        endings = self._endings()
        failed = [rank for rank, status in endings.items() if status]
        causes = [rank for rank in failed if not self._outputs[rank].is_consequence()]
        first = next(iter(causes or failed), None)
        if first is not None:
            status = endings[first]
            gone = self._waited.get(first) if causes else self._outputs[first].blamed()
            if gone is not None and endings.get(gone) == 0:
                _say(
                    f"rank {gone} ended first, with exit status 0, while rank {first} waited for it"
                )
            else:
                errors = self._logs.place(first, 1)
                where = f": what it wrote is in {errors}" if errors is not None else ""
                _say(f"rank {first} failed first, with {_how(status)}{where}")
            self._outputs[first].show_held()
        for output in self._outputs:
            output.show_held()
        if first is not None:
            return status if status > 0 else 128 - status
        missing = [rank for rank in range(self._count) if rank not in endings]
        if missing:
            said = self._folder / "mpiexec"
            text = said.read_text("utf-8", "replace").strip() if said.exists() else ""
            _say(f"rank {missing[0]} was not started, or was killed\n{text}")
            return max((each.returncode or 0 for each in started), default=0) or 1
        return 0


def _started(
    command: list[str], env: dict[str, str], said: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """A process that is asked to end when this one does, also where this one is killed."""
    return subprocess.Popen(
        command, env=env, stdin=_input(), stdout=said, stderr=said,
        preexec_fn=partial(end_with_parent, signal.SIGTERM),
    )  # fmt: skip


def _input() -> int | None:
    """The terminal, if this process has it: mpiexec gives it to rank 0. Nothing else is read.

    A file or a pipe is for whoever comes next, such as a shell's loop over lines, and mpiexec would empty it.
    """
    try:
        ours = os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        ours = False
    return None if ours else subprocess.DEVNULL


def _how(status: int) -> str:
    return f"exit status {status}" if status > 0 else f"signal {-status}"


def _variables(count: int, env: Mapping[str, str]) -> dict[str, str]:
    """What torchrun tells each process, but for its rank, unless the environment says it."""
    number = str(count)
    return {
        "PYTHONUNBUFFERED": "1",
        **({"OMP_NUM_THREADS": "1"} if count > 1 else {}),
        "ROLE_NAME": "default",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "TORCHELASTIC_RUN_ID": "none",
    } | dict(env) | {
        "WORLD_SIZE": number,
        "LOCAL_WORLD_SIZE": number,
        "ROLE_WORLD_SIZE": number,
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
    }  # fmt: skip


def _stop(started: list[subprocess.Popen[bytes]]) -> None:
    """End all: first by asking."""
    for each in started:
        each.terminate()
    end = time.monotonic() + _GRACE
    for each in started:
        try:
            each.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            each.kill()
            each.wait()
