"""Covariances with weights, and with fewer observations than are taken off: PyTorch's."""

import itertools
import warnings

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

FREQUENCIES = [None, (1, 2, 1), (1, 0, 0), (0, 0, 0)]
IMPORTANCES = [None, (0.5, 0.5, 1.0), (0.0, 0.0, 0.0)]


def told(lib, values, correction, frequencies, importances):
    """The covariances or the error, and what is warned of."""
    x = lib.tensor(values, dtype=lib.float64)
    f = None if frequencies is None else lib.tensor(frequencies)
    a = None if importances is None else lib.tensor(importances, dtype=lib.float64)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = lib.cov(x, correction=correction, fweights=f, aweights=a)
        except RuntimeError as error:
            return str(error)
    return found.tolist(), [str(w.message).partition(" (Triggered")[0] for w in seen]


@pytest.mark.parametrize("correction", [-1, 0, 1, 2, 3, 4])
def test_weights(correction):
    values = [[1.0, 2, 4], [3, 1, 2]]
    for weights in itertools.product(FREQUENCIES, IMPORTANCES):
        mine, expected = (told(lib, values, correction, *weights) for lib in (torch, pt))
        if isinstance(expected, str):
            assert mine == expected, weights
            continue
        rows = zip(mine[0], expected[0], strict=True)
        assert all(a == pytest.approx(b, nan_ok=True, abs=1e-12) for a, b in rows), weights
        assert mine[1] == expected[1], weights


@pytest.mark.parametrize("values", [[], [[], []], [[1.0]], 2.0, [1.0, 3.0], [[[1.0]]]], ids=str)
def test_few_observations(values):
    mine, expected = (told(lib, values, 1, None, None) for lib in (torch, pt))
    assert repr(mine) == repr(expected)
