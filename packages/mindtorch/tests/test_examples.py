"""The programs in `examples/`, run as a user runs them, with what is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
for needed in ("sklearn", "matplotlib", "networkx"):
    pytest.importorskip(needed)

# Options that make a program small.
PROGRAMS = {
    "digits": "--epochs 1",
    "gpt": "--steps 3 --width 16 --layers 1 --context 16 --length 5",
    "convolutions": "--steps 3",
    "autoencoder": "--steps 3",
    "forecast": "--steps 3 --window 20",
    "graph": "--steps 3",
    "actor_critic": "--steps 2 --carts 4",
}


def test_each_program_is_run():
    # What they share, a lesson that has a test of its own, and a program of several processes.
    others = {"workbench", "dispatch_modes", "sharded_gpt"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == PROGRAMS.keys() | others


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_learns_and_draws(program, tmp_path):
    command = [sys.executable, str(EXAMPLES / f"{program}.py"), *PROGRAMS[program].split()]
    done = subprocess.run(
        [*command, "--output", "drawn.png"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "trained on cpu" in done.stdout
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
