"""The modules and functions of networks that programs use most say their arguments, and their examples run."""

import doctest
import inspect
import re

import pytest

import mindtorch_core as torch

nn, F, optim, data = torch.nn, torch.nn.functional, torch.optim, torch.utils.data
MODULES = (
    *(nn.Linear, nn.Conv2d, nn.Embedding, nn.LayerNorm, nn.BatchNorm2d, nn.Dropout, nn.ReLU),
    *(nn.Sequential, nn.ModuleList, nn.CrossEntropyLoss, nn.MSELoss),
    *(nn.Conv1d, nn.ConvTranspose2d, nn.BatchNorm1d, nn.GroupNorm, nn.RMSNorm, nn.MaxPool2d),
    *(nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.Flatten, nn.GELU, nn.SiLU, nn.LeakyReLU, nn.Softmax),
    *(nn.LogSoftmax, nn.BCEWithLogitsLoss, nn.L1Loss, nn.SmoothL1Loss, nn.NLLLoss, nn.ModuleDict),
    *(nn.MultiheadAttention, nn.Parameter, nn.utils.clip_grad_norm_, nn.init.xavier_uniform_),
    *(nn.init.kaiming_normal_, optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop),
    *(optim.lr_scheduler.StepLR, optim.lr_scheduler.CosineAnnealingLR, optim.lr_scheduler.LambdaLR),
    *(optim.lr_scheduler.OneCycleLR, optim.lr_scheduler.ReduceLROnPlateau),
    *(data.DataLoader, data.TensorDataset, data.random_split),
)
# Whose arguments are none, any, or described elsewhere.
OTHERS = (nn.LSTM, nn.GRU, nn.Identity, nn.Sigmoid, nn.Tanh)
FUNCTIONS = (F.cross_entropy, F.dropout, F.mse_loss, F.softmax)
# What nearly every program uses, and no row of an op tells of.
EVERYWHERE = [
    getattr(torch, name)
    for name in [
        "as_tensor",
        "cdist",
        "einsum",
        "enable_grad",
        "manual_seed",
        "meshgrid",
        "no_grad",
        "nonzero",
        "tensor",
        "tensordot",
    ]
] + [getattr(torch.Tensor, name) for name in ["backward", "item", "to", "tolist"]]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    "thing", [*MODULES, *FUNCTIONS, *OTHERS, *EVERYWHERE], ids=lambda thing: thing.__name__
)
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
    told = re.findall(r"^    ([*\w]+(?:, \w+)*): ", part, re.MULTILINE)  # one, or several together
    described = [name.strip("*") for names in told for name in names.split(", ")]
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
        (lambda: nn.Conv1d(3, 4, 1, groups=2), ValueError),
        (lambda: nn.ConvTranspose2d(3, 4, 1, padding_mode="circular"), ValueError),
        (lambda: nn.BatchNorm1d(3)(torch.ones(3)), ValueError),
        (lambda: nn.BatchNorm1d(3)(torch.ones(1, 3)), ValueError),
        (lambda: nn.GroupNorm(2, 3), ValueError),
        (lambda: nn.RMSNorm(3)(torch.ones(2)), RuntimeError),
        (lambda: nn.MaxPool2d(2, padding=2)(torch.ones(1, 4, 4)), RuntimeError),
        (lambda: nn.AvgPool2d(2, padding=2)(torch.ones(1, 4, 4)), RuntimeError),
        (lambda: nn.AvgPool2d(2, divisor_override=0)(torch.ones(1, 4, 4)), RuntimeError),
        (lambda: nn.Flatten(3)(torch.ones(2)), IndexError),
        (lambda: nn.SmoothL1Loss(reduction="no")(torch.ones(2), torch.ones(2)), ValueError),
        (lambda: nn.NLLLoss()(torch.ones(1, 2), torch.tensor([5])), IndexError),
        (lambda: nn.ModuleDict({"a": 1}), TypeError),
        (lambda: nn.ModuleDict([(1, nn.Identity())]), TypeError),
        (lambda: nn.init.xavier_uniform_(torch.ones(2)), ValueError),
        (lambda: nn.init.kaiming_normal_(torch.ones(2)), ValueError),
        (lambda: nn.init.kaiming_normal_(torch.ones(2, 2), mode="fan"), ValueError),
        (lambda: nn.Sequential(1), TypeError),
        (lambda: nn.ModuleList([1]), TypeError),
        (lambda: F.mse_loss(torch.ones(2), torch.ones(2), reduction="no"), ValueError),
        (lambda: F.cross_entropy(torch.ones(1, 2), torch.tensor([0]), reduction="no"), ValueError),
        (lambda: F.cross_entropy(torch.ones(1, 2), torch.tensor([5])), IndexError),
        (lambda: F.softmax(torch.ones(2), 3), IndexError),
    ):
        with pytest.raises(error):
            call()
