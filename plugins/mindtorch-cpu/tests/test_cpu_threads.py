"""Large ops whose parts are shared out: NumPy's results, the same with any number of threads, and errors."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mindtorch_core as torch

ROWS, COLUMNS = 700, 1000
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(ROWS, COLUMNS)).astype(np.float32)
COARSE = RANDOM.integers(0, 40, (ROWS, COLUMNS)).astype(np.float32)  # many elements are equal
AT = RANDOM.integers(0, COLUMNS, (ROWS, COLUMNS))
ROW = RANDOM.integers(0, ROWS, 3000)
IMAGES = RANDOM.normal(size=(40, 3, 30, 34)).astype(np.float32)
CUBES = RANDOM.integers(-9, 9, (6, 5, 11, 12, 13))


def t(array):
    return torch.from_numpy(array)


def exponentials(x, axis):
    shares = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return shares / shares.sum(axis, keepdims=True)


def repeated(x, *factors):
    for i, factor in enumerate(reversed(factors)):
        x = x.repeat(factor, x.ndim - 1 - i)
    return x


def slope(x, *factors):
    """The gradient of a sum of squares of what is repeated."""
    leaf = t(x).requires_grad_()
    made = torch.nn.functional.interpolate(leaf, scale_factor=[float(f) for f in factors])
    (grad,) = torch.autograd.grad((made * made).sum(), leaf)
    return grad


CASES = {
    "gather": (lambda: t(X).gather(1, t(AT)), np.take_along_axis(X, AT, 1)),
    "gather, first dimension": (
        lambda: t(X).gather(0, t(AT % ROWS)),
        np.take_along_axis(X, AT % ROWS, 0),
    ),
    "index_select": (lambda: t(X).index_select(0, t(ROW)), X[ROW]),
    "index_select of bool": (lambda: t(X > 0).index_select(0, t(ROW)), X[ROW] > 0),
    "embedding": (lambda: torch.nn.functional.embedding(t(ROW.reshape(60, 50)), t(X)), X[ROW.reshape(60, 50)]),
    "cumsum": (lambda: t(X).cumsum(1), X.astype(np.float64).cumsum(1)),
    "cumprod": (lambda: t(COARSE.astype(np.int64)).cumprod(1), COARSE.astype(np.int64).cumprod(1)),
    "topk": (lambda: t(X).topk(10)[0], -np.sort(-X, 1)[:, :10]),
    "smallest along columns": (lambda: t(X).topk(7, 0, largest=False)[0], np.sort(X, 0)[:7]),
    "topk of equal elements": (lambda: t(COARSE).topk(30)[0], -np.sort(-COARSE, 1)[:, :30]),
    "nearest": (
        lambda: torch.nn.functional.interpolate(t(IMAGES), scale_factor=2.0),
        repeated(IMAGES, 2, 2),
    ),
    "nearest, unlike factors": (
        lambda: torch.nn.functional.interpolate(t(IMAGES), (90, 34)),
        repeated(IMAGES, 3, 1),
    ),
    "nearest of volumes": (
        lambda: torch.nn.functional.interpolate(t(CUBES.astype(np.float64)), (22, 36, 13)),
        repeated(CUBES.astype(np.float64), 2, 3, 1),
    ),
    "nearest, backward": (lambda: slope(IMAGES, 2, 3), 12 * IMAGES),
    "softmax of columns": (lambda: t(IMAGES).softmax(2), exponentials(IMAGES, 2)),
    "log_softmax of channels": (lambda: t(IMAGES).log_softmax(1), np.log(exponentials(IMAGES, 1))),
}  # fmt: skip


@pytest.fixture
def threads():
    """Sets the number of threads for a test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", CASES)
def test_it_is_numpy_s_with_any_number_of_threads(name, threads):
    call, wanted = CASES[name]
    found = []
    for count in (1, 2, 5):
        threads(count)
        found.append(call().numpy())
    assert found[0].shape == wanted.shape
    assert found[0].dtype == wanted.dtype or found[0].dtype == np.float32
    np.testing.assert_allclose(found[0], wanted, 1e-5, 1e-5)
    assert all(each.tobytes() == found[0].tobytes() for each in found[1:])


def test_equal_elements_are_taken_from_the_same_places_with_any_number_of_threads(threads):
    x, places = t(X.copy()), []
    x[:, 700] = x[:, 7] = x.max()
    x[-1] = t(COARSE[-1])  # the only row where elements that are left out equal one that is taken
    for count in (1, 2, 5):
        threads(count)
        values, at = x.topk(30)
        assert x.gather(1, at).equal(values)
        assert all(len(set(row)) == 30 for row in at.tolist())
        places.append(at)
    assert all(each.equal(places[0]) for each in places[1:])


@pytest.mark.parametrize("row", [0, ROWS - 1])
def test_a_position_out_of_range_is_refused_in_whichever_part_it_is(row, threads):
    threads(3)
    for bad in (-1, COLUMNS):
        at = AT.copy()
        at[row, 5] = bad
        with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension 1"):
            t(X).gather(1, t(at))
    with pytest.raises(IndexError, match=f"index {ROWS} is out of bounds for dimension 0"):
        t(X).index_select(0, t(np.append(ROW, ROWS)))


SPY = """
import os, sys

class Spy:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))

sys.meta_path.insert(0, Spy())
import mindtorch_core as torch
torch.ones(2)
print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
"""


@pytest.mark.parametrize(
    ("before", "found"), [({}, "19\nNone"), ({"OPENBLAS_THREAD_TIMEOUT": "7"}, "7\n7")]
)
def test_threads_of_openblas_do_not_spin_for_long(before, found):
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"}
    env |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **before}
    run = [sys.executable, "-c", SPY]
    done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.split() == found.split(), done.stderr
