"""One call with both libraries, and leaves for it."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome

pt = pytest.importorskip("torch")


def both(call, **options):
    assert_same_outcome(lambda: call(torch), lambda: call(pt), **options)


def leaf(lib, *shape, value=None):
    """Numbers from 1 of a shape, or the given ones."""
    if value is not None:
        return lib.tensor(value, requires_grad=True)
    return lib.arange(1.0, 1 + pt.Size(shape).numel()).reshape(shape).requires_grad_()


def inside(lib, call, *args):
    with lib.inference_mode():
        return call(*args)


def made(lib, *shape):
    """An inference tensor of ones."""
    return inside(lib, lib.ones, shape or (3,))
