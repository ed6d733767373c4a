"""Modules, optimizers and other functions of Python take what PyTorch's take, with the same defaults."""

import inspect
from importlib import import_module

import pytest

import mindtorch_core as torch

pytest.importorskip("torch")
pytest.importorskip("pytorchs_biases")
NAMESPACES = {  # and how many signatures are compared at least
    "nn": 350,
    "nn.functional": 80,
    "nn.init": 15,
    "nn.utils": 15,
    "nn.utils.rnn": 10,
    "nn.utils.parametrize": 8,
    "nn.utils.prune": 25,
    "nn.utils.stateless": 1,
    "nn.utils.parametrizations": 40,
    "nn.utils.fusion": 4,
    "nn.attention": 1,
    "nn.attention.bias": 2,
    "optim": 40,
    "optim.lr_scheduler": 50,
    "optim.swa_utils": 8,
    "utils.data": 15,
    "utils.checkpoint": 8,
    "func": 10,
    "autograd.functional": 6,
    "autograd.forward_ad": 6,
    "amp": 15,
    "masked": 20,
    "overrides": 8,
    "distributed": 60,
}
OTHERS = {
    "nn.Container",  # of old, which nobody can use
    "nn.LinearCrossEntropyOptions",
    "distributed.DeviceMesh",  # it has no layouts of compilers
    "utils.data.random_split",  # its default is the generator there, None here
}
ANYTHING = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def parameters(function):
    """Name, kind and default of each parameter; None of a function that takes anything."""
    try:
        taken = inspect.signature(function).parameters.values()
    except ValueError:  # written in C
        return None
    if ANYTHING & {p.kind for p in taken}:
        return None
    return [(p.name, p.kind, getattr(p.default, "__name__", p.default)) for p in taken]


def shown(theirs, ours, name):
    """What both namespaces have of a name: a function, or a class and its own public methods."""
    yield name, theirs, ours
    for method in vars(theirs) if inspect.isclass(theirs) else ():
        own = vars(theirs)[method]
        if method[0] != "_" and inspect.isfunction(own) and callable(getattr(ours, method, None)):
            yield f"{name}.{method}", own, getattr(ours, method)


@pytest.mark.filterwarnings("ignore:.*reduce_op:FutureWarning")
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_parameters_and_defaults_are_those_of_pytorch(namespace):
    compared = 0
    module = import_module(f"torch.{namespace}")
    here = import_module(f"mindtorch_core.{namespace}")
    for name, theirs in vars(module).items():
        home = str(getattr(theirs, "__module__", "")).startswith(f"torch.{namespace.split('.')[0]}")
        if name[0] == "_" or not callable(theirs) or not home or not hasattr(here, name):
            continue
        for place, their, our in shown(theirs, getattr(here, name), f"{namespace}.{name}"):
            wanted, found = parameters(their), parameters(our)
            if None not in (wanted, found) and place not in OTHERS:
                found = [p for p in found if p[0] != "out" or p in wanted]
                assert repr(found).replace("mindtorch_core.", "torch.") == repr(wanted), place
                compared += 1
    assert compared >= NAMESPACES[namespace]


def defaults(function):
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.default is not p.empty}


def test_defaults_of_distributions():
    """All that PyTorch's have; ``()`` stands for an empty size."""
    compared = 0
    module = import_module("torch.distributions")
    for name in module.__all__:
        theirs, ours = getattr(module, name), getattr(torch.distributions, name)
        for place, their, our in shown(theirs, ours, name) if inspect.isclass(theirs) else ():
            wanted, found = defaults(their), defaults(our)
            assert {n: found.get(n, "none") for n in wanted} == wanted, place
            compared += len(wanted)
    assert compared > 150
