"""Tests in a random order: what one test leaves behind must not decide about another.

``pytest --random-order=new`` draws a seed, which the summary shows; ``--random-order=SEED`` repeats it.
Modules change places, and tests within their module, so that fixtures of modules are made once each.

A warning of mindtorch's names a line of who called it, never one of its own.

At the end, no compiled kernel was found wrong: NumPy serves on then, and tests of kernels are skipped.

Compiled sources are kept, in a folder of their own where the user wants none beside the sources: tests start
hundreds of processes, and each would compile all that it imports, which takes seconds.
"""

from __future__ import annotations

import atexit
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = tempfile.mkdtemp(prefix="mindtorch-")
    atexit.register(shutil.rmtree, sys.pycache_prefix, ignore_errors=True)
    sys.dont_write_bytecode = False

SEED = "MINDTORCH_RANDOM_ORDER"  # by which processes of one run, as pytest-xdist starts them, agree


def _seed(text: str) -> int:
    if text == "new":
        text = os.environ.setdefault(SEED, str(random.SystemRandom().randrange(1_000_000)))
    return int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option."""
    parser.addoption(
        "--random-order",
        type=_seed,
        metavar="SEED",
        help="run modules, and the tests of each, in the random order of a seed; 'new' draws one",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the modules, and the tests of each."""
    seed = config.getoption("random_order")
    if seed is None:
        return
    order = random.Random(seed)
    modules: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        modules[item.nodeid.partition("::")[0]].append(item)
    groups = list(modules.values())
    order.shuffle(groups)
    for group in groups:
        order.shuffle(group)
    items[:] = [item for group in groups for item in group]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say the seed, also where pytest is told to be quiet."""
    seed = config.getoption("random_order")
    if seed is not None:
        terminalreporter.write_line(f"the order of this run: --random-order={seed}")


@pytest.fixture(scope="session", autouse=True)
def no_kernel_is_wrong() -> Iterator[None]:
    """At the end: no compiled kernel computed otherwise than NumPy."""
    yield
    if "mindtorch_cpu.native.kernels" in sys.modules:
        assert sys.modules["mindtorch_cpu.native.kernels"].KERNELS.broken is None


# ---- where warnings point -------------------------------------------------------------------------

_warn = warnings.warn
_misplaced: list[str] = []


def _is_ours(frame: FrameType | None) -> bool:
    package = "" if frame is None else str(frame.f_globals.get("__name__")).partition(".")[0]
    example = frame is not None and frame.f_code.co_filename.startswith("<doctest")
    return package.startswith("mindtorch_") and not example


def _is_skipped(frame: FrameType | None) -> bool:
    """Whether `warnings` does not count a frame."""
    file = "" if frame is None else frame.f_code.co_filename
    return "importlib" in file and "_bootstrap" in file


def _watched(
    message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **more: Any
) -> None:
    caller = at = sys._getframe(1)
    for _ in range(stacklevel - 1):
        at = at and at.f_back  # type: ignore[assignment]
        while _is_skipped(at):
            at = at.f_back  # type: ignore[assignment]
    if _is_ours(caller) and _is_ours(at):
        _misplaced.append(f"{caller.f_code.co_filename}:{caller.f_lineno}: {message}")
    _warn(message, category, stacklevel + 1, source, **more)


warnings.warn = _watched  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def warnings_name_lines_of_others() -> Iterator[None]:
    """No warning has named a line of mindtorch's own."""
    del _misplaced[:]
    yield
    assert not _misplaced
