"""Batches of matrices that do not go together are refused by the function that was called, which says so."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def square(lib):
    return lib.eye(3).expand(2, 3, 3).clone()


def pivots(lib):
    return lib.tensor([1, 2, 3], dtype=lib.int32).expand(2, 3).clone()


def right(lib):
    return lib.ones(3, 3, 2)


CALLS = {
    "linalg.lu_solve": lambda lib: lib.linalg.lu_solve(square(lib), pivots(lib), right(lib)),
    "linalg.lu_solve, left": lambda lib: lib.linalg.lu_solve(
        square(lib), pivots(lib), right(lib).mT, left=False
    ),
    "linalg.solve": lambda lib: lib.linalg.solve(square(lib), right(lib)),
    "linalg.solve, left": lambda lib: lib.linalg.solve(square(lib), right(lib).mT, left=False),
    "linalg.solve_triangular": lambda lib: lib.linalg.solve_triangular(
        square(lib), right(lib), upper=True
    ),
    "linalg.ldl_solve": lambda lib: lib.linalg.ldl_solve(square(lib), pivots(lib), right(lib)),
}


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("call", CALLS)
def test_the_error_names_the_function_and_both_batches(call, device):
    with pytest.raises(RuntimeError, match="must match the size of tensor"):
        CALLS[call](pt)
    name = call.partition(",")[0]
    with torch.device(device), pytest.raises(RuntimeError, match=rf"{name}: .*\[2\] and \[3\]"):
        CALLS[call](torch)
