"""`autograd.grad` in blocks that come again: followed as one item, as `backward` is."""

import pytest

import mindtorch_core as torch

grad = torch.autograd.grad


def leaves():
    torch.manual_seed(0)
    return [torch.randn(3, 4).requires_grad_(), torch.randn(4).requires_grad_()]


def all_of_them(i, w, b, x):
    return grad(((x @ w + b).tanh() * 2).square().sum(), (w, b))


def one_of_them(i, w, b, x):
    (g,) = grad(((x @ w + b).tanh()).square().sum(), b)
    return (g,)


def the_other_way_round(i, w, b, x):
    return grad((x @ w + b).exp().mean(), [b, w])


def by_name(i, w, b, x):
    found = grad((x @ w + b).exp().mean(), {"w": w, "b": b})
    return found["b"], found["w"]


def twice_the_same(i, w, b, x):
    return grad((x @ w + b).exp().mean(), (b, b))


def unused(i, w, b, x):
    g, none = grad((x @ w).exp().mean(), (w, b), allow_unused=True)
    assert none is None
    return (g,)


def zeros_for_unused(i, w, b, x):
    return grad((x @ w).exp().mean(), (w, b), materialize_grads=True)


def with_a_gradient(i, w, b, x):
    return grad((x @ w + b).tanh(), (w, b), torch.ones(5, 4) * 0.5)


def a_result(i, w, b, x):
    h = x @ w + b
    return grad(h.tanh().sum(), (h, w))


def another_choice(i, w, b, x):
    return grad((x @ w + b).tanh().sum(), [(w, b), (b, w), (w,)][i // 6 % 3])


def other_numbers(i, w, b, x):
    return grad(((x @ w + b).tanh() * (1.0 + i // 3)).square().sum(), (w, b))


def no_gradient_of_one(i, w, b, x):
    b.requires_grad_(i % 7 != 6)
    h = (x @ w + b).tanh().sum()
    b.requires_grad_(True)
    return grad(h, (w,))


def hooks(i, w, b, x):
    handle = b.register_hook(lambda g: g * 3) if i % 6 == 5 else None
    found = grad((x @ w + b).tanh().sum(), (w, b))
    if handle is not None:
        handle.remove()
    return found


def kept_graph(i, w, b, x):
    h = (x @ w + b).tanh().sum()
    return *grad(h, w, retain_graph=True), *grad(h, b)


def second_derivative(i, w, b, x):
    (g,) = grad((x @ w + b).tanh().sum(), w, create_graph=True)
    return grad(g.square().sum(), (w, b))


def the_rest_of_the_graph_is_walked_later(i, w, b, x):
    """Nodes that lead to nothing that is wanted keep what they have saved."""
    side = (b * 2).exp()
    h = (x @ w).tanh().sum() + side.sum()
    (g,) = grad(h, w)
    return g, *grad(side.sum(), b)


def grads_stay(i, w, b, x):
    """What the leaves have got is neither asked for nor changed."""
    if i == 3:
        w.grad = torch.ones(3, 4)
    return (*grad((x @ w + b).tanh().sum(), (w, b)), w.grad.clone() if i >= 3 else b.detach())


def step_and_grad(i, w, b, x):
    """Both kinds of walks in one block."""
    w.grad = b.grad = None
    (x @ w + b).tanh().sum().backward()
    found = grad((x @ w + b).square().sum(), (w, b))
    return *found, w.grad, b.grad


REPLAYED = [
    all_of_them, one_of_them, the_other_way_round, by_name, twice_the_same, step_and_grad,
    the_rest_of_the_graph_is_walked_later,
]  # fmt: skip
OTHERS = [
    unused, zeros_for_unused, a_result, another_choice, other_numbers, no_gradient_of_one, hooks, kept_graph,
    second_derivative, grads_stay, with_a_gradient,
]  # fmt: skip


def run(program, times, way):
    found, walks = [], 0
    w, b = leaves()
    for i in range(times):
        torch.manual_seed(i)
        x = torch.randn(5, 3)
        if way == "eager":
            made = program(i, w, b, x)
        else:
            with torch.pipeline(through_backward=way == "through") as pipe:
                made = program(i, w, b, x)
                with torch.no_grad():
                    w.sub_(made[-1].sum() * 0.01)
            walks = pipe.stats()["replayed_walks"]
        found += [(t.shape, t.tolist(), t.requires_grad) for t in made]
        if way == "eager":
            with torch.no_grad():
                w.sub_(made[-1].sum() * 0.01)
    return found, walks


@pytest.mark.parametrize("program", REPLAYED + OTHERS)
@pytest.mark.parametrize("way", ["default", "through"])
def test_gradients_are_those_of_the_engine(program, way):
    times = 21 if program in OTHERS else 9
    wanted, _ = run(program, times, "eager")
    found, walks = run(program, times, way)
    assert found == wanted
    if program in REPLAYED:
        assert walks >= 1


def test_all_walks_of_a_block_are_followed():
    _, walks = run(step_and_grad, 9, "through")
    assert walks == 2


@pytest.mark.parametrize("way", ["default", "through"])
def test_a_graph_is_walked_once(way):
    w, b = leaves()
    for _ in range(8):
        with torch.pipeline(through_backward=way == "through"):
            h = (torch.ones(5, 3) @ w + b).tanh().sum()
            grad(h, (w, b))
            with pytest.raises(RuntimeError, match="second time"):
                grad(h, (w, b))
