"""Which blocks of the sources each test runs: a plugin of pytest, and what it found.

    MUTANTS_BLOCKS=FOLDER python -m pytest -p reach tests/contract

`blocks.tabulate` fills the folder before. Writes a file for each file of tests, when its last test has run.
Tests that fail are left out. What ran before the first test, as modules were imported, is written apart.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import blocks
import numpy as np
import pytest

KEPT = 12  # quickest tests of a file that are kept for each block

FOUND = Path(os.environ[blocks.FOLDER])
_array, _table = blocks.note(FOUND)
_ran: dict[int, list[tuple[float, str]]] = defaultdict(list)
_failed: set[str] = set()


def _taken() -> list[int]:
    """The blocks that have run since this was asked last; other threads may run on."""
    ran = np.flatnonzero(np.frombuffer(bytes(_array), np.uint8)).tolist()
    _array[:] = bytes(len(_array))
    return ran


def pytest_collection_finish() -> None:
    """Note what modules run that are imported."""
    (FOUND / f"imported.{os.getpid()}").write_text(json.dumps(_taken()))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember which tests fail as it is."""
    if report.failed:
        _failed.add(report.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Note what a test runs, with its fixtures."""
    start = time.process_time()
    try:
        return (yield)
    finally:
        seconds = round(time.process_time() - start, 4)
        ran = _taken()
        if item.nodeid not in _failed:
            for block in ran:
                _ran[block].append((seconds, item.nodeid))
        if nextitem is None or nextitem.path != item.path:
            _write(item.nodeid.partition("::")[0])


def _write(file: str) -> None:
    tests: dict[str, int] = {}
    found = {
        block: [(s, tests.setdefault(name, len(tests))) for s, name in sorted(ran)[:KEPT]]
        for block, ran in _ran.items()
    }
    _ran.clear()
    blocks.kept_at(FOUND, file).write_text(json.dumps({"tests": list(tests), "blocks": found}))
