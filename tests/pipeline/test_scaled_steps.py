"""Steps with scaled losses are one plan too: a step that is left out is taken back, by ops."""

import pytest

import mindtorch_core as torch
from mindtorch_core import nn

OPTIMIZERS = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
    ("Adagrad", {"lr_decay": 0.1}),
    ("RMSprop", {"momentum": 0.9, "centered": True}),
    ("Adadelta", {}),
    ("Rprop", {}),
]
LARGE = {1: float("inf"), 4: float("nan")}  # by number of the step


class AtOnce:
    """A block that defers nothing."""

    __enter__ = __exit__ = lambda self, *args: None


def whole():
    return torch.pipeline(through_backward=True)


def train(optimizer, options, block, *, unscaled, hook=None):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    opt = getattr(torch.optim, optimizer)(net.parameters(), lr=0.1, **options)
    if hook is not None:
        opt.register_step_post_hook(hook)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    seen, pipes = [], []
    for i in range(9):
        x = torch.randn(3, 4) * LARGE.get(i, 1.0)
        with block() as pipe:
            opt.zero_grad()
            scaler.scale(net(x).square().mean()).backward()
            if unscaled:
                scaler.unscale_(opt)
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            assert scaler.step(opt) is None
            scaler.update()
        pipes.append(pipe)
        seen.append(scaler.get_scale())
    state = [t for p in net.parameters() for t in opt.state[p].values()]
    return [*(p.detach() for p in net.parameters()), *state], seen, pipes


@pytest.mark.parametrize("unscaled", [False, True])
@pytest.mark.parametrize(("optimizer", "options"), OPTIMIZERS)
def test_a_scaled_step_is_one_plan(optimizer, options, unscaled):
    wanted, scales, _ = train(optimizer, options, AtOnce, unscaled=unscaled)
    found, seen, pipes = train(optimizer, options, whole, unscaled=unscaled)
    assert scales == seen == [8.0, 4.0, 4.0, 8.0, 4.0, 4.0, 8.0, 8.0, 16.0]
    assert all(map(torch.equal, wanted, found))
    for pipe in pipes:
        assert pipe.stats()["flush_reasons"] == {"end of block": 1}
        assert pipe.stats()["breaks"] == {}
    stats = pipes[-1].stats()
    assert stats["replayed"] == stats["recorded"] > 0


@pytest.mark.parametrize(
    ("optimizer", "options", "hook", "why"),
    [
        ("Adamax", {}, None, "Adamax computes with the number of steps that were made"),
        ("NAdam", {}, None, "NAdam computes with the number of steps that were made"),
        ("SGD", {"momentum": 0.9, "dampening": 0.5}, None, "SGD does not dampen the first step"),
        ("SGD", {}, lambda *_: None, "SGD has a step() or hooks of its own"),
    ],
)
def test_who_must_know_says_why(optimizer, options, hook, why):
    wanted, scales, _ = train(optimizer, options, AtOnce, unscaled=False, hook=hook)
    found, seen, pipes = train(optimizer, options, whole, unscaled=False, hook=hook)
    assert scales == seen
    assert all(map(torch.equal, wanted, found))
    (reason,) = pipes[0].stats()["breaks"]
    assert reason.startswith(f"GradScaler.step(): {why}")


def test_other_optimizers_say_that_they_are():
    class Own(torch.optim.Optimizer):
        def step(self, closure=None):
            with torch.no_grad():
                for p in self.param_groups[0]["params"]:
                    p.sub_(p.grad)

    p = torch.ones(2, requires_grad=True)
    opt, scaler = Own([p], {}), torch.amp.GradScaler("cpu", init_scale=2.0)
    with whole() as pipe:
        scaler.scale(p.sum()).backward()
        scaler.step(opt)
        scaler.update()
    assert p.tolist() == [0.0, 0.0]
    assert pipe.stats()["breaks"] == {"GradScaler.step(): Own has a step() of its own": 1}
