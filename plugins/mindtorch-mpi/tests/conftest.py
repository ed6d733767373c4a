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
def minute():
    """``minute()``: seconds in which this machine does what takes an idle one a minute at most, as now."""

    def seconds():
        waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
        return 58 * max(1.0, waiting)

    return seconds


@pytest.fixture(scope="session")
def ranks(minute):
    """``ranks(count, program, *arguments)`` runs a program in several processes; it ends in a `minute`.

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
            env=env, capture_output=True, text=True, timeout=minute(), check=False,
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the programs of a module write: ``{folder}`` in their lines."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def passes(request, ranks, folder):
    """``passes(count, line)`` runs a program with arguments in several processes, which end well.

    The lines of a module's other tests are run by the same processes, in the order of the tests, as to start
    processes takes longest; after one that fails the rest are not run.
    """
    done = {}

    def run(count, line):
        if count not in done:
            tests = [each for each in request.session.items if each.module is request.module]
            rows = [each.callspec.params for each in tests if hasattr(each, "callspec")]
            lines = [row["line"] for row in rows if "line" in row and row["count"] == count]
            whole = [each.format(folder=folder) for each in dict.fromkeys(lines)]
            done[count] = ranks(count, "in_turn.py", *whole)
        passed = done[count].stdout.count(f"passed {line.format(folder=folder)}\n")
        assert passed == count, done[count].stderr

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


@pytest.fixture(scope="module")
def as_pytorch(request, passes, folder):
    """``as_pytorch(count, line)`` runs a program here and on PyTorch by gloo: both find the same.

    The program is given a folder, and writes what it finds into a file of its name and rank there.
    """
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    done = {}
    expected = folder / "expected"
    expected.mkdir()

    def run(count, line):
        passes(count, line)
        if count not in done:
            rows = [
                each.callspec.params
                for each in request.session.items
                if each.module is request.module and "as_pytorch" in each.fixturenames
            ]
            lines = [row["line"].format(folder=expected) for row in rows if row["count"] == count]
            done[count] = subprocess.run(
                [sys.executable, Path(__file__).parent / "as_pytorch.py", str(count), *lines],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                cwd=PROGRAMS, capture_output=True, text=True, timeout=240, check=False,
            )  # fmt: skip
        assert done[count].returncode == 0, done[count].stderr
        for rank in range(count):
            name = f"{line.partition('.')[0]}-{rank}.json"
            mine, wanted = (json.loads((each / name).read_text()) for each in (folder, expected))
            assert not differences(mine, wanted)
            assert mine

    return run
