"""Programs that several processes run, started as users start them."""

import importlib.util
import json
import math
import os
import signal
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
    """``ranks(count, program, *arguments)`` runs a program in several processes; it ends in a minute.

    ``grace=`` says how long the others may take to end after a failure; ``ranks.start`` does not wait.
    """
    if why := missing():
        pytest.skip(why)

    def command(count, program, arguments, grace):
        return [
            *(sys.executable, "-m", "mindtorch_core", "run", "-n", str(count), f"--grace={grace}"),
            *(str(PROGRAMS / program), *map(str, arguments)),
        ]

    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def run(count, program, *arguments, grace=5):
        return subprocess.run(
            command(count, program, arguments, grace),
            env=env, capture_output=True, text=True, timeout=58, check=False,
        )  # fmt: skip

    def heard():  # a shell that runs the tests in the background has its processes ignore interrupts
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def start(count, program, *arguments):
        return subprocess.Popen(
            command(count, program, arguments, 5),
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=heard,
        )  # fmt: skip

    run.start = start
    return run


def differences(mine, expected, path=""):
    """Where two results differ, in words; numbers may by their last digits."""
    if isinstance(mine, float) and isinstance(expected, float):
        same = math.isclose(mine, expected, rel_tol=1e-5, abs_tol=1e-6)
        same = same or (mine != mine and expected != expected)
        return [] if same else [f"{path}: {mine}, PyTorch {expected}"]
    if type(mine) is not type(expected):
        return [f"{path}: {mine!r}, PyTorch {expected!r}"]
    if isinstance(mine, dict):
        if [*mine] != [*expected]:
            return [f"{path}: has {[*mine]}, PyTorch {[*expected]}"]
        return [d for key in mine for d in differences(mine[key], expected[key], f"{path}/{key}")]
    if isinstance(mine, list):
        if len(mine) != len(expected):
            return [f"{path}: {mine!r}, PyTorch {expected!r}"]
        pairs = enumerate(zip(mine, expected, strict=True))
        return [d for i, pair in pairs for d in differences(*pair, f"{path}[{i}]")]
    return [] if mine == expected else [f"{path}: {mine!r}, PyTorch {expected!r}"]


@pytest.fixture
def as_pytorch(ranks, tmp_path):
    """``as_pytorch(count, program)`` runs a program here and on PyTorch by gloo: both find the same.

    The program is given a folder, and writes what it finds into a file of its rank there.
    """
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")

    def run(count, program):
        folders = [tmp_path / name for name in ("mine", "expected")]
        for folder in folders:
            folder.mkdir()
        done = ranks(count, program, folders[0])
        assert done.returncode == 0, done.stderr
        command = [sys.executable, Path(__file__).parent / "as_pytorch.py"]
        done = subprocess.run(
            [*command, PROGRAMS / program, folders[1], str(count)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        for rank in range(count):
            mine, expected = (json.loads((each / f"{rank}.json").read_text()) for each in folders)
            assert not differences(mine, expected)
            assert mine

    return run
