"""What programs find out of the arguments of functions and constructors, against PyTorch."""

import copy
import functools
import inspect
import operator
import pickle

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

PATHS = [
    "optim.SGD", "optim.SGD.__init__", "optim.lr_scheduler.StepLR", "nn.Linear", "nn.Conv2d.forward",
    "nn.functional.interpolate", "nn.functional.cross_entropy", "utils.data.DataLoader",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_full_argument_specifications(path):
    ours, theirs = (inspect.getfullargspec(operator.attrgetter(path)(lib)) for lib in (torch, pt))
    assert ours.args == theirs.args
    assert ours.defaults == theirs.defaults


@pytest.mark.parametrize("path", ["optim.SGD", "nn.Linear", "utils.data.DataLoader"])
def test_names_in_the_code(path):
    ours, theirs = (operator.attrgetter(path)(lib).__init__.__code__ for lib in (torch, pt))
    assert {*theirs.co_varnames[: theirs.co_argcount]} <= {*ours.co_varnames}


def test_a_signature_is_one_of_inspects():
    function = torch.nn.functional.interpolate
    found = inspect.signature(function)
    assert isinstance(found, inspect.Signature)
    assert found == inspect.signature(function.__wrapped__)
    assert hash(found) == hash(inspect.signature(function.__wrapped__))
    assert str(found) == str(inspect.signature(function.__wrapped__))
    assert repr(found).startswith("<Signature (input")
    for copied in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert copied == found
    assert list(found.bind(1, size=2).arguments) == ["input", "size"]

    @functools.wraps(function)
    def relayed(*args, **kwargs):
        return function(*args, **kwargs)

    assert inspect.signature(relayed) == found
