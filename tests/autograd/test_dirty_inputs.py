"""Functions that change what they are given: versions, histories and identities are PyTorch's."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def function(lib, *, through_numpy=False, differentiable=True, doubled=False):
    """A Function that doubles its input in place."""

    class Doubled(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if through_numpy:  # what no op sees
                x.detach().numpy()[...] *= 2
            else:
                x.mul_(2)
            ctx.mark_dirty(x)
            if not differentiable:
                ctx.mark_non_differentiable(x)
            return (x, x * 1) if doubled else x

        @staticmethod
        def backward(ctx, *grads):
            return 2 * sum(grads)

    return Doubled.apply


WAYS = {
    "an op": {},
    "NumPy": {"through_numpy": True},
    "not differentiable": {"differentiable": False},
    "and another result": {"doubled": True},
}
INPUTS = {
    "leaf without grad": lambda lib: lib.ones(3),
    "leaf": lambda lib: lib.ones(3, requires_grad=True),
    "result": lambda lib: lib.ones(3, requires_grad=True) * 3,
    "view": lambda lib: (lib.ones(2, 3, requires_grad=True) * 3)[0],
    "view without grad": lambda lib: lib.ones(2, 3)[0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", INPUTS)
def test_what_is_seen_of_it(given, way):
    def run(lib):
        x = INPUTS[given](lib)
        before = x._version
        try:
            made = function(lib, **WAYS[way])(x)
        except RuntimeError:
            return "refused"
        first = made[0] if isinstance(made, tuple) else made
        return (first is x, first.requires_grad, first.is_leaf, x.tolist(), x._version - before > 0)

    assert run(torch) == run(pt)


@pytest.mark.parametrize("way", ["an op", "NumPy"])
def test_what_was_saved_before_is_found_changed(way):
    def run(lib):
        leaf = lib.full((3,), 2.0, requires_grad=True)
        x = leaf * 3
        squared = x * x  # saves x
        function(lib, **WAYS[way])(x)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            squared.sum().backward()

    run(pt)
    run(torch)


@pytest.mark.parametrize("given", ["result", "view"])
@pytest.mark.parametrize("way", ["an op", "NumPy", "not differentiable"])
def test_gradients_pass_it(given, way):
    def run(lib):
        leaf = lib.full((2, 3), 2.0, requires_grad=True)
        base = leaf * 3
        x = base[0] if given == "view" else base
        made = function(lib, **WAYS[way])(x)
        total = (base * lib.arange(3.0)).sum() + (made * 5).sum()
        if not total.requires_grad:
            return "no history", base.tolist()
        total.backward()
        return leaf.grad.tolist(), base.tolist()

    assert run(torch) == run(pt)
