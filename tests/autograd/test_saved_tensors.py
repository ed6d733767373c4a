"""Hooks on saved tensors."""

import gc
import threading
import weakref

import pytest
from collecting import Scenarios, leaf

import mindtorch_core as torch
from mindtorch_core.autograd.graph import save_on_cpu, saved_tensors_hooks
from mindtorch_core.gradients.node import WATCHERS

scenario = Scenarios()


def logging(lib, log):
    """Hooks that note what they are given, and double what they pack to show that they count."""

    def pack(t):
        log.append(("pack", t.requires_grad, t.grad_fn is None, list(t.shape), t.tolist()))
        return t.detach() * 2

    def unpack(t):
        log.append(("unpack", t.tolist()))
        return t

    return lib.autograd.graph.saved_tensors_hooks(pack, unpack)


OPS = {
    "two inputs": lambda lib, x: x * (x + 1),
    "a result": lambda lib, x: x.exp(),
    "an input": lambda lib, x: x.sin(),
    "nothing": lambda lib, x: x + 1,
    "a number": lambda lib, x: x * 2,
    "in place": lambda lib, x: (x * 1).mul_(x),
    "in place, a result": lambda lib, x: (x * 1).exp_(),
    "a view in place": lambda lib, x: (x * 1)[:1].mul_(x[1:]),
    "softmax": lambda lib, x: lib.softmax(x, 0),
    "matmul": lambda lib, x: x.reshape(1, 2) @ x.reshape(2, 1),
    "where": lambda lib, x: lib.where(x > 1, x, x * 3),
    "max": lambda lib, x: x.max(0)[0],
    "loss": lambda lib, x: lib.nn.functional.mse_loss(x, x * 2),
    "chain": lambda lib, x: ((x * x).exp() / x).sqrt(),
}


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_what_ops_save_comes_back_from_the_hooks(same, op):
    def gradient(lib):
        x = leaf(lib)
        with logging(lib, []):
            y = op(lib, x)
        return lib.autograd.grad(y.sum(), x)

    same(gradient)


@scenario
def what_hooks_are_given(lib):
    log = []
    x = leaf(lib)
    with logging(lib, log):
        y = x * (x + 1)
        z = y.exp()
    z.sum().backward()
    return log, x.grad


@scenario
def the_innermost_pair_counts(lib):
    log = []
    x = leaf(lib)

    def named(name):
        def note(kind):
            return lambda t: (log.append(f"{kind} {name}"), t.detach())[1]

        return lib.autograd.graph.saved_tensors_hooks(note("pack"), note("unpack"))

    with named("outer"):
        with named("inner"):
            y = x.exp()
        z = y.exp()
    z.exp().sum().backward()
    return log, x.grad


@scenario
def recorded_backward_through_packed_values(lib):
    x = leaf(lib)
    with logging(lib, []):
        y = (x * x * x).exp()
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return g, *lib.autograd.grad(g.sum(), x)


@scenario
def functions_that_save(lib):
    log = []

    class Fn(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 3
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y, nothing = ctx.saved_tensors
            return g * x * y if nothing is None else None

    x = leaf(lib)
    with logging(lib, log):
        y = Fn.apply(x)
    y.sum().backward()
    return log, x.grad


@scenario
def changes_in_place_are_the_hooks_affair(lib):
    x = leaf(lib)
    y = x * 1
    hooks = lib.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t)
    with hooks:
        z = y * y
    y.mul_(5)
    z.sum().backward()
    return x.grad


@scenario
def a_hook_that_changes_its_argument(lib):
    y = leaf(lib) * 1

    def pack(t):
        with lib.no_grad():
            return t.mul_(1)

    with lib.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y * y


@scenario
def a_hook_that_gives_back_no_tensor(lib):
    with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = leaf(lib).exp()
    y.sum().backward()


@scenario
def hooks_that_cannot_be_called(lib):
    with lib.autograd.graph.saved_tensors_hooks(3, 4):
        leaf(lib).exp()


@scenario
def hooks_of_one_saved_tensor(lib):
    log = []
    x = leaf(lib)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(
        lambda t: (log.append(("pack", t.requires_grad)), t)[1] * 10, lambda t: t
    )
    with pytest.raises(RuntimeError, match="only one pair of hooks"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    return log, x.grad


@scenario
def a_walk_that_frees(lib):
    with logging(lib, []):
        y = leaf(lib).exp()
    y.sum().backward()
    y.sum().backward()


# ---- the blocks ---------------------------------------------------------------------------------


@scenario
def hooks_are_refused(lib):
    graph = lib.autograd.graph
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"):
            graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
        leaf(lib).exp().sum().backward()
    with logging(lib, []):
        with pytest.raises(RuntimeError, match="not here"):
            graph.disable_saved_tensors_hooks("not here").__enter__()
        return leaf(lib).exp()


@scenario
def saved_on_the_host(lib):
    x = leaf(lib)
    with lib.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    y.sum().backward()
    return x.grad


def test_saved_on_the_host_from_another_device():
    x = torch.empty(2, device="meta", requires_grad=True)
    with pytest.raises(NotImplementedError), save_on_cpu():  # meta tensors have nothing to copy
        x.exp()


@scenario
def changed_in_place_while_it_is_needed(lib):
    a = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        b = a * 1
        s, e = b.sin(), (b * 2).exp()
        b.mul_(2)
        b[:1].mul_(3)
        e.zero_()
        s.sum().backward()
    return a.grad, b


@scenario
def a_result_that_changes_after_it_was_saved(lib):
    a = leaf(lib)
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        e = a.exp()
        f = e * 1
        with lib.no_grad():
            e.zero_()
        f.sum().backward()
    return a.grad


@scenario
def backward_outside_of_the_block(lib):
    with lib.autograd.graph.allow_mutation_on_saved_tensors():
        y = leaf(lib).sin()
    y.sum().backward()


@scenario
def blocks_in_blocks(lib):
    allow = lib.autograd.graph.allow_mutation_on_saved_tensors
    with allow(), allow():
        pass


# ---- what they cost, and whom they concern ------------------------------------------------------


def test_nothing_is_left_behind():
    assert not WATCHERS
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        assert WATCHERS
        with pytest.raises(ValueError, match="inside"), saved_tensors_hooks(abs, abs):
            raise ValueError("inside")
        assert WATCHERS
    assert not WATCHERS


def test_other_threads_are_left_alone():
    packed = []
    x = leaf(torch)

    def work():
        x.exp()

    with saved_tensors_hooks(packed.append, lambda t: t):
        other = threading.Thread(target=work)
        other.start()
        other.join()
    assert packed == []


def test_packed_values_replace_the_tensors():
    x = leaf(torch)
    gc.collect()
    with saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        y = x * 1
        z = y.sin()
        gone = weakref.ref(y)
        del y
        gc.collect()
    assert gone() is None
    z.sum().backward()
    assert x.grad.tolist() == x.detach().cos().tolist()


def test_in_a_pipeline():
    x, w = leaf(torch), leaf(torch)
    with torch.pipeline(), saved_tensors_hooks(lambda t: t * 2, lambda t: t / 2):
        y = (x * x).exp() * x
        assert y._pending
        y.sum().backward()
    ((w * w).exp() * w).sum().backward()
    assert x.grad.tolist() == w.grad.tolist()


def test_together_with_anomaly_mode():
    x = leaf(torch)
    with (
        pytest.warns(UserWarning, match="Anomaly"),
        torch.autograd.detect_anomaly(),
        saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t),
    ):
        y = x.exp()
    assert "test_saved_tensors" in "".join(y.grad_fn.metadata["traceback_"])
    y.sum().backward()
    assert x.grad.tolist() == x.detach().exp().tolist()


@pytest.mark.parametrize("call", scenario, ids=lambda f: f.__name__)
def test_as_in_pytorch(same, call):
    same(call)


def test_a_hook_that_comes_while_a_node_unpacks_runs_after_it():
    x = torch.tensor([3.0], requires_grad=True)
    node = []

    def unpack(t):
        if len(node) == 1:
            node.append(node[0].register_hook(lambda results, arrived: (results[0] / 2,)))
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp()
    node.append(y.grad_fn)
    y.backward()
    assert x.grad.item() == pytest.approx(torch.tensor(3.0).exp().item() / 2)


SAVE = {
    "a number": lambda lib, x: x * 3,
    "operands": lambda lib, x: x * x,
    "nothing": lambda lib, x: x + x,
    "a product with ones": lambda lib, x: x * lib.ones(3),
    "a power": lambda lib, x: x**2,
    "a bias": lambda lib, x: lib.nn.functional.linear(lib.ones(1, 3), lib.ones(3, 3), x),
    "rows": lambda lib, x: lib.nn.functional.linear(x, lib.ones(2, 3)),
    "no weight": lambda lib, x: lib.nn.functional.layer_norm(x, (3,)),
    "a weight": lambda lib, x: lib.nn.functional.layer_norm(lib.ones(3), (3,), x),
    "a summand": lambda lib, x: lib.addcmul(x, lib.ones(3), lib.ones(3)),
    "positions": lambda lib, x: x[lib.tensor([0, 1])],
    "a mask": lambda lib, x: x.masked_fill(lib.tensor([True, False, True]), 0.0),
}


@pytest.mark.parametrize("op", SAVE.values(), ids=SAVE)
def test_what_is_saved_is_freed_at_the_end_of_a_walk(same, op):
    def call(lib):
        x = lib.tensor([1.0, -2.0, 3.0], requires_grad=True)
        y = op(lib, x)
        y.backward(lib.ones_like(y))
        y.backward(lib.ones_like(y))
        return x.grad

    same(call)
