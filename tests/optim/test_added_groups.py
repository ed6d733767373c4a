"""Groups of parameters that are added after a schedule was made, beside PyTorch's."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.facts import missing

pt = pytest.importorskip("torch")


def rates(lib, min_lr):
    a, b = (lib.zeros(1, requires_grad=True) for _ in range(2))
    optimizer = lib.optim.SGD([a], lr=1.0)
    schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.5, patience=0, min_lr=min_lr
    )
    seen = []
    for step in range(5):
        if step == 1:
            optimizer.add_param_group({"params": [b], "lr": 0.3})
        schedule.step(1.0)
        seen.append([group["lr"] for group in optimizer.param_groups])
    return seen, schedule.min_lrs


@pytest.mark.parametrize("min_lr", [0, 0.2, [0.2], [0.2, 0.1]], ids=str)
def test_a_plateau_after_a_group_was_added(min_lr):
    found, wanted = outcome(rates, torch, min_lr), outcome(rates, pt, min_lr)
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted))
        assert not missing(str(found), str(wanted))
    else:
        assert found == wanted
