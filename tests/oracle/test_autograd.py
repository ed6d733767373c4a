"""The engine of autograd against PyTorch: accumulation, in-place changes, hooks, errors, memory."""

import gc
import itertools
import sys
import weakref

import pytest

import mindtorch_core as torch
from both import both, leaf
from mindtorch_core.autograd import gradcheck, gradgradcheck
from mindtorch_core.autograd.gradient_checks import GradcheckError
from mindtorch_core.testing.comparison import assert_close, assert_same_outcome, outcome

pt = pytest.importorskip("torch")


# ---- accumulation -------------------------------------------------------------------------------


def test_gradients_accumulate():
    def call(lib):
        x = leaf(lib, 3)
        out = []
        for factor in (2, 3):
            (x * factor).sum().backward()
            out.append(x.grad.clone())
        x.grad = None
        (x * x).sum().backward()
        return [*out, x.grad]

    both(call)


def test_a_tensor_used_many_times():
    both(lambda lib: grads(lib, lambda x: (x * x + x) * x.exp() / (x + 1)))
    both(lambda lib: grads(lib, lambda x: sum(x * i for i in range(20))))


def grads(lib, function, *shape):
    x = leaf(lib, *(shape or (3,)))
    function(x).sum().backward()
    return x.grad


def test_gradients_of_several_leaves_do_not_share_memory():
    a, b = leaf(torch, 2), leaf(torch, 2)
    (a + b).sum().backward()
    a.grad.zero_()
    assert b.grad.tolist() == [1, 1]
    c = leaf(torch, 2)
    seed = torch.ones(2)
    c.backward(seed)
    seed.zero_()
    assert c.grad.tolist() == [1, 1]


def test_a_leaf_as_root():
    both(lambda lib: backward_of(lib, leaf(lib, value=3.0)))
    both(lambda lib: lib.autograd.grad(x := leaf(lib, value=3.0), x))


def backward_of(lib, x):
    x.backward()
    return x.grad


def test_roots_with_gradients():
    def call(lib):
        x = leaf(lib, 2)
        y, z = x * 2, x.sum()
        lib.autograd.backward([y, z], [lib.tensor([1.0, 10.0]), None])
        return x.grad

    both(call)
    both(
        lambda lib: lib.autograd.grad(
            [(x := leaf(lib, 2)) * 2, x * 3], [x], [lib.ones(2), lib.ones(2)]
        )
    )


def test_inputs_limit_accumulation():
    def call(lib):
        a, b = leaf(lib, 2), leaf(lib, 2)
        middle = a * b
        (middle * 2).sum().backward(inputs=[a])
        return [a.grad, b.grad]

    both(call)

    def through_a_result(lib):
        a = leaf(lib, 2)
        middle = a * 2
        (middle**2).sum().backward(inputs=[middle, a])
        return [a.grad]

    both(through_a_result)


def test_options_of_grad():
    def call(lib, **options):
        a, b = leaf(lib, 2), leaf(lib, 2)
        return lib.autograd.grad((a * 2).sum(), [a, b], **options)

    both(lambda lib: call(lib, allow_unused=True))
    both(call)
    both(lambda lib: call(lib, materialize_grads=True))
    both(lambda lib: call(lib, materialize_grads=True, allow_unused=False))

    def of_a_result(lib):
        x = leaf(lib, 2)
        y = x * 3
        return lib.autograd.grad((y * y).sum(), [y, x])

    both(of_a_result)

    def nothing_is_accumulated(lib):
        x = leaf(lib, 2)
        lib.autograd.grad((x * 2).sum(), x)
        return [x.grad]

    both(nothing_is_accumulated)


# ---- graphs -------------------------------------------------------------------------------------


def test_retained_graphs():
    def call(lib, **options):
        x = leaf(lib, 2)
        y = (x * x).sum()
        y.backward(**options)
        y.backward()
        return x.grad

    both(lambda lib: call(lib, retain_graph=True))
    both(call)
    both(lambda lib: outcome(lambda: call(lib)) and None)


def test_a_freed_graph_is_named():
    x = leaf(torch, 2)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    shared = x.exp()
    shared.sum().backward(retain_graph=True)
    shared.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        shared.sum().backward()


def test_nothing_saved_is_nothing_freed():
    x = leaf(torch, 2)
    y = (x + 1).sum()
    y.backward()
    assert_close(x.grad, torch.ones(2))


def test_higher_derivatives():
    def call(lib):
        x = leaf(lib, value=[1.5, -0.5])
        y = (x**4).sum()
        (first,) = lib.autograd.grad(y, x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
        (third,) = lib.autograd.grad(second.sum(), x)
        return [first.detach(), second.detach(), third]

    both(call)

    def by_backward(lib):
        x = leaf(lib, value=[1.5, -0.5])
        (x**3).sum().backward(create_graph=True)
        first = x.grad
        x.grad = None
        (first * first).sum().backward()
        return [first.detach(), x.grad]

    x = leaf(torch, value=[1.5, -0.5])
    assert_close(by_backward(torch)[1], pt.tensor([4 * 9 * 1.5**3, 4 * 9 * (-0.5) ** 3]))
    assert x.grad is None


def test_flags():
    for lib in (torch, pt):
        x = leaf(lib, 2)
        y = x * 2
        assert x.is_leaf
        assert not y.is_leaf
        assert y.requires_grad
        assert y.grad_fn is not None
        assert x.grad_fn is None
        assert not y.detach().requires_grad
        assert y.detach().is_leaf
        assert (x > 0).requires_grad is False
        assert x.argmax().requires_grad is False
        assert (lib.ones(2) * 2).is_leaf
        assert y.grad_fn.name() == "MulBackward0"
        assert y.grad_fn.next_functions[0][0] is not None
    assert_same_outcome(
        lambda: [n for _, n in (leaf(torch, 2) * leaf(torch, 2)).grad_fn.next_functions],
        lambda: [n for _, n in (leaf(pt, 2) * leaf(pt, 2)).grad_fn.next_functions],
    )


def test_modes():
    x = leaf(torch, 2)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert (x * 2).requires_grad
        x.add_(1)
    assert x.tolist() == [2, 3]

    @torch.no_grad()
    def inside():
        return x * 2

    assert not inside().requires_grad
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    torch.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    torch.set_grad_enabled(True)


def test_detaching():
    def call(lib):
        x = leaf(lib, 2)
        y = x * 2
        z = y.detach() * x + y
        z.sum().backward()
        return x.grad

    both(call)

    def in_place(lib):
        x = leaf(lib, 2)
        y = x * 2
        y.detach_()
        return [y.requires_grad, y.is_leaf, y]

    both(in_place)


# ---- hooks --------------------------------------------------------------------------------------


def test_hooks_of_tensors():
    def call(lib):
        seen = []
        x = leaf(lib, 2)
        y = x * 3
        y.register_hook(lambda g: seen.append(g.clone()))
        y.register_hook(lambda g: g * 10)
        handle = x.register_hook(lambda g: g + 1)
        removed = x.register_hook(lambda g: g * 1000)
        removed.remove()
        removed.remove()
        (y * y).sum().backward()
        first = x.grad.clone()
        handle.remove()
        (x * 2).sum().backward()
        return [first, x.grad, *seen]

    both(call)


def test_hooks_see_the_whole_gradient_once():
    seen = []
    x = leaf(torch, 2)
    y = x * 1
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * 2 + y * 3).sum().backward()
    assert seen == [[5, 5]]


def test_retained_gradients():
    def call(lib):
        x = leaf(lib, 2)
        y = x * 3
        y.retain_grad()
        x.retain_grad()
        (y * y).sum().backward(retain_graph=True)
        (y * y).sum().backward()
        return [y.grad, x.grad]

    both(call)


def test_hooks_with_autograd_grad():
    def call(lib):
        x = leaf(lib, 2)
        y = x * 3
        y.register_hook(lambda g: g * 2)
        x.register_hook(lambda g: g * 5)
        return lib.autograd.grad(y.sum(), [x])

    both(call)


# ---- size and memory ----------------------------------------------------------------------------


def test_long_chains():
    x = leaf(torch, 2)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]
    del y


def test_the_work_of_a_walk_grows_with_the_chain_and_not_with_its_square():
    def calls(length):
        y = leaf(torch, 2)
        counted = itertools.count()
        before = sys.getprofile()
        sys.setprofile(lambda *_: next(counted))
        try:
            for _ in range(length):
                y = y + 1
            y.sum().backward()
        finally:
            sys.setprofile(before)
        return next(counted)

    calls(1)  # what is made once
    assert 5 * 300 < calls(3000) < 11 * calls(300)


def test_long_chains_are_dropped_without_recursion():
    y = leaf(torch, 2)
    for _ in range(100_000):
        y = y * 1.0
    del y
    z = leaf(torch, 4)
    w = z * 1
    for _ in range(20_000):
        w[:2].mul_(1.0)
    w.sum().backward()
    assert z.grad.tolist() == [1, 1, 1, 1]


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x,
        lambda x: x.exp().sin(),
        lambda x: x.tanh(),
        lambda x: x.softmax(0),
        lambda x: x.max(0).values,
        lambda x: torch.cat([x, x.exp()]),
        lambda x: x.view(2, 2).t() @ x.view(2, 2),
        lambda x: x[torch.tensor([0, 1])].relu(),
        lambda x: x.sqrt().sum().log(),
    ],
)
def test_a_graph_nobody_walks_is_freed_at_once(function, no_collector):
    x = leaf(torch, 4)
    middle = x * 2
    y = function(middle)
    payload = weakref.ref(y._payload)
    node = weakref.ref(y.grad_fn)
    inner = weakref.ref(middle.grad_fn)
    tensor = weakref.ref(middle)
    del y, middle
    assert payload() is None
    assert node() is None
    assert inner() is None
    assert tensor() is None


def test_a_walked_graph_frees_what_it_saved(no_collector):
    x = leaf(torch, 4)
    middle = x.exp()
    saved = weakref.ref(middle._payload)
    y = (middle * middle).sum()
    del middle
    assert saved() is not None
    y.backward()
    assert saved() is None


def test_written_graphs_are_freed(no_collector):
    x = leaf(torch, 4)
    y = x * 2
    part = y[:2]
    part.mul_(3)
    node = weakref.ref(y.grad_fn)
    payload = weakref.ref(y._payload)
    del y, part
    assert node() is None
    assert payload() is None


# ---- checking -----------------------------------------------------------------------------------


def test_gradcheck_finds_wrong_gradients():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda t: t * t, x)
    wrong = lambda t: t.detach() * t  # noqa: E731
    assert not gradcheck(wrong, x, raise_exception=False)
    with pytest.raises(GradcheckError, match=r"numerical 4\.\d+, analytical 2\.0"):
        gradcheck(wrong, x)
    assert gradgradcheck(lambda t: t**3, x)
    with pytest.raises(ValueError, match="require gradient"):
        gradcheck(lambda t: t, torch.ones(2, dtype=torch.float64))
    with pytest.warns(UserWarning, match="double precision"):
        gradcheck(lambda t: t, leaf(torch, 2), raise_exception=False)


def test_gradcheck_of_several_inputs_and_outputs():
    a = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[3.0], [4.0]], dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda x, y: (x * y, x.sum(), y @ x), (a, b))
    assert gradcheck(lambda x, y: x * y, (a, b.detach()))
    assert gradcheck(lambda x: x.expand(3, 2), a)
