"""Schedulers that are told which step they are at, in any order: PyTorch's rates and numbers."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome

pt = pytest.importorskip("torch")

RESTARTS = "CosineAnnealingWarmRestarts(o, {}, {}, 0.1)"
SCHEDULERS = [
    "StepLR(o, 2, 0.5)", "MultiStepLR(o, [2, 3, 3, 7], 0.5)", "ExponentialLR(o, 0.9)", "ConstantLR(o, 0.5, 4)",
    "LinearLR(o, 0.2, 0.9, 4)", "CosineAnnealingLR(o, 5, 0.1)", "PolynomialLR(o, 5, 2.0)", "LambdaLR(o, lambda e: 1 / (e + 2))",
    "MultiplicativeLR(o, lambda e: 1 / (e + 2))", "CyclicLR(o, 0.1, 1.0, 3, 2, mode='triangular2')",
    "CyclicLR(o, 0.1, 1.0, 3, mode='exp_range', gamma=0.9)", "OneCycleLR(o, 2.0, 12)",
    "OneCycleLR(o, 2.0, 30, three_phase=True, anneal_strategy='linear')",
    *(RESTARTS.format(first, times) for first in (1, 2, 3, 10) for times in (1, 2, 3)),
]  # fmt: skip
EPOCHS = {
    "none given": [None] * 12,
    "given, and gone on from": [3, None, None, 0, None, 7, None, 2, None],
    "at the ends of cycles": [0, 1, 2, 3, 4, 6, 7, 9, 10, 13, 14],
    "too small": [2, -1, None, -2, None],
    "too large": [12, 13, None, 31, None],
    "between": [0.5, 2, 2.5, 3, 9.5, None, 12.25, 26.0, 0.0, None],
}
CASES = [(s, e) for s in SCHEDULERS for e in EPOCHS if e != "between" or s.startswith("Cosine")]


def rates(lib, scheduler, epochs):
    o = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], 1.0, momentum=0.9)
    made = eval(f"S.{scheduler}", {"S": lib.optim.lr_scheduler, "o": o})
    for epoch in epochs:
        error = outcome(made.step, *() if epoch is None else (epoch,))
        said = (type(error).__name__, str(error)) if isinstance(error, Exception) else None
        yield (
            said,
            made.last_epoch,
            made.get_last_lr(),
            getattr(made, "T_cur", 0),
            getattr(made, "T_i", 0),
        )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("scheduler", "epochs"), CASES)
def test_rates(scheduler, epochs):
    given = EPOCHS[epochs]
    mine, theirs = (list(rates(lib, scheduler, given)) for lib in (torch, pt))
    for one, other in zip(mine, theirs, strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == (pytest.approx(other[2], abs=1e-9), *map(pytest.approx, other[3:]))
