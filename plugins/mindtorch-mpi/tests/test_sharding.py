"""Training with parts of parameters in several processes: as one process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "sharded_gpt.py"


@pytest.mark.parametrize(
    ("count", "line"),
    [
        (2, "sharding.py perceptrons accumulation mixed_precision what_is_begun_ahead"),
        (2, "sharding.py transformer parts where_parameters_are states"),
        (
            2,
            "sharding.py frozen_unused_and_ignored groups_of_modules recomputation several_forwards",
        ),
        (2, "distributed_tensors.py"),
        (4, "along_dimensions.py {folder}"),  # of four ranks one has no rows of five
        (2, "zero_redundancy.py"),
        (4, "sharding.py perceptrons copies_of_parts fewer_parts_after_forward"),
        (4, "sharding.py parts transformer"),  # of uneven sizes, or empty
    ],
)
def test_several_processes_train_as_one(passes, count, line):
    passes(count, line)


def losses(text):
    (line,) = re.findall(r"losses: (.*)", text)
    return [float(each) for each in line.split()]


def test_the_example_has_the_losses_of_one_process(ranks, minute, tmp_path):
    options = ["--steps", "6", "--width", "16", "--context", "16", "--checkpoint"]
    alone = subprocess.run(
        [sys.executable, EXAMPLE, *options, tmp_path / "alone"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=minute(), check=False,
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
