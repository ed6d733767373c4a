"""Where walks end, and outputs that no gradient comes to: which hooks and Functions run, on both libraries."""

import os
import subprocess
import sys

import pytest
from collecting import Scenarios, leaf

scenario = Scenarios()


def noted(lib, x, w):
    """A product all of whose hooks say that they were called."""
    log = []
    y = x * w
    y.register_hook(lambda g: log.append(("tensor", g.tolist())))
    y.grad_fn.register_prehook(lambda go: log.append(("before", [g.tolist() for g in go])))
    y.grad_fn.register_hook(lambda gi, go: log.append(("after", gi, [g.tolist() for g in go])))
    return y, log


@scenario
def backward_runs_the_node_that_it_ends_at(lib):
    x, w = leaf(lib), leaf(lib, 3, 4)
    y, log = noted(lib, x, w)
    (y * 2).sum().backward(inputs=[y], retain_graph=True)
    (y * 2).sum().backward(inputs=y)
    return log, y.grad, x.grad, w.grad


@scenario
def grad_does_not_run_the_node_that_it_ends_at(lib):
    x, w = leaf(lib), leaf(lib, 3, 4)
    y, log = noted(lib, x, w)
    return lib.autograd.grad((y * 2).sum(), y), log


@scenario
def backward_goes_on_from_some_and_ends_at_others(lib):
    x, w = leaf(lib), leaf(lib, 3, 4)
    y, log = noted(lib, x, w)
    z, further = noted(lib, y, leaf(lib, 5, 6))
    z.sum().backward(inputs=[z, y])
    return log, further[0], further[1], z.grad, y.grad


@scenario
def a_prehook_may_refuse_at_the_end(lib):
    x, w = leaf(lib), leaf(lib, 3, 4)
    y = x * w
    y.grad_fn.register_prehook(lambda go: (1, 2, 3))
    y.sum().backward(inputs=[y])


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("by", ["tensor", "edge"])
def test_backward_runs_the_function_that_it_ends_at(same, keep, by):
    def call(lib):
        log = []

        class Square(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                log.append(g.tolist())
                return 2 * ctx.saved_tensors[0] * g

        x = leaf(lib)
        y = Square.apply(x)
        end = y if by == "tensor" else lib.autograd.graph.get_gradient_edge(y)
        lib.autograd.grad((y * 2).sum(), end, retain_graph=True)
        before = list(log)
        (y * 3).sum().backward(inputs=[end], retain_graph=keep)
        try:
            y.sum().backward()
        except RuntimeError as error:
            log.append(str(error)[:40])
        return before, log, x.grad

    same(call)


def parts_of(lib, log, name, x):
    """Two outputs of a node, the hooks of both of which say what they are given."""
    parts = x.unbind() if name == "unbind" else x.split(1)
    for i, part in enumerate(parts):
        part.register_hook(lambda g, i=i: log.append((i, g if g is None else g.tolist())))
    return parts


@pytest.mark.parametrize("name", ["unbind", "split"])
@pytest.mark.parametrize("used", [0, 1])
def test_hooks_of_outputs_that_have_no_gradient(same, name, used):
    def call(lib):
        log = []
        x = leaf(lib)
        (parts_of(lib, log, name, x)[used] * 3).sum().backward()
        return log, x.grad

    same(call)


@scenario
def a_hook_gives_a_gradient_where_there_is_none(lib):
    a, b = leaf(lib).unbind()
    b.register_hook(lambda g: lib.ones(()))
    a.backward()


def picky(lib, log, materialize=True, name="picky"):
    """A function of two tensors that gives the second one no gradient."""

    class Picky(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(materialize)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            log.append((name, g))
            return g, None

    return Picky.apply


@pytest.mark.parametrize("inputs", [None, "x", "y", "xy", "z"])
@pytest.mark.parametrize("materialize", [True, False])
def test_what_has_no_gradient_is_visited_all_the_same(same, inputs, materialize):
    def call(lib):
        log = []
        x, y = leaf(lib), leaf(lib, 3, 4)
        z = y * 2
        for name, t in (("x", x), ("y", y)):
            t.register_hook(lambda g, name=name: log.append((name, g)))
            t.register_post_accumulate_grad_hook(
                lambda p, name=name: log.append((name, "accumulated", p.grad))
            )
        end = z.grad_fn.next_functions[0][0]
        end.register_hook(lambda gi, go: log.append(("after y", len(gi), go)))
        z.register_hook(lambda g: log.append(("z", g)))
        z.grad_fn.register_prehook(lambda go: log.append(("before z", go)))
        z.grad_fn.register_hook(lambda gi, go: log.append(("after z", gi, go)))
        inner = picky(lib, log, materialize, "inner")(z * 3, x)
        out = picky(lib, log)(x, inner.exp()).sum()
        given = {"x": x, "y": y, "z": z}
        out.backward(inputs=None if inputs is None else [given[n] for n in inputs])
        return log, x.grad, y.grad

    same(call)


@scenario
def gradients_that_are_not_there(lib):
    log = []
    x, y = leaf(lib), leaf(lib, 3, 4)
    y.register_hook(lambda g: log.append(g))
    out = picky(lib, log)(x, y)
    return lib.autograd.grad(out.sum(), (x, y), allow_unused=True), log


@pytest.mark.parametrize("call", scenario, ids=lambda f: f.__name__)
def test_as_in_pytorch(same, call):
    same(call)


_ALONE = """
import mindtorch_core as torch

x = torch.ones(2, requires_grad=True)
for factor in (5, 7):
    y = x.sum()
    (g,) = torch.autograd.grad(y, y)
    assert g.tolist() == 1
    g.data.mul_(factor)
    y.backward()
assert x.grad.tolist() == [2, 2]
"""


def test_the_gradient_that_a_walk_starts_from_is_the_users_own():
    """In a process of its own: what hooks of others have seen is copied for good."""
    done = subprocess.run(
        [sys.executable, "-c", _ALONE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
