"""Schedules of users that give another number of learning rates than there are groups, beside PyTorch's."""

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")


def stepped(lib, rates):
    """The learning rates after a step of a schedule that gives these."""

    class Given(lib.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return rates if self.last_epoch else [g["lr"] for g in self.optimizer.param_groups]

    groups = [{"params": [lib.ones(1, requires_grad=True)], "lr": lr} for lr in (0.1, 0.2)]
    optimizer = lib.optim.SGD(groups)
    schedule = Given(optimizer)
    optimizer.step()
    try:
        schedule.step()
    except ValueError as error:
        return str(error)
    return schedule.get_last_lr(), [g["lr"] for g in optimizer.param_groups]


@pytest.mark.parametrize("rates", [[0.5, 0.25], [0.5], [0.5, 0.25, 0.125], []], ids=len)
def test_as_in_pytorch(rates):
    assert stepped(torch, rates) == stepped(oracle, rates)
