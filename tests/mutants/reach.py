"""Which functions of the sources each test calls: a plugin of pytest, and what it found.

    MUTANTS_REACH=FOLDER python -m pytest -p reach tests/contract

Writes a file for each file of tests, when its last test has run. Tests that fail are left out, and what
other processes call, that a test starts, is not seen.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from cProfile import Profile
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = 12  # quickest tests of a file that are kept for each function

_profile = Profile(subcalls=False, builtins=False)  # in C: it costs a fifth of what a trace does
_in_threads: dict[int, CodeType] = {}
_places: dict[int, tuple[CodeType, str | None]] = {}  # with the code, so that no other gets its id
_reached: dict[str, list[tuple[float, str]]] = defaultdict(list)
_failed: set[str] = set()


def _note(frame: FrameType, event: str, argument: object) -> None:
    _in_threads[id(frame.f_code)] = frame.f_code


def _called() -> list[CodeType]:
    codes = [*_in_threads.values()]  # threads call on
    codes += [entry.code for entry in _profile.getstats() if isinstance(entry.code, CodeType)]
    _in_threads.clear()
    _profile.clear()
    return codes


def _place(code: CodeType) -> str | None:
    """A function as ``path:qualified name``, if it is one of the sources."""
    if id(code) not in _places:
        file = Path(code.co_filename)
        outside = not file.is_relative_to(ROOT) or "tests" in file.parts
        _places[id(code)] = (
            code,
            None if outside else f"{file.relative_to(ROOT)}:{code.co_qualname}",
        )
    return _places[id(code)][1]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember which tests fail as it is."""
    if report.failed:
        _failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Note what a test calls, with its fixtures."""
    start = time.perf_counter()
    threading.setprofile(_note)
    _profile.enable()
    try:
        return (yield)
    finally:
        _profile.disable()
        threading.setprofile(None)
        seconds = time.perf_counter() - start
        for where in {_place(code) for code in _called()} - {None}:
            if item.nodeid not in _failed:
                _reached[where].append((seconds, item.nodeid))  # type: ignore[index]
        if nextitem is None or nextitem.path != item.path:
            _write(item.nodeid.partition("::")[0])


def _write(file: str) -> None:
    found = {where: sorted(tests)[:KEPT] for where, tests in _reached.items()}
    _reached.clear()
    kept_at(Path(os.environ["MUTANTS_REACH"]), file).write_text(json.dumps(found))


def kept_at(folder: Path, file: str) -> Path:
    """Where it is kept what the tests of a file call."""
    return folder / f"{file.replace('/', '+')}.json"


def functions_at(file: str, source: str, line: int) -> Iterator[str]:
    """The functions around a line, as ``path:qualified name``, the innermost first."""
    spans = []

    def look(code: CodeType) -> int:
        last = max((n for *_, n in code.co_lines() if n is not None), default=code.co_firstlineno)
        for part in code.co_consts:
            if isinstance(part, CodeType):
                last = max(last, look(part))
        if code.co_firstlineno <= line <= last and code.co_name != "<module>":
            spans.append((last - code.co_firstlineno, f"{file}:{code.co_qualname}"))
        return last

    look(compile(source, file, "exec"))
    for _, name in sorted(spans):
        yield name
