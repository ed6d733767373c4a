"""Several processes of one program: by mpiexec where there is one, else as plain processes.

Their output is labelled by rank. The first that fails ends all; what it said is shown first.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from ..communication.launchers import mpiexec

__all__ = ["launch"]

_RANK: Final = Path(__file__).parent / "rank.py"
_TRACEBACK: Final = "Traceback (most recent call last)"
# An error of this kind tells of a failure elsewhere.
_CONSEQUENCE: Final = "DistributedError"
# How long the others may take to end by themselves after a failure, then after SIGTERM, in seconds.
_GRACE: Final = 5.0
_PAUSE: Final = 0.02


class _Output:
    """What one process writes: shown line by line, but for how it ends.

    From the first line of a traceback on it is held back, so that the first failure can be shown first.
    """

    def __init__(self, folder: Path, rank: int) -> None:
        self.rank = rank
        self.held: list[str] = []
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
            stream.write(f"[{self.rank}] {line.rstrip(chr(10))}\n")
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


_LOCK: Final = threading.Lock()
_END: Final = "\0end of mindtorch run\0\n"


def launch(command: Sequence[str], env: Mapping[str, str], count: int) -> int:
    """Run a command in several processes, and return the exit status: the first failure's, or 0.

    Args:
        command: program and arguments.
        env: of all processes.
        count: how many.
    """
    with tempfile.TemporaryDirectory(prefix="mindtorch-run-") as name:
        folder = Path(name)
        outputs = [_Output(folder, rank) for rank in range(count)]
        whole = {**env, **_variables(count, env)}
        started = _start(
            [sys.executable, "-I", "-S", str(_RANK), name, *command], whole, count, folder
        )
        try:
            _await(started, folder, count)
        except KeyboardInterrupt:
            _stop(started)
            raise
        for output in outputs:
            output.finish()
        return _report(outputs, _endings(folder, count), folder, started)


def _variables(count: int, env: Mapping[str, str]) -> dict[str, str]:
    """What torchrun tells each process, but for its rank."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    number = str(count)
    given = {"PYTHONUNBUFFERED": "1", **({"OMP_NUM_THREADS": "1"} if count > 1 else {})}
    return {name: value for name, value in given.items() if name not in env} | {
        "WORLD_SIZE": number,
        "LOCAL_WORLD_SIZE": number,
        "ROLE_WORLD_SIZE": number,
        "ROLE_NAME": "default",
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
        "MASTER_ADDR": env.get("MASTER_ADDR", "127.0.0.1"),
        "MASTER_PORT": env.get("MASTER_PORT", str(port)),
        "TORCHELASTIC_RUN_ID": "none",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "TORCHELASTIC_MAX_RESTARTS": "0",
    }


def _start(
    command: list[str], env: dict[str, str], count: int, folder: Path
) -> list[subprocess.Popen[bytes]]:
    """Start mpiexec, or the processes themselves."""
    launcher = mpiexec()
    if launcher:
        if count > (os.cpu_count() or 1):
            print(
                f"mindtorch run: {count} processes on {os.cpu_count()} cores wait for each other",
                file=sys.stderr,
            )
        said = open(folder / "mpiexec", "wb")  # noqa: SIM115 (the process's)
        return [subprocess.Popen([*launcher, "-n", str(count), *command], env=env,
                                 stdin=subprocess.DEVNULL, stdout=said, stderr=said)]  # fmt: skip
    return [
        subprocess.Popen(command, env={**env, "RANK": str(rank)}, stdin=subprocess.DEVNULL)
        for rank in range(count)
    ]


def _endings(folder: Path, count: int) -> dict[int, int]:
    """Exit statuses by rank, in the order in which the processes ended."""
    files = [folder / f"{rank}.end" for rank in range(count)]
    there = sorted((f for f in files if f.exists()), key=lambda f: f.stat().st_mtime_ns)
    return {int(f.stem): int(f.read_text("ascii")) for f in there}


def _await(started: list[subprocess.Popen[bytes]], folder: Path, count: int) -> None:
    """Wait until all have ended; after a failure not for long."""
    limit = float("inf")
    while any(each.poll() is None for each in started):
        time.sleep(_PAUSE)
        if limit == float("inf") and any(_endings(folder, count).values()):
            limit = time.monotonic() + _GRACE
        if len(_endings(folder, count)) == count:
            limit = min(limit, time.monotonic() + _GRACE)
        if time.monotonic() > limit:
            _stop(started)


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


def _report(
    outputs: list[_Output],
    endings: dict[int, int],
    folder: Path,
    started: list[subprocess.Popen[bytes]],
) -> int:
    """Show the first failure, then the others'; returns the exit status."""
    failed = [rank for rank, status in endings.items() if status]
    causes = [rank for rank in failed if not _is_consequence(outputs[rank])]
    first = next(iter(causes or failed), None)
    if first is not None:
        status = endings[first]
        how = f"exit status {status}" if status > 0 else f"signal {-status}"
        print(f"mindtorch run: rank {first} failed first, with {how}", file=sys.stderr, flush=True)
        outputs[first].show_held()
    for output in outputs:
        output.show_held()
    if first is not None:
        return status if status > 0 else 128 - status
    missing = [rank for rank in range(len(outputs)) if rank not in endings]
    if missing:
        said = folder / "mpiexec"
        text = said.read_text("utf-8", "replace").strip() if said.exists() else ""
        print(
            f"mindtorch run: rank {missing[0]} was not started, or was killed\n{text}",
            file=sys.stderr,
        )
        return max((each.returncode or 0 for each in started), default=0) or 1
    return 0


def _is_consequence(output: _Output) -> bool:
    """Whether a process ended by an error that tells of another's."""
    last = [line for line in output.held if line[:1] not in (" ", "\n", "\t")][-1:]
    return any(_CONSEQUENCE in line.partition(":")[0] for line in last)
