"""Checkpoints: less memory, the same gradients."""

import contextlib
import gc
import importlib
import weakref

import pytest
from collecting import Scenarios

import mindtorch_core as torch
from mindtorch_core.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential

scenario = Scenarios()
both_variants = Scenarios()


def leaf(lib, *values):
    values = [float(v) for v in values or (0.1, 0.2, 0.3)]
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


def of(lib):
    return importlib.import_module(f"{lib.__name__}.utils.checkpoint")


# ---- both variants ------------------------------------------------------------------------------


@both_variants
def several_arguments_and_results(lib, variant):
    x, w = leaf(lib), leaf(lib, 1, 2, 3)
    calls = []

    def run(a, b):
        calls.append(lib.is_grad_enabled())
        return (a * b).sin().exp() * a, a.cos()

    y, z = of(lib).checkpoint(run, x, w, use_reentrant=variant)
    (y.sum() * z.sum()).backward()
    return x.grad, w.grad, calls


@both_variants
def one_in_another(lib, variant):
    x = leaf(lib)
    calls = []

    def inner(a):
        calls.append("inner")
        return (a * a).sin()

    def outer(a):
        calls.append("outer")
        return of(lib).checkpoint(inner, a.exp(), use_reentrant=variant).cos() * a

    of(lib).checkpoint(outer, x, use_reentrant=variant).sum().backward()
    return x.grad, calls


@both_variants
def with_grad(lib, variant):
    x = leaf(lib)
    y = of(lib).checkpoint(lambda a: a.sin().exp(), x, use_reentrant=variant)
    return lib.autograd.grad(y.sum(), x)


@both_variants
def with_inputs(lib, variant):
    x = leaf(lib)
    y = of(lib).checkpoint(lambda a: a.sin().exp(), x, use_reentrant=variant)
    y.sum().backward(inputs=[x])
    return x.grad


@both_variants
def second_derivatives(lib, variant):
    x = leaf(lib)
    y = of(lib).checkpoint(lambda a: a.sin().exp(), x, use_reentrant=variant)
    (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    return lib.autograd.grad(g.sum(), x)


@both_variants
def nothing_requires_grad(lib, variant):
    x = leaf(lib).detach()
    return of(lib).checkpoint(lambda a: a.sin(), x, use_reentrant=variant)


@both_variants
def only_a_weight_requires_grad(lib, variant):
    x, w = leaf(lib).detach(), leaf(lib)
    of(lib).checkpoint(lambda a: (a * w).sin(), x, use_reentrant=variant).sum().backward()
    return w.grad


@both_variants
def without_gradients(lib, variant):
    with lib.no_grad():
        return of(lib).checkpoint(lambda a: a.sin(), leaf(lib), use_reentrant=variant)


@both_variants
def keyword_arguments(lib, variant):
    x = leaf(lib)
    y = of(lib).checkpoint(lambda a, k=1: (a * k).sin(), x, use_reentrant=variant, k=3)
    y.sum().backward()
    return x.grad


@both_variants
def random_numbers(lib, variant):
    lib.manual_seed(3)
    x = lib.ones(50, dtype=lib.float64, requires_grad=True)
    dropout = lib.nn.functional.dropout
    y = of(lib).checkpoint(lambda a: dropout(a.exp(), 0.5), x, use_reentrant=variant)
    kept = y != 0
    lib.manual_seed(7)
    y.sum().backward()
    after = lib.rand(3)
    lib.manual_seed(7)
    return bool(((x.grad != 0) == kept).all()), bool((after == lib.rand(3)).all())


@both_variants
def other_random_numbers(lib, variant):
    seen = []

    def run(a):
        seen.append(lib.rand(1).item())
        return a.sin()

    x = leaf(lib)
    y = of(lib).checkpoint(run, x, use_reentrant=variant, preserve_rng_state=False)
    y.sum().backward()
    return seen[0] == seen[1]


@both_variants
def walked_twice(lib, variant):
    x = leaf(lib)
    y = of(lib).checkpoint(lambda a: a.sin().exp(), x, use_reentrant=variant).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@both_variants
def walked_twice_but_freed(lib, variant):
    y = of(lib).checkpoint(lambda a: a.sin().exp(), leaf(lib), use_reentrant=variant).sum()
    y.backward()
    y.backward()


@both_variants
def autocast_is_as_it_was(lib, variant):
    x = lib.ones(4, 4, requires_grad=True)
    seen = []

    def run(a):
        product = a @ a
        seen.append(str(product.dtype).rpartition(".")[2])
        return product.float() * 1.0

    with lib.autocast("cpu", dtype=lib.bfloat16):
        y = of(lib).checkpoint(run, x, use_reentrant=variant)
    y.sum().backward()
    return seen


@both_variants
def an_argument_that_changes_afterwards(lib, variant):
    x = leaf(lib)
    z = x * 1
    y = of(lib).checkpoint(lambda a: a.sin().exp(), z, use_reentrant=variant)
    z.mul_(2)
    y.sum().backward()


@both_variants
def sequences(lib, variant):
    x = leaf(lib)
    calls = []
    steps = [lambda a, i=i: (calls.append(i), (a * (i + 1)).sin())[1] for i in range(7)]
    of(lib).checkpoint_sequential(steps, 3, x, use_reentrant=variant).sum().backward()
    return x.grad, calls


@both_variants
def fewer_tensors_the_second_time(lib, variant):
    x = leaf(lib)
    calls = []

    def run(a):
        calls.append(1)
        return a.sin().exp() if len(calls) == 1 else a.sin()

    of(lib).checkpoint(run, x, use_reentrant=variant).sum().backward()
    return x.grad


@pytest.mark.parametrize("variant", [True, False], ids=["reentrant", "not reentrant"])
@pytest.mark.parametrize("call", both_variants, ids=lambda f: f.__name__)
def test_variants_as_in_pytorch(same, call, variant):
    same(lambda lib: call(lib, variant))


# ---- the variant that is not reentrant ----------------------------------------------------------


@scenario
def other_shapes_the_second_time(lib):
    calls = []

    def run(a):
        calls.append(1)
        return (a.sin() if len(calls) == 1 else a[:2].sin()).exp().sum()

    of(lib).checkpoint(run, leaf(lib), use_reentrant=False).backward()


@scenario
def differences_that_are_not_looked_for(lib):
    calls = []
    x = leaf(lib)

    def run(a):
        calls.append(1)
        return a.sin() * (a if len(calls) == 1 else a.float())

    y = of(lib).checkpoint(run, x, use_reentrant=False, determinism_check="none")
    y.sum().backward()
    return len(calls)


@scenario
def part_after_part(lib):
    x, w = leaf(lib), leaf(lib)
    y = of(lib).checkpoint(lambda a, b: (a.sin() * b.cos()).exp(), x, w, use_reentrant=False).sum()
    first = lib.autograd.grad(y, x, retain_graph=True)
    return first, lib.autograd.grad(y, w)


@scenario
def contexts_of_both_runs(lib):
    seen = []

    @contextlib.contextmanager
    def note(name):
        seen.append(name)
        yield
        seen.append(f"end of {name}")

    def contexts():
        return note("first"), note("second")

    x = leaf(lib)
    y = of(lib).checkpoint(lambda a: a.sin(), x, use_reentrant=False, context_fn=contexts)
    y.sum().backward()
    return seen


@scenario
def gradients_inside(lib):
    x = leaf(lib)

    def run(a):
        (g,) = lib.autograd.grad(a.sin().sum(), a, create_graph=True)
        return g * a.exp()

    of(lib).checkpoint(run, x, use_reentrant=False).sum().backward()
    return x.grad


def count_last_lines(lib, early_stop):
    lines = []

    def run(a):
        b = a.sin().exp() + 1
        lines.append(1)
        return b

    with of(lib).set_checkpoint_early_stop(early_stop):
        y = of(lib).checkpoint(run, leaf(lib), use_reentrant=False)
    y.sum().backward()
    return len(lines)


@scenario
def it_stops_early(lib):
    return count_last_lines(lib, True), count_last_lines(lib, False)


@scenario
def an_unknown_check(lib):
    of(lib).checkpoint(abs, leaf(lib), use_reentrant=False, determinism_check="some")


@scenario
def options_of_the_other_variant(lib):
    of(lib).checkpoint(abs, leaf(lib), use_reentrant=True, debug=True)


@scenario
def unknown_options_of_sequences(lib):
    of(lib).checkpoint_sequential([abs], 1, leaf(lib), use_reentrant=True, colour=3)


@scenario
def modules_in_a_row(lib):
    class Row:
        def __init__(self, *steps):
            self.steps = steps

        def children(self):
            return iter(self.steps)

        def __iter__(self):
            return iter(self.steps)

        def __len__(self):
            return len(self.steps)

        def __getitem__(self, i):
            return self.steps[i]

    x = leaf(lib)
    row = Row(lib.sin, lib.exp, lib.cos)
    return of(lib).checkpoint_sequential(row, 2, x, use_reentrant=False)


@pytest.mark.parametrize("call", scenario, ids=lambda f: f.__name__)
def test_as_in_pytorch(same, call):
    same(call)


# ---- memory -------------------------------------------------------------------------------------


def test_nothing_in_between_is_kept():
    inside = []

    def run(a):
        b = a.sin()
        inside.append(weakref.ref(b))
        c = b.exp()
        inside.append(weakref.ref(c))
        return (c * b).cos()

    x = leaf(torch)
    gc.collect()
    gc.disable()
    try:
        y = checkpoint(run, x, use_reentrant=False)
        assert [ref() for ref in inside] == [None, None]
        y.sum().backward()
        assert [ref() for ref in inside] == [None] * 4
    finally:
        gc.enable()
    plain = leaf(torch)
    run(plain).sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()


def test_arguments_of_an_inner_checkpoint_are_not_kept_by_the_outer_one():
    between = []

    def outer(a):
        b = a.exp()
        between.append(weakref.ref(b))
        return checkpoint(lambda c: c.sin().cos(), b, use_reentrant=False)

    x = leaf(torch)
    gc.collect()
    gc.disable()
    try:
        y = checkpoint(outer, x, use_reentrant=False)
        assert between[0]() is None
    finally:
        gc.enable()
    y.sum().backward()
    plain = leaf(torch)
    plain.exp().sin().cos().sum().backward()
    assert x.grad.tolist() == plain.grad.tolist()


def test_a_graph_that_nobody_walks_is_freed():
    gone = []

    def call():
        x = leaf(torch)
        w = x * 1
        gone.append(weakref.ref(w))
        return checkpoint(lambda a: a.sin().exp(), w, use_reentrant=False)

    gc.collect()
    gc.disable()
    try:
        y = call()
        assert gone[0]() is not None
        del y
        assert gone[0]() is None
    finally:
        gc.enable()


# ---- what PyTorch does not have, or says otherwise ----------------------------------------------


def test_saved_tensors_may_be_read_twice():
    class Fn(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] + g * ctx.saved_tensors[0]

    x = leaf(torch)
    checkpoint(lambda a: Fn.apply(a.sin()), x, use_reentrant=False).sum().backward()
    assert x.grad.tolist() == pytest.approx(x.detach().mul(2).sin().tolist())


@pytest.mark.parametrize("variant", [True, False])
def test_in_a_pipeline(variant):
    x, plain = leaf(torch), leaf(torch)
    run = lambda a: (a.sin().exp() * a).cos()  # noqa: E731
    with torch.pipeline():
        y = checkpoint(run, x * 1, use_reentrant=variant)
        y.sum().backward()
    run(plain).sum().backward()
    assert x.grad.tolist() == pytest.approx(plain.grad.tolist())


def test_the_variant_should_be_named():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed"):
        checkpoint(torch.sin, leaf(torch))
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed"):
        checkpoint_sequential([torch.sin], 1, leaf(torch))


def test_debug_lists_the_ops():
    calls = []

    def run(a):
        calls.append(1)
        return a.sin().exp() if len(calls) == 1 else a.sin()

    y = checkpoint(run, leaf(torch), use_reentrant=False, debug=True)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    forward, _, again = str(caught.value).partition("Operations of the recomputation")
    assert "aten.exp" in forward
    assert "aten.sin" in again
    assert "aten.exp" not in again
    assert "saved during forward: 2" in again


def test_debug_changes_no_call():
    x = leaf(torch)
    found = [
        checkpoint(
            lambda a: a.softmax(0, dtype=torch.float64).std(0, correction=0, keepdim=True),
            x,
            use_reentrant=False,
            debug=debug,
        )
        for debug in (False, True)
    ]
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=0)
    first, second = (torch.autograd.grad(y.sum(), x)[0] for y in found)
    assert first.tolist() == second.tolist()


def test_reentrant_checkpoints_say_what_they_need():
    x = leaf(torch)
    y = checkpoint(lambda a: a.sin(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad"):
        torch.autograd.grad(y.sum(), x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad"):
        checkpoint(lambda a: a.sin(), x.detach(), use_reentrant=True)


def test_no_checkpoint_stays_active_after_an_error():
    def fail(a):
        a.sin()
        raise ValueError("inside")

    x = leaf(torch)
    with pytest.raises(ValueError, match="inside"):
        checkpoint(fail, x, use_reentrant=False)
    y = x.sin()
    assert y.grad_fn._saved_self is x
