"""What each constraint says of values inside, at the edge and outside, beside PyTorch's."""

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")
pytest.importorskip("mindtorch_nn")

NUMBERS = [-2.0, -1.0, -0.5, 0.0, 1e-7, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, float("inf"), -float("inf"), float("nan")]  # fmt: skip
ROWS = [
    [0.0, 1.0, 0.0], [0.5, 0.25, 0.25], [0.5, 0.5, 0.5], [1.0, 1.0, 0.0], [-0.5, 1.0, 0.5], [0.6, 0.0, 0.8],
    [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [0.5, 0.5, 1e-6],
]  # fmt: skip
MATRICES = [
    [[1.0, 0.0], [0.5, 1.0]], [[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.5], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]],
    [[-1.0, 0.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.6, 0.8]],
    [[1.0, 0.0], [0.6, -0.8]], [[2.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.3], [0.6, 0.8]],
]  # fmt: skip
OF_NUMBERS = [
    "boolean", "real", "positive", "nonnegative", "nonnegative_integer", "positive_integer", "unit_interval",
    "integer_interval(0, 2)", "integer_interval(-1, 3)", "greater_than(0.5)", "greater_than_eq(0.5)", "less_than(1.0)",
    "interval(-0.5, 1.5)", "half_open_interval(-0.5, 1.5)",
]  # fmt: skip
OF_ROWS = [
    "simplex", "one_hot", "real_vector", "independent(positive, 1)", "independent(unit_interval, 1)",
    "stack([positive, real, unit_interval], -1)", "cat([positive, real], -1, [1, 2])", "multinomial(3)",
]  # fmt: skip
OF_MATRICES = [
    "lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric", "positive_semidefinite",
    "positive_definite", "independent(real, 2)", "independent(nonnegative, 2)",
]  # fmt: skip
CASES = [
    *((text, NUMBERS) for text in OF_NUMBERS),
    *((text, ROWS) for text in OF_ROWS),
    *((text, MATRICES) for text in OF_MATRICES),
]


def said(lib, text, values, dtype):
    constraints = lib.distributions.constraints
    constraint = eval(text, {name: getattr(constraints, name) for name in dir(constraints)})
    found = constraint.check(lib.tensor(values, dtype=getattr(lib, dtype)))
    return found.tolist(), constraint.event_dim, constraint.is_discrete


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("text", "values"), CASES, ids=[text for text, _ in CASES])
def test_as_in_pytorch(text, values, dtype):
    assert said(torch, text, values, dtype) == said(oracle, text, values, dtype)
