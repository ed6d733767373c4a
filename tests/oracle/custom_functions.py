"""Custom Functions for either library, for the tests of `torch.autograd.Function`."""

import pytest
from collecting import leaf

pt = pytest.importorskip("torch")


def define(lib, forward, backward=lambda ctx, *grads: grads[0], **more):
    """A Function with the given static methods, named ``Fn``."""
    methods = {"forward": forward, "backward": backward, **more}
    members = {k: staticmethod(v) for k, v in methods.items() if v is not None}
    return type("Fn", (lib.autograd.Function,), members)


def square(lib):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

    return define(lib, forward, backward)


def gradient(lib, fn, *more):
    """The gradient of the sum of ``fn.apply(x, ...)`` for a fresh ``x``."""
    x = leaf(lib)
    return lib.autograd.grad(fn.apply(x, *more).sum(), x)[0]


def described(out):
    """Everything about an output that users see, in terms that compare."""
    if isinstance(out, tuple | list):
        return [type(out) is tuple, *map(described, out)]
    if not hasattr(out, "grad_fn"):
        return out
    return [out, out.requires_grad, out.grad_fn is None, out.output_nr, out._is_view(), out.is_leaf]
