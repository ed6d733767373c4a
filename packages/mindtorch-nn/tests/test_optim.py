"""Optimizers and schedules by themselves: hooks, copies, steps that fail, averages."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import mindtorch_core as torch
from mindtorch_core import nn, optim
from mindtorch_core.optim import lr_scheduler, swa_utils
from mindtorch_core.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

NAMES = [n for n in optim.__all__ if n[0].isupper() and n not in ("Optimizer", "SparseAdam")]


def _target(p: Any) -> Any:
    return ((p - torch.tensor([[1.0, -2.0], [0.5, 3.0]])) ** 2).sum()


def _made(name: str, **options: Any) -> tuple[Any, Any]:
    p = torch.full((2, 2), 0.5, requires_grad=True)
    return p, getattr(optim, name)([p], **options)


def _run(p: Any, optimizer: Any, steps: int) -> float:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = _target(p)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return _target(p).item()


@pytest.mark.parametrize("name", NAMES)
def test_a_function_is_minimised(name: str) -> None:
    rates = {"Adadelta": 5.0, "Adagrad": 0.5, "LBFGS": 0.5, "SGD": 0.1, "ASGD": 0.1, "Muon": 0.05}
    options = {"weight_decay": 0.0} if name == "Muon" else {}
    p, optimizer = _made(name, lr=rates.get(name, 0.1), **options)
    first = _target(p).item()
    slow = name in ("Adadelta", "Adafactor")  # their steps are in proportion to what was there
    assert _run(p, optimizer, 60) < (first * 0.9 if slow else first / 5)


@pytest.mark.parametrize("name", NAMES)
def test_states_copies_and_pickles(name: str) -> None:
    p, optimizer = _made(name, lr=0.05)
    _run(p, optimizer, 3)
    q, again = _made(name, lr=0.5)
    with torch.no_grad():
        q.copy_(p)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    twin = copy.deepcopy((p, optimizer))
    loaded = pickle.loads(pickle.dumps((p, optimizer)))
    expected = _run(p, optimizer, 3)
    assert _run(q, again, 3) == expected
    for r, other in (twin, loaded):
        assert _run(r, other, 3) == expected
        assert repr(other) == repr(optimizer)


def test_groups_have_options_of_their_own() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    optimizer = optim.SGD([{"params": [("a", a)], "lr": 0.5}], lr=0.1)
    optimizer.add_param_group({"params": [("b", b)]})
    assert [g["lr"] for g in optimizer.param_groups] == [0.5, 0.1]
    assert [g["param_names"] for g in optimizer.state_dict()["param_groups"]] == [["a"], ["b"]]
    for p in (a, b):
        p.grad = torch.ones(2)
    optimizer.step()
    assert (a.tolist(), b.tolist()) == ([0.5, 0.5], pytest.approx([0.9, 0.9]))
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [torch.ones(1, requires_grad=True)]})


def test_gradients_are_forgotten() -> None:
    p, optimizer = _made("SGD")
    p.grad = torch.ones(2, 2)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks() -> None:
    seen: list[str] = []
    p, optimizer = _made("Adam")
    handles = [
        optimizer.register_step_pre_hook(lambda o, a, k: seen.append("before")),
        optimizer.register_step_post_hook(lambda o, a, k: seen.append("after")),
        register_optimizer_step_pre_hook(lambda o, a, k: seen.append("every before")),
        register_optimizer_step_post_hook(lambda o, a, k: seen.append("every after")),
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("ask")),
        optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1}),
        optimizer.register_load_state_dict_pre_hook(lambda o, s: seen.append("load")),
        optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded")),
    ]
    p.grad = torch.ones(2, 2)
    optimizer.step()
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert state["more"] == 1
    assert seen == ["every before", "before", "after", "every after", "ask", "load", "loaded"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 7
    optimizer.register_step_pre_hook(lambda o, a, k: 1)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


def test_hooks_of_steps_get_the_optimizer_among_the_arguments() -> None:
    _, optimizer = _made("SGD")
    seen: list[Any] = []
    optimizer.register_step_pre_hook(lambda o, a, k: ((*a, lambda: 3), {}))
    optimizer.register_step_post_hook(lambda o, a, k: seen.append((a[0] is o, len(a), k)))
    assert optimizer.step() == 3
    assert seen == [(True, 2, {})]


def test_a_refused_step_changes_nothing() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    a.grad, b.grad = torch.ones(2), torch.ones(3)
    for kind in (optim.Adafactor, optim.SparseAdam):
        optimizer = kind([a, b])
        if kind is optim.Adafactor:
            c = torch.ones(2, dtype=torch.complex64, requires_grad=True)
            c.grad = torch.ones(2, dtype=torch.complex64)
            optimizer.add_param_group({"params": [c]})
        with pytest.raises(RuntimeError, match="does not support"):
            optimizer.step()
        assert not optimizer.state
        assert a.tolist() == [1.0, 1.0]


def test_a_step_that_fails_says_how_far_it_came() -> None:
    a = torch.ones(2, requires_grad=True)
    optimizer = optim.RMSprop([a])
    a.grad = torch.ones(2)
    optimizer.param_groups[0]["weight_decay"] = "much"
    with pytest.raises(TypeError) as caught:
        optimizer.step()
    assert "stopped in parameter group 0" in "".join(caught.value.__notes__)


def test_steps_can_be_differentiated() -> None:
    for name in ("SGD", "Adam", "RMSprop", "NAdam", "Adagrad", "Adadelta"):
        start = torch.ones(3, dtype=torch.float64, requires_grad=True)
        p = start.clone()
        optimizer = getattr(optim, name)([p], lr=0.1, differentiable=True)
        for _ in range(3):
            p.grad = p.clone() * start * start
            optimizer.step()
        p.sum().backward()
        assert start.grad is not None
        assert not start.grad.equal(torch.ones(3, dtype=torch.float64)), name


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_steps_by_largest_squares_can_be_differentiated(name: str) -> None:
    def step(*given: Any) -> Any:
        p, p_grad, *state = (t.clone() for t in given)
        p.grad = p_grad
        optimizer = getattr(optim, name)([p], lr=0.9, amsgrad=True, differentiable=True)
        kept = dict(zip(("exp_avg", "exp_avg_sq", "max_exp_avg_sq"), state, strict=True))
        optimizer.state[p] = {"step": torch.tensor(10.0, dtype=torch.float64), **kept}
        optimizer.step()
        return p, *kept.values()

    values = torch.arange(1.0, 16.0, dtype=torch.float64).reshape(5, 3) / 16
    values[4] = torch.tensor([0.01, 0.9, 2.0])  # below and above what the squares become
    assert torch.autograd.gradcheck(step, [row.clone().requires_grad_() for row in values])


def test_steps_in_a_pipeline() -> None:
    p, optimizer = _made("AdamW")
    q, later = _made("AdamW")
    for r in (p, q):
        r.grad = torch.ones(2, 2)
    optimizer.step()
    with torch.pipeline():
        later.step()
        assert q._pending
    assert p.equal(q)


def test_a_schedule_warns_of_a_wrong_order() -> None:
    _, optimizer = _made("SGD")
    schedule = lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        schedule.step()
    with pytest.warns(UserWarning, match="use `get_last_lr"):
        schedule.get_lr()


def test_a_schedule_goes_on_from_its_state() -> None:
    _, optimizer = _made("SGD", lr=1.0)
    schedule = lr_scheduler.SequentialLR(
        optimizer,
        [
            lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4),
            lr_scheduler.ExponentialLR(optimizer, 0.5),
        ],
        [4],
    )
    optimizer.step()
    for _ in range(3):
        schedule.step()
    _, other = _made("SGD", lr=1.0)
    again = lr_scheduler.SequentialLR(
        other,
        [lr_scheduler.LinearLR(other, 0.1, total_iters=4), lr_scheduler.ExponentialLR(other, 0.5)],
        [4],
    )
    other.load_state_dict(optimizer.state_dict())
    again.load_state_dict(schedule.state_dict())
    other.step()
    for _ in range(4):
        schedule.step()
        again.step()
        assert schedule.get_last_lr() == again.get_last_lr()


def test_averages_of_models() -> None:
    model = nn.Linear(2, 1)
    average = swa_utils.AveragedModel(model)
    moving = swa_utils.AveragedModel(model, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.5))
    for value in (1.0, 2.0, 6.0):
        with torch.no_grad():
            model.weight.fill_(value)
        average.update_parameters(model)
        moving.update_parameters(model)
    assert average.module.weight.tolist() == [[3.0, 3.0]]
    assert moving.module.weight.tolist() == [[3.75, 3.75]]
    assert average.n_averaged.item() == 3
    x = torch.ones(1, 2)
    assert average(x).equal(average.module(x))


def test_statistics_for_averaged_models() -> None:
    model = nn.Sequential(nn.BatchNorm1d(2))
    batches = [torch.full((4, 2), float(i)) + torch.arange(4.0)[:, None] for i in range(3)]
    swa_utils.update_bn(batches, model)
    assert model[0].running_mean.tolist() == pytest.approx([2.5, 2.5])
    assert model[0].momentum == 0.1
    assert model.training


def test_warnings_of_schedules_name_the_callers_line() -> None:
    _p, optimizer = _made("SGD", lr=1.0)
    schedule = lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="before `optimizer.step") as early:
        schedule.step()
    optimizer.step()
    with pytest.warns(UserWarning, match="epoch") as given:
        schedule.step(3)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.warns(UserWarning, match="epoch") as counted:
        plateau.step(1.0, epoch=2)
    assert {w.filename for seen in (early, given, counted) for w in seen} == {__file__}
