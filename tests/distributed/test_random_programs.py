"""Programs that the engine of each kind of device runs: random sequences of calls, calls in blocks, late ranks."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core.communication import engines

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def ranks():
    """``ranks(count, engine, program, *arguments)`` runs a program in several processes; it ends in a minute."""

    def run(count, engine, program, *arguments):
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        if engine == "hccl":
            if importlib.util.find_spec("mindtorch_npu_simulator") is None:
                pytest.skip("mindtorch-npu-simulator is not installed")
            import mindtorch_npu_simulator

            root = str(mindtorch_npu_simulator.toolkit_root())
            variables |= {"ASCEND_TOOLKIT_HOME": root, "MINDTORCH_NPU_FALLBACK": "silent"}
        else:
            try:
                engines.engine(engine)
            except RuntimeError as error:
                pytest.skip(str(error).partition("\n")[0])
        command = ["run", "-n", str(count), "--grace", "30", PROGRAMS / program, engine, *arguments]
        return subprocess.run(
            [sys.executable, "-m", "mindtorch_core", *command],
            env=variables, capture_output=True, text=True, timeout=58, check=False,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("engine", "count", "seed"), [("mpi", 2, 1), ("mpi", 4, 2), ("hccl", 3, 3)]
)
def test_random_programs_find_what_numpy_makes_of_all_ranks_values(ranks, engine, count, seed):
    done = ranks(count, engine, "random_programs.py", str(seed), "1000", "8")
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    assert done.stdout.count("done") == count


@pytest.mark.parametrize("engine", ["mpi", "hccl"])
def test_another_call_is_found_in_blocks_and_captured_functions(ranks, engine):
    done = ranks(2, engine, "calls_in_blocks.py", "mismatch")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2


@pytest.mark.parametrize(
    ("engine", "how"), [("mpi", "captured"), ("hccl", "block"), ("hccl", "captured")]
)
def test_a_death_is_found_in_blocks_and_captured_functions(ranks, engine, how):
    done = ranks(2, engine, "calls_in_blocks.py", how)
    assert done.returncode == 137, (done.stdout, done.stderr)
    assert re.search("heard .*all_reduce", done.stdout)
    assert "rank 1 is gone: its process has died" in done.stdout


@pytest.mark.parametrize("engine", ["mpi", "hccl"])
def test_who_comes_late_to_make_a_group_hears_that_the_others_have_given_up(ranks, engine):
    done = ranks(3, engine, "late_groups.py")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.count("done") == 3
