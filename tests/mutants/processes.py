"""Processes that run tests: forks of one that has imported what takes seconds and is never changed."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from pathlib import Path

import pytest

MOST_MEMORY = 8 << 30

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["processes", "llvmlite.binding", "numpy", "torch"])


def run_pytest(
    copy: Path, sources: list[Path], arguments: list[str], variables: dict[str, str]
) -> None:
    """Run tests on the sources of a copy, and exit with their status."""
    with open(os.devnull, "r+b") as nothing:
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY,) * 2)
    os.chdir(copy)
    paths = [str(source) for source in sources]
    os.environ.update(variables, PYTHONPATH=os.pathsep.join(paths))
    sys.path[:0] = paths
    sys.exit(pytest.main(arguments))
