"""Gates, learnt slopes, thresholds and log-odds, and the ops of their gradients, beside PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

DTYPES = ["float64", "float32", "bfloat16", "float16"]
BOUNDS = {"float64": 1e-13, "float32": 4e-6, "bfloat16": 2e-2, "float16": 4e-3}
NAN, INF = float("nan"), float("inf")
HARD = (0.0, -0.0, 0.1, 0.9, 0.5, 1.0, -1.0, 2.0, 80.0, -80.0)


def drawn(lib, dtype, *shape, seed=0, special=()):
    """Numbers around 0.4, the same in either library."""
    a = np.random.default_rng(seed).normal(0.4, 0.6, shape).astype("float32")
    a.reshape(-1)[: len(special)] = special
    return lib.from_numpy(a).to(getattr(lib, dtype))


def agree(run, dtype, bound=None):
    """Compare values, dtypes, shapes and layouts of what a function of a library and a dtype gives."""
    bound = BOUNDS[dtype] if bound is None else bound
    for ours, theirs in zip(run(torch, dtype), run(pt, dtype), strict=True):
        assert str(ours.dtype) == str(theirs.dtype)
        assert ours.shape == theirs.shape
        assert not ours.numel() or ours.stride() == theirs.stride()
        found, wanted = (t.detach().double().numpy() for t in (ours, theirs))
        np.testing.assert_allclose(found, wanted, rtol=bound, atol=bound)


def turned(t):
    """The same elements, columns first."""
    return t.new_empty(tuple(reversed(t.shape))).permute(*reversed(range(t.ndim))).copy_(t)


def gates(lib, dtype):
    functional, back = lib.nn.functional, lib.ops.aten.glu_backward
    for shape in ((4, 6), (40, 2, 300), (0, 4)):
        x = drawn(lib, dtype, *shape, special=HARD if shape[0] else ())
        for dim in (0, 1, -1):
            y = functional.glu(x, dim)
            g = drawn(lib, dtype, *y.shape, seed=1)
            yield from (y, functional.glu(turned(x), dim), back(g, x, dim))
            yield from (back(turned(g), turned(x), dim), back(g[:1], x, dim))


def slopes(lib, dtype):
    functional, back = lib.nn.functional, lib.ops.aten._prelu_kernel_backward
    for shape in ((4, 6), (40, 3, 10, 30), (0, 4)):
        x = drawn(lib, dtype, *shape, special=HARD if shape[0] else ())
        w, g = drawn(lib, dtype, shape[1], seed=1), drawn(lib, dtype, *shape, seed=2)
        along = w.reshape(-1, *(1,) * (len(shape) - 2))
        yield from (functional.prelu(x, w), functional.prelu(turned(x), w[:1]))
        for operands in ((g, x, along), (turned(g), turned(x), along), (g, turned(x), x)):
            yield from back(*operands)


def thresholds(lib, dtype):
    functional = lib.nn.functional
    for shape in ((4, 6), (40, 300), (0, 4)):
        x = drawn(lib, dtype, *shape, special=HARD if shape[0] else ())
        yield from (functional.threshold(x, 0.5, -2), functional.threshold(turned(x), 0, 20.0))
        yield from (functional.threshold_(x.clone(), 0.5, 1), functional.rrelu(x))
        yield functional.rrelu(turned(x), 0.25, 0.5)
        leaf = x.clone().requires_grad_()
        loss = functional.threshold(leaf, 0.5, -2).sum() + functional.rrelu(leaf).sum()
        yield from lib.autograd.grad(loss, leaf)


def odds(lib, dtype):
    back = lib.ops.aten.logit_backward
    for shape in ((4, 6), (40, 300), (0, 4)):
        # PyTorch's last few elements differ at -0.0.
        x = drawn(lib, dtype, *shape, special=HARD[2:] if shape[0] else ())
        g = drawn(lib, dtype, *shape, seed=1)
        for eps in (None, 0.25, 0.0, 0.75):
            yield from (lib.logit(x, eps), lib.logit(turned(x), eps), x.clone().logit_(eps))
            yield from (back(g, x, eps), back(turned(g), turned(x), eps), back(g[:1], x, eps))
        yield back(g, x, -0.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("run", [gates, slopes, thresholds])
def test_values(run, dtype):
    agree(run, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_odds(dtype):
    agree(
        odds, dtype, {"float32": 4e-5, "float64": 1e-11}.get(dtype)
    )  # slopes are steep near 0 and 1


@pytest.mark.parametrize("value", [INF, -INF, NAN])
def test_numbers_that_are_none(value):
    """In PyTorch's vectors; its last few elements differ."""

    def run(lib, dtype):
        x, one = lib.full((64,), value), lib.ones(64)
        functional, aten = lib.nn.functional, lib.ops.aten
        both = lib.cat((x, one)), lib.cat((one, x)), lib.cat((x, x)), lib.cat((x, -x))
        yield from (functional.glu(t, 0) for t in both)
        yield from (aten.glu_backward(one, t, 0) for t in both)
        yield from (functional.prelu(x, one[:1] * 0.5), functional.threshold(x, 0.5, 2.0))
        yield from aten._prelu_kernel_backward(one, x, one * 0.5)
        for eps in (None, 0.1):
            yield from (lib.logit(x, eps), aten.logit_backward(one, x, eps))

    agree(run, "float32")


def test_refusals():
    def texts(lib):
        aten = lib.ops.aten
        x, whole = lib.ones(4, 6), lib.ones(4, 6, dtype=lib.int64)
        for call, *arguments in (
            (aten.glu_backward, x[:2].double(), x, 0),
            (aten.glu_backward, x[0, 0], x[0, 0], 0),
            (aten.glu_backward, x, x[:1], 1),
            (aten.glu_backward, x[:, :3].expand(2, 4, 3), x, 1),
            (aten._prelu_kernel_backward, x.double(), x, x),
            (aten._prelu_kernel_backward, x, x.double(), x),
            (aten._prelu_kernel_backward, whole, whole, whole),
            (aten.logit_backward, whole, whole),
        ):
            with pytest.raises((RuntimeError, NotImplementedError)) as caught:
                call(*arguments)
            yield type(caught.value).__name__, str(caught.value)

    assert list(texts(torch)) == list(texts(pt))


def test_first_and_second_derivatives():
    def leaf(*shape, seed):
        return drawn(torch, "float64", *shape, seed=seed).requires_grad_()

    x, g, w = leaf(3, 4, seed=4), leaf(3, 4, seed=5), leaf(1, 4, seed=6)
    shares = torch.linspace(0.1, 0.9, 12, dtype=torch.float64).reshape(3, 4).requires_grad_()
    functional, aten = torch.nn.functional, torch.ops.aten
    for call, *operands in (
        (lambda x: functional.glu(x, 1), x),
        (lambda g, x: aten.glu_backward(g, x, 1), g[:, :2].detach().requires_grad_(), x),
        (aten._prelu_kernel, x, w),
        (aten._prelu_kernel_backward, g, x, w),
        (torch.logit, shares),
        (aten.logit_backward, g, shares),
        (lambda g, x: aten.logit_backward(g, x, 0.25), g, shares),
    ):
        assert torch.autograd.gradcheck(call, operands, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(call, operands)


CALLS = {
    "glu_backward": lambda lib, x: lib.nn.functional.glu(x),
    "_prelu_kernel_backward": lambda lib, x: lib.nn.functional.prelu(x, x.new_full((1,), 0.25)),
    "logit_backward": lambda lib, x: x.logit(),
    "threshold_backward": lambda lib, x: lib.nn.functional.threshold(x, 0.5, 2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_gradient_is_one_op(name):
    """Backward calls the op itself, in a block as outside, with the same bits; of vmap's rows too."""

    def loss(x):
        return CALLS[name](torch, x).sum()

    x = torch.linspace(0.1, 0.9, 40).reshape(4, 10).requires_grad_()
    with torch.profiler.profile() as profile:
        (eager,) = torch.autograd.grad(loss(x), x)
    assert f"aten::{name}" in {event.name for event in profile.events()}
    with torch.pipeline():
        (deferred,) = torch.autograd.grad(loss(x), x)
    assert eager.tolist() == deferred.tolist()
    assert torch.allclose(torch.func.vmap(torch.func.grad(loss))(x.detach()), eager)
    on_meta = x.detach().to("meta").requires_grad_()
    assert torch.autograd.grad(CALLS[name](torch, on_meta).sum(), on_meta)[0].shape == (4, 10)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_gradients_that_are_not_finite_stay_where_they_came(name):
    def run(lib, dtype):
        a, b = (lib.tensor(v, requires_grad=True) for v in ([0.0, 1, 2, NAN], [1.0, 1, 1, 1]))
        y = getattr(lib, name)(a, b)
        return [
            g
            for v in (NAN, INF, 3.0)
            for g in lib.autograd.grad(y, (a, b), lib.full((4,), v), True)
        ]

    agree(run, "float32")
