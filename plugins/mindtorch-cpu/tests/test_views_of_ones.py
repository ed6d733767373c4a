"""Views of row-major tensors whose sizes of 1 have strides of any kind, as parts of others have."""

import random

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def outcome(lib, shape, strides, size):
    t = lib.arange(200.0).as_strided(shape, strides)
    try:
        made = t.view(size)
    except RuntimeError:
        return "refused"
    return list(made.shape), list(made.stride()), made.flatten().tolist()


def cases():
    draw = random.Random(0)
    for _ in range(300):
        shape = [draw.choice([1, 1, 2, 3, 4]) for _ in range(draw.randint(1, 4))]
        strides, below = [], 1
        for n in reversed(shape):
            strides.insert(0, draw.choice([below, 7, 0, 96]) if n == 1 else below)
            below *= n
        size = [1] * draw.randint(0, 2) + draw.sample(shape, len(shape))
        size[draw.randrange(len(size))] = draw.choice([-1, -1, 1, 5, 0, -2])
        yield shape, strides, size


def test_strides_are_pytorchs():
    for shape, strides, size in cases():
        given = shape, strides, size
        assert outcome(torch, *given) == outcome(pt, *given), given
