"""What waits for the end of a backward pass."""

import pytest

import mindtorch_core as torch
from mindtorch_core.autograd.endings import when_ended


def leaf(hook):
    p = torch.ones(2, requires_grad=True)
    p.register_post_accumulate_grad_hook(hook)
    return p


def test_called_once_all_gradients_are_there():
    seen = []
    p = leaf(lambda _: when_ended(lambda: seen.append([p.grad is None, q.grad is None])) and None)
    q = torch.ones(2, requires_grad=True)
    (q.exp() * p).sum().backward()
    assert seen == [[False, False]]
    q.sum().backward()
    assert len(seen) == 1


def test_a_pass_within_another_ends_with_it():
    seen = []

    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            with torch.enable_grad():
                p.sum().backward()
            seen.append("inner")
            return grad

    p = leaf(lambda _: when_ended(lambda: seen.append("end")) and None)
    x = torch.ones(2, requires_grad=True)
    Inner.apply(x.exp()).sum().backward()
    assert seen == ["inner", "end"]


def test_one_more_that_is_asked_for_at_the_end():
    seen = []

    def end():
        seen.append(1)
        if len(seen) < 3:
            assert when_ended(end)

    p = leaf(lambda _: when_ended(end) and None)
    p.sum().backward()
    assert len(seen) == 3


def test_forgotten_where_backward_or_another_fails():
    seen = []
    p = leaf(lambda _: when_ended(lambda: seen.append(1)) and None)
    q = leaf(lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        torch.autograd.backward([(p * 2).sum(), q.sum()])
    p = leaf(lambda _: when_ended(lambda: 1 / 0) and when_ended(lambda: seen.append(2)) and None)
    with pytest.raises(ZeroDivisionError):
        p.sum().backward()
    torch.ones(2, requires_grad=True).sum().backward()
    assert seen == []


def test_nothing_to_wait_for():
    assert not when_ended(lambda: None)
    found = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda _: found.append(when_ended(lambda: None)))
    torch.autograd.grad(y.sum(), x)
    assert found == [False]
