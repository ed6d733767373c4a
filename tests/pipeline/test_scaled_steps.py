"""Steps with scaled losses are one plan too: a step that is left out is taken back, by ops."""

import bare
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
    ("Adamax", {}),
    ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("RAdam", {"betas": (0.9, 0.5)}),  # whose way does not change as it trusts its averages
    ("ASGD", {"lambd": 0.1}),
    ("Adafactor", {}),
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


@pytest.fixture(scope="module")
def _bare(tmp_path_factory):
    """A device whose steps are made of simpler ops."""
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        yield


@pytest.mark.usefixtures("_bare")
@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        ("Adam", {}),
        ("Adam", {"foreach": True, "amsgrad": True}),
        ("AdamW", {"fused": True}),
        ("Adam", {"capturable": True}),
        ("Adagrad", {"lr_decay": 0.1}),
        ("NAdam", {}),
        ("SGD", {"momentum": 0.9}),
    ],
)
@pytest.mark.parametrize("scaled", [False, True])
def test_a_device_without_such_kernels_counts_as_it_does_at_once(optimizer, options, scaled):
    def trained(block):
        p = torch.tensor([1.0, -2.0, 3.0], device="bare", requires_grad=True)
        opt = getattr(torch.optim, optimizer)([p], lr=0.1, **options)
        scaler = torch.amp.GradScaler("bare", init_scale=4.0, enabled=scaled)
        for i in range(4):
            x = torch.full((3,), float("inf") if scaled and i == 1 else 0.5 + i, device="bare")
            with block() as pipe:
                opt.zero_grad()
                scaler.scale((p * x).tanh().sum() + (p * x).sum()).backward()
                scaler.step(opt)
                scaler.update()
        return [p.tolist(), *(float(t.sum()) for t in opt.state[p].values())], pipe

    wanted, _ = trained(AtOnce)
    for block in (torch.pipeline, whole):
        assert trained(block)[0] == wanted
    assert not any("GradScaler" in reason for reason in trained(whole)[1].stats()["breaks"])


def test_two_steps_in_one_block():
    def trained(block):
        p = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
        opt, scaler = torch.optim.NAdam([p], lr=0.1), torch.amp.GradScaler("cpu", init_scale=4.0)
        with block():
            for i in range(4):
                opt.zero_grad()
                scaler.scale((p * (float("nan") if i == 2 else i + 1)).square().sum()).backward()
                scaler.step(opt)
                scaler.update()
        return p.tolist(), opt.state[p]["step"].item(), scaler.get_scale()

    wanted = trained(AtOnce)
    assert wanted[1:] == (3.0, 2.0)
    assert trained(whole) == wanted


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
