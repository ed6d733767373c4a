"""`Program.fingerprint` is equal for equal programs in every process, and another for each other program."""

import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from mindtorch_core.backend import Instruction, Program

SCRIPT = Path(__file__).parent / "programs" / "fingerprints.py"


def printed(ops, seed):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), ops],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def first():
    return printed("0", "1")


def test_each_other_program_has_another(first):
    found = {**first[0]}
    assert all(len({*each}) == 1 for each in found.values()), found
    assert found.pop("another number") == found["a number of Python's other kind"]
    assert len({each[0] for each in found.values()}) == len(found)
    assert all(isinstance(each[0], str) for each in found.values())


def test_processes_agree(first):
    found, key = first
    other, another_key = printed("7", "2")
    assert found == other
    assert key != another_key  # of a process alone


def test_an_object_that_no_text_says_has_none():
    op = types.SimpleNamespace(name="acme::search", writes=False)
    parts = [("cpu", [Instruction(op, (given,), {}, (), None)]) for given in ("a", object())]
    said, unsaid = [Program(*part, (), (), (), (), (), (), None) for part in parts]
    assert said.fingerprint is not None
    assert unsaid.fingerprint is None
