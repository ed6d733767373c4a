"""States of optimizers and schedules pass between this library and PyTorch, both ways."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")


import torch as pt

import mindtorch_core as torch

OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adadelta": {},
    "Adagrad": {},
    "RMSprop": {"momentum": 0.5, "centered": True},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
    "LBFGS": {"max_iter": 3},
}
START = np.arange(6, dtype=np.float64).reshape(2, 3) / 3 - 1


def _made(lib: Any, name: str) -> tuple[Any, Any]:
    p = lib.tensor(START).requires_grad_(True)
    return p, getattr(lib.optim, name)([p], lr=0.05, **OPTIMIZERS[name])


def _steps(p: Any, optimizer: Any, count: int) -> None:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((p - 2) ** 2 * (p * p + 1)).sum()
        loss.backward()
        return loss

    for _ in range(count):
        optimizer.step(closure)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("there", [True, False], ids=["from PyTorch", "to PyTorch"])
def test_a_state_goes_on_in_the_other_library(name: str, there: bool) -> None:
    one, other = (pt, torch) if there else (torch, pt)
    p, optimizer = _made(one, name)
    _steps(p, optimizer, 3)
    file = io.BytesIO()
    one.save({"p": p.detach(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    saved = other.load(file)
    q, again = _made(other, name)
    with other.no_grad():
        q.copy_(saved["p"])
    again.load_state_dict(saved["optimizer"])
    _steps(p, optimizer, 4)
    _steps(q, again, 4)
    np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "Adagrad", "NAdam", "RAdam", "Rprop", "Adamax"])
@pytest.mark.parametrize("option", ["capturable", "fused", "foreach"])
def test_where_numbers_of_old_states_are_put(name: str, option: str) -> None:
    """States that were saved before their numbers were tensors; kernels want them beside parameters."""
    places = []
    for lib in (torch, pt):
        p = lib.nn.Parameter(lib.zeros(2, device="meta"))
        optimizer = getattr(lib.optim, name)([p])
        saved = optimizer.state_dict()
        if option not in saved["param_groups"][0]:
            return
        saved["param_groups"][0][option] = True
        optimizer.load_state_dict({**saved, "state": {0: {"step": 3.0, "mu_product": 0.5}}})
        kept = [optimizer.state[p][n] for n in ("step", "mu_product")]
        places.append([(str(v.device), str(v.dtype)) for v in kept if not isinstance(v, float)])
    assert places[0] == places[1]


SCHEDULES: dict[str, Any] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda n: 0.9**n),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda n: 0.95),
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5]),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.25, 4),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, 0.9, 6),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.8),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 7, 2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 5, 0.001),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, mode="triangular2"),
    "CyclicLR-exp": lambda s, o: s.CyclicLR(o, 0.01, 0.1, 3, 4, mode="exp_range", gamma=0.9),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=12),
    "OneCycleLR-three": lambda s, o: s.OneCycleLR(
        o, 0.3, epochs=3, steps_per_epoch=4, anneal_strategy="linear", three_phase=True
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 10), s.ExponentialLR(o, 0.9)], [4]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]
    ),
}


def _plain(state: Any) -> Any:
    if isinstance(state, dict):
        return {k: _plain(v) for k, v in state.items() if not callable(v)}
    if isinstance(state, list | tuple):
        return [_plain(v) for v in state]
    return pytest.approx(state, rel=1e-9) if isinstance(state, float) else state


@pytest.mark.parametrize("tensor", [False, True], ids=["a number", "a tensor"])
@pytest.mark.parametrize(
    "options", [{"t0": 1.0}, {"lambd": 0.5, "alpha": 0.9}, {"t0": 2, "lambd": 0.3}]
)
def test_what_averaging_keeps_moves_alike(options: dict[str, Any], tensor: bool) -> None:
    """With the usual options the rate and the share hardly move in a few steps."""
    kept = []
    for lib in (torch, pt):
        lib_: Any = lib
        p = lib_.tensor(START).requires_grad_(True)
        lr = lib_.tensor(0.05) if tensor else 0.05
        made = lib_.optim.ASGD([p], lr=lr, **options)
        for _ in range(5):
            made.zero_grad()
            (p * p * p).sum().backward()
            made.step()
        state = made.state[p]
        kept.append(
            [np.asarray(state[n].tolist()) for n in ("eta", "mu", "ax", "step")] + [p.tolist()]
        )
    for mine, other in zip(*kept, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("tensor", [False, True])
def test_schedules_agree(name: str, tensor: bool) -> None:
    seen: list[list[Any]] = []
    states = []
    for lib in (torch, pt):
        p = lib.zeros(2, requires_grad=True)
        q = lib.zeros(3, requires_grad=True)
        lr = lib.tensor(0.5, dtype=lib.float64) if tensor else 0.5
        groups = [{"params": [p]}, {"params": [q], "lr": lib.tensor(0.2) if tensor else 0.2}]
        optimizer = lib.optim.SGD(groups, lr=lr, momentum=0.9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            schedule = SCHEDULES[name](lib.optim.lr_scheduler, optimizer)
            rates = []
            for _ in range(12):
                optimizer.step()
                rates.append([float(g["lr"]) for g in optimizer.param_groups])
                rates[-1] += [float(g["momentum"]) for g in optimizer.param_groups]
                schedule.step()
        rates.append([float(x) for x in schedule.get_last_lr()])
        seen.append(rates)
        states.append(schedule.state_dict())
    np.testing.assert_allclose(np.hstack(seen[0]), np.hstack(seen[1]), rtol=1e-6, atol=1e-9)
    if not tensor:
        hidden = {"_anneal_func_type"}
        assert set(states[0]) - hidden == set(states[1]) - hidden


def test_plateau_and_its_state() -> None:
    metrics = [1.0, 0.9, 0.95, 0.95, 0.94, 0.93, 0.5, 0.6, 0.6, 0.6, 0.6]
    for options in ({}, {"mode": "max"}, {"threshold_mode": "abs", "cooldown": 2, "min_lr": 0.01}):
        seen = []
        for lib in (torch, pt):
            optimizer = lib.optim.SGD([lib.zeros(1, requires_grad=True)], lr=0.5)
            schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, **options)
            rates = []
            for m in metrics:
                schedule.step(m)
                rates.append(optimizer.param_groups[0]["lr"])
            seen.append((rates, schedule.state_dict()))
        assert seen[0][0] == pytest.approx(seen[1][0])
        assert seen[0][1] == seen[1][1]


@pytest.mark.parametrize("make", ["get_ema_avg_fn", "get_ema_multi_avg_fn"])
@pytest.mark.parametrize("decay", [-0.1, 0.0, 0.5, 1.0, 1.001])
def test_decays_of_moving_averages(make: str, decay: float) -> None:
    found: list[Any] = []
    for lib in (torch, pt):
        utils, model = lib.optim.swa_utils, lib.nn.Linear(2, 1, bias=False)
        keyword = make.removeprefix("get_ema_")
        try:
            average = utils.AveragedModel(model, **{keyword: getattr(utils, make)(decay)})
        except ValueError as error:
            found.append(str(error))
            continue
        for value in (1.0, 2.0, 6.0):
            lib.nn.init.constant_(model.weight, value)
            average.update_parameters(model)
        found.append(average.module.weight.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("make", ["get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn"])
def test_averages_of_buffers_of_integers(make: str) -> None:
    found = []
    for lib in (torch, pt):
        utils, model = lib.optim.swa_utils, lib.nn.BatchNorm1d(2)
        keyword = make.partition("_")[2].partition("_")[2]
        given = {keyword: getattr(utils, make)()}
        average = utils.AveragedModel(model, use_buffers=True, **given)
        for value in (10, 20, 70):
            model.num_batches_tracked.fill_(value)
            model.running_mean.fill_(value / 8)
            average.update_parameters(model)
        kept = average.module
        found.append([kept.num_batches_tracked.item(), kept.running_mean.tolist()])
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1])


def test_swa_rate() -> None:
    for strategy in ("cos", "linear"):
        seen = []
        for lib in (torch, pt):
            optimizer = lib.optim.SGD([lib.zeros(1, requires_grad=True)], lr=0.5)
            schedule = lib.optim.swa_utils.SWALR(optimizer, 0.05, 4, strategy)
            rates = []
            for _ in range(7):
                optimizer.step()
                schedule.step()
                rates.append(optimizer.param_groups[0]["lr"])
            seen.append(rates)
        assert seen[0] == pytest.approx(seen[1])


WRONG = [
    ("SGD", {"lr": -1.0}),
    ("SGD", {"momentum": -1.0}),
    ("SGD", {"nesterov": True}),
    ("Adam", {"lr": -1.0}),
    ("Adam", {"lr": float("nan")}),
    ("Adam", {"betas": (1.0, 0.9)}),
    ("Adam", {"betas": (0.9, -0.1)}),
    ("Adam", {"eps": -1.0}),
    ("AdamW", {"weight_decay": -1}),
    ("Adam", {"fused": True, "foreach": True}),
    ("Adam", {"fused": True, "differentiable": True}),
    ("Adadelta", {"rho": 1.1}),
    ("Adafactor", {"d": 0.5}),
    ("Adagrad", {"lr_decay": -0.5}),
    ("NAdam", {"momentum_decay": -0.2}),
    ("RMSprop", {"alpha": -1.0}),
    ("Rprop", {"etas": (1.0, 0.5)}),
    ("SparseAdam", {"betas": (1.0, 0.0)}),
    ("Muon", {"adjust_lr_fn": "x"}),
]


@pytest.mark.parametrize(("name", "options"), WRONG)
def test_wrong_options_are_refused_alike(name: str, options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, RuntimeError)) as theirs:
        getattr(pt.optim, name)([pt.zeros(2, 2, requires_grad=True)], **options)
    with pytest.raises(theirs.type) as mine:
        getattr(torch.optim, name)([torch.zeros(2, 2, requires_grad=True)], **options)
    assert str(mine.value) == str(theirs.value)


def test_wrong_parameters_are_refused_alike() -> None:
    for lib in (pt, torch):
        p = lib.zeros(2, requires_grad=True)
        with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
            lib.optim.SGD([], lr=0.1)
        with pytest.raises(TypeError, match="an iterable of Tensors or dicts"):
            lib.optim.SGD(p, lr=0.1)
        with pytest.raises(TypeError, match="can only optimize Tensors"):
            lib.optim.SGD([1.0], lr=0.1)
        with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
            lib.optim.SGD([p * 2], lr=0.1)
        with pytest.raises(ValueError, match="appear in more than one parameter group"):
            lib.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)
        with pytest.raises(TypeError, match="ordered collections"):
            lib.optim.SGD([{"params": {p}}], lr=0.1)
        with pytest.warns(UserWarning, match="duplicate parameters"):
            lib.optim.SGD([p, p], lr=0.1)
        with pytest.raises(ValueError, match="Some param names are missing"):
            lib.optim.SGD([("a", p), lib.zeros(1, requires_grad=True)], lr=0.1)
        with pytest.raises(ValueError, match="different number of parameter groups"):
            lib.optim.SGD([p], lr=0.1).load_state_dict({"state": {}, "param_groups": []})


def test_representation() -> None:
    for name in ("SGD", "Adam", "RMSprop"):
        made = [
            repr(getattr(lib.optim, name)([lib.zeros(1, requires_grad=True)], lr=0.1))
            for lib in (torch, pt)
        ]
        assert made[0] == made[1]


@pytest.mark.parametrize("kind", [list, dict])
def test_a_state_that_holds_itself_is_said_to(kind: type) -> None:
    endless: Any = kind()
    if isinstance(endless, list):
        endless.append(endless)
    else:
        endless["state"] = endless
    optimizer = torch.optim.Adam([torch.zeros(2, requires_grad=True)])
    state = optimizer.state_dict() | {"state": {0: {"exp_avg": endless}}}
    with pytest.raises(RecursionError, match=f"a {kind.__name__} that holds itself has no end"):
        optimizer.load_state_dict(state)
    assert not optimizer.state
