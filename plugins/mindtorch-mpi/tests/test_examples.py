"""Examples by data parallel in several processes: the losses of one process, rank 0 prints and draws."""

import functools
import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

for needed in ("mindtorch", "sklearn", "tqdm"):
    pytest.importorskip(needed)

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
def alone(programs, minute, tmp_path_factory):
    """``alone(name)`` gives the losses of one process."""

    @functools.cache
    def run(name):
        done = subprocess.run(
            [sys.executable, programs / "example_losses.py", name, *OPTIONS[name]],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=minute(), check=False, cwd=tmp_path_factory.mktemp(name),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (found,) = losses(done.stdout)
        assert len(set(found)) > 5
        return found

    return run


@pytest.mark.parametrize(
    ("name", "count", "more"),
    [
        ("digits", 2, ["--output"]),
        ("gpt", 2, ["--output"]),
        ("gpt", 4, []),
        ("digits", 2, ["--pipeline"]),
    ],
)
def test_losses_are_those_of_one_process(ranks, alone, tmp_path, name, count, more):
    expected = alone(name)
    drawn = tmp_path / "drawn.png"
    draws = more == ["--output"]
    done = ranks(count, "example_losses.py", name, *OPTIONS[name], *more, *[drawn] * draws)
    assert done.returncode == 0, done.stderr
    found = losses(done.stdout)
    assert len(found) == count
    for each in found:
        assert each == pytest.approx(expected, abs=TOLERANCE)
    rest = [line for line in done.stdout.splitlines() if "] losses" not in line]
    assert rest
    assert all(line.startswith("[0]") for line in rest)
    if draws and importlib.util.find_spec("matplotlib"):
        assert drawn.read_bytes().startswith(b"\x89PNG")
