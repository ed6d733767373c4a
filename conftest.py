"""Tests in a random order: what one test leaves behind must not decide about another.

``pytest --random-order=new`` draws a seed, which the summary shows; ``--random-order=SEED`` repeats it.
Modules change places, and tests within their module, so that fixtures of modules are made once each.

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
from collections import defaultdict
from collections.abc import Iterator

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
