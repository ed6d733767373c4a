"""The communicator hccl on the simulated HCCL: real processes, each with a simulated NPU."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core.communication import engines
from mindtorch_npu.toolkit import VARIABLES

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def mindtorch(simulator):
    """Runs the command mindtorch; it ends in a minute."""

    def run(*arguments, **environment):
        variables = {k: v for k, v in os.environ.items() if not k.startswith("NPU_SIMULATOR_")}
        variables |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "mindtorch_core", *map(str, arguments)],
            env=variables, capture_output=True, text=True, timeout=58, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def ranks(mindtorch):
    """``ranks(count, program, *arguments)`` runs a program in several processes."""
    return lambda count, program, *more, **environment: mindtorch(
        "run", "-n", count, "--grace", 40, PROGRAMS / program, *more, **environment
    )


def test_the_kit_for_communicators(mindtorch):
    done = mindtorch("verify", "--communicator", "hccl", "-n", "2")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.splitlines()[-1] == "[0] all checks passed"


@pytest.mark.parametrize("check", ["reductions", "copies"])
def test_the_kit_on_a_chip_with_fewer_types(mindtorch, check):
    arguments = ("verify", "--communicator", "hccl", "-n", "2", "-k", check)
    done = mindtorch(*arguments, NPU_SIMULATOR_SOC="Ascend910A", MINDTORCH_NPU_FALLBACK="silent")
    assert done.returncode == 0, (done.stdout, done.stderr)


@pytest.mark.parametrize("check", ["exchanges", "messages", "groups"])
def test_the_kit_with_four_processes(mindtorch, check):
    done = mindtorch("verify", "--communicator", "hccl", "-n", "4", "-k", check)
    assert done.returncode == 0, (done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("count", "program"),
    [
        (3, "collectives.py"),
        (2, "training.py"),
        (4, "training.py"),
        (3, "sharded.py"),
        (3, "mismatches.py"),
    ],
)
def test_programs(ranks, count, program):
    done = ranks(count, program, MINDTORCH_NPU_FALLBACK="silent")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == count
    assert "npu-simulator: finding" not in done.stderr


def test_mpi_for_the_cpu_beside_it(ranks):
    try:
        engines.engine("mpi")
    except RuntimeError as error:  # mindtorch-npu does without it
        pytest.skip(f"there is no MPI for the CPU's tensors: {str(error).splitlines()[0]}")
    done = ranks(2, "both_engines.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2


@pytest.mark.parametrize(
    ("mode", "status", "text"),
    [
        ("kill", 137, "rank 1 is gone: its process has died"),
        ("inside", 137, "rank 1 is gone: its process has died|HCCL failed: .* rank 1 has died"),
        ("raise", 1, "rank 1 is gone: raised KeyError: 'mine' at .*failures.py:"),
        ("late", 0, "not done after 3 s: rank 1 did not come|has given up waiting for rank 1"),
        ("behind", 0, "the device of rank 1 did not come to it .*: its NPU still does what was"),
        ("fault", 0, "rank 1 has failed: HCCL failed: .*507015"),
        ("refused", 0, "rank 1 has failed: HCCL failed: HcclAllReduce failed with code 4 "),
    ],
)
def test_a_rank_that_does_not_come(ranks, mode, status, text):
    done = ranks(3, "failures.py", mode)
    assert done.returncode == status, (done.stdout, done.stderr)
    for rank in (0, 2):
        (line,) = re.findall(rf"\[{rank}\] after (.*)", done.stdout)
        assert re.search(text, line), line
        assert f"s: 1 all_reduce {1 if mode in ('late', 'behind') else 2} " in line
        assert "failures.py:" in line
        (line,) = re.findall(rf"\[{rank}\] then (.*)", done.stdout)
        assert re.match(r"1 .*the group failed before: .* rank 1 ", line), line
        assert f"[{rank}] goes on: [2.0]" in done.stdout  # nobody waits for what has failed
    if mode == "fault":
        (line,) = re.findall(r"\[1\] after (.*)", done.stdout)
        assert "507015" in line


def test_the_rank_that_serves_the_store_has_died(ranks):
    done = ranks(3, "failures.py", "store")
    assert done.returncode == 137, (done.stdout, done.stderr)
    for rank in (1, 2):
        (line,) = re.findall(rf"\[{rank}\] after (.*)", done.stdout)
        assert re.search("rank 0 is gone: its process has died|the store is gone: ", line), line
        (line,) = re.findall(rf"\[{rank}\] then (.*)", done.stdout)
        assert "the group failed before: " in line, line


def test_a_rank_that_is_slow(ranks):
    done = ranks(3, "failures.py", "slow")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("all is well: [9.0, 9.0, 9.0, 9.0], waited True") == 3


def test_a_group_needs_an_npu_for_each_process(ranks):
    done = ranks(3, "failures.py", "slow", NPU_SIMULATOR_DEVICES="2")
    assert done.returncode == 1
    text = "hccl: this is process 2 of its machine, counted from 0, and there are 2 NPUs"
    assert text in done.stderr


def test_without_a_toolkit_it_says_so(mindtorch, tmp_path):
    # A process that has loaded a toolkit names it in all of its variables.
    nowhere = dict.fromkeys(VARIABLES, "")
    done = mindtorch("verify", "--communicator", "hccl", HOME=tmp_path, **nowhere)
    assert done.returncode == 2
    assert "there is no CANN toolkit" in done.stderr
