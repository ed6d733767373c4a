"""Arguments of backward() and grad(), how gradients accumulate, modes, threads."""

import sys
import threading

import pytest
from collecting import Scenarios, leaf

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

scenario = Scenarios()


@scenario
def dicts_of_inputs(lib):
    x, y = leaf(lib), leaf(lib)
    found = lib.autograd.grad((x * y).sum(), {"a": x, "b": y})
    (x * y).sum().backward(inputs={"a": x})
    return found, x.grad, y.grad


@scenario
def an_old_name(lib):
    x = leaf(lib)
    lib.autograd.backward(x * 2, grad_variables=lib.ones(2))
    return x.grad


@scenario
def several_roots(lib):
    x = leaf(lib)
    y = x * 2
    lib.autograd.backward((x.sum(), (x * x).sum()))
    return lib.autograd.grad((y, y.sum()), x, (lib.ones(2), None)), x.grad


@scenario
def materialized(lib):
    x, z = leaf(lib), leaf(lib)
    found = lib.autograd.grad(x.sum(), (x, z), materialize_grads=True)
    return found, lib.autograd.grad(
        (x * x).sum(), (x, z), materialize_grads=True, create_graph=True
    )[1]


@scenario
def batches(lib):
    x, z = leaf(lib, 1, 2, 3), leaf(lib)
    y = x * x
    rows = lib.autograd.grad(y, x, lib.eye(3), is_grads_batched=True, retain_graph=True)
    (g,) = lib.autograd.grad(y, x, lib.eye(3), is_grads_batched=True, create_graph=True)
    second = lib.autograd.grad(g.sum(), x)
    unused = lib.autograd.grad(
        x * 2, (x, z), lib.ones(2, 3), is_grads_batched=True, allow_unused=True
    )
    return rows, second, unused


@scenario
def gradients_accumulate_in_place(lib):
    x = leaf(lib)
    x.sum().backward()
    g = x.grad
    (x * 3).sum().backward()
    return g is x.grad, g


@scenario
def recorded_gradients_accumulate_out_of_place(lib):
    x = leaf(lib)
    x.sum().backward()
    g = x.grad
    (x * x).sum().backward(create_graph=True)
    return g is x.grad, g, x.grad


@scenario
def the_seed_is_not_taken_over(lib):
    x, seed = leaf(lib), lib.ones(2)
    x.backward(seed)
    x.grad.mul_(3)
    return seed


@scenario
def modes(lib):
    found = []
    with lib.autograd.set_multithreading_enabled(False):
        found.append((leaf(lib) * 2).requires_grad)

    @lib.set_grad_enabled(False)
    def off():
        return lib.is_grad_enabled()

    found += [lib.is_grad_enabled(), off(), lib.is_grad_enabled()]

    @lib.no_grad()
    def steps():
        found.append(lib.is_grad_enabled())
        sent = yield 1
        found.append((sent, lib.is_grad_enabled()))
        yield 2

    generator = steps()
    found += [next(generator), lib.is_grad_enabled(), generator.send(5), lib.is_grad_enabled()]
    generator.close()
    found.append(lib.is_grad_enabled())
    return found


WRONG = {
    "no inputs": lambda lib, x: lib.autograd.grad(x.sum(), []),
    "no inputs of backward": lambda lib, x: x.sum().backward(inputs=[]),
    "both names": lambda lib, x: lib.autograd.backward(
        x.sum(), lib.ones(()), grad_variables=lib.ones(())
    ),
    "contradiction": lambda lib, x: lib.autograd.grad(
        x.sum(), x, materialize_grads=True, allow_unused=False
    ),
    "unused": lambda lib, x: lib.autograd.grad(x.sum(), (x, leaf(lib))),
    "no scalar": lambda lib, x: (x * 2).backward(),
    "another shape": lambda lib, x: (x * 2).backward(lib.ones(3)),
    "complex for real": lambda lib, x: (x * 2).backward(lib.ones(2, dtype=lib.complex64)),
    "real for complex": lambda lib, x: (x * (1 + 2j)).backward(lib.ones(2)),
    "complex scalar": lambda lib, x: (x * (1 + 2j)).sum().backward(),
    "a number": lambda lib, x: (x * 2).backward(3),
    "no grad required": lambda lib, x: lib.ones(2).sum().backward(),
    "no grad required of the input": lambda lib, x: lib.autograd.grad(x.sum(), lib.ones(2)),
    "batches of another shape": lambda lib, x: lib.autograd.grad(
        x * 2, x, lib.ones(3, 3), is_grads_batched=True
    ),
    "ints": lambda lib, x: lib.ones(2, dtype=lib.int64).requires_grad_(),
    "no leaf": lambda lib, x: (x * 2).requires_grad_(False),
    "grad: number": lambda lib, x: setattr(x, "grad", 3),
    "grad: shape": lambda lib, x: setattr(x, "grad", lib.ones(3)),
    "grad: dtype": lambda lib, x: setattr(x, "grad", lib.ones(2, dtype=lib.float64)),
    "grad: device": lambda lib, x: setattr(x, "grad", lib.ones(2, device="meta")),
    "grad: itself": lambda lib, x: setattr(x, "grad", x),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_wrong_arguments(same, call):
    same(lambda lib: call(lib, leaf(lib)))
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        call(torch, leaf(torch))


def test_batches_say_what_does_not_fit():
    x = leaf(torch)
    with pytest.raises(RuntimeError, match=r"interpret the first dimension.*\[3, 3\]"):
        torch.autograd.grad(x * 2, x, torch.ones(3, 3), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="the batch, have the same size"):
        torch.autograd.grad(x.sum(), x, is_grads_batched=True)


def test_threads_accumulate_into_one_leaf():
    x = leaf(torch)
    w = torch.tensor([2.0, 3.0])
    failures = []

    def work():
        try:
            for _ in range(100):
                (x * w).sum().backward()
        except RuntimeError as error:
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures
    assert x.grad.tolist() == [800, 1200]


def test_threads_walk_one_graph():
    x = leaf(torch)
    y = (x * x).exp().sum()
    found = []

    def work():
        found.extend(torch.autograd.grad(y, x, retain_graph=True)[0].tolist() for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 80
    assert all(g == found[0] for g in found)


def test_a_second_walk_where_nothing_was_saved(same):
    for call in (
        lambda x: x + 1,
        lambda x: x.sum(0),
        lambda x: x.reshape(2, 1).expand(2, 3),
        lambda x: x[0],
        lambda x: x.clone().add_(1),
        lambda x: x.clone().mul_(x),
        lambda x: x * x,
        lambda x: x.exp(),
    ):

        def twice(lib, call=call):
            out = call(leaf(lib))
            g = lib.ones(out.shape)
            out.backward(g)
            out.backward(g)

        same(twice)


def test_nothing_below_an_input_is_computed():
    visited = []

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            visited.append(1)
            return g

    x = leaf(torch)
    m = Seen.apply(x)
    (g,) = torch.autograd.grad((m * 3).sum(), m)
    assert g.tolist() == [3, 3]
    assert not visited


def test_what_a_backward_starts_from_goes_with_the_kernel_that_made_it():
    """The gradient of the root is kept for the next backward, but not beyond a registration's end."""
    x = leaf(torch, 3.0)
    with registry.scope():
        registry.register_kernel("ones", "cpu", lambda size, **options: torch.full(size, 7.0))
        (x * 2).sum().backward()
        assert x.grad.tolist() == [14.0]
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize("call", scenario, ids=lambda f: f.__name__)
def test_as_in_pytorch(same, call):
    same(call)
