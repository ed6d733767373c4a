"""Training with parts of parameters in several processes: as one process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "sharded_gpt.py"
CHECKS = {
    "training": ("perceptrons", "accumulation", "mixed_precision", "what_is_begun_ahead"),
    "models": ("transformer", "parts", "where_parameters_are", "states"),
    "cases": (
        "frozen_unused_and_ignored",
        "groups_of_modules",
        "recomputation",
        "several_forwards",
    ),
}


def passes(done, count):
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == count


@pytest.mark.parametrize("name", CHECKS)
def test_two_processes_train_as_one(ranks, name):
    passes(ranks(2, "sharding.py", *CHECKS[name]), 2)


def test_four_processes_train_as_one(ranks):
    passes(ranks(4, "sharding.py", "perceptrons", "copies_of_parts"), 4)


def test_parts_that_are_uneven_or_empty(ranks):
    passes(ranks(4, "sharding.py", "parts", "transformer"), 4)


def test_tensors_in_parts(ranks):
    passes(ranks(2, "distributed_tensors.py"), 2)


def losses(text):
    (line,) = re.findall(r"losses: (.*)", text)
    return [float(each) for each in line.split()]


def test_the_example_has_the_losses_of_one_process(ranks, tmp_path):
    options = ["--steps", "6", "--width", "16", "--context", "16", "--checkpoint"]
    alone = subprocess.run(
        [sys.executable, EXAMPLE, *options, tmp_path / "alone"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=58, check=False,
    )  # fmt: skip
    assert alone.returncode == 0, alone.stderr
    expected = losses(alone.stdout)
    assert expected[-1] < expected[0]
    done = ranks(2, EXAMPLE, "--steps", "3", *options[2:], tmp_path / "parts")
    assert done.returncode == 0, done.stderr
    assert losses(done.stdout) == pytest.approx(expected[:3], abs=2e-4)
    done = ranks(3, EXAMPLE, *options, tmp_path / "parts")
    assert done.returncode == 0, done.stderr
    assert losses(done.stdout) == pytest.approx(expected[3:], abs=2e-4)


def test_an_optimizer_with_states_in_two_processes(ranks):
    passes(ranks(2, "zero_redundancy.py"), 2)
