"""Functions that are written in Python take what PyTorch's take, and are found by their names."""

import inspect
import pickle

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.functions import FUNCTIONS, names_in

pt = pytest.importorskip("torch")

PLACES = {
    "torch": (torch, pt),
    "nn": (torch.nn.functional, pt.nn.functional),
    "masked": (torch.masked, pt.masked),
}


def shown(namespace):
    """Names of a namespace that both show as functions with a signature of their own."""
    for name in names_in(namespace):
        theirs = getattr(PLACES[namespace][1], name, None)
        if FUNCTIONS[namespace][name].python is not None and inspect.isfunction(theirs):
            signature = inspect.signature(theirs)
            if "args" not in signature.parameters:
                yield name, signature


def parameters(signature):
    """Name, kind and default of each parameter."""
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


@pytest.mark.parametrize(("namespace", "least"), [("torch", 3), ("nn", 50), ("masked", 15)])
def test_parameters_are_those_of_pytorch(namespace, least):
    compared = 0
    for name, theirs in shown(namespace):
        ours = inspect.signature(getattr(PLACES[namespace][0], name))
        assert parameters(ours) == parameters(theirs), name
        compared += 1
    assert compared >= least


@pytest.mark.parametrize(
    "fn",
    [
        torch.nn.functional.max_pool2d,
        torch.nn.functional.adaptive_max_pool3d_with_indices,
        torch.nn.functional.interpolate,
        torch.nn.functional.multi_head_attention_forward,
        torch.unique,
        torch.masked.sum,
    ],
)
def test_functions_are_pickled_by_name(fn):
    assert pickle.loads(pickle.dumps(fn)) is fn


def test_no_op_is_named_after_the_module_of_its_function():
    assert [name for name in dir(torch.ops.aten) if name.startswith("nn_")] == []
    with pytest.raises(AttributeError, match="nn_max_pool2d"):
        torch.ops.aten.nn_max_pool2d
    assert torch.ops.aten.max_pool2d(torch.ones(1, 4, 4), 2).shape == (1, 2, 2)
