"""`torch.pipeline(through_backward=True)`: forward pass, backward pass and update are one plan."""

import contextlib

import pytest
from compilers import compiler  # noqa: F401 (a fixture)

import mindtorch_core as torch
from mindtorch_core.utils.checkpoint import checkpoint

F = torch.nn.functional


def whole():
    return torch.pipeline(through_backward=True)


def network():
    torch.manual_seed(0)
    weights = [torch.randn(6, 8), torch.randn(8), torch.randn(8, 3)]
    return [w.requires_grad_() for w in weights], torch.randn(5, 6), torch.tensor([0, 2, 1, 1, 0])


def loss_of(weights, x, y):
    a, b, c = weights
    return F.cross_entropy(torch.tanh(x @ a + b) @ c, y)


def plain(weights, x, y):
    loss_of(weights, x, y).backward()


def twice(weights, x, y):
    loss = loss_of(weights, x, y)
    loss.backward(retain_graph=True)
    loss.backward()


def with_hooks(weights, x, y):
    weights[0].register_hook(lambda g: g * 2)
    hidden = x @ weights[0]
    hidden.register_hook(lambda g: g + 1)
    hidden.retain_grad()
    (hidden.sin() @ weights[2]).sum().backward()
    weights[1].grad = hidden.grad.sum(0)


def second_order(weights, x, y):
    grads = torch.autograd.grad(loss_of(weights, x, y), weights, create_graph=True)
    sum(g.square().sum() for g in grads).backward()


def checkpointed(weights, x, y):
    a, b, c = weights
    hidden = checkpoint(
        lambda x: torch.tanh(x @ a + b), x, use_reentrant=False, preserve_rng_state=False
    )
    F.cross_entropy(hidden @ c, y).backward()


def clipped(weights, x, y):
    plain(weights, x, y)
    norm = torch.stack([w.grad.norm() for w in weights]).norm()
    for w in weights:
        w.grad.mul_(torch.clamp(0.1 / norm, max=1.0))


@pytest.mark.parametrize("kind", [plain, twice, with_hooks, second_order, checkpointed, clipped])
def test_a_training_step_is_one_flush(kind):
    def train(block, steps=3):
        weights, x, y = network()
        moments = [torch.zeros_like(w) for w in weights]
        pipes = []
        for _ in range(steps):
            with block() as pipe:
                kind(weights, x, y)
                with torch.no_grad():
                    for w, m in zip(weights, moments, strict=True):
                        m.mul_(0.9).add_(w.grad)
                        w.sub_(m, alpha=0.1)
                        w.grad = None
            pipes.append(pipe)
        return [t.detach().clone() for t in (*weights, *moments)], pipes

    wanted, _ = train(contextlib.nullcontext)
    found, pipes = train(whole)
    assert all(torch.equal(f, w) for f, w in zip(found, wanted, strict=True))
    for pipe in pipes:
        assert pipe.stats()["flush_reasons"] == {"end of block": 1}


def test_the_default_flushes():
    weights, x, y = network()
    with torch.pipeline() as pipe:
        plain(weights, x, y)
        assert not weights[0]._pending
    assert pipe.stats()["flush_reasons"] == {"backward()": 1, "end of block": 1}


def test_gradients_are_added_in_place():
    """Whoever holds `grad` sees what a later backward adds, as outside."""
    w = torch.ones(3, requires_grad=True)
    with whole():
        (w * 2).sum().backward()
        held = w.grad
        (w * 3).sum().backward()
        assert w.grad is held
        assert held._pending
    assert held.tolist() == [5.0] * 3


def test_activations_are_let_go():
    """After backward nobody sees them: they are not computed for anybody outside of the plan."""
    x = torch.randn(64, 64, requires_grad=True)
    with torch.pipeline(trace=True, through_backward=True) as pipe:
        hidden = x.exp().sin()
        hidden.sum().backward()
        del hidden
    one = 64 * 64 * 4
    assert pipe.stats()["flush_reasons"] == {"end of block": 1}
    assert x.grad is not None
    assert pipe.stats()["peak_bytes"] <= 3 * one


@pytest.mark.parametrize("look", [torch.Tensor.item, float, repr, torch.Tensor.tolist, bool, print])
def test_a_look_launches_what_it_needs(look, capsys):
    x = torch.ones(())
    with whole() as pipe:
        a, b = x * 2, x * 3
        c = b + 1
        look(a)
        assert [t._pending for t in (a, b, c)] == [False, True, True]
        (name,) = pipe.stats()["breaks"]
        assert name.endswith("()")
        assert pipe.stats()["pending"] == 2
    assert c.item() == 4
    assert pipe.stats()["launched"] == 3


@pytest.mark.parametrize("again", range(4))
def test_a_look_at_what_only_views_were_recorded_of_needs_nothing(again):
    x = torch.arange(4.0)
    for _ in range(again):
        with whole() as pipe:
            y = x.view(2, 2).t() * 2
            assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
            assert y._pending
            x[1:].add_(0)
            assert x.sum().item() == 6.0
        assert pipe.stats()["breaks"] == {"item()": 1}
        assert y.tolist() == [[0.0, 4.0], [2.0, 6.0]]
    with whole() as pipe:
        y = x.view(2, 2) * 2
        assert x[3].item() == 3.0
        x[0] = 5.0
        assert x[0].item() == 5.0
        assert y.tolist() == [[0.0, 2.0], [4.0, 6.0]]


def test_what_a_look_needs_runs_in_program_order():
    x, y = torch.ones(2), torch.ones(2)
    with whole():
        before = x + y  # reads what is written next
        x.add_(5)
        shown = x * 2
        other = y * 7
        assert shown.tolist() == [12.0, 12.0]
        assert not before._pending
        assert other._pending
    assert before.tolist() == [2.0, 2.0]


def test_random_numbers_stay_in_order():
    def program():
        torch.manual_seed(3)
        a = torch.rand(2)
        b = torch.rand(2)
        b.tolist()
        return a, b, torch.rand(2)

    wanted = program()
    with whole():
        found = program()
    assert all(torch.equal(f, w) for f, w in zip(found, wanted, strict=True))


def test_an_op_that_cannot_wait_launches_what_it_needs():
    x = torch.tensor([0.0, 1.0, 2.0])
    with whole() as pipe:
        a, b = x * 2, x * 3
        places = torch.nonzero(a)
        assert b._pending
    assert places.tolist() == [[1], [2]]
    assert pipe.stats()["breaks"] == {"aten::nonzero: shape depends on data": 1}


@pytest.fixture
def fallback(toy):
    """What toy does not compute is left to the CPU."""
    made = torch.dispatch.registry.registry.register_fallback("toy", torch.library.cpu_fallback)
    yield
    made.remove()


@pytest.mark.usefixtures("fallback")
def test_an_op_that_is_left_to_the_cpu_is_said():
    x = torch.ones(2, device="toy")
    for block in (whole, torch.pipeline):
        with block() as pipe:
            a, b = x + 1, x * 3
            c = torch.digamma(a)
            assert b._pending == (block is whole)
            d = c + b
        assert d.tolist() == pytest.approx([3 + 0.42278433] * 2)
        assert pipe.stats()["breaks"] == {"aten::digamma: not computed by toy": 1}
        assert pipe.stats()["flushes"] == 2


@pytest.mark.usefixtures("fallback", "compiler")
def test_a_part_of_a_block_is_compiled_whose_input_is_written_later():
    """To launch it must not launch the write, which waits for what it computes."""
    kept, g = (torch.tensor([v, v], device="toy") for v in (1.0, 3.0))
    with whole() as pipe:
        kept.add_((g + kept * -1.0) * 0.5)
        far = torch.digamma(g)  # before it comes whatever reads `g`
    assert pipe.stats()["breaks"] == {"aten::digamma: not computed by toy": 1}
    assert (kept.tolist(), far.tolist()) == ([2.0, 2.0], pytest.approx([0.92278433] * 2))


@pytest.mark.usefixtures("fallback")
def test_what_is_left_to_the_cpu_cannot_be_captured():
    x = torch.ones(2, device="toy")
    step = torch.pipeline.capture(lambda x: torch.digamma(x * 2) + 1)
    with pytest.raises(torch.CaptureError, match="digamma: not computed by toy") as failed:
        step(x)
    assert failed.value.result.tolist() == pytest.approx([1.42278433] * 2)


def test_a_failure_in_backward_is_told_at_its_line():
    x = torch.ones(3, requires_grad=True)

    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g + (torch.tensor([1]) // torch.tensor([0]))

    pipe = whole()
    with pipe:
        y = Bad.apply(x)
        y.sum().backward()
        with pytest.raises(torch.PipelineError, match="floor_divide"):
            pipe.flush()
    assert y.tolist() == [2.0] * 3
    with pytest.raises(torch.PipelineError, match="floor_divide"):
        x.grad.tolist()


def test_a_failed_operand_is_told_by_backward():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(torch.PipelineError), torch.pipeline():
        y = (x * (torch.tensor([1]) // torch.tensor([0]))).sum()
    with whole(), pytest.raises(torch.PipelineError, match="floor_divide"):
        y.backward()


def test_a_view_that_is_made_early_leaves_later_writes_to_its_memory():
    """What is launched for a look has views of memory that ops write which are still recorded."""
    b = torch.ones(3)
    with torch.pipeline(through_backward=True):
        doubled = b.view(3, 1) * 2
        b.add_(1)
        assert doubled.tolist() == [[2], [2], [2]]
        assert b.tolist() == [2, 2, 2]
    assert b.tolist() == [2, 2, 2]


def test_what_the_data_of_a_result_is_written_with_comes_after_its_readers():
    b = torch.tensor([[-1.5 + 0j]])
    with torch.pipeline(through_backward=True):
        v = b.logsumexp(-1, keepdim=True)
        b.sub_(v, alpha=0.5)
        v.data.mul_(0.5)
        assert b.tolist() == [[-0.75]]
    assert v.tolist() == [[-0.75]]
