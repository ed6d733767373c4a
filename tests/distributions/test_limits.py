"""Where constraints end, and which shapes of parameters distributions refuse, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch as pt
from distribution_examples import Make, build

import mindtorch_core as torch

EPS = float(np.finfo(np.float64).eps)
STEPS = [
    0.0,
    1.0,
    2.0,
    3.0,
    -1.0,
    0.5,
    2.5,
    *(np.nextafter(v, v + s) for v in (0, 1, 3) for s in (-1, 1)),
]
NUMBERS = np.array([*STEPS, np.inf, -np.inf, np.nan])
NUMERIC = [
    "boolean", "nonnegative_integer", "positive_integer", "integer_interval(1, 3)", "real", "real_vector",
    "positive", "nonnegative", "unit_interval", "greater_than(1)", "greater_than_eq(1)", "less_than(1)",
    "interval(1, 3)", "half_open_interval(1, 3)", "independent(positive, 1)", "one_hot", "simplex",
    "multinomial(3)", "cat([positive, interval(1, 3)], -1, [4, len(NUMBERS) - 4])",
    "stack([positive, interval(1, 3)] * (len(NUMBERS) // 2), -1)",
]  # fmt: skip


def _unit_rows(off: float) -> np.ndarray:
    """A lower triangle with rows of one length, the last one as long as is said."""
    made = np.linalg.cholesky(np.array([[1.0, 0.3, 0.1], [0.3, 1.0, -0.4], [0.1, -0.4, 1.0]]))
    made[-1] *= 1 + off
    return made


MATRICES = [
    np.eye(3), -np.eye(3), np.zeros((3, 3)), np.ones((3, 3)), np.tril(np.ones((3, 3))),
    np.diag([1.0, 1.0, 0.0]), np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 1e-7]), np.diag([1.0, 1.0, -1e-9]),
    np.eye(3) + np.diag([1e-7], 2), np.eye(3) + np.diag([1e-5], 2), np.ones((2, 3)),
    *(_unit_rows(sign * k * EPS) for sign in (-1, 1) for k in (0, 5, 28, 31.5, 34, 100)),
]  # fmt: skip
OF_MATRICES = [
    "lower_triangular", "lower_cholesky", "corr_cholesky", "square", "symmetric", "positive_semidefinite",
    "positive_definite",
]  # fmt: skip
ROWS = [
    [1.0, 0, 0], [0, 0, 0], [1.0, 1, 0], [0.5, 0.5, 0], [0.5, 0.5 + 9e-7, 0], [0.5, 0.5 + 2e-6, 0],
    [2.0, -1, 0], [3.0, 0, 0], [1.0, 1, 1], [4.0, -1, 0], [4.0, 0, 0], [1.5, 0.5, 0],
]  # fmt: skip


def _told(lib: Any, text: str, value: Any) -> Any:
    names = {"len": len, "NUMBERS": NUMBERS, **vars(lib.distributions.constraints)}
    made = eval(text, names)
    try:
        return [
            repr(made), made.is_discrete, made.event_dim, made.check(lib.tensor(value)).tolist(),
        ]  # fmt: skip
    except Exception as error:  # noqa: BLE001 (compared)
        return type(error)


@pytest.mark.parametrize("text", [*NUMERIC, *OF_MATRICES])
def test_where_constraints_end(text: str) -> None:
    for value in MATRICES if text in OF_MATRICES else [NUMBERS, *map(np.array, ROWS)]:
        assert _told(torch, text, value) == _told(pt, text, value), value


def _s(*shape: int) -> np.ndarray:
    return np.full(shape, 0.5)


def _eye(*lead: int) -> np.ndarray:
    return np.broadcast_to(np.eye(2), (*lead, 2, 2)).copy()


SHAPES = [
    *(Make("LowRankMultivariateNormal", *shapes) for shapes in (
        (_s(4, 2), _s(4, 2, 1), _s(4, 2)), (_s(2), _s(2, 1), _s(4, 2)), (_s(), _s(2, 1), _s(2)), (_s(2), _s(2), _s(2)),
        (_s(2), _s(3, 1), _s(2)), (_s(2), _s(2, 1), _s(3)), (_s(4, 2), _s(3, 2, 1), _s(2)), (_s(2), _s(2, 5), _s(2)),
    )),
    *(Make("MultivariateNormal", *given) for given in (
        (_s(), _eye()), (_s(2), _s(2)), (_s(3), _eye()), (_s(4, 2), _eye(3)), (_s(4, 2), _eye(4)), (_s(2), _eye(4)),
    )),
    *(Make("Categorical", _s(*shape)) for shape in ((), (0,), (1,), (3, 0), (3, 1), (2, 3, 4))),
    *(Make("Dirichlet", _s(*shape)) for shape in ((), (1,), (2, 3))),
    *(Make("Normal", _s(*a), _s(*b)) for a, b in (((2,), (3,)), ((2, 1), (3,)), ((), (2,)))),
    *(Make("Independent", Make("Normal", _s(2, 3), _s(3)), n) for n in (0, 1, 2, 3)),
    *(Make("Wishart", df, _eye()) for df in (0.5, 1.0, 1.5, 2.0)),
    *(Make("Wishart", 3.0, of) for of in (_s(2), _s(2, 3), _eye(3))),
    *(Make("LKJCholesky", n, c) for n, c in ((1, 1.0), (2, 1.0), (3, 0.0), (3, 0.5))),
    *(Make("Multinomial", n, _s(3)) for n in (0, 1, 2)),
    *(Make("MixtureSameFamily", Make("Categorical", _s(*mix)), Make("Normal", _s(*of), _s(*of)))
      for mix, of in (((3,), (3,)), ((2,), (3,)), ((4, 3), (3,)), ((4, 3), (4, 3)), ((4, 3), (5, 3)), ((3,), ()))),
]  # fmt: skip


@pytest.mark.parametrize("make", SHAPES, ids=lambda m: m.kind)
def test_shapes_are_taken_or_refused(make: Make) -> None:
    def told(lib: Any) -> Any:
        try:
            made = build(lib, make)[0]
        except Exception as error:  # noqa: BLE001 (compared)
            return type(error)
        return tuple(made.batch_shape), tuple(made.event_shape)

    assert told(torch) == told(pt)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_of_tiny_parameters(dtype):
    """Gamma numbers that are too small for any float count as the least one; so small a rate gives 0."""
    drawn = []
    for lib in (torch, pt):
        d = getattr(lib, dtype)
        lib.manual_seed(5)
        tiny = lib.full((50,), 1e-6, dtype=d)
        rates = lib.tensor([0.0, 1e-300, 1e-38, 1e-17, 1e-12] * 4, dtype=d)
        counts = lib.zeros(2, 2)
        drawn.append(
            [
                *lib.distributions.Beta(tiny, tiny).sample().tolist(),
                *lib.distributions.Dirichlet(lib.full((9, 3), 1e-6, dtype=d))
                .sample()
                .flatten()
                .tolist(),
                *lib.poisson(rates).tolist(),
                *lib.poisson(rates[2].expand(5000)).tolist(),
                *lib.distributions.NegativeBinomial(counts, counts + 0.3)
                .sample()
                .flatten()
                .tolist(),
            ]
        )
    assert drawn[0] == pytest.approx(drawn[1], rel=1e-6)
