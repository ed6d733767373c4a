"""What a captured function does with grads: each call leaves what the plain function leaves."""

import pytest

import mindtorch_core as torch

BETWEEN = ["nothing", "none", "tensor", "tensor at 3"]


def backward(p, x):
    (p * x).square().sum().backward()


def grad_of(p, x):
    return torch.autograd.grad((p * x).square().sum(), p)[0]


def update(p):
    with torch.no_grad():
        p.sub_(p.grad, alpha=0.125)


def sets(p, other, x):
    p.grad = grad_of(p, x)


def sets_twice(p, other, x):
    p.grad = other.grad = grad_of(p, x)
    return p.grad


def decays(p, other, x):
    g = grad_of(p, x)
    p.grad = g if p.grad is None else p.grad * 0.5 + g


def drops(p, other, x):
    backward(p, x)
    update(p)
    p.grad = None


def deletes(p, other, x):
    backward(p, x)
    update(p)
    del p.grad


def drops_unread(p, other, x):
    backward(p, x)
    p.grad = None


def drops_first(p, other, x):
    other.grad = None
    backward(p, x)


def adds_twice(p, other, x):
    backward(p, x)
    (p * x * 2).sum().backward()


def zeroes_first(p, other, x):
    if p.grad is not None:
        p.grad.zero_()
    backward(p, x)


def zeroes_last(p, other, x):
    backward(p, x)
    update(p)
    p.grad.zero_()


def asks(p, other, x):
    return x * 2 if p.grad is None else x * 3


def makes(p, other, x):
    p.grad = torch.ones(3) * x


def takes_what_it_is_given(p, other, x):
    p.grad = x


def makes_and_adds(p, other, x):
    p.grad = torch.zeros(3)
    backward(p, x)


def exchanges(p, other, x):
    backward(p, x)
    g = p.grad
    p.grad = other.data
    return g * 1


def gives_a_view(p, other, x):
    p.grad = other.data[:]
    backward(p, x)


def replaces(p, other, x):
    backward(p, x)
    p.grad = p.grad.clone()


def shows_a_part(p, other, x):
    backward(p, x)
    return p.grad[1:]


def that_of_an_argument(p, other, x):
    x = x.requires_grad_()
    backward(p, x)
    return x.grad


def that_of_a_tensor_of_its_own(p, other, x):
    y = x.detach().clone().requires_grad_()
    backward(p, y)
    return y


def with_a_history(p, other, x):
    (p * x).square().sum().backward(create_graph=True)


FUNCTIONS = [
    sets, sets_twice, decays, drops, deletes, drops_unread, drops_first, adds_twice, zeroes_first,
    zeroes_last, asks, makes, takes_what_it_is_given, makes_and_adds, exchanges, gives_a_view, replaces,
    shows_a_part, that_of_an_argument, that_of_a_tensor_of_its_own, with_a_history,
]  # fmt: skip


def shown(t):
    return None if t is None else (t.tolist(), t.requires_grad and t.is_leaf)


def called(f, x):
    """What a captured function gives, which is captured anew where it asks for that."""
    try:
        return f(x)
    except torch.CaptureError as error:
        if "cannot be captured" in str(error):
            return error.result
    f.reset()
    return called(f, x)


def run(fn, start, between, wrap):
    p, other = (torch.nn.Parameter(torch.ones(3)) for _ in range(2))
    found = []
    f = wrap(lambda x: fn(p, other, x))
    if start == "there":
        p.grad = torch.full((3,), 7.0)
    for i in range(6):
        what = between.removesuffix(" at 3") if not between.endswith("3") or i == 3 else "nothing"
        if what == "none":
            p.grad = None
        elif what == "tensor":
            p.grad = torch.full((3,), 5.0)
        x = torch.arange(3.0) + i
        y = called(f, x) if wrap is torch.pipeline.capture else f(x)
        mine = shown(y.grad) if fn is that_of_a_tensor_of_its_own else None
        grads = p.grad, other.grad, x.grad
        has_history = p.grad is not None and p.grad.requires_grad
        values = None if y is None else y.tolist()
        found.append((values, mine, p.tolist(), [*map(shown, grads)], has_history))
    return found


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("start", ["none", "there"])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_grads_are_those_of_the_plain_function(fn, start, between):
    captured = run(fn, start, between, torch.pipeline.capture)
    assert captured == run(fn, start, between, lambda f: f)


@pytest.mark.parametrize("fn", [sets, sets_twice, drops, adds_twice, makes, gives_a_view])
def test_they_are_captured(fn):
    """And not only refused each time."""
    p, other = (torch.nn.Parameter(torch.ones(3)) for _ in range(2))
    calls = []

    def counted(x):
        calls.append(x)
        return fn(p, other, x)

    f = torch.pipeline.capture(counted)
    for _ in range(5):
        f(torch.ones(3))
    assert len(calls) <= 2


def test_a_grad_with_a_history_is_refused():
    p = torch.nn.Parameter(torch.ones(3))
    f = torch.pipeline.capture(lambda x: with_a_history(p, None, x))
    with pytest.raises(torch.CaptureError, match="leaves a grad that has a history"):
        f(torch.ones(3))
    assert p.grad.requires_grad


@pytest.mark.parametrize("shown", [lambda y: y, lambda y: y.view(3, 1)], ids=["itself", "a view"])
def test_what_is_left_is_filled_anew_without_the_history_of_the_first_call(shown):
    class Holder:
        left = None

    holder, w = Holder(), torch.ones(3, requires_grad=True)

    @torch.pipeline.capture
    def step(x):
        y = x * w
        holder.left = shown(y)
        return y.sum()

    step(torch.ones(3))
    later = holder.left * 2  # of the first call's values, as is its gradient
    for number in (2.0, 3.0, 4.0):
        assert step(torch.full((3,), number)).item() == 3 * number
        assert holder.left.flatten().tolist() == [number] * 3
        with pytest.raises(RuntimeError, match="was captured, has filled this tensor anew"):
            holder.left.sum().backward()
        assert w.grad is None
    later.sum().backward()
    assert w.grad.tolist() == [2.0] * 3
