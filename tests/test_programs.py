"""The programs in `examples/`: with PyTorch in mindtorch's place they print the same losses."""

import importlib
import math
import os
import sys
from pathlib import Path

import pytest

import mindtorch

EXAMPLES = Path(__file__).parent.parent / "examples"

for needed in ("sklearn", "matplotlib", "networkx"):
    pytest.importorskip(needed)

# Program, options that make it small, and how far a loss may be from PyTorch's, relative to it.
# Sums are added in another order, and training makes such differences grow with every step.
PROGRAMS = {
    "gpt": ("--steps 6 --width 32 --layers 2 --context 32 --length 5", 1e-5),
    "convolutions": ("--steps 6", 1e-5),
    "autoencoder": ("--steps 6", 1e-5),
    "forecast": ("--steps 3 --window 20", 1e-5),
    "graph": ("--steps 6", 1e-5),
    "actor_critic": ("--steps 4 --carts 8", 1e-5),
}
# They draw on the device, which has random numbers of its own.
DROP_OUT = ("convolutions", "graph")


def losses(library, program, options, picture):
    """The losses of a program that imports a library under the name ``mindtorch``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        patch.setitem(sys.modules, "mindtorch", library)
        for name in ("workbench", program):  # they keep what they imported
            patch.delitem(sys.modules, name, raising=False)
        main = importlib.import_module(program).main
        return main([*options.split(), "--seed", "3", "--output", str(picture)])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_learns_as_in_pytorch(program, tmp_path):
    pt = pytest.importorskip("torch")
    options, tolerance = PROGRAMS[program]
    picture = tmp_path / "picture.png"
    ours = losses(mindtorch, program, options, picture)
    assert picture.stat().st_size > 10_000
    theirs = losses(pt, program, options, picture)
    assert all(map(math.isfinite, ours))
    assert len(set(ours)) > 1
    assert ours == pytest.approx(theirs, rel=tolerance)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_learns_on_the_npu(program, tmp_path):
    pytest.importorskip("mindtorch_npu")
    simulator = pytest.importorskip("mindtorch_npu_simulator")
    os.environ.setdefault("ASCEND_TOOLKIT_HOME", str(simulator.toolkit_root()))
    options, _ = PROGRAMS[program]
    picture = tmp_path / "picture.png"
    found = losses(mindtorch, program, f"{options} --device npu", picture)
    assert picture.stat().st_size > 10_000
    tolerance = 0.1 if program in DROP_OUT else 1e-3
    assert found == pytest.approx(losses(mindtorch, program, options, picture), rel=tolerance)
