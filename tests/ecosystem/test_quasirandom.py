"""`torch.quasirandom`: points, states and errors are PyTorch's."""

import importlib.util

import pytest

import mindtorch_core as torch
from mindtorch_core.quasirandom import SobolEngine

pytest.importorskip("scipy")
pt = pytest.importorskip("torch")
THEIRS = pt.quasirandom.SobolEngine


def pair(*args, **kwargs):
    """The same engine of both libraries, from the same random numbers."""
    torch.manual_seed(3)
    pt.manual_seed(3)
    return SobolEngine(*args, **kwargs), THEIRS(*args, **kwargs)


def same(ours, theirs):
    assert str(ours.dtype) == str(theirs.dtype)
    assert ours.tolist() == theirs.tolist()


def test_every_dimension_has_the_same_numbers():
    """All polynomials and first numbers, as all that follow are computed from them."""
    ours, theirs = SobolEngine(SobolEngine.MAXDIM), THEIRS(THEIRS.MAXDIM)
    assert bytes(ours.sobolstate.numpy()) == theirs.sobolstate.numpy().tobytes()


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 8, 40, 300])
@pytest.mark.parametrize(("scramble", "seed"), [(False, None), (True, None), (True, 5), (False, 5)])
def test_points(dimension, scramble, seed):
    ours, theirs = pair(dimension, scramble=scramble, seed=seed)
    for n in (1, 5, 0, 17, 100):
        same(ours.draw(n), theirs.draw(n))
    same(ours.draw(3, dtype=torch.float64), theirs.draw(3, dtype=pt.float64))
    same(ours.fast_forward(9).draw(7), theirs.fast_forward(9).draw(7))
    same(ours.reset().draw(6), theirs.reset().draw(6))
    same(ours.reset().fast_forward(3).draw(2), theirs.reset().fast_forward(3).draw(2))
    same(ours.quasi, theirs.quasi)
    same(ours.shift, theirs.shift)
    same(ours.sobolstate, theirs.sobolstate)
    assert ours.num_generated == theirs.num_generated
    assert repr(ours) == repr(theirs)


def test_points_far_along():
    ours, theirs = pair(5, scramble=True)
    for n in (2**20 - 3, 2**27, 4096):
        same(ours.fast_forward(n).draw(9), theirs.fast_forward(n).draw(9))


def test_points_into_a_tensor():
    ours, theirs = pair(2)
    out, wanted = torch.zeros(1, dtype=torch.float64), pt.zeros(1, dtype=pt.float64)
    assert ours.draw(3, out=out) is out
    same(out, theirs.draw(3, out=wanted))


def test_powers_of_two():
    ours, theirs = pair(3, scramble=True, seed=1)
    for m in (0, 0, 1, 2, 3):
        same(ours.draw_base2(m), theirs.draw_base2(m))


@pytest.mark.parametrize(
    "call",
    [
        lambda engine, lib: engine(0),
        lambda engine, lib: engine(21202),
        lambda engine, lib: engine(2).draw(-1),
        lambda engine, lib: engine(2).reset().draw(0),
        lambda engine, lib: engine(2).draw(3, dtype=lib.float16),
        lambda engine, lib: engine(2).draw(3, dtype=lib.bfloat16),
        lambda engine, lib: engine(2).draw(3, dtype=lib.int64),
        lambda engine, lib: (lambda e: (e.draw(3), e.draw_base2(2)))(engine(2)),
    ],
)
def test_errors(call):
    with pytest.raises((ValueError, RuntimeError)) as theirs:  # NotImplementedError is one
        call(THEIRS, pt)
    with pytest.raises(type(theirs.value)) as ours:
        call(SobolEngine, torch)
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]


def test_without_scipy_it_says_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        ModuleNotFoundError, match="from SciPy, which is not installed: pip install"
    ):
        SobolEngine(2)
