"""A backend's kernels for the gradients of `linear` and `convolution` are used in training."""

from itertools import product

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.testing import assert_close


def by_hand(g, x, w, mask):
    rows, grads = x.reshape(-1, x.shape[-1]), g.reshape(-1, g.shape[-1])
    found = g @ w, grads.t() @ rows, grads.sum(0)
    return tuple(t if m else None for t, m in zip(found, mask, strict=True))


CALLS = {
    "linear": (
        lambda x, w, b: F.linear(x, w, b),
        ((2, 3, 4), (5, 4), (5,)),
        lambda x, g, w, mask: by_hand(g, x, w, mask),
    ),
    "convolution": (  # of one pixel, as a product
        lambda x, w, b: F.conv1d(x, w, b),
        ((2, 4, 1), (5, 4, 1), (5,)),
        lambda g, x, w, sizes, *rest: tuple(
            None if t is None else t.reshape(like)
            for t, like in zip(
                by_hand(g.squeeze(-1), x.squeeze(-1), w.squeeze(-1), rest[-1]),
                (x.shape, w.shape, sizes),
                strict=True,
            )
        ),
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wanted", [m for m in product([True, False], repeat=3) if any(m)])
def test_it_gives_what_is_wanted(name, wanted):
    call, shapes, kernel = CALLS[name]
    masks = []

    def backward(*args):
        masks.append(tuple(args[-1]))
        return kernel(*args)

    def gradients():
        torch.manual_seed(0)
        made = [torch.randn(s).requires_grad_(m) for s, m in zip(shapes, wanted, strict=True)]
        (call(*made) ** 2).sum().backward()
        return [t.grad for t in made]

    expected = gradients()
    with registry.register_kernel(f"{name}_backward", "CPU", backward):
        found = gradients()
        with torch.pipeline(through_backward=True):
            deferred = gradients()
    for a, b, c, m in zip(expected, found, deferred, wanted, strict=True):
        assert (b is not None) is m
        if m:
            assert_close(a, b)
            assert_close(a, c)
    assert masks == [wanted] * 2


def test_without_a_bias():
    def backward(x, g, w, mask):
        assert mask == [True, True, False]
        return by_hand(g, x, w, mask)

    x, w = torch.randn(3, 2, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    with registry.register_kernel("linear_backward", "CPU", backward):
        grads = torch.autograd.grad(F.linear(x, w).sum(), (x, w))
    for found, wanted in zip(grads, torch.autograd.grad(F.linear(x, w).sum(), (x, w)), strict=True):
        assert_close(found, wanted)


def test_second_gradients():
    """They come from what the op is made of."""

    def gradient(x, w):
        (g,) = torch.autograd.grad(F.linear(x, w).square().sum(), x, create_graph=True)
        return torch.autograd.grad(g.square().sum(), (x, w))

    x, w = torch.randn(3, 2, requires_grad=True), torch.randn(4, 2, requires_grad=True)
    expected = gradient(x, w)
    with registry.register_kernel(
        "linear_backward", "CPU", lambda x, g, w, mask: by_hand(g, x, w, mask)
    ):
        found = gradient(x, w)
    for a, b in zip(expected, found, strict=True):
        assert_close(a, b)


def test_what_is_not_needed_may_change_before_backward():
    """As in PyTorch: the weight of a first layer is needed for nobody's gradient."""
    for call, shapes in ((F.linear, ((3, 2), (4, 2))), (F.conv1d, ((3, 2, 5), (4, 2, 3)))):
        x, w = torch.randn(shapes[0]), torch.randn(shapes[1], requires_grad=True)
        loss = call(x, w).sum()
        with torch.no_grad():
            w.add_(1)
        loss.backward()
        assert w.grad is not None
        loss = call(x, w).sum()
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
