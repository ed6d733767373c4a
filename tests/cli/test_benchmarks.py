"""Every benchmark starts: what it takes from the library is there."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
PARTS = {"harness.py", "processes.py", "ranks.py"}
SCRIPTS = [
    path
    for path in sorted(FOLDER.glob("*.py"))
    if path.name not in PARTS
    and ("argparse" in path.read_text() or "harness.run" in path.read_text())
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_benchmark_tells_its_options(script):
    done = subprocess.run(
        [sys.executable, script, "--help"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "usage: " in done.stdout


def test_there_are_benchmarks():
    assert len(SCRIPTS) > 10
