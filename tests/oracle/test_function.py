"""`torch.autograd.Function` against PyTorch: arguments, contexts, saved tensors, other surroundings."""

import gc
import weakref

import pytest
from collecting import leaf

import mindtorch_core as torch
from both import both
from custom_functions import define, gradient, square
from mindtorch_core.autograd import gradcheck, gradgradcheck
from mindtorch_core.autograd.function import FunctionCtx

pt = pytest.importorskip("torch")


# ---- the ordinary way ---------------------------------------------------------------------------


def test_a_function_has_its_own_gradient():
    both(lambda lib: gradient(lib, square(lib)))
    both(lambda lib: gradient(lib, define(lib, lambda ctx, x: x * 2, lambda ctx, g: g * 100)))


def test_first_and_second_order_against_finite_differences():
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(square(torch).apply, x)
    assert gradgradcheck(square(torch).apply, x)


def test_the_node_is_named_after_the_function_and_shows_its_context():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, power):
            ctx.power = power
            ctx.save_for_backward(x)
            return x**power

        @staticmethod
        def backward(ctx, g):
            return g * ctx.power * ctx.saved_tensors[0] ** 2, None

    x = leaf(torch)
    node = Cube.apply(x, 3).grad_fn
    assert node.name() == "CubeBackward"
    assert "grad_fn=<CubeBackward>" in repr(Cube.apply(x, 3))
    assert node.power == 3
    assert node.saved_tensors[0] is x
    assert node.needs_input_grad == (True, False)
    assert len(node.next_functions) == 1
    with pytest.raises(AttributeError, match="colour"):
        node.colour


def test_vjp_is_another_name_of_backward():
    both(
        lambda lib: gradient(lib, define(lib, lambda ctx, x: x * 2, None, vjp=lambda ctx, g: g * 7))
    )
    both(
        lambda lib: gradient(
            lib, define(lib, lambda ctx, x: x * 2, lambda ctx, g: g, vjp=lambda ctx, g: g)
        )
    )


def test_the_context_is_a_function_ctx():
    seen = []

    def forward(ctx, x):
        seen.append(ctx)
        return x * 2

    define(torch, forward).apply(leaf(torch))
    assert isinstance(seen[0], FunctionCtx)
    assert torch.autograd.function.FunctionCtx is FunctionCtx


def test_gradients_are_disabled_in_forward_and_recorded_in_backward_on_request():
    def call(lib):
        modes = []

        def forward(ctx, x):
            modes.append(lib.is_grad_enabled())
            return x * 2

        def backward(ctx, g):
            modes.append(lib.is_grad_enabled())
            return g * 2

        for create in (False, True):
            x = leaf(lib)
            lib.autograd.grad(define(lib, forward, backward).apply(x).sum(), x, create_graph=create)
        return modes

    both(call)


def test_a_function_of_a_function():
    def call(lib):
        inner = square(lib)

        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return inner.apply(x) * g

        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3 / 3

        x = leaf(lib)
        (g,) = lib.autograd.grad(
            define(lib, forward, backward).apply(x).sum(), x, create_graph=True
        )
        return g, *lib.autograd.grad(g.sum(), x)

    both(call)


def test_backward_may_walk_a_graph_of_its_own():
    def call(lib):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp() * x

        def backward(ctx, g):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with lib.enable_grad():
                again = x.exp() * x
            lib.autograd.backward(again, g)
            return x.grad

        fn = define(lib, forward, backward)
        x = leaf(lib)
        fn.apply(fn.apply(x) / 10).sum().backward()
        return x.grad, lib.is_grad_enabled()

    both(call)


def test_attributes_of_any_name():
    names = ("edges", "saved", "outputs", "inputs", "number", "conform", "results", "shape", "ctx")

    def forward(ctx, x):
        for i, name in enumerate(names):
            setattr(ctx, name, i)
        return x * 2

    def backward(ctx, g):
        return g * sum(getattr(ctx, name) for name in names)

    assert gradient(torch, define(torch, forward, backward)).tolist() == [36, 36]


# ---- arguments ----------------------------------------------------------------------------------


def test_arguments_that_are_no_tensors():
    def forward(ctx, x, factor, names, flag=True):
        ctx.factor = factor
        return x * factor if flag else x

    def backward(ctx, g):
        return g * ctx.factor, None, None, None

    def call(lib):
        fn = define(lib, forward, backward)
        x = leaf(lib)
        out = fn.apply(x, 3, ["a"], flag=True)
        out.sum().backward()
        return out, x.grad

    both(call)


def test_which_inputs_need_a_gradient():
    def call(lib):
        seen = []

        def forward(ctx, *values):
            seen.append(ctx.needs_input_grad)
            return values[0] * 2

        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, g, None, None

        fn = define(lib, forward, backward)
        a, b = leaf(lib), leaf(lib)
        lib.autograd.grad(fn.apply(a, b, lib.ones(2), 5).sum(), a)
        with lib.no_grad():
            fn.apply(a, b, lib.ones(2), 5)
        return seen

    both(call)


def test_tensors_inside_lists_are_not_inputs():
    both(lambda lib: define(lib, lambda ctx, xs: xs[0] * 2).apply([leaf(lib)]).requires_grad)


@pytest.mark.parametrize("separate", [False, True], ids=["forward", "setup_context"])
def test_missing_and_unknown_arguments(separate):
    def call(lib, *args, **kwargs):
        if separate:
            fn = define(lib, lambda x, y: x, setup_context=lambda ctx, inputs, output: None)
        else:
            fn = define(lib, lambda ctx, x, y: x)
        return fn.apply(*args, **kwargs)

    both(lambda lib: call(lib, leaf(lib)))
    both(lambda lib: call(lib, leaf(lib), 1, z=3))


# ---- setup_context ------------------------------------------------------------------------------


def test_setup_context_sees_inputs_with_defaults_and_the_output():
    def call(lib):
        seen = []

        def setup_context(ctx, inputs, output):
            seen.append((inputs[1:], output, lib.is_grad_enabled()))
            ctx.factor = inputs[1]

        fn = define(
            lib,
            lambda x, factor=3: x * factor,
            lambda ctx, g: (g * ctx.factor, None),
            setup_context=setup_context,
        )
        x = leaf(lib)
        fn.apply(x).sum().backward()
        fn.apply(x, factor=5)
        return seen, x.grad

    both(call)


def test_setup_context_with_several_outputs():
    def call(lib):
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs, *output)

        def backward(ctx, *grads):
            x, doubled, squared = ctx.saved_tensors
            return grads[0] * 2 + grads[1] * 2 * x + 0 * doubled + 0 * squared

        fn = define(lib, lambda x: (x * 2, x * x), backward, setup_context=setup_context)
        x = leaf(lib)
        a, b = fn.apply(x)
        (a * b).sum().backward()
        return a, b, x.grad

    both(call)


# ---- saved tensors ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3, [1], "a"])
def test_only_tensors_are_saved(value):
    def forward(ctx, x):
        ctx.save_for_backward(x, value)
        return x * 2

    both(lambda lib: define(lib, forward).apply(leaf(lib)).detach())
    with pytest.raises(TypeError, match="argument 1 is of type"):
        define(torch, forward).apply(leaf(torch))


def test_none_is_saved_and_the_last_call_counts():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(None, x)
        return x * 2

    both(lambda lib: define(lib, forward).apply(leaf(lib)).grad_fn.saved_tensors)


def test_nothing_is_saved_where_nothing_is_recorded():
    def call(lib):
        seen = []

        def forward(ctx, x):
            ctx.save_for_backward(x)
            seen.append(ctx)
            return x * 2

        out = define(lib, forward).apply(leaf(lib).detach())
        return out.requires_grad, len(seen[0].saved_tensors)

    both(call)


@pytest.mark.parametrize("reads", [False, True])
def test_a_second_walk_fails_only_if_saved_tensors_are_read(reads):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    def call(lib):
        out = define(lib, forward, lambda ctx, g: (ctx.saved_tensors if reads else None, g)[1])
        out = out.apply(leaf(lib))
        out.backward(lib.ones(2))
        out.backward(lib.ones(2))

    both(call)


def test_saved_tensors_stay_while_the_graph_is_retained():
    def call(lib):
        x = leaf(lib)
        out = square(lib).apply(x).sum()
        out.backward(retain_graph=True)
        out.backward()
        return x.grad

    both(call)
    with pytest.raises(RuntimeError, match="a second time"):
        _ = _walked(torch).saved_tensors


@pytest.mark.parametrize("retained", [True, False])
def test_backward_may_clear_what_was_saved_before_it_ends(retained):
    def call(lib):
        seen = []

        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.maybe_clear_saved_tensors()
            return x * x

        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            ctx.maybe_clear_saved_tensors()
            try:
                seen.append(len(ctx.saved_tensors))
            except RuntimeError as error:
                seen.append("a second time" in str(error))
            return 2 * x * g

        x = leaf(lib)
        out = define(lib, forward, backward).apply(x)
        out.grad_fn.maybe_clear_saved_tensors()
        seen.append(len(out.grad_fn.saved_tensors))
        out.sum().backward(retain_graph=retained)
        return seen, x.grad

    both(call)


def _walked(lib):
    out = square(lib).apply(leaf(lib))
    out.sum().backward()
    return out.grad_fn


@pytest.mark.parametrize("what", ["input", "constant", "output", "intermediate"])
def test_saved_tensors_that_change_in_place_are_refused(what):
    def call(lib):
        def forward(ctx, x, constant):
            out = x * 2
            between = x * 3
            kept = {"input": x, "constant": constant, "output": out, "intermediate": between}[what]
            ctx.save_for_backward(kept)
            ctx.between = between
            return out

        x, constant = leaf(lib) * 1, lib.ones(2)
        out = define(lib, forward, lambda ctx, g: (ctx.saved_tensors, g, None)[1:]).apply(
            x, constant
        )
        target = {"input": x, "constant": constant, "output": out}.get(what, out.grad_fn.between)
        target.add_(1)
        out.sum().backward()

    both(call)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        call(torch)


def test_saved_outputs_have_the_history_of_the_call():
    def call(lib):
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

        x = leaf(lib)
        (first,) = lib.autograd.grad(
            define(lib, forward, backward).apply(x).sum(), x, create_graph=True
        )
        (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
        return first, second, *lib.autograd.grad(second.sum(), x)

    both(call)


def test_a_graph_that_saved_its_output_is_freed_at_once():
    def forward(ctx, x):
        out = x * 2
        ctx.save_for_backward(x, out)
        return out

    gc.disable()
    try:
        out = define(torch, forward).apply(leaf(torch))
        gone = weakref.ref(out.grad_fn)
        del out
        assert gone() is None
    finally:
        gc.enable()


# ---- elsewhere ----------------------------------------------------------------------------------


def test_on_meta_tensors():
    x = torch.empty(2, 3, device="meta", requires_grad=True)
    out = square(torch).apply(x)
    out.sum().backward()
    assert (out.shape, out.device.type, out.grad_fn.name()) == ((2, 3), "meta", "FnBackward")
    assert (x.grad.shape, x.grad.device.type) == ((2, 3), "meta")


def test_in_a_pipeline():
    fn = square(torch)
    x, y = leaf(torch), leaf(torch)
    with torch.pipeline():
        out = fn.apply(fn.apply(x * 1))
        assert out._pending
        assert out.grad_fn.name() == "FnBackward"
        out.sum().backward()
    fn.apply(fn.apply(y * 1)).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [4, 32]


def test_hooks_and_retained_gradients():
    def call(lib):
        x = leaf(lib)
        out = square(lib).apply(x)
        out.retain_grad()
        out.register_hook(lambda g: g * 2)
        (out * 3).sum().backward()
        return out.grad, x.grad

    both(call)


def test_what_a_function_saves_for_forward_mode_does_not_matter():
    def call(lib):
        class Double(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_forward(x, None)
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        x = lib.ones(2, requires_grad=True)
        Double.apply(x).sum().backward()
        return x.grad

    both(call)


@pytest.mark.parametrize("rule", [None, False, True])
def test_samples_need_a_rule(rule):
    def call(lib):
        class Twice(lib.autograd.Function):
            if rule is not None:
                generate_vmap_rule = rule

            @staticmethod
            def forward(x):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

        return lib.func.vmap(Twice.apply)(lib.ones(2, 3))

    both(call)
