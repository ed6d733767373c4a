"""Hooks of tensors, nodes and leaves: the same scenario on both libraries."""

import gc
import weakref

import pytest
from collecting import Scenarios, leaf

import mindtorch_core as torch

scenario = Scenarios()


# ---- tensors ------------------------------------------------------------------------------------


@scenario
def one_hook_registered_twice(lib):
    log = []
    y = leaf(lib) * 2

    def double(g):
        log.append(g.tolist())
        return g * 2

    first, _ = y.register_hook(double), y.register_hook(double)
    z = y * 1
    z.sum().backward(retain_graph=True)
    first.remove()
    first.remove()
    z.sum().backward()
    return log


@scenario
def a_hook_that_removes_itself(lib):
    x = leaf(lib)
    log = []
    handle = x.register_hook(lambda g: (log.append(1), handle.remove())[0])
    x.sum().backward()
    x.sum().backward()
    return log


@scenario
def a_handle_as_context(lib):
    x = leaf(lib)
    with x.register_hook(lambda g: g * 5):
        x.sum().backward()
    x.sum().backward()
    return x.grad


@scenario
def the_order_of_all_hooks(lib):
    log = []
    a, b = leaf(lib), leaf(lib)
    m = a * b
    n = m * b
    for name, t in (("a", a), ("b", b), ("m", m), ("n", n)):
        t.register_hook(lambda g, name=name: log.append(name))
    for name, t in (("a", a), ("b", b)):
        t.register_post_accumulate_grad_hook(lambda p, name=name: log.append(f"grad of {name}"))
    end = m.grad_fn.next_functions[0][0]
    end.register_hook(lambda gi, go: log.append(("after a", gi, len(go))))
    end.register_prehook(lambda go: log.append(("before a", len(go))))
    m.grad_fn.register_hook(lambda gi, go: log.append(("after m", len(gi), len(go))))
    m.grad_fn.register_prehook(lambda go: log.append(("before m", len(go))))
    m.retain_grad()
    m.register_hook(lambda g: log.append(("m again", m.grad is None)))
    n.sum().backward()
    return log


@scenario
def a_leaf_is_finished_while_the_walk_goes_on(lib):
    log = []
    a, c = leaf(lib), leaf(lib)
    m = a * 2
    m.register_hook(lambda g: log.append("m"))
    c.register_hook(lambda g: log.append("c"))
    c.register_post_accumulate_grad_hook(lambda p: log.append(("grad of c", p.grad.tolist())))
    a.register_hook(lambda g: log.append("a"))
    (m + c).sum().backward()
    return log


@scenario
def a_leaf_whose_gradients_come_from_several_sides(lib):
    log = []
    x, w = leaf(lib), leaf(lib)
    x.register_hook(lambda g: log.append(g.tolist()))
    x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.tolist()))
    (x * w + (x * x).exp() + x).sum().backward()
    return log, x.grad, w.grad


@scenario
def hooks_of_leaves_and_unused_outputs(lib):
    log = []
    x = leaf(lib, 1, 2, 3, 4)
    x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.tolist()))
    a, _ = (x * 2).chunk(2)
    (a * 3).sum().backward()
    return log


@scenario
def a_step_of_an_optimizer_in_a_hook(lib):
    x = leaf(lib)

    def step(p):
        with lib.no_grad():
            p.sub_(p.grad, alpha=0.1)
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    return x.detach(), x.grad


@scenario
def hooks_on_the_way_to_inputs(lib):
    x = leaf(lib)
    out = []
    for wanted in ("m", "x", "both"):
        m = x * 2
        m.register_hook(lambda g: g * 10)
        inputs = {"m": [m], "x": [x], "both": [m, x]}[wanted]
        out.append(lib.autograd.grad((m * 3).sum(), inputs))
    return out


@scenario
def hooks_of_leaves_with_grad(lib):
    x = leaf(lib)
    log = []
    x.register_hook(lambda g: g * 10)
    x.register_post_accumulate_grad_hook(lambda p: log.append("accumulated"))
    found = lib.autograd.grad((x * 3).sum(), x)
    (x * 3).sum().backward(inputs=[x])
    return found, x.grad, log


@scenario
def gradients_changed_in_place_by_a_hook(lib):
    x = leaf(lib)
    y = x * 2
    y.register_hook(lambda g: (g.mul_(2), None)[1])
    (y * 1).sum().backward()
    return x.grad


@scenario
def hooks_and_in_place_ops(lib):
    x = leaf(lib)
    log = []
    y = x * 1
    y.register_hook(lambda g: log.append(g.tolist()))
    y.mul_(3)
    y.register_hook(lambda g: log.append(g.tolist()))
    y.sum().backward()
    return log


@scenario
def a_backward_inside_a_hook(lib):
    x = leaf(lib)
    y = x * 1

    def hook(g):
        z = leaf(lib, 5)
        with lib.enable_grad():
            (z * z).sum().backward()
        return g * z.grad

    y.register_hook(hook)
    y.sum().backward()
    return x.grad


@scenario
def a_hook_that_fails_changes_nothing(lib):
    x, z = leaf(lib), leaf(lib)
    y = x * z

    def fail(g):
        raise ValueError("boom")

    handle = y.register_hook(fail)
    total = (y + x).sum()
    try:
        total.backward()
    except ValueError as error:
        found = str(error)
    handle.remove()
    return found, x.grad, z.grad, lib.is_grad_enabled()


@scenario
def hooks_in_a_deep_graph(lib):
    x = leaf(lib)
    y, calls = x, []
    for i in range(3000):
        y = y + 1
        if i % 3 == 0:
            y.register_hook(lambda g: calls.append(1))
    y.sum().backward()
    return len(calls), x.grad


# ---- retained gradients -------------------------------------------------------------------------


@scenario
def retained_gradients_are_copies(lib):
    x = leaf(lib)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    z = y * 1
    z.retain_grad()
    z.sum().backward()
    y.grad.mul_(5)
    return y.grad, z.grad, x.grad, y.retains_grad, x.retains_grad


@scenario
def retained_after_an_in_place_op(lib):
    x = leaf(lib)
    y = x * 1
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


@scenario
def retained_by_a_view_whose_base_changes(lib):
    x = leaf(lib, 1, 2, 3)
    y = x * 1
    v = y[:2]
    v.retain_grad()
    y.mul_(2)
    (v * v).sum().backward()
    return v.grad, x.grad


@scenario
def results_as_inputs_of_backward_retain_their_gradient(lib):
    x = leaf(lib)
    y = x * 2
    (y * y).sum().backward(inputs=[y])
    first = y.grad.tolist(), x.grad, y.retains_grad
    z = x * 3
    (z * z).sum().backward(inputs=[z, x])
    return first, z.grad, x.grad


# ---- nodes --------------------------------------------------------------------------------------


def node_hook(lib, pre, returned):
    y = leaf(lib) * leaf(lib)
    node = y.grad_fn
    (node.register_prehook if pre else node.register_hook)(lambda *grads: returned(lib))
    y.sum().backward()


RETURNED = {
    "a number": lambda lib: 3,
    "too few": lambda lib: (),
    "one": lambda lib: (lib.ones(2),),
    "two": lambda lib: (lib.ones(2), lib.ones(2)),
    "a list": lambda lib: [lib.ones(2), lib.ones(2)],
    "numbers": lambda lib: (1, 2),
    "other shapes": lambda lib: (lib.ones(3),) * 2,
    "another dtype": lambda lib: (lib.ones(2, dtype=lib.float64),) * 2,
    "nothing at all": lambda lib: (None, None),
    "no gradient": lambda lib: (None,),
}


@pytest.mark.parametrize("pre", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("returned", RETURNED.values(), ids=RETURNED)
def test_what_hooks_of_nodes_return(same, pre, returned):
    same(lambda lib: node_hook(lib, pre, returned))


@pytest.mark.parametrize(
    "returned",
    [
        lambda lib: 3,
        lambda lib: lib.ones(3),
        lambda lib: lib.ones(2, dtype=lib.float64),
        lambda lib: lib.ones(2, dtype=lib.complex64),
        lambda lib: lib.ones(2, device="meta"),
    ],
)
def test_what_hooks_of_tensors_must_not_return(same, returned):
    def call(lib):
        y = leaf(lib) * 2
        y.register_hook(lambda g: returned(lib))
        y.sum().backward()

    same(call)


@scenario
def hooks_of_a_node_replace_gradients(lib):
    a, b = leaf(lib), leaf(lib)
    y = a * b
    y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, None))
    y.sum().backward()
    return a.grad, b.grad


# ---- refusals, and what differs -----------------------------------------------------------------


def test_refusals(same):
    x = leaf(torch)
    for lib_call in (
        lambda lib: lib.ones(2).register_hook(print),
        lambda lib: lib.ones(2).retain_grad(),
        lambda lib: lib.ones(2).register_post_accumulate_grad_hook(print),
        lambda lib: (leaf(lib) * 2).register_post_accumulate_grad_hook(print),
    ):
        same(lib_call)
    x.register_post_accumulate_grad_hook(lambda p: 3)
    with pytest.raises(TypeError, match="should return None"):
        x.sum().backward()
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_a_hook_whose_text_names_it():
    def my_hook(g):
        return torch.ones(3)

    y = leaf(torch) * 2
    y.register_hook(my_hook)
    with pytest.raises(
        RuntimeError, match=r"hook 'my_hook' has changed the size .* \[2\] to \[3\]"
    ):
        y.sum().backward()


def test_hooks_die_with_their_graph():
    gc.collect()
    gc.disable()
    try:
        hook = lambda g: None  # noqa: E731
        y = leaf(torch) * 2
        y.register_hook(hook)
        gone = weakref.ref(hook)
        del hook, y
        assert gone() is None
    finally:
        gc.enable()


def test_hooks_in_a_pipeline():
    x = leaf(torch)
    log = []
    with torch.pipeline():
        y = x * 3
        y.register_hook(lambda g: g * 2)
        x.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.tolist()))
        y.sum().backward()
    assert log == [[6, 6]]
    assert x.grad.tolist() == [6, 6]


@pytest.mark.parametrize("call", scenario, ids=lambda f: f.__name__)
def test_as_in_pytorch(same, call):
    same(call)


def test_a_failed_walk_leaves_no_gradients_with_hooks_of_several_tensors():
    kept = []
    a, b = leaf(torch), leaf(torch)
    x, y = a * 2, b * 3

    def fail(g):
        raise KeyError("on the way")

    def keep(g):
        kept.append(weakref.ref(g))

    y.register_hook(keep)
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda grads: None)
    y.register_hook(fail)
    with pytest.raises(KeyError):
        (x.sum() + y.sum()).backward()
    gc.collect()
    assert kept
    assert all(g() is None for g in kept)


@pytest.mark.parametrize("register", ["register_hook", "register_post_accumulate_grad_hook"])
def test_a_leaf_with_hooks_takes_over_a_gradient_that_nobody_else_holds(register):
    x, seen = torch.ones(4, 3, requires_grad=True), []
    getattr(x, register)(lambda _: None)
    x.register_hook(lambda g: seen.append(weakref.ref(g)))
    (x * torch.ones(4, 3)).sum().backward()
    assert seen[0]() is x.grad


def test_a_gradient_that_a_hook_keeps_is_copied():
    x, kept = torch.ones(4, 3, requires_grad=True), []
    x.register_hook(kept.append)
    (x * torch.ones(4, 3)).sum().backward()
    x.grad.zero_()
    assert kept[0].tolist() == [[1.0] * 3] * 4
