"""What backward of a `torch.autograd.Function` returns, against PyTorch, and its second derivative."""

import pytest
from collecting import leaf

import mindtorch_core as torch
from both import both
from custom_functions import define, gradient, square
from mindtorch_core.autograd.function import once_differentiable
from mindtorch_core.testing.comparison import assert_close

pt = pytest.importorskip("torch")


# ---- gradients that do not fit ------------------------------------------------------------------


RETURNS = {
    "too many": lambda lib, g: (g, g),
    "surplus nones": lambda lib, g: (g, None, None),
    "none": lambda lib, g: None,
    "other size": lambda lib, g: lib.ones(5),
    "broadcast": lambda lib, g: lib.ones(3, 2),
    "too small": lambda lib, g: lib.ones(1),
    "number": lambda lib, g: 3.0,
    "list": lambda lib, g: [g],
    "float64": lambda lib, g: lib.ones(2, dtype=lib.float64),
    "int64": lambda lib, g: lib.ones(2, dtype=lib.int64),
    "complex": lambda lib, g: lib.ones(2, dtype=lib.complex64),
    "meta": lambda lib, g: g.to("meta"),
}


@pytest.mark.parametrize("name", RETURNS)
def test_what_backward_returns(name):
    def call(lib):
        fn = define(lib, lambda ctx, x: x * 2, lambda ctx, g: RETURNS[name](lib, g))
        x = leaf(lib)
        return lib.autograd.grad(fn.apply(x).sum(), x, allow_unused=True)

    both(call)


def test_errors_about_gradients_say_which():
    def backward_gives(*values):
        fn = define(torch, lambda ctx, n, x, y: x * 2, lambda ctx, g: values)
        fn.apply(5, leaf(torch), torch.ones(2)).sum().backward()

    g = torch.ones(2)
    backward_gives(None, g, torch.ones(9))  # for an input that needs none, nothing is checked
    with pytest.raises(
        RuntimeError, match=r"FnBackward returned an incorrect.*\(expected 3, got 2\)"
    ):
        backward_gives(None, g)
    with pytest.raises(RuntimeError, match="different than None at position 1"):
        backward_gives(g, g, None)
    with pytest.raises(
        RuntimeError, match=r"invalid gradient at index 0 - got \[7\] but expected .* \[2\]"
    ):
        backward_gives(None, torch.ones(7), None)


def test_functions_without_the_methods_they_need():
    def backward_of(lib, fn):
        fn.apply(leaf(lib)).sum().backward()

    both(lambda lib: backward_of(lib, define(lib, lambda ctx, x: x * 2, None)))
    both(lambda lib: backward_of(lib, define(lib, None)))


def test_exceptions_of_backward_pass_through():
    both(lambda lib: gradient(lib, define(lib, lambda ctx, x: x * 2, lambda ctx, g: {}["missing"])))


def test_instances_are_not_used():
    def instance(lib):
        with pytest.warns(DeprecationWarning, match="should not be instantiated"):
            return square(lib)()

    both(lambda lib: instance(lib)(leaf(lib)))
    both(lambda lib: instance(lib).apply(leaf(lib)))


# ---- once_differentiable ------------------------------------------------------------------------


def test_once_differentiable_gives_first_derivatives_only():
    def call(lib):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @lib.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

        x = leaf(lib)
        out = define(lib, forward, backward).apply(x) ** 2
        (g,) = lib.autograd.grad(out.sum(), x, create_graph=True)
        assert_close(g.detach(), 4 * x.detach() ** 3)
        g.sum().backward()

    both(call)


def test_once_differentiable_without_a_graph_is_the_function_itself():
    @once_differentiable
    def backward(ctx, g):
        return g * 2, None

    fn = define(torch, lambda ctx, x, n: x * 2, backward)
    x = leaf(torch)
    (g,) = torch.autograd.grad(fn.apply(x, 1).sum(), x, create_graph=True)
    assert g.tolist() == [2, 2]
    assert not g.requires_grad
    assert backward.__name__ == "backward"
