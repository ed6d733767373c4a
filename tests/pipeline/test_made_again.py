"""Values that are let go, and made again where a late op reads them: the same bits, with less memory."""

import contextlib

import numpy as np
import pytest
from drawn_networks import bits, gradients, inputs, network

import mindtorch_core as torch
from mindtorch_core import nn
from mindtorch_core.backend import PROGRAMS
from mindtorch_core.deferred.remaking.choosing import LIMITS

F = nn.functional


@pytest.fixture(autouse=True)
def small_values(monkeypatch):
    """Make values of any size again, where nothing of it is known yet."""
    monkeypatch.setattr(LIMITS, "least_bytes", 1)
    monkeypatch.setattr(LIMITS, "least_share", 0.0)
    PROGRAMS.forget("cpu")
    yield
    PROGRAMS.forget("cpu")


def layers(activation=nn.GELU, count=4):
    torch.manual_seed(0)
    made = [each for _ in range(count) for each in (nn.Linear(8, 8), activation())]
    return nn.Sequential(*made), torch.randn(36, 8)


def step(net, x, block=None):
    """Gradients of a network, and what the pipeline says."""
    net.zero_grad()
    if block is None:
        net(x).square().mean().backward()
        return [p.grad for p in net.parameters()], {}
    with block as pipe:
        net(x).square().mean().backward()
    return [p.grad for p in net.parameters()], pipe.stats()


def whole(**options):
    return torch.pipeline(through_backward=True, **options)


def alike(given, wanted):
    return all(torch.equal(a, b) for a, b in zip(given, wanted, strict=True))


@pytest.mark.parametrize("activation", [nn.GELU, nn.SiLU, nn.Mish, nn.Softplus])
def test_what_a_layer_passes_on_is_made_again(way, activation):
    net, x = layers(activation)
    wanted, _ = step(net, x)
    for _ in range(5):
        given, stats = step(net, x, whole())
        assert alike(given, wanted)
        assert (stats["remade"], stats["dropped"]) == (3, 3)
        assert stats["remade_bytes"] > 0
        assert stats["recorded"] == stats["launched"] == 36


def test_views_of_it_are_made_again_as_well(way):
    """The layers take three dimensions: gradients of the weights read what was passed on as matrices."""
    net, x = layers()
    x = x.view(4, 9, 8)
    wanted, _ = step(net, x)
    for _ in range(4):
        given, stats = step(net, x, whole())
        assert alike(given, wanted)
        assert stats["remade"] == 3


def remade_of(block):
    """Run what is recorded in a pipeline; how many values were made again."""
    with whole() as pipe:
        found = block()
    return pipe.stats()["remade"], found


def passed(x, w, between=lambda h, a: None):
    """Reads what it makes of a product early, and late, with something large between."""
    h = x @ w
    a = torch.exp(h)
    y = a @ w
    kept = between(h, a)
    large = torch.cat([y, y, y, y, y, y]).sum()
    return large, (a @ w).sum() + h.sum(), kept


def operands():
    torch.manual_seed(1)
    return torch.randn(6, 6), torch.randn(6, 6)


@pytest.mark.parametrize(
    ("between", "times"),
    [
        (lambda h, a: None, 1),
        (lambda h, a: a, 0),  # somebody has it
        (lambda h, a: a[1:], 0),  # or a view of it
        (lambda h, a: h.add_(1), 0),  # it follows from that no more
        (lambda h, a: a.add_(1), 0),  # it is not what was made
        (lambda h, a: h.view(-1).fill_(2.0), 0),
    ],
)
def test_only_what_nobody_can_tell_is_made_again(way, between, times):
    given = operands()
    wanted = passed(*given, between)
    for _ in range(4):
        remade, found = remade_of(lambda: passed(*given, between))
        assert remade == times
        for a, b in zip(found, wanted, strict=True):
            assert a is b is None or torch.equal(a, b)


def test_what_a_graph_still_holds_is_kept():
    net, x = layers()
    net.zero_grad()
    with whole() as pipe:
        loss = net(x).square().mean()
        loss.backward(retain_graph=True)
    assert pipe.stats()["remade"] == 0
    first = [p.grad.clone() for p in net.parameters()]
    loss.backward()
    assert alike([p.grad / 2 for p in net.parameters()], first)


def test_hooks_of_saved_tensors_hold_what_they_were_given():
    net, x = layers()
    wanted, _ = step(net, x)
    seen = []

    def pack(t):
        seen.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        given, stats = step(net, x, whole())
    assert alike(given, wanted)
    assert (stats["remade"], bool(seen)) == (0, True)


def test_where_backward_flushes_nothing_is_known_of_late_readers():
    net, x = layers()
    wanted, _ = step(net, x)
    given, stats = step(net, x, torch.pipeline())
    assert alike(given, wanted)
    assert stats["remade"] == 0


def picked(x, w, table, index):
    """As `passed`, with an op between that fails where an index is out of bounds."""
    h = x @ w
    a = torch.exp(h)
    y = a @ w
    bad = table[index]
    large = torch.cat([y, y, y, y, y, y]).sum()
    return large, bad, (a @ w).sum() + h.sum()


@pytest.mark.parametrize("fails", [0, 1, 4])
def test_an_error_between_leaves_what_is_late_to_be_made_again(way, fails):
    """Of a block that comes again, what was let go before the error is needed after it."""
    x, w = operands()
    table, right, wrong = torch.arange(5), torch.tensor([2]), torch.tensor([7])
    wanted, found = picked(x, w, table, right), []

    def block(index):
        found.clear()
        with whole():
            found.extend(picked(x, w, table, index))

    for run in range(6):
        if run == fails:
            with pytest.raises(IndexError, match=r"test_made_again\.py:\d+"):
                block(wrong)
            with pytest.raises(IndexError):
                found.pop(1).tolist()
            assert alike(found, [wanted[0], wanted[2]])
        else:
            block(right)
            assert alike(found, wanted)


@pytest.mark.parametrize("comes", [0, 1, 4])
def test_after_an_interrupt_what_is_late_is_made_again(way, monkeypatch, comes):
    x, w = operands()
    wanted, found, now = passed(x, w), [], False
    concatenate = np.concatenate

    def interrupted(*args, **options):
        nonlocal now
        if now:
            now = False
            raise KeyboardInterrupt
        return concatenate(*args, **options)

    monkeypatch.setattr(np, "concatenate", interrupted)

    def block():
        found.clear()
        with whole():
            found.extend(passed(x, w))

    for run in range(6):
        now = run == comes
        with pytest.raises(KeyboardInterrupt) if now else contextlib.nullcontext():
            block()
        assert alike(found[:2], wanted[:2])


def test_a_trace_says_what_was_made_again():
    net, x = layers()
    with whole(trace=True) as pipe:
        net(x).square().mean().backward()
    (flush,) = pipe.observer.flushes
    again = [node for node in flush.nodes if node.remade]
    assert [(n.name, n.marks[-1]) for n in again] == [("gelu", "made again")] * 3
    assert "3 made again" in flush.summary
    assert sum(node.dropped for node in flush.nodes) == pipe.stats()["dropped"] == 3


@pytest.mark.parametrize("asks", [True, False])
def test_a_backend_is_given_what_was_recorded_unless_it_asks(toy, monkeypatch, asks):
    given = []

    def plan(self, entries):
        given.extend([(e.op.name, e.op.repeats) for e in entries])

    monkeypatch.setattr(toy.ToyRuntime, "plan", plan, raising=False)
    if asks:
        monkeypatch.setattr(toy.ToyRuntime, "remakes", lambda self, op: op.name == "aten::mul")
    x = torch.ones(2, 2, device="toy")
    with torch.pipeline() as pipe:
        b = x + 1
        a = b * 2
        large = torch.zeros(9, 9, device="toy") + (a + 1).sum()
        late = (large.sum() + 1) * a + b
        del a, b, large
    assert late.tolist() == [[6486.0] * 2] * 2
    assert given.count(("aten::mul", True)) == pipe.stats()["remade"] == asks


@pytest.mark.parametrize("seed", range(24))
def test_drawn_networks_give_the_same_bits(way, seed):
    forward, weights = network(seed)

    def runs(block):
        given, found = inputs(seed, weights), []
        for _ in range(4):
            for t in given[1:]:
                t.grad = None
            loss = block(forward, given)
            if seed % 3 == 0:
                with torch.no_grad():
                    for t in given[1:]:
                        if t.grad is not None:
                            t.sub_(t.grad * 0.1)
            found.append(bits(loss, given))
        return found

    def as_one(forward, given):
        with whole():
            return gradients(forward, given)

    assert runs(as_one) == runs(gradients)


def test_a_captured_step_makes_them_again():
    net, x = layers()
    wanted, _ = step(net, x)

    def training(x):
        net.zero_grad()
        net(x).square().mean().backward()
        return [p.grad for p in net.parameters()]

    captured = torch.pipeline.capture(training)
    for _ in range(3):
        assert alike(captured(x), wanted)
    made = [kept.program for kept in PROGRAMS._kept.values()]
    assert any(len(program.again) == 3 for program in made)
