"""Autograd of ops that third parties define: with no gradient, with a backward, and with writes."""

import itertools
import warnings

import pytest

import mindtorch_core as torch
from both import both
from mindtorch_core.autograd import gradcheck, gradgradcheck
from mindtorch_core.autograd.op_backward import OpBackward
from mindtorch_core.dispatch.dispatcher import dispatch, redispatch
from mindtorch_core.dispatch.keys import AUTOGRAD, DispatchKey
from mindtorch_core.dispatch.registry import registry

pt = pytest.importorskip("torch")

NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def registrations():
    """Takes back what a test registers."""
    with registry.scope():
        yield


def define(lib, schema, kernel):
    """An op of a new namespace with one CPU kernel, as a function."""
    namespace, name = f"graded{next(NUMBERS)}", schema.partition("(")[0]
    if lib is torch:
        registry.register_schema(f"{namespace}::{name}", schema)
        registry.register_kernel(f"{namespace}::{name}", "CPU", kernel)
        return lambda *args, **kwargs: dispatch(f"{namespace}::{name}", None, *args, **kwargs)
    library = pt.library.Library(namespace, "FRAGMENT")
    library.define(schema)
    library.impl(name, kernel, "CPU")
    op = getattr(getattr(pt.ops, namespace), name)

    def call(*args, _library=library, **kwargs):  # the registration lives as long as the library
        return op(*args, **kwargs)

    return call


def leaf(lib):
    return lib.tensor([1.0, 2.0, 3.0], requires_grad=True)


def state(t):
    return t.requires_grad, t.grad_fn is None, t.is_leaf


# ---- without a gradient -------------------------------------------------------------------------

KERNELS = {
    "opaque": ("op(Tensor x) -> Tensor", lambda x: x.detach() * 2),
    "recorded": ("op(Tensor x) -> Tensor", lambda x: x.clone()),
    "itself": ("op(Tensor x) -> Tensor", lambda x: x),
    "view": ("op(Tensor(a) x) -> Tensor(a)", lambda x: x.detach().view(1, 3)),
    "nothing": ("op(Tensor x) -> Tensor?", lambda x: None),
    "integers": ("op(Tensor x) -> Tensor", lambda x: x.long()),
}


@pytest.mark.parametrize("graph", ["leaf", "result", "constant", "no_grad"])
@pytest.mark.parametrize("name", KERNELS)
def test_results_require_grad_and_backward_warns(name, graph):
    def call(lib):
        op = define(lib, *KERNELS[name])
        x = leaf(lib)
        given = {"result": x * 1, "constant": x.detach()}.get(graph, x)
        with lib.set_grad_enabled(graph != "no_grad"):
            out = op(given)
        if out is None:
            return None
        found = [state(out), out is given]
        if out.requires_grad:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                (g,) = lib.autograd.grad(out.sum(), x, allow_unused=True)
            kinds = [w.category is UserWarning for w in caught]
            assert all("an autograd kernel was not registered" in str(w.message) for w in caught)
            found += [kinds, g]
        return found

    both(call)


def test_the_warning_names_the_op_and_comes_with_every_walk():
    op = define(torch, *KERNELS["opaque"])
    out = op(leaf(torch))
    assert out.grad_fn.name() == "WarnNotImplemented"
    for _ in range(2):
        with pytest.warns(
            UserWarning, match=r"graded\d+::op: an autograd kernel was not registered"
        ):
            out.sum().backward()


def test_several_results_and_lists():
    def call(lib):
        op = define(
            lib,
            "op(Tensor x) -> (Tensor, Tensor, int)",
            lambda x: (x.detach() * 2, x.detach().long(), 3),
        )
        lists = define(lib, "op(Tensor[] xs) -> Tensor[]", lambda xs: [x.detach() * 2 for x in xs])
        a, b, n = op(leaf(lib))
        return state(a), state(b), n, [state(t) for t in lists([leaf(lib), lib.ones(2)])]

    both(call)


def test_written_arguments_keep_their_history():
    def call(lib, schema, result):
        def kernel(x):
            x.detach().add_(1)
            return x if result else None

        op = define(lib, schema, kernel)
        x, y = leaf(lib), leaf(lib) * 2
        op(x)
        op(y)
        return state(x), state(y), y

    both(lambda lib: call(lib, "op(Tensor(a!) x) -> ()", False))
    both(lambda lib: call(lib, "op(Tensor(a!) x) -> Tensor(a!)", True))


def test_a_written_argument_that_is_returned_needs_no_gradient():
    def call(lib):
        op = define(
            lib,
            "op(Tensor x, Tensor(a!) y) -> Tensor(a!)",
            lambda x, y: y.copy_(x.detach()),
        )
        y = lib.ones(3)
        return op(leaf(lib), y) is y, state(y), y

    both(call)


def test_ops_without_a_schema_fall_through():
    registry.register_kernel("graded::plain", "CPU", lambda x: x * 2)
    out = dispatch("graded::plain", None, leaf(torch))
    assert out.grad_fn.name() == "MulBackward0"
    out.sum().backward()


def test_a_fallthrough_silences_the_warning():
    registry.register_schema("graded::quiet", "quiet(Tensor x) -> Tensor")
    registry.register_kernel("graded::quiet", "CPU", lambda x: x.detach() * 2)
    registry.register_fallthrough("graded::quiet", "Autograd")
    assert not dispatch("graded::quiet", None, leaf(torch)).requires_grad


# ---- with a backward ----------------------------------------------------------------------------


def graded(schema, kernel, backward, setup_context=None):
    """A function for an op whose Autograd kernel is an `OpBackward`."""
    name = f"graded{next(NUMBERS)}::op"
    rule = OpBackward("OpBackward", backward, setup_context)
    registry.register_schema(name, schema)
    registry.register_kernel(name, "CPU", kernel)

    def recording(keys, *args, **options):
        below = keys.without(AUTOGRAD)
        return rule(lambda *a, **k: redispatch(name, below, *a, **k), args, options)

    registry.register_kernel(name, DispatchKey.Autograd, recording, with_keyset=True)
    return lambda *args, **kwargs: dispatch(name, None, *args, **kwargs)


def test_an_op_with_a_backward():
    def setup_context(ctx, inputs, output):
        assert not torch.is_grad_enabled()
        ctx.save_for_backward(inputs[0], output)
        ctx.power = inputs[1]

    def backward(ctx, g):
        x, result = ctx.saved_tensors
        return g * ctx.power * result / x, None

    op = graded("op(Tensor x, int n) -> Tensor", lambda x, n: x**n, backward, setup_context)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert op(x, 3).grad_fn.name() == "OpBackward"
    assert gradcheck(lambda x: op(x, 3), x)
    assert gradgradcheck(lambda x: op(x, 3), x)
    with torch.no_grad():
        assert op(x, 3).grad_fn is None


def test_lists_of_tensors():
    seen = []

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[0])
        seen.append((ctx.needs_input_grad, [len(v) for v in (inputs[0], output[0])]))

    def backward(ctx, grads, last):
        seen.append([g.tolist() for g in grads])
        return [g * t for g, t in zip(grads, ctx.saved_tensors, strict=True)], last.sum() * 2, None

    def kernel(xs, y, sizes):
        return [x * x / 2 for x in xs], y * 2

    op = graded(
        "op(Tensor[] xs, Tensor y, int[] sizes) -> (Tensor[], Tensor)",
        kernel,
        backward,
        setup_context,
    )
    a, b, y = leaf(torch), torch.ones(3), torch.tensor(5.0, requires_grad=True)
    outs, last = op([a, b], y, [1, 2])
    (outs[0].sum() * 10 + last).backward()
    assert seen == [(([True, False], True, False), [2, 2]), [[10, 10, 10], [0, 0, 0]]]
    assert a.grad.tolist() == [10, 20, 30]
    assert y.grad.item() == 2
    assert b.grad is None


def test_keyword_only_arguments_reach_setup_context():
    def setup_context(ctx, inputs, keyword_only_inputs, output):
        assert (len(inputs), output.tolist()) == (1, [4, 8, 12])
        ctx.scale = keyword_only_inputs["scale"]

    op = graded(
        "op(Tensor x, *, float scale=1.0) -> Tensor",
        lambda x, scale=1.0: x * scale,
        lambda ctx, g: g * ctx.scale,
        setup_context,
    )
    x = leaf(torch)
    op(x, scale=4.0).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_inputs_with_defaults_and_surplus_nones():
    seen = []
    rule = OpBackward(
        "OpBackward",
        lambda ctx, g: (g * ctx.by, None, None),
        lambda ctx, inputs, output: seen.append((inputs[1:], setattr(ctx, "by", inputs[1]))),
    )
    x = leaf(torch)
    rule(lambda x: x * 2, (x,), inputs=(x, 2.0)).sum().backward()
    assert seen == [((2.0,), None)]
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ((None,), r"incorrect number of gradients \(expected 2, got 1\)"),
        ((torch.ones(3), None), "returned no list of 2 gradients for argument 0"),
        (([torch.ones(3)], None), "returned no list of 2 gradients for argument 0"),
        (([torch.ones(2), None], None), r"invalid gradient at index 0 - got \[2\]"),
        ((None, torch.ones(3)), "different than None"),
    ],
)
def test_gradients_that_do_not_fit(returned, text):
    op = graded(
        "op(Tensor[] xs, int n) -> Tensor", lambda xs, n: xs[0] * n, lambda ctx, g: returned
    )
    with pytest.raises(RuntimeError, match=text):
        op([leaf(torch), leaf(torch)], 2).sum().backward()


def test_backward_of_an_op_in_a_pipeline():
    op = graded("op(Tensor x) -> Tensor", lambda x: x * x, lambda ctx, g: g * 7)
    x = leaf(torch)
    with torch.pipeline():
        op(x * 1).sum().backward()
    assert x.grad.tolist() == [7, 7, 7]


# ---- writes -------------------------------------------------------------------------------------

WRITES = {
    "second": ("op(Tensor x, Tensor(a!) y) -> ()", lambda x, y: None, (False, True)),
    "both": ("op(Tensor(a!) x, Tensor(b!) y) -> ()", lambda x, y: None, (True, True)),
    "neither": ("op(Tensor x, Tensor y) -> ()", lambda x, y: None, (False, False)),
    "optional": ("op(Tensor x, Tensor(a!)? y) -> ()", lambda x, y: None, (False, True)),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_written_argument_counts_a_version(name):
    schema, kernel, expected = WRITES[name]
    x, y = torch.ones(2), torch.ones(2)
    define(torch, schema, kernel)(x, y)
    assert (x._version, y._version) == tuple(map(int, expected))


def test_written_lists_keywords_and_absent_arguments_count_versions():
    xs = [torch.ones(2), torch.ones(2)]
    define(torch, "op(Tensor(a!)[] xs) -> ()", lambda xs: None)(xs)
    assert [x._version for x in xs] == [1, 1]
    out = torch.ones(2)
    define(torch, "op(Tensor x, *, Tensor(a!) y) -> Tensor(a!)", lambda x, **k: k["y"])(
        xs[0], y=out
    )
    assert (xs[0]._version, out._version) == (1, 1)
    define(torch, "op(Tensor(a!)? x, Tensor y) -> ()", lambda x, y: None)(None, xs[0])
    assert xs[0]._version == 1


def test_backward_notices_what_an_op_wrote():
    op = define(torch, "op(Tensor x, Tensor(a!) y) -> ()", lambda x, y: None)
    x, y = leaf(torch), torch.ones(3)
    out = x * y
    op(torch.ones(3), y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_inference_tensors_are_not_written_outside_the_mode():
    op = define(torch, "op(Tensor x, Tensor(a!) y) -> ()", lambda x, y: None)
    with torch.inference_mode():
        y = torch.ones(3)
        op(torch.ones(3), y)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        op(torch.ones(3), y)
    op(y, torch.ones(3))
