"""What several files here use."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def printed():
    """Runs a Python program, with arguments, in a process of its own, and gives what it prints."""

    def run(*command):
        done = subprocess.run(
            [sys.executable, *map(str, command)],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
