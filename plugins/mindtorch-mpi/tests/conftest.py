"""Programs that several processes run, started as users start them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core.communication import engines

PROGRAMS = Path(__file__).parent / "programs"


def missing():
    """Why MPI cannot be used here; empty if it can."""
    if "mpi" not in {each.name for each in engines.communicators()}:
        return "mindtorch-mpi is not installed"
    try:
        engines.engine("mpi")
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


@pytest.fixture(scope="session")
def programs():
    """Where the programs are."""
    return PROGRAMS


@pytest.fixture(scope="session")
def ranks():
    """``ranks(count, program, *arguments)`` runs a program in several processes; it ends in a minute."""
    if why := missing():
        pytest.skip(why)

    def run(count, program, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "mindtorch_core", "run", "-n", str(count), PROGRAMS / program]
            + [str(each) for each in arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=58, check=False,
        )  # fmt: skip

    return run
