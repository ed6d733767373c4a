"""Examples by data parallel in several processes: the losses of one process, rank 0 prints and draws."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

for needed in ("mindtorch", "sklearn", "tqdm"):
    pytest.importorskip(needed)

EXAMPLES = Path(__file__).parents[3] / "examples"
SIZES = {"steps": 8, "batch-size": 5, "width": 16, "layers": 1, "context": 16, "length": 5}
# The last batch of an epoch of digits has 29, and five texts are no multiple of 2 or 4 either.
OPTIONS = {
    "digits": ["--epochs", "1"],
    "gpt": [f"--{name}={value}" for name, value in SIZES.items()],
}
# Sums are added in another order, and training makes such differences grow.
TOLERANCE = 1e-4


def losses(text):
    """What each process has printed."""
    return [json.loads(each) for each in re.findall(r"losses (\[.*\])", text)]


@pytest.fixture(scope="module")
def alone(programs, tmp_path_factory):
    """``alone(name)`` gives the losses of one process."""

    def run(name):
        done = subprocess.run(
            [sys.executable, programs / "example_losses.py", name, *OPTIONS[name]],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=58, check=False, cwd=tmp_path_factory.mktemp(name),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (found,) = losses(done.stdout)
        return found

    return run


@pytest.mark.parametrize(
    ("name", "count", "more"),
    [("digits", 2, []), ("gpt", 2, []), ("gpt", 4, []), ("digits", 2, ["--pipeline"])],
)
def test_losses_are_those_of_one_process(ranks, alone, tmp_path, name, count, more):
    expected = alone(name)
    assert len(set(expected)) > 5
    output = ["--output", tmp_path / "drawn.png"]
    done = ranks(count, "example_losses.py", name, *OPTIONS[name], *output, *more)
    assert done.returncode == 0, done.stderr
    found = losses(done.stdout)
    assert len(found) == count
    for each in found:
        assert each == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_first_process_prints_and_draws(ranks, tmp_path, name):
    pytest.importorskip("matplotlib")
    drawn = tmp_path / "drawn.png"
    done = ranks(2, EXAMPLES / f"{name}.py", *OPTIONS[name], "--output", drawn)
    assert done.returncode == 0, done.stderr
    assert "trained on cpu" in done.stdout
    assert all(line.startswith("[0]") for line in done.stdout.splitlines())
    assert drawn.read_bytes().startswith(b"\x89PNG")
