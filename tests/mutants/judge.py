"""Shows each fault to the tests that run it, in forks of a process that has collected them: a plugin of pytest.

    MUTANTS_TASKS=FILE python -m pytest -p judge tests/...

The file has a line for each fault: the path of its module, its text, and names of tests. Each line that is
written beside it names the test that finds the fault, or none. A test counts if it passes without the fault,
which is tried where the process can be without it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faulty
import pytest

TASKS = "MUTANTS_TASKS"
PATIENCE = 10  # seconds of waiting for one of computing
LEAST = 30  # seconds of computing that tests may take at least
MOST_MEMORY = 8 << 30

_failed: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember that a test has failed."""
    if report.failed:
        _failed.append(report.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Judge the faults, in place of running the tests."""
    items = {item.nodeid: item for item in session.items}
    functions = faulty.functions_by_file()
    gc.freeze()
    tasks = Path(os.environ[TASKS])
    with open(tasks.with_suffix(".judged"), "a", encoding="utf-8") as judged:
        for line in tasks.read_text(encoding="utf-8").splitlines():
            task = json.loads(line)
            tests = [items[name] for name in task["tests"] if name in items]
            finder = _judged(task, tests, functions)
            print(json.dumps([task["number"], finder]), file=judged, flush=True)
    return True


def _judged(
    task: dict[str, Any], tests: list[pytest.Item], functions: faulty.Functions
) -> str | None:
    """The test that finds a fault, if one does."""
    if faulty.FAULT in os.environ:  # this process has imported it
        number = _first_failure(tests, lambda: None)
        return None if number is None else tests[number].nodeid
    path = task["path"]
    changes = faulty.changed_functions(path, Path(path).read_text(encoding="utf-8"), task["text"])

    def put() -> None:
        named = Path(os.environ[TASKS]).with_suffix(".fault")
        named.write_text(json.dumps([path, task["text"]]), encoding="utf-8")
        os.environ[faulty.FAULT] = str(named)
        faulty.put_into(functions, path, changes or [])

    while (number := _first_failure(tests, put)) is not None:
        if _first_failure(tests[: number + 1], lambda: None) is None:
            return tests[number].nodeid
        del tests[number]
    return None


def _first_failure(tests: list[pytest.Item], put: Callable[[], None]) -> int | None:
    """The number of the first of some tests that fails in a fork, or takes too long."""
    seconds = LEAST + len(tests) // 4
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            _in_child(seconds)
            put()
            for number, item in enumerate(tests):
                os.write(write, number.to_bytes(4, "little"))
                following = tests[number + 1] if number + 1 < len(tests) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if _failed:
                    os._exit(1)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    status = _ended(child, time.monotonic() + PATIENCE * seconds)
    with open(read, "rb") as began:
        last = began.read()[-4:]
    return None if status == 0 else int.from_bytes(last, "little")


def _in_child(seconds: int) -> None:
    os.setpgid(0, 0)
    with open(os.devnull, "r+b") as nothing:
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY,) * 2)


def _ended(child: int, deadline: float) -> int:
    """The status of a child, which has ended by then, with all that it began."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status if ended else os.waitpid(child, 0)[1]
