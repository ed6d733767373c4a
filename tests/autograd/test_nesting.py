"""Checkpoints in checkpoints and backward passes in backward passes, a few hundred deep."""

import sys

import pytest

import mindtorch_core as torch
from mindtorch_core.utils.checkpoint import checkpoint

WORDS = "are nested [0-9]+ deep here, which takes more than the [0-9]+ calls within one another"


def leaf():
    return torch.tensor([0.3, 0.6], requires_grad=True)


def wrapped(function, inside, reentrant):
    """A function that calls another one in a checkpoint, before or in which it does something."""
    if inside:
        return lambda x: checkpoint(lambda y: function(y.sin()), x, use_reentrant=reentrant)
    return lambda x: checkpoint(function, x, use_reentrant=reentrant).sin()


def nested(depth, inside, reentrant, innermost=torch.sin):
    f = innermost
    for _ in range(depth):
        f = wrapped(f, inside, reentrant)
    return f


def plain(depth):
    x = leaf()
    y = x
    for _ in range(depth + 1):
        y = y.sin()
    y.sum().backward()
    return x.grad.tolist()


class Within(torch.autograd.Function):
    """Backward walks a graph whose backward does the same, so many times."""

    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x * 2

    @staticmethod
    def backward(ctx, g):
        if ctx.depth:
            with torch.enable_grad():
                y = leaf()
                Within.apply(y, ctx.depth - 1).sum().backward()
        return g * 2, None


def hooked(depth):
    """A result with a hook that walks a graph with such a hook, so many times."""

    def hook(g):
        with torch.enable_grad():
            hooked(depth - 1).backward()

    y = leaf() * 2
    if depth:
        y.register_hook(hook)
    return y.sum()


def in_functions(depth):
    Within.apply(leaf(), depth).sum().backward()


def in_hooks(depth):
    hooked(depth).backward()


@pytest.mark.parametrize("inside", [False, True])
def test_checkpoints_200_deep(inside):
    x = leaf()
    nested(200, inside, False)(x).sum().backward()
    assert x.grad.tolist() == pytest.approx(plain(200))


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad=True")
@pytest.mark.parametrize("depth", [400, 2000])
@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_checkpoints_that_are_too_deep_say_so(inside, reentrant, depth):
    with pytest.raises(RuntimeError, match=WORDS) as caught:
        nested(depth, inside, reentrant)(leaf()).sum().backward()
    assert not isinstance(caught.value, RecursionError)
    x = leaf()
    nested(20, inside, reentrant)(x).sum().backward()
    assert x.grad.tolist() == pytest.approx(plain(20))


@pytest.mark.parametrize("depth", [300, 2000])
@pytest.mark.parametrize("walk", [in_functions, in_hooks])
def test_walks_that_are_too_deep_say_so(walk, depth):
    walk(60)
    with pytest.raises(RuntimeError, match=WORDS) as caught:
        walk(depth)
    assert not isinstance(caught.value, RecursionError)
    assert torch.is_grad_enabled()
    walk(60)


@pytest.mark.parametrize("walk", [in_functions, in_hooks])
def test_with_a_higher_limit_they_work(walk):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    try:
        walk(300)
    finally:
        sys.setrecursionlimit(limit)


def test_a_recursion_that_is_not_theirs_stays_what_it_is():
    def endless(g):
        return endless(g)

    y = leaf() * 2
    y.register_hook(endless)
    with pytest.raises(RecursionError, match="maximum recursion depth"):
        y.sum().backward()
    for depth in (0, 12):
        with pytest.raises(RecursionError, match="maximum recursion depth"):
            nested(depth, False, False, endless)(leaf())
    assert torch.is_grad_enabled()
