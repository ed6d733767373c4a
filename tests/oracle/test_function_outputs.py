"""What a `torch.autograd.Function` returns, against PyTorch: inputs, views, and what it wrote."""

import pytest
from collecting import leaf

import mindtorch_core as torch
from both import both
from custom_functions import define, described

pt = pytest.importorskip("torch")


# ---- outputs ------------------------------------------------------------------------------------


OUTPUTS = {
    "tuple": lambda x: (x * 2, x * 3),
    "mixed": lambda x: (x * 2, 3, None),
    "number": lambda x: 3,
    "none": lambda x: None,
    "list": lambda x: [x * 2],
    "empty": lambda x: (),
    "integers": lambda x: (x * 2, x.long()),
    "scalar": lambda x: x.sum(),
    "same twice": lambda x: (lambda y: (y, y))(x * 2),
    "itself": lambda x: x,
    "itself twice": lambda x: (x, x),
    "view": lambda x: x.view(1, 2),
    "views": lambda x: (x[:1], x[1:]),
    "transposed": lambda x: x.view(2, 1).t(),
}


@pytest.mark.parametrize("graph", ["leaf", "result", "constant"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_of_every_kind(name, graph):
    def call(lib):
        fn = define(lib, lambda ctx, x: OUTPUTS[name](x), lambda ctx, *grads: grads[0])
        x = leaf(lib)
        x = {"result": x * 1, "constant": x.detach()}.get(graph, x)
        return fn.apply(x) is x, described(fn.apply(x))

    both(call)


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_without_recording(name):
    def call(lib):
        fn = define(lib, lambda ctx, x: OUTPUTS[name](x))
        x = leaf(lib)
        with lib.no_grad():
            out = fn.apply(x)
        first = out[0] if isinstance(out, tuple | list) and out else out
        return out is x, out, getattr(first, "grad_fn", None)

    both(call)


def test_gradients_of_unused_outputs_are_zeros_or_none():
    def call(lib, materialize):
        seen = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            constant = x + 1
            ctx.mark_non_differentiable(constant)
            return x * 2, x.double().view(1, 2), constant, 5, x.long()

        def backward(ctx, *grads):
            seen.extend(grads)
            return grads[0]

        out = define(lib, forward, backward).apply(leaf(lib))
        out[0].sum().backward()
        return seen, [out[i].requires_grad for i in (0, 1, 2, 4)]

    both(lambda lib: call(lib, True))
    both(lambda lib: call(lib, False))


def test_an_input_returned_beside_one_that_requires_grad():
    def call(lib):
        a = lib.ones(2)
        out = define(lib, lambda ctx, a, b: a, lambda ctx, g: (g, g * 5)).apply(a, leaf(lib))
        return out is a, a.requires_grad, described(out)

    both(call)


def test_marking_what_is_no_tensor():
    for mark in ("mark_dirty", "mark_non_differentiable"):

        def forward(ctx, x, mark=mark):
            getattr(ctx, mark)(3)
            return x * 2

        with pytest.raises(RuntimeError, match=f"{mark} can only accept tensors"):
            define(torch, forward).apply(leaf(torch))


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_in_a_pipeline(name):
    def outputs(x):
        out = define(torch, lambda ctx, x: OUTPUTS[name](x)).apply(x)
        return [t for t in (out if isinstance(out, tuple) else (out,)) if torch.is_tensor(t)]

    x = leaf(torch)
    with torch.pipeline():
        deferred = outputs(x * 1)
    eager = outputs(x * 1)
    assert [described(t)[1:] for t in deferred] == [described(t)[1:] for t in eager]
    assert [t.tolist() for t in deferred] == [t.tolist() for t in eager]


# ---- writes -------------------------------------------------------------------------------------


def write(ctx, x, *rest):
    """Forward of a Function that doubles its input in place."""
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


TARGETS = {
    "leaf": lambda x: x,
    "view of a leaf": lambda x: x[:1],
    "result": lambda x: x * 1,
    "view of a result": lambda x: (x * 1)[:1],
    "constant": lambda x: x.detach().clone(),
}


@pytest.mark.parametrize("name", TARGETS)
def test_writing_an_input(name):
    def call(lib):
        x = leaf(lib)
        target = TARGETS[name](x)
        out = define(lib, write, lambda ctx, g: g * 10).apply(target)
        found = [out is target, out._version, described(out)]
        if out.requires_grad:
            out.sum().backward()
            found.append(x.grad)
        return found

    both(call)


def test_writing_a_base_or_a_view_of_it():
    def call(lib, on_view):
        x = leaf(lib, 1, 2, 3)
        base = x * 1
        view = base[1:]
        define(lib, write, lambda ctx, g: g * 10).apply(view if on_view else base)
        (base.sum() + view.sum() * 100).backward()
        return base, view, x.grad

    both(lambda lib: call(lib, False))
    both(lambda lib: call(lib, True))


def test_writing_a_view_that_is_not_the_first_input():
    def forward(ctx, n, other, view):
        view.mul_(other)
        ctx.mark_dirty(view)
        ctx.save_for_backward(other)
        return view

    def backward(ctx, g):
        return None, g * 7, g * ctx.saved_tensors[0]

    x, other = leaf(torch, 1, 2, 3), leaf(torch, 4, 5)
    base = x * 1
    define(torch, forward, backward).apply(0, other, base[1:])
    (base * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert base.tolist() == [1, 8, 15]
    assert x.grad.tolist() == [1, 40, 500]
    assert other.grad.tolist() == [70, 700]


def test_writing_what_was_saved_before():
    def call(lib):
        def forward(ctx, x):
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        x = leaf(lib)
        define(lib, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x * 1).sum().backward()
        return x.grad

    both(call)


def test_writing_an_input_that_needs_no_gradient_beside_one_that_does():
    def call(lib):
        a, x = lib.ones(2), leaf(lib)
        out = define(lib, write, lambda ctx, g: (g, g * 3)).apply(a, x)
        out.sum().backward()
        return out is a, a.requires_grad, x.grad

    both(call)


WRONG_WRITES = {
    "not returned": lambda ctx, x: (ctx.mark_dirty(x.add_(1)), x * 2)[1],
    "two outputs for a view": lambda ctx, x: (ctx.mark_dirty(x.add_(1)), (x, x * 2))[1],
}


@pytest.mark.parametrize("name", WRONG_WRITES)
def test_writes_that_are_refused(name):
    both(lambda lib: define(lib, WRONG_WRITES[name]).apply((leaf(lib) * 1)[:1]))
    with pytest.raises(RuntimeError):
        define(torch, WRONG_WRITES[name]).apply((leaf(torch) * 1)[:1])


def test_marking_another_tensor_as_written_warns():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    for lib in (torch, pt):
        with pytest.warns(UserWarning, match="a tensor that was not an input"):
            out = define(lib, forward).apply(leaf(lib))
        assert out.requires_grad


VIEWS = {
    "itself": lambda ctx, x: x,
    "view": lambda ctx, x: x.view(1, 2),
    "views": lambda ctx, x: (x[:1], x[1:]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("inner", [False, True])
def test_views_that_a_function_returns_do_not_change_in_place(name, inner):
    def call(lib):
        out = define(lib, VIEWS[name]).apply(leaf(lib) * 1)
        out = out[0] if name == "views" else out
        (out.view(-1) if inner else out).add_(1)

    both(call)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        call(torch)


def test_a_view_of_a_function_is_lost_when_its_base_changes():
    def call(lib):
        base = leaf(lib) * 1
        out = define(lib, VIEWS["view"]).apply(base)
        base.mul_(2)
        out.sum().backward()

    both(call)
    with pytest.raises(
        RuntimeError, match="its base or another view of its base has been modified"
    ):
        call(torch)


def test_a_base_that_a_function_made_has_views_that_change_in_place():
    def call(lib):
        x = leaf(lib)
        base = define(lib, lambda ctx, x: x * 2, lambda ctx, g: g * 10).apply(x)
        first, second = base[:1], base[1:]
        first.mul_(3)
        base.mul_(5)
        second.mul_(7)
        base.sum().backward()
        return base, first, second, x.grad

    both(call)


def test_writes_in_a_pipeline():
    x = leaf(torch)
    with torch.pipeline():
        base = x * 1
        define(torch, write, lambda ctx, g: g * 10).apply(base[:1])
        base.sum().backward()
    assert base.tolist() == [2, 2]
    assert x.grad.tolist() == [10, 1]
