"""`functorch`, as PyTorch's wheel brings it: the functions warn and give what PyTorch's give."""

import warnings

import pytest

import mindtorch_core as torch
from mindtorch_nn import functorch

pt = pytest.importorskip("torch")
theirs = pytest.importorskip("functorch")


def flat(value):
    if isinstance(value, (tuple, list)):
        return [part for each in value for part in flat(each)]
    return [value.detach().double().numpy()]


def outcome(run, lib, package):
    """What a function gives, or the error that it raises; and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = run(lib, package)
        except RuntimeError as error:
            value = str(error)
    return value, [str(w.message) for w in caught if w.category is FutureWarning]


def network(lib, *, tied=False, norm=False, seed=1):
    lib.manual_seed(seed)
    nn = lib.nn
    model = nn.Sequential(
        nn.Linear(3, 3), *([nn.BatchNorm1d(3)] if norm else []), nn.Tanh(), nn.Linear(3, 3)
    )
    if tied:
        model[2].weight = model[0].weight
    return model


def of_parameters(lib, package, tied=False):
    """Results, and gradients by a function of the parameters."""
    model = network(lib, tied=tied)
    x = lib.arange(6.0).reshape(2, 3) / 5
    function, params = package.make_functional(model)
    assert isinstance(function, package.FunctionalModule)
    assert all(p is not q for p in params for q in model.parameters())
    assert all(p.requires_grad for p in params)
    double = [p * 2 for p in params]
    grads = package.grad(lambda ps: function(ps, x).pow(2).sum())(tuple(params))
    return function(params, x), function(double, x), model(x), grads


def of_buffers(lib, package):
    """In training mode, the buffers that were given are changed."""
    model = network(lib, norm=True)
    x = lib.arange(12.0).reshape(4, 3) / 5
    function, params, buffers = package.make_functional_with_buffers(model, True)
    assert not any(p.requires_grad for p in params)
    result = function(params, buffers, x)
    return result, buffers, list(model.buffers())


def of_an_ensemble(lib, package):
    models = [network(lib, seed=seed) for seed in range(3)]
    function, params, buffers = package.combine_state_for_ensemble(models)
    x = lib.arange(6.0).reshape(2, 3) / 5
    return package.vmap(function, (0, 0, None))(params, buffers, x), params


CASES = {
    "parameters": of_parameters,
    "tied": lambda lib, package: of_parameters(lib, package, tied=True),
    "buffers": of_buffers,
    "ensemble": of_an_ensemble,
    "has buffers": lambda lib, package: package.make_functional(network(lib, norm=True)),
    "no models": lambda lib, package: package.combine_state_for_ensemble([]),
    "modes": lambda lib, package: package.combine_state_for_ensemble(
        [network(lib), network(lib).eval()]
    ),
    "classes": lambda lib, package: package.combine_state_for_ensemble(
        [network(lib), lib.nn.Linear(3, 3)]
    ),
    "vjp": lambda lib, package: package.vjp(lib.sin, lib.ones(2))[1](lib.ones(2)),
    "jacrev": lambda lib, package: package.jacrev(lib.sin)(lib.ones(2)),
    "jvp": lambda lib, package: package.jvp(lib.sin, (lib.ones(2),), (lib.ones(2),)),
    "hessian": lambda lib, package: package.hessian(lambda x: x.pow(3).sum())(lib.ones(2)),
}


@pytest.mark.parametrize("case", CASES)
def test_as_pytorch(case):
    (ours, own), (value, wanted) = (
        outcome(CASES[case], *each) for each in ((torch, functorch), (pt, theirs))
    )
    assert own == wanted
    assert own
    if isinstance(value, str):
        assert ours.splitlines()[0] == value
    else:
        assert flat(ours) == [pytest.approx(each, abs=1e-6) for each in flat(value)]
