"""Steps of training with what usually stands around them are one plan, and come again as such."""

import pytest

import mindtorch_core as torch
from mindtorch_core import nn

F = nn.functional


def layers():
    return nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)


def plain(net, opt, x, y):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()


def clipped(net, opt, x, y):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()


def mixed(net, opt, x, y):
    opt.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()


def on_its_device(net, opt, x, y):
    opt.zero_grad()
    hidden = net(x).to("cpu", torch.float64).to(x)
    F.cross_entropy(hidden.to(x.device), y).backward()
    opt.step()


def one_hot(net, opt, x, y):
    opt.zero_grad()
    F.mse_loss(net(x), F.one_hot(y, 3).float()).backward()
    opt.step()


def checkpointed(net, opt, x, y):
    opt.zero_grad()
    hidden = torch.utils.checkpoint.checkpoint(net[:2], x, use_reentrant=False)
    F.cross_entropy(net[2](hidden), y).backward()
    opt.step()


class Averaging:
    """A step, and an average of the weights."""

    def __init__(self):
        self.average = None

    def __call__(self, net, opt, x, y):
        plain(net, opt, x, y)
        if self.average is None:
            how = torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
            self.average = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=how)
        self.average.update_parameters(net)


STEPS = {
    "plain": (plain, "SGD"),
    "clipped": (clipped, "SGD"),
    "mixed precision": (mixed, "SGD"),
    "to its device": (on_its_device, "SGD"),
    "one hot": (one_hot, "SGD"),
    "checkpoint": (checkpointed, "SGD"),
    "average": (Averaging(), "SGD"),
    **{
        name: (plain, name) for name in ("Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Rprop")
    },
}


def train(step, optimizer, block):
    torch.manual_seed(0)
    net = nn.Sequential(*layers())
    opt = getattr(torch.optim, optimizer)(net.parameters(), lr=0.01)
    data = [(torch.randn(5, 6), torch.randint(0, 3, (5,))) for _ in range(6)]
    for x, y in data:
        with block() as pipe:
            step(net, opt, x, y)
    return [p.detach() for p in net.parameters()], pipe


class AtOnce:
    """A block that defers nothing."""

    __enter__ = __exit__ = lambda self, *args: None


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_plan(name):
    step, optimizer = STEPS[name]
    if isinstance(step, Averaging):
        step.average = None
    wanted, _ = train(step, optimizer, AtOnce)
    if isinstance(step, Averaging):
        step.average = None
    found, pipe = train(step, optimizer, lambda: torch.pipeline(through_backward=True))
    assert all(map(torch.equal, wanted, found))
    stats = pipe.stats()
    assert stats["flush_reasons"] == {"end of block": 1}
    assert stats["breaks"] == {}
    assert stats["replayed"] == stats["recorded"] > 0


def test_a_conversion_back_looks_at_nothing():
    """The gradient of a change of dtype is one; in pipelines that flush before backward, too."""
    x = torch.ones(4, requires_grad=True)
    with torch.pipeline() as pipe:
        (x.to(torch.bfloat16) * 2).to(torch.float32).sum().backward()
    assert pipe.stats()["flush_reasons"] == {"backward()": 1, "end of block": 1}
    assert x.grad.tolist() == [2.0] * 4


@pytest.mark.parametrize("draws", [True, False])
def test_positions_of_generators_wait_for_what_draws(draws):
    x = torch.ones(4)
    torch.manual_seed(3)
    wanted = torch.rand(4)
    torch.manual_seed(3)
    with torch.pipeline() as pipe:
        y = x * 2
        z = torch.rand(4) if draws else y
        before = torch.get_rng_state()
        torch.manual_seed(3)
        w = torch.rand(4)
    assert len(pipe.stats()["flush_reasons"]) == 1 + draws
    assert torch.equal(w, wanted)
    if draws:
        assert torch.equal(z, wanted)
        torch.set_rng_state(before)
        after = torch.rand(4)
        torch.manual_seed(3)
        torch.rand(4)
        assert torch.equal(after, torch.rand(4))
