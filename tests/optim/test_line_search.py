"""The line search that libraries take from `torch.optim.lbfgs`, beside PyTorch's."""

import importlib

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def valley(lib, x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def waves(lib, x):
    return (3 * x).sin().sum() + 0.1 * (x * x).sum()


def slope(lib, x):
    return x.abs().sqrt().sum()


def searched(lib, options, t, of=valley, start=(-1.5, 2.0)):
    """Where a search from the same point ends, and what is computed on the way."""

    def f(x):
        x = x.detach().requires_grad_()
        loss = of(lib, x)
        return float(loss), lib.autograd.grad(loss, x)[0]

    asked = []

    def along(x, t, d):
        asked.append(float(t))
        return f(x + t * d)

    x = lib.tensor(start, dtype=lib.float64)
    loss, g = f(x)
    search = importlib.import_module(f"{lib.__name__}.optim.lbfgs")._strong_wolfe
    loss, g, t, count = search(along, x, t, -g, loss, g, -g.dot(g), **options)
    return [*asked, float(loss), *g.tolist(), float(t), count]


@pytest.mark.parametrize("t", [1e-5, 1e-3, 0.05, 1.0])
@pytest.mark.parametrize(
    "options", [{}, {"c2": 0.1}, {"c1": 0.4, "c2": 0.45}, {"max_ls": 2}, {"tolerance_change": 1.0}]
)
def test_a_search_ends_where_pytorchs_does(options, t):
    assert searched(torch, options, t) == pytest.approx(searched(pt, options, t), rel=1e-9)


@pytest.mark.parametrize("t", [0.05, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("c1", [1e-4, 0.1, 0.5])
@pytest.mark.parametrize("start", [(-1.5, 2.0), (0.3, 0.9), (4.0, -2.0)])
@pytest.mark.parametrize("of", [waves, slope])
def test_a_search_where_falling_is_not_enough(of, start, c1, t):
    options = {"c1": c1, "tolerance_change": 1e-5}  # narrower brackets end by last bits
    found, wanted = (searched(lib, options, t, of, start) for lib in (torch, pt))
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("bounds", [None, (0.2, 0.4)])
def test_the_minimum_of_a_cubic(bounds):
    found = []
    for lib in (torch, pt):
        numbers = [lib.tensor(v) for v in (0.0, 1.0, -2.0, 1.0, 0.5, 0.75)]
        cubic = importlib.import_module(f"{lib.__name__}.optim.lbfgs")._cubic_interpolate
        found.append([float(cubic(*numbers, bounds)), float(cubic(*numbers[3:], *numbers[:3]))])
    assert found[0] == pytest.approx(found[1])
