"""Blocks that come in a few forms: batches of two sizes, training and evaluation. Each form is replayed."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_core.deferred.replay.sites import HOPELESS

F = nn.functional
ORDERS = {
    "two sizes in turns": [(5, True), (3, True)] * 7,
    "the last batch is smaller": ([(5, True)] * 3 + [(2, True)]) * 4,
    "training and evaluation": ([(5, True)] * 2 + [(5, False)] * 2) * 4,
    "both, in two sizes": [(5, True), (3, True), (5, False), (3, False)] * 4,
}


class AtOnce:
    """A block that defers nothing."""

    __enter__ = __exit__ = lambda self, *args: None


def train(order, block):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    losses, pipes = [], []
    for size, training in order:
        x, y = torch.randn(size, 6), torch.randint(0, 3, (size,))
        with block() as pipe, torch.set_grad_enabled(training):
            loss = F.cross_entropy(net(x), y)
            if training:
                opt.zero_grad()
                loss.backward()
                opt.step()
        losses.append(loss.detach())
        pipes.append(pipe)
    return [*losses, *(p.detach() for p in net.parameters())], pipes


@pytest.mark.parametrize("through", [True, False])
@pytest.mark.parametrize("name", ORDERS)
def test_each_form_is_replayed(name, through):
    order = ORDERS[name]
    wanted, _ = train(order, AtOnce)
    # A site of its own: what is known at a line is known of all nets that come there.
    block = type("Block", (torch.Pipeline,), {})
    place = torch.deferred.replay.sites.site_of(block, 0, 0, 0)

    def opened():
        pipe = torch.pipeline(through_backward=through)
        pipe.place = place
        return pipe

    found, pipes = train(order, opened)
    assert all(map(torch.equal, wanted, found))
    for pipe, (_, training) in list(zip(pipes, order, strict=True))[-4:]:
        stats = pipe.stats()
        assert stats["replayed"] == stats["recorded"] > 0
        assert stats["replayed_walks"] == training


@pytest.mark.parametrize("count", [2, 3, 4])
def test_forms_that_part_later_are_found(count):
    """They have the same first ops; one is the beginning of another."""

    def step(x, form):
        with torch.pipeline() as pipe:
            y = x * 2 + 1
            for _ in range(form):
                y = (y - x).tanh()
        return y, pipe

    x = torch.randn(4, 3)
    for i in range(6 * count):
        found, pipe = step(x, i % count)
        with torch.no_grad():
            wanted = x * 2 + 1
            for _ in range(i % count):
                wanted = (wanted - x).tanh()
        assert torch.equal(found, wanted)
        if i >= 4 * count:
            assert pipe.stats()["replayed"] == pipe.stats()["recorded"] == 2 + 2 * (i % count)


def test_other_arguments_that_are_no_numbers():
    def step(x, dim):
        with torch.pipeline() as pipe:
            y = (x + 1).sum(dim) * 2
        return y, pipe

    x = torch.arange(9.0).reshape(3, 3)
    for i in range(12):
        y, pipe = step(x, i % 2)
        assert torch.equal(y, (x + 1).sum(i % 2) * 2)
    assert pipe.stats()["replayed"] == 3


def test_any_order_gives_what_eager_ops_give():
    def step(x, w, size, drop):
        with torch.pipeline() as pipe:
            y = x[:size] @ w
            if drop:
                y = y.relu()
            y += 1
            z = y.t().sum(0)
        return z, y, pipe

    torch.manual_seed(1)
    x, w = torch.randn(6, 4), torch.randn(4, 2)
    picks = torch.randint(0, 4, (60,)).tolist()
    replayed = 0
    for pick in picks:
        size, drop = 2 + pick // 2, pick % 2
        z, y, pipe = step(x, w, size, drop)
        wanted = x[:size] @ w
        wanted = (wanted.relu() if drop else wanted) + 1
        assert torch.equal(y, wanted)
        assert torch.equal(z, wanted.t().sum(0))
        replayed += bool(pipe.stats()["replayed"])
    assert replayed


def test_too_many_forms_are_given_up():
    def step(x):
        with torch.pipeline() as pipe:
            pipe_site.append(pipe.site)
            y = x * 2 + x.sum()
        return y, pipe

    pipe_site = []
    for _, n in itertools.product(range(3), range(1, 10)):
        y, pipe = step(torch.ones(n))
        assert y.tolist() == [2.0 + n] * n
    site = pipe_site[-1]
    assert site.missed >= HOPELESS
    assert sum(map(len, site.traces.values())) <= 4
    assert pipe.stats()["replayed"] == 0


def test_what_is_held_of_a_form_that_was_followed_before():
    """Values that were handed out while another form was expected are the new form's."""

    def step(x, more):
        with torch.pipeline():
            a = x * 2
            kept.append(a)
            b = a + 1
            c = b.exp() if more else b.neg()
        return a, b, c

    kept = []
    x = torch.ones(3)
    for i in range(16):
        a, b, c = step(x * i, i % 3 == 0)
        assert kept.pop() is a
        assert a.tolist() == [2.0 * i] * 3
        assert b.tolist() == [2.0 * i + 1] * 3
        assert torch.equal(c, b.exp() if i % 3 == 0 else -b)


def test_in_place_forms():
    def step(x, twice):
        with torch.pipeline() as pipe:
            x.add_(1)
            if twice:
                x.mul_(2)
            y = x + 0
        return y, pipe

    x, wanted = torch.zeros(3), 0.0
    for i in range(14):
        y, pipe = step(x, i % 2)
        wanted = (wanted + 1) * (2 if i % 2 else 1)
        assert x.tolist() == y.tolist() == [wanted] * 3
    assert pipe.stats()["replayed"] == 3
