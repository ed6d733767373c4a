"""Forward mode, `torch.autograd.forward_ad`, beside PyTorch's."""

import gc
import importlib
import warnings
import weakref
from contextlib import ExitStack

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.autograd import forward_ad, gradcheck, gradgradcheck

oracle = pytest.importorskip("torch")
LIBRARIES = (torch, oracle)

with warnings.catch_warnings():  # PyTorch's first dual tensor warns of what it imports
    warnings.simplefilter("ignore")
    importlib.import_module("torch._decomp.decompositions_for_jvp")


def vector(lib, start=1.0):
    return lib.tensor([start, start + 1.5, start - 0.25], dtype=lib.float64)


def pushed(lib, function, *primals):
    """What a function gives, and the tangents, for fixed tangents of its arguments."""
    ad = lib.autograd.forward_ad
    with ad.dual_level():
        duals = [
            ad.make_dual(
                p, lib.linspace(-1, 2, p.numel(), dtype=lib.float64).reshape(p.shape).to(p.dtype)
            )
            for p in primals
        ]
        found = function(lib, *duals)
        parts = []
        for t in found if isinstance(found, tuple | list) else [found]:
            primal, tangent = ad.unpack_dual(t)
            parts += [plain(primal), None if tangent is None else plain(tangent)]
        return parts


def plain(t):
    return np.asarray(t.detach().resolve_conj().resolve_neg().numpy())


def scaled(lib, a, b):
    a = a.clone()
    a.mul_(b)
    a[0] = a[1] * 2
    a += 1
    return a


def into_zeros(lib, a, b):
    whole = lib.zeros(2, 3, dtype=lib.float64)
    row = whole[1]
    column = whole[:, 0]
    row.copy_(a * b)
    column.mul_(3)
    return whole, row, column


def views(lib, a, b):
    m = lib.stack([a, b])
    return (
        m.t(),
        m[1, 1:],
        m.unbind(0)[0],
        m.reshape(-1),
        m.expand(2, 2, 3),
        *m.split(1, 1),
        m.diagonal(),
    )


def view_of_changed(lib, a, b):
    m = lib.stack([a, b])
    row = m[0]
    m.mul_(m * 1)
    row.zero_()
    return m, row


def complex_parts(lib, a, b):
    z = lib.complex(a, b)
    return z.conj() * z, z.abs(), z.angle(), z.conj().imag, (z.real * z).exp()


def saved_results(lib, a, b):
    return a.exp(), b.sigmoid() * a.tanh(), lib.softmax(a * b, 0), lib.logsumexp(a, 0)


def products(lib, a, b):
    m = lib.outer(a, b)
    return (
        m @ m,
        lib.einsum("ij,kj->ik", m, m),
        m.inverse() if False else m.sum(0),
        lib.linalg.norm(m),
    )


def what_stands_still(lib, a, b):
    return (
        a.detach(),
        a.argmax(),
        a.floor(),
        lib.zeros_like(a),
        a > b,
        a.sort().values,
        a.max(0).values,
    )


def unrecorded(lib, a, b):
    with lib.no_grad():
        return a * b


def in_inference_mode(lib, a, b):
    with lib.inference_mode():
        weights = lib.ones(3, dtype=lib.float64) * 2
        inside = a * b
    return weights * a, inside, inside * a


CALLS = [
    scaled, into_zeros, views, view_of_changed, complex_parts, saved_results, products, what_stands_still,
    unrecorded, in_inference_mode,
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda f: f.__name__)
def test_tangents_are_pytorchs(call):
    ours, theirs = (pushed(lib, call, vector(lib), vector(lib, 0.5)) for lib in LIBRARIES)
    for a, b in zip(ours, theirs, strict=True):
        if b is None or a is None:
            assert not any(t.any() for t in (a, b) if t is not None)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_tangent_that_lies_as_its_tensor_is_kept_as_it_is():
    for lib in LIBRARIES:
        ad = lib.autograd.forward_ad
        x, t, turned = lib.ones(2, 3), lib.ones(2, 3), lib.ones(3, 2).t()
        with ad.dual_level():
            assert ad.unpack_dual(ad.make_dual(x, t)).tangent is t
            copied = ad.unpack_dual(ad.make_dual(x, turned)).tangent
            assert copied is not turned
            assert copied.stride() == x.stride()


@pytest.mark.parametrize("sizes", [(1, 2), (2, 1), (1, 1), (2, 2)])
@pytest.mark.parametrize("steps", [(0, 1), (1, 0), (0, 0), (2, 1), (1, 2)])
@pytest.mark.parametrize("start", [0, 1])
def test_a_tangent_lies_as_its_tensor(sizes, steps, start):
    """Also along a dimension of one element, whose step may be 0."""
    if any(n > 1 and step == 0 for n, step in zip(sizes, steps, strict=True)):
        return  # where elements lie in one place PyTorch refuses
    found = []
    for lib in LIBRARIES:
        x = lib.ones(9).as_strided(sizes, steps)
        t = lib.arange(9.0).as_strided(sizes, (1, 2), start)
        with lib.autograd.forward_ad.dual_level():
            got = lib.autograd.forward_ad.unpack_dual(
                lib.autograd.forward_ad.make_dual(x, t)
            ).tangent
            strides = [step for n, step in zip(sizes, got.stride(), strict=True) if n > 1]
            found.append((strides, got.storage_offset(), got is t, got.tolist()))
    assert found[0] == found[1]


def test_a_level_takes_its_tangents_with_it():
    for lib in LIBRARIES:
        ad = lib.autograd.forward_ad
        x, tangent = lib.ones(2), lib.ones(2)
        with ad.dual_level():
            dual = ad.make_dual(x, tangent)
            y = dual * 2
            assert ad.unpack_dual(x).tangent is None
            assert repr(y) == "tensor([2., 2.], tangent=tensor([2., 2.]))"
        assert repr(y) == "tensor([2., 2.])"
        assert ad.unpack_dual(y) == (y, None)
        with ad.dual_level():
            assert ad.unpack_dual(dual).tangent is None


def test_the_level_that_is_open_has_a_number():
    for lib in LIBRARIES:
        ad = lib.autograd.forward_ad
        numbers = [ad._current_level]
        with ad.dual_level() as level:
            numbers += [ad._current_level, level]
        with pytest.raises(ZeroDivisionError), ad.dual_level():
            numbers.append(ad._current_level // 0)
        assert [*numbers, ad._current_level] == [-1, 0, 0, -1]


def test_tangents_keep_nothing_alive():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        result = dual.exp() * dual
        held = weakref.ref(result), weakref.ref(forward_ad.unpack_dual(result).tangent)
        del result
        gc.collect()
        assert [r() for r in held] == [None, None]


def function(x):
    y = x.exp() * x + 0
    y.sigmoid_()
    y = y.clone()
    y[0] = x[1] * x[2]
    return (y * x.tanh()).sum() + x.softmax(0).prod()


def test_hessian_vector_products():
    """Forward over reverse, and reverse over forward, beside PyTorch's reverse over reverse."""
    x = vector(oracle).requires_grad_()
    (g,) = oracle.autograd.grad(function(x), x, create_graph=True)
    (expected,) = oracle.autograd.grad(g, x, vector(oracle, 0.1))

    x, v = vector(torch).requires_grad_(), vector(torch, 0.1)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        for graph in (True, False):
            (g,) = torch.autograd.grad(function(dual), dual, create_graph=graph)
            tangent = forward_ad.unpack_dual(g).tangent
            np.testing.assert_allclose(plain(tangent), expected, rtol=1e-10)
            assert tangent.requires_grad is graph
        tangent = forward_ad.unpack_dual(function(forward_ad.make_dual(x, v))).tangent
        (g,) = torch.autograd.grad(tangent, x)
    np.testing.assert_allclose(plain(g), expected, rtol=1e-10)


def test_gradients_reach_a_tangent():
    for lib in LIBRARIES:
        ad = lib.autograd.forward_ad
        t = vector(lib).requires_grad_()
        with ad.dual_level():
            y = ad.make_dual(vector(lib, 2.0), t) ** 2
            ad.unpack_dual(y).tangent.sum().backward()
        np.testing.assert_allclose(plain(t.grad), [4.0, 7.0, 3.5])


# ---- errors -------------------------------------------------------------------------------------


def nested(lib, ad):
    with ad.dual_level(), ad.dual_level():
        pass


def outside(lib, ad):
    ad.make_dual(lib.ones(2), lib.ones(2))


def within(call):
    def run(lib, ad):
        with ad.dual_level():
            call(lib, ad)

    return run


REFUSED = {
    "nested levels": nested,
    "no level": outside,
    "no level to end": lambda lib, ad: ad.exit_dual_level(level=1),
    "shape": within(lambda lib, ad: ad.make_dual(lib.ones(2), lib.ones(3))),
    "whole": within(lambda lib, ad: ad.make_dual(lib.ones(2, dtype=lib.int64), lib.ones(2))),
    "whole tangent": within(
        lambda lib, ad: ad.make_dual(lib.ones(2), lib.ones(2, dtype=lib.int64))
    ),
    "twice": within(
        lambda lib, ad: ad.make_dual(ad.make_dual(lib.ones(2), lib.ones(2)), lib.ones(2))
    ),
    "out=": within(
        lambda lib, ad: lib.add(ad.make_dual(lib.ones(2), lib.ones(2)), 1, out=lib.ones(2))
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_pytorchs(name):
    raised = []
    for lib in LIBRARIES:
        with pytest.raises(Exception) as caught:  # noqa: PT011  (compared with PyTorch's)
            REFUSED[name](lib, lib.autograd.forward_ad)
        raised.append((caught.type, str(caught.value)))
    assert raised[0][0] is raised[1][0]
    assert raised[0][1][:40] == raised[1][1][:40]
    with forward_ad.dual_level():  # none was left open
        pass


# ---- Functions ----------------------------------------------------------------------------------


def with_jvp(lib):
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, k, y):
            out = x * k * y
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y, out)
            ctx.k = k
            return out, x.argmax()

        @staticmethod
        def backward(ctx, g, _):
            x, y = ctx.saved_tensors
            return g * ctx.k * y, None, g * ctx.k * x

        @staticmethod
        def jvp(ctx, x_t, k_t, y_t):
            x, y, _ = ctx.saved_tensors
            assert k_t is None
            return ctx.k * (
                x_t * y + x * y_t
            ) * 10, None  # ten times too much: it is this that is called

    return Scale


def test_the_jvp_of_a_function_is_called():
    found = []
    for lib in LIBRARIES:
        scale = with_jvp(lib)
        found.append(
            pushed(lib, lambda lib, a, b: scale.apply(a, 3, b)[0], vector(lib), vector(lib, 0.5))
            + pushed(lib, lambda lib, a: scale.apply(a, 3, vector(lib))[0] * 2, vector(lib))
        )
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b)


def test_func_jvp_calls_the_jvp_of_a_function():
    found = []
    for lib in LIBRARIES:

        class Tripled(lib.autograd.Function):
            @staticmethod
            def forward(x):
                return x * x

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_forward(*inputs)
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, g):
                return g * 2 * ctx.saved_tensors[0]

            @staticmethod
            def jvp(ctx, x_t):
                return x_t * ctx.saved_tensors[0] * 3  # not what backward gives

        x, t = vector(lib), vector(lib, 0.3)
        value, tangent = lib.func.jvp(lambda x: Tripled.apply(x).sin(), (x,), (t,))
        found.append([plain(value), plain(tangent)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b)


def test_a_function_without_jvp_says_so():
    for lib in LIBRARIES:

        class Same(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        ad = lib.autograd.forward_ad
        with (
            ad.dual_level(),
            pytest.raises(NotImplementedError, match="You must implement the jvp function"),
        ):
            Same.apply(ad.make_dual(lib.ones(2), lib.ones(2)))


# ---- checks, vmap -------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_finds_wrong_tangents(fast):
    x = vector(torch).requires_grad_()
    options = {"check_forward_ad": True, "check_batched_forward_grad": True, "fast_mode": fast}
    assert gradcheck(lambda x: (x.exp() * x, x.sum()), x, **options)
    z = torch.complex(vector(torch), vector(torch)).requires_grad_()
    assert gradcheck(lambda z: (z * z.conj(), z.exp()), z, **options)
    assert gradcheck(lambda x: (y := x.clone()).mul_(y), x, **options)
    assert gradgradcheck(lambda x: x.exp() * x, x, check_fwd_over_rev=True, fast_mode=fast)
    wrong = with_jvp(torch)

    def call(x):
        return wrong.apply(x, 2, torch.ones_like(x))[0]

    assert gradcheck(call, x, fast_mode=fast)
    with pytest.raises(RuntimeError, match="forward mode"):
        gradcheck(call, x, check_forward_ad=True, fast_mode=fast)


@pytest.mark.parametrize("lib", [torch, oracle], ids=["mindtorch", "pytorch"])
def test_a_fast_gradcheck_of_tangents_calls_a_function_a_few_times(lib):
    calls = []

    def call(x):
        calls.append(1)
        return x.exp()

    x = lib.ones(50, dtype=lib.float64, requires_grad=True)
    assert lib.autograd.gradcheck(call, x, fast_mode=True, check_forward_ad=True)
    assert len(calls) < 50


def test_tangents_of_many():
    x, tangents = vector(torch), torch.eye(3, dtype=torch.float64)
    weights = torch.arange(9.0, dtype=torch.float64).reshape(3, 3)

    def moving(t):
        dual = forward_ad.make_dual(x, t)
        return forward_ad.unpack_dual((dual * dual.sum()).exp()).tangent

    def both(t, w):
        return forward_ad.unpack_dual(forward_ad.make_dual(w, t) * x + t).tangent

    with forward_ad.dual_level():
        around = forward_ad.make_dual(x, vector(torch, 3.0))
        weighted = torch.func.vmap(lambda w: (w * around).sum())(weights)
        for found, expected in (
            (torch.func.vmap(moving)(tangents), list(map(moving, tangents))),
            (torch.func.vmap(both)(tangents, weights), list(map(both, tangents, weights))),
            (forward_ad.unpack_dual(weighted).tangent, list(weights @ vector(torch, 3.0))),
        ):
            np.testing.assert_allclose(plain(found), plain(torch.stack(expected)))


def test_detach_in_place_takes_the_tangent_off():
    for lib in (torch, oracle):
        fw = lib.autograd.forward_ad
        with fw.dual_level():
            dual = fw.make_dual(lib.ones(2), lib.full((2,), 2.0)).clone()
            assert fw.unpack_dual(dual * 2).tangent.tolist() == [4, 4]
            dual.detach_()
            assert fw.unpack_dual(dual).tangent is None
            assert fw.unpack_dual(dual * 2).tangent is None


VIEWS = [
    "reshape(6)", "flatten()", "chunk(2)[0]", "reshape_as(x)", "unbind()[1]", "split(2, 1)[0]", "view(3, 2)", "ravel()",
    "split([1, 2], 1)[1]", "tensor_split(2)[0]", "t()", "contiguous()", "to(x.dtype)", "expand(2, 2, 3)[0]",
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_into_a_view_reaches_the_bases_tangent(view):
    found = []
    for lib in LIBRARIES:
        forward = lib.autograd.forward_ad
        with forward.dual_level():
            x = forward.make_dual(lib.ones(2, 3), lib.arange(6.0).view(2, 3))
            y = eval(f"x.{view}")
            y.mul_(3)
            found.append([forward.unpack_dual(t).tangent.tolist() for t in (x, y)])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "modes", [(), (False,), (True,), (False, True), (True, False), (False, True, False)]
)
def test_whether_tangents_are_followed_is_a_setting_of_blocks(modes):
    def run(lib):
        f = lib.autograd.forward_ad
        found = [f._is_fwd_grad_enabled()]
        with ExitStack() as stack:
            for mode in modes:
                stack.enter_context(f._set_fwd_grad_enabled(mode))
                found.append(f._is_fwd_grad_enabled())
            with f.dual_level():
                x = f.make_dual(lib.ones(2), lib.ones(2))
                found.append(f.unpack_dual(x * 3).tangent is None)
        return [*found, f._is_fwd_grad_enabled()]

    assert run(torch) == run(oracle)
