"""How many threads kernels use: what a variable and `torch.set_num_threads` say."""

import os
import subprocess
import sys

import pytest

import mindtorch_core as torch


@pytest.mark.parametrize(
    ("text", "count"), [("1", 1), ("3", 3), ("0", None), ("-2", None), ("many", None), ("", None)]
)
def test_the_variable_for_the_number_of_threads(text, count):
    script = "import mindtorch_core as torch; print(torch.get_num_threads())"
    found = []
    for environment in ({"MINDTORCH_NUM_THREADS": text}, {}):
        inherited = {k: v for k, v in os.environ.items() if k != "MINDTORCH_NUM_THREADS"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=inherited | environment, capture_output=True, text=True, timeout=300, check=True,
        )  # fmt: skip
        found.append(int(done.stdout))
    assert found[0] == (found[1] if count is None else count)


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True])
def test_the_number_of_threads_must_be_a_positive_int(count):
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError, match="set_num_threads expects"):
        torch.set_num_threads(count)
    assert torch.get_num_threads() == before


def test_the_number_of_threads_may_be_one_of_another_library():
    numpy, before = pytest.importorskip("numpy"), torch.get_num_threads()
    try:
        torch.set_num_threads(numpy.int8(3))
        assert (torch.get_num_threads(), type(torch.get_num_threads())) == (3, int)
    finally:
        torch.set_num_threads(before)
