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


def aligned(net, opt, x, y):
    opt.zero_grad()
    odds = net(x.expand(4, 5, 6)).log_softmax(2)
    sizes = torch.full((5,), 2)
    F.ctc_loss(odds, 1 + y.view(5, 1) % 2 + x.new_zeros(5, 2).long(), sizes + 2, sizes).backward()
    opt.step()


def twice(net, opt, x, y):
    plain(net, opt, x, y)
    plain(net, opt, x * 2, y)


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
    "alignment": (aligned, "SGD"),
    **{
        name: (plain, name)
        for name in (
            "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Rprop", "Adamax", "NAdam", "RAdam",
            "ASGD", "Adafactor",
        )
    },
    **{f"two of {name}": (twice, name) for name in ("Adam", "Adamax", "NAdam", "ASGD", "Adafactor")},
}  # fmt: skip
OPTIONS = {
    "Adamax": [{"weight_decay": 0.1}, {"maximize": True}, {"foreach": True}],
    "NAdam": [{"weight_decay": 0.1, "decoupled_weight_decay": True}, {"maximize": True}],
    "RAdam": [{"weight_decay": 0.1, "decoupled_weight_decay": True}, {"betas": (0.8, 0.9)}],
    "ASGD": [{"t0": 2, "lambd": 0.1}, {"weight_decay": 0.1, "foreach": False}],
    "Adafactor": [{"weight_decay": 0.1}, {"d": 1.5, "eps": (1e-5, 0.5)}, {"maximize": True}],
}


def train(step, optimizer, block, steps=9, **options):
    torch.manual_seed(0)
    net = nn.Sequential(*layers())
    opt = getattr(torch.optim, optimizer)(net.parameters(), **{"lr": 0.01, **options})
    data = [(torch.randn(5, 6), torch.randint(0, 3, (5,))) for _ in range(steps)]
    pipes = []
    for x, y in data:
        with block() as pipe:
            step(net, opt, x, y)
        pipes.append(pipe)
    state = [t for p in net.parameters() for t in opt.state[p].values()]
    return [*(p.detach() for p in net.parameters()), *state], pipes


def whole():
    return torch.pipeline(through_backward=True)


def check_one_plan(wanted, found, pipes):
    """The results are those of eager steps; no block was broken, and the last one was replayed."""
    assert all(map(torch.equal, wanted, found))
    for pipe in pipes:
        stats = pipe.stats()
        assert stats["flush_reasons"] == {"end of block": 1}
        assert stats["breaks"] == {}
    assert stats["replayed"] == stats["recorded"] > 0


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
    found, pipes = train(step, optimizer, whole)
    check_one_plan(wanted, found, pipes[name == "average" :])  # it copies the net in the first one


@pytest.mark.parametrize(
    ("optimizer", "options"), [(name, kind) for name, kinds in OPTIONS.items() for kind in kinds]
)
@pytest.mark.parametrize("lr", ["number", "tensor"])
def test_options_leave_it_one_plan(optimizer, options, lr):
    def rate():
        return {"lr": torch.tensor(0.01) if lr == "tensor" else 0.01}

    wanted, _ = train(plain, optimizer, AtOnce, **rate(), **options)
    found, pipes = train(plain, optimizer, whole, **rate(), **options)
    check_one_plan(wanted, found, pipes)


@pytest.mark.parametrize("optimizer", ["Adamax", "NAdam", "RAdam", "ASGD", "Adafactor"])
def test_what_uses_numbers_of_an_optimizer_keeps_its_order(optimizer):
    """Ops of the block that read and write how many steps there were come before and after the step."""

    def step(net, opt, x, y):
        p = next(net.parameters())
        before = opt.state[p]["step"] * 1 if p in opt.state else torch.zeros(())
        plain(net, opt, x, y)
        opt.state[p]["seen"] = torch.stack([before, opt.state[p]["step"] + 0])
        opt.state[p]["step"].mul_(2)

    wanted, _ = train(step, optimizer, AtOnce, steps=3)
    found, _ = train(step, optimizer, whole, steps=3)
    assert all(map(torch.equal, wanted, found))
    assert [t.tolist() for t in wanted if t.shape == (2,)] == [[6.0, 7.0]]


@pytest.mark.parametrize(("steps", "sizes"), [((5, 3), (2, 2)), ((4, 4), (3, 1)), ((0, 2), (0, 2))])
def test_lengths_that_are_computed_are_not_looked_at(steps, sizes):
    """The loss lays out as many labels as there is room for then, and comes to the same."""

    def run(block):
        torch.manual_seed(0)
        x = torch.randn(5, 2, 4, requires_grad=True)
        labels = torch.tensor([[1, 2, 2, 3], [2, 3, 1, 1]])
        with block() as pipe:
            lengths = [torch.tensor(n) + 0 for n in (steps, sizes)]
            loss = F.ctc_loss(x.log_softmax(2), labels, *lengths, zero_infinity=True)
            loss.backward()
        return (loss.detach(), x.grad), pipe

    wanted, _ = run(AtOnce)
    found, pipe = run(whole)
    assert all(map(torch.equal, wanted, found))
    assert pipe.stats()["flush_reasons"] == {"end of block": 1}


@pytest.mark.parametrize(
    ("steps", "sizes"), [((6, 3), (2, 2)), ((-1, 3), (2, 2)), ((5, 5), (2, 5)), ((5, 5), (-1, 2))]
)
def test_computed_lengths_out_of_range_fail_when_they_are_there(steps, sizes):
    x, labels = torch.randn(5, 2, 4), torch.tensor([[1, 2, 2, 3], [2, 3, 1, 1]])
    with pytest.raises(RuntimeError):
        F.ctc_loss(x.log_softmax(2), labels, torch.tensor(steps), torch.tensor(sizes))
    pipe = whole()
    with pipe:
        lengths = torch.tensor(steps) + 0, torch.tensor(sizes) + 0
        loss = F.ctc_loss(x.log_softmax(2), labels, *lengths)
        with pytest.raises(torch.PipelineError, match="out of bounds"):
            pipe.flush()
    assert loss._pending


def test_low_precision_says_what_it_looks_at():
    def train(block):
        torch.manual_seed(0)
        p = torch.randn(8, 4).bfloat16().requires_grad_()
        opt = torch.optim.Adafactor([p])
        for _ in range(3):
            with block() as pipe:
                opt.zero_grad()
                p.square().sum().backward()
                opt.step()
        return p.detach(), pipe

    wanted, _ = train(AtOnce)
    found, pipe = train(whole)
    assert torch.equal(wanted, found)
    assert pipe.stats()["breaks"] == {"item()": 2}


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
