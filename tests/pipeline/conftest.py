"""What all tests on pipelines need."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core.backend import PROGRAMS
from mindtorch_core.deferred.replay.sites import forget_sites
from mindtorch_core.values.devices import row_of


@pytest.fixture(autouse=True)
def _places_are_new():
    forget_sites()  # tests share lines, and one of them must not give up what others do there


@pytest.fixture(params=["compiled", "planned"])
def way(request, monkeypatch):
    """As straight code, and as a pipeline of ops where the backend compiles nothing."""
    if request.param == "planned":
        runtime = row_of("cpu").runtime
        monkeypatch.setattr(type(runtime), "compile", lambda self, program: None)
        PROGRAMS.forget("cpu")
        yield
        PROGRAMS.forget("cpu")
    else:
        yield


@pytest.fixture(scope="session")
def of_pytorch():
    """Runs a program in a process of its own, with this folder's path, and reads what it prints last as JSON.

    PyTorch's compiler changes how an interpreter counts references, so that it is asked in another one.
    """
    pytest.importorskip("torch")

    def run(program):
        command = [sys.executable, "-c", program, str(Path(__file__).parent)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
