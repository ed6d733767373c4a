"""The modules and functions of networks that programs use most say their arguments, and their examples run."""

import doctest
import inspect
import re

import pytest

import mindtorch_core as torch

nn, F = torch.nn, torch.nn.functional
MODULES = (
    *(nn.Linear, nn.Conv2d, nn.Embedding, nn.LayerNorm, nn.BatchNorm2d, nn.Dropout, nn.ReLU),
    *(nn.Sequential, nn.ModuleList, nn.CrossEntropyLoss, nn.MSELoss),
)
FUNCTIONS = (F.cross_entropy, F.dropout, F.mse_loss, F.softmax)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("thing", [*MODULES, *FUNCTIONS, nn.LSTM], ids=lambda thing: thing.__name__)
def test_the_examples_run(thing):
    test = doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing), {"torch": torch}, thing.__name__, None, 0
    )
    assert test.examples
    failures = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=failures.append)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("thing", [*MODULES, *FUNCTIONS], ids=lambda thing: thing.__name__)
def test_every_argument_is_described_and_no_other(thing):
    part = inspect.getdoc(thing).split("Args:\n")[1].split("\n\n")[0]
    described = re.findall(r"^    (\w+): ", part, re.MULTILINE)
    taken = [name for name in inspect.signature(thing).parameters if name[0] != "_"]
    assert sorted(described) == sorted(taken)


def test_what_they_refuse_is_refused_as_they_say():
    for call, error in (
        (lambda: nn.Dropout(2), ValueError),
        (lambda: F.dropout(torch.ones(2), -1), ValueError),
        (lambda: nn.Conv2d(3, 4, 1, groups=2), ValueError),
        (lambda: nn.Conv2d(3, 4, 1, padding="none"), ValueError),
        (lambda: nn.BatchNorm2d(3)(torch.ones(2, 3)), ValueError),
        (lambda: nn.BatchNorm2d(3)(torch.ones(1, 3, 1, 1)), ValueError),
        (lambda: nn.Sequential(1), TypeError),
        (lambda: nn.ModuleList([1]), TypeError),
        (lambda: F.mse_loss(torch.ones(2), torch.ones(2), reduction="no"), ValueError),
        (lambda: F.cross_entropy(torch.ones(1, 2), torch.tensor([0]), reduction="no"), ValueError),
        (lambda: F.cross_entropy(torch.ones(1, 2), torch.tensor([5])), IndexError),
        (lambda: F.softmax(torch.ones(2), 3), IndexError),
    ):
        with pytest.raises(error):
            call()
