"""Which functions of the sources each test calls: a plugin of pytest, and what it found.

    MUTANTS_REACH=FILE.json python -m pytest -p reach tests/contract/test_2_keys.py

What other processes call, that a test starts, is not seen.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEPT = 12  # quickest tests of a file that are kept for each function

_called: dict[int, CodeType] = {}
_places: dict[int, tuple[CodeType, str | None]] = {}  # with the code, so that no other gets its id
_reached: dict[str, list[tuple[float, str]]] = defaultdict(list)


def _trace(frame: FrameType, event: str, argument: object) -> None:
    """Note what is called; as it gives no trace for lines, they cost nothing."""
    code = frame.f_code
    if id(code) not in _called:
        _called[id(code)] = code


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Trace a test with its fixtures."""
    _called.clear()
    start = time.perf_counter()
    threading.settrace(_trace)  # type: ignore[arg-type]
    sys.settrace(_trace)  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        seconds = time.perf_counter() - start
        for where in {_place(code) for code in [*_called.values()]} - {None}:  # threads call on
            kept = _reached[where]  # type: ignore[index]
            kept.append((seconds, item.nodeid))
            if len(kept) > 4 * KEPT:
                kept[:] = sorted(kept)[:KEPT]


def pytest_sessionfinish() -> None:
    """Write what was found."""
    found = {where: sorted(kept)[:KEPT] for where, kept in _reached.items()}
    Path(os.environ["MUTANTS_REACH"]).write_text(json.dumps(found))


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
