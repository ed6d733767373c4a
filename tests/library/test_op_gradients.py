"""``register_autograd``: gradients of custom ops and of ops that a library defines."""

import warnings
from collections.abc import Sequence

import pytest

import mindtorch_core as torch
from mindtorch_core.autograd import gradcheck, gradgradcheck
from scenarios import as_in_pytorch, refused


def define(t, name, fn, **options):
    return t.library.custom_op(f"op_gradients_test::{name}", fn, mutates_args=(), **options)


def leaf(t, *values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


def scale(t, name, seen=None):
    """``x * by``, with what its setup_context and backward were handed in ``seen``."""
    seen = [] if seen is None else seen

    def forward(x: t.Tensor, by: float = 2.0, n: int = 1) -> t.Tensor:
        return x * by

    def setup(ctx, inputs, output):
        seen.append((len(inputs), inputs[1:], type(output).__name__, output.requires_grad))
        ctx.by = inputs[1]

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad[0])
        return g * ctx.by, None, None

    op = define(t, name, forward)
    op.register_autograd(backward, setup_context=setup)
    return op


# ---- what is handed over ------------------------------------------------------------------------


@as_in_pytorch
def test_setup_context_gets_every_argument_with_defaults_filled_in(t):
    seen = []
    op = scale(t, "defaults", seen)
    x = leaf(t, 1.0, 2.0)
    for y in (op(x), op(x, 3.0), op(x, n=4)):
        y.sum().backward()
    return seen, x.grad


@as_in_pytorch
def test_setup_context_is_called_without_gradients_too(t):
    seen = []
    op = scale(t, "unrecorded", seen)
    op(t.ones(1))
    with t.no_grad():
        op(leaf(t, 1.0))
    return len([s for s in seen if isinstance(s, tuple) and s[-1]])


@as_in_pytorch
def test_keyword_only_arguments(t):
    seen = []

    def forward(x: t.Tensor, *, by: float = 2.0, flag: bool = False) -> t.Tensor:
        return x * by

    def setup(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), sorted(keyword_only_inputs.items())))
        ctx.by = keyword_only_inputs["by"]

    op = define(t, "keyword_only", forward)
    op.register_autograd(lambda ctx, g: g * ctx.by, setup_context=setup)
    x = leaf(t, 1.0)
    op(x).backward()
    op(x, by=5.0, flag=True).backward()
    return seen, x.grad


@as_in_pytorch
def test_what_need_not_be_differentiated(t):
    seen = []

    def forward(x: t.Tensor, y: t.Tensor) -> t.Tensor:
        return x * y

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        seen.append(ctx.needs_input_grad)
        return g * y if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[
            1
        ] else None

    op = define(t, "needs", forward)
    op.register_autograd(backward, setup_context=setup)
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    op(x, y.detach()).backward()
    op(x.detach(), y).backward()
    op(x, y).backward()
    return seen, x.grad, y.grad


@as_in_pytorch
def test_several_outputs(t):
    def forward(x: t.Tensor) -> tuple[t.Tensor, t.Tensor, int]:
        return x * 2, x * 3, 7

    seen = []

    def backward(ctx, a, b, c):
        seen.append([type(g).__name__ for g in (a, b, c)])
        return a * 2 + b * 3

    op = define(t, "several", forward)
    op.register_autograd(backward)
    x = leaf(t, 1.0)
    a, b, c = op(x)
    (a * 10 + b).sum().backward()
    (op(x)[1]).backward()
    return x.grad, c, a.requires_grad


@as_in_pytorch
def test_outputs_of_integers_are_not_differentiable(t):
    def forward(x: t.Tensor) -> tuple[t.Tensor, t.Tensor]:
        return x * 2, (x > 0).to(t.int64)

    op = define(t, "integers", forward)
    op.register_autograd(lambda ctx, g, unused: g * 2)
    y, n = op(leaf(t, 1.0, -1.0))
    return y.requires_grad, n.requires_grad, n


# ---- lists --------------------------------------------------------------------------------------


def weighted_sum(t, name):
    def forward(xs: Sequence[t.Tensor], w: float) -> t.Tensor:
        total = xs[0] * w
        for x in xs[1:]:
            total = total + x * w
        return total

    def setup(ctx, inputs, output):
        ctx.n, ctx.w = len(inputs[0]), inputs[1]
        ctx.wanted = ctx.needs_input_grad

    op = define(t, name, forward)
    op.register_autograd(lambda ctx, g: ([g * ctx.w] * ctx.n, None), setup_context=setup)
    return op


@as_in_pytorch
def test_a_list_of_tensors_has_a_list_of_gradients(t):
    op = weighted_sum(t, "lists")
    xs = [leaf(t, 1.0), t.ones(1, dtype=t.float64), leaf(t, 3.0)]
    op(xs, 2.0).backward()
    return [x.grad is None for x in xs], xs[0].grad, xs[2].grad


@as_in_pytorch
def test_a_list_of_outputs_gives_a_list_of_gradients(t):
    def forward(x: t.Tensor) -> list[t.Tensor]:
        return [x * 1, x * 2, x * 3]

    def backward(ctx, grads):
        return sum(g * n for n, g in enumerate(grads, 1))

    op = define(t, "list_out", forward)
    op.register_autograd(backward)
    x = leaf(t, 1.0)
    a, b, c = op(x)
    (a + b * 10 + c * 100).backward()
    return x.grad


@as_in_pytorch
def test_optional_tensors(t):
    def forward(x: t.Tensor, y: t.Tensor | None = None) -> t.Tensor:
        return x * 2 if y is None else x * y

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return (g * 2, None) if y is None else (g * y, g * x)

    op = define(t, "optional", forward)
    op.register_autograd(backward, setup_context=setup)
    x, y = leaf(t, 3.0), leaf(t, 5.0)
    op(x).backward()
    op(x, y).backward()
    return x.grad, y.grad


# ---- higher derivatives -------------------------------------------------------------------------


def cube(t, name):
    def forward(x: t.Tensor) -> t.Tensor:
        return t.from_numpy(x.detach().numpy() ** 3)

    op = define(t, name, forward)

    def setup(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x

    op.register_autograd(backward, setup_context=setup)
    return op


@as_in_pytorch
def test_gradients_of_gradients(t):
    op, x = cube(t, "cube"), leaf(t, 2.0)
    (first,) = t.autograd.grad(op(x), x, create_graph=True)
    (second,) = t.autograd.grad(first, x, create_graph=True)
    return first.detach(), second.detach(), t.autograd.grad(second, x)[0]


def test_gradcheck_and_gradgradcheck():
    op = cube(torch, "checked")
    x = leaf(torch, 0.5, -1.0)
    assert gradcheck(op, (x,))
    assert gradgradcheck(op, (x,))
    both = weighted_sum(torch, "checked_list")
    assert gradcheck(lambda a, b: both([a, b], 2.0), (leaf(torch, 1.0), leaf(torch, 2.0)))


# ---- what is refused ----------------------------------------------------------------------------


@as_in_pytorch
def test_the_wrong_number_of_gradients(t):
    def forward(x: t.Tensor, by: float = 2.0, n: int = 1) -> t.Tensor:
        return x * by

    answers = [lambda g: g, lambda g: (g, None), lambda g: (g, None, None), lambda g: (g, None, g)]
    given = [(), (3.0,), (3.0, 4), (2.0, 4)]  # the last ones that equal their default do not count
    outcomes = []
    for i, answer in enumerate(answers):
        op = define(t, f"count_{i}", forward)
        op.register_autograd(
            lambda ctx, g: answer(g), setup_context=lambda ctx, inputs, output: None
        )
        outcomes += [refused(lambda: op(leaf(t, 1.0), *args).backward()) for args in given]
    return outcomes


@as_in_pytorch
def test_a_gradient_of_the_wrong_shape(t):
    op = define(t, "shape", _identity(t))
    op.register_autograd(lambda ctx, g: g.new_ones(7))
    return refused(lambda: op(leaf(t, 1.0, 2.0)).sum().backward())


def _identity(t):
    def forward(x: t.Tensor) -> t.Tensor:
        return x.clone()

    return forward


@as_in_pytorch
def test_without_a_formula_backward_raises(t):
    op = define(t, "formula", _identity(t))
    y = op(leaf(t, 1.0))
    return y.requires_grad, refused(y.backward)


def test_and_the_error_names_the_op():
    op = define(torch, "unnamed", _identity(torch))
    with pytest.raises(RuntimeError, match=r"through op_gradients_test.unnamed.default but no aut"):
        op(leaf(torch, 1.0)).backward()


@as_in_pytorch
def test_ops_that_write_have_no_gradient(t):
    @t.library.custom_op("op_gradients_test::writes", mutates_args=("x",))
    def writes(x: t.Tensor) -> None:
        x.add_(1)

    return refused(writes.register_autograd, lambda ctx, g: g)


@as_in_pytorch
def test_tensors_by_keyword_only_have_none_either(t):
    def forward(x: t.Tensor, *, y: t.Tensor) -> t.Tensor:
        return x + y

    with t.library._scoped_library("op_gradients_test", "FRAGMENT") as lib:
        lib.define("keyword_tensor(Tensor x, *, Tensor y) -> Tensor")

        def register():
            return t.library.register_autograd(
                "op_gradients_test::keyword_tensor", lambda ctx, g: g, lib=lib
            )

        return refused(register), refused(define, t, "another_keyword_tensor", forward)


@as_in_pytorch
def test_of_what_does_not_exist(t):
    return refused(t.library.register_autograd, "op_gradients_test::nothing", lambda ctx, g: g)


# ---- ops of a library ---------------------------------------------------------------------------


@as_in_pytorch
def test_an_op_of_a_library(t):
    with t.library._scoped_library("op_gradients_test", "FRAGMENT") as lib:
        lib.define("plain(Tensor x, float by) -> Tensor")
        lib.impl("plain", lambda x, by: x * by, "CPU")

        def setup(ctx, inputs, output):
            ctx.by = inputs[1]

        t.library.register_autograd(
            "op_gradients_test::plain",
            lambda ctx, g: (g * ctx.by, None),
            setup_context=setup,
            lib=lib,
        )
        x = leaf(t, 1.0)
        t.ops.op_gradients_test.plain(x, 4.0).backward()
        return x.grad


@as_in_pytorch
def test_registering_again_replaces(t):
    op = define(t, "twice", _identity(t))
    op.register_autograd(lambda ctx, g: g * 2)
    op.register_autograd(lambda ctx, g: g * 3)
    x = leaf(t, 1.0)
    op(x).backward()
    return x.grad


@as_in_pytorch
def test_an_op_of_a_library_without_a_gradient_only_warns(t):
    with t.library._scoped_library("op_gradients_test", "FRAGMENT") as lib:
        lib.define("bare(Tensor x) -> Tensor")
        lib.impl("bare", lambda x: t.from_numpy(x.detach().numpy() * 2), "CPU")
        x = leaf(t, 1.0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            y = t.ops.op_gradients_test.bare(x)
            error = refused(lambda: (y * x).backward())
        told = ["autograd kernel was not registered" in str(w.message) for w in seen]
        return y.requires_grad, error, x.grad, any(told)


@as_in_pytorch
def test_hooks_and_retained_graphs(t):
    op, x = cube(t, "hooked"), leaf(t, 2.0)
    seen = []
    y = op(x)
    y.register_hook(lambda g: seen.append(g.item()))
    x.register_hook(lambda g: g * 10)
    y.backward(retain_graph=True)
    y.backward()
    return seen, x.grad, refused(y.backward)


@as_in_pytorch
def test_what_was_saved_must_not_change(t):
    op, x = cube(t, "saved"), leaf(t, 2.0)
    w = x * 1
    y = op(w)
    w.add_(1)
    return refused(y.backward)


@as_in_pytorch
def test_the_name_of_the_node(t):
    op = cube(t, "node_name")
    return op(leaf(t, 2.0)).grad_fn.name(), type(op(leaf(t, 2.0)).grad_fn).__name__
