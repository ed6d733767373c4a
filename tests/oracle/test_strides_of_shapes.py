"""Strides of new tensors, of shapes with dimensions of 0 and 1 too, are PyTorch's."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

SHAPES = [s for rank in range(5) for s in itertools.product((0, 1, 2, 3), repeat=rank)]
MAKERS = {
    "empty": lambda lib, shape: lib.empty(shape),
    "zeros": lambda lib, shape: lib.zeros(shape),
    "full": lambda lib, shape: lib.full(shape, 2),
    "rand": lambda lib, shape: lib.rand(shape),
    "meta": lambda lib, shape: lib.empty(shape, device="meta"),
    "reshaped": lambda lib, shape: lib.zeros(lib.Size(shape).numel()).reshape(shape),
    "sums": lambda lib, shape: lib.zeros((*shape, 2)).sum(-1),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_as_in_pytorch(maker):
    for shape in SHAPES:
        made, theirs = MAKERS[maker](torch, shape), MAKERS[maker](pt, shape)
        assert (shape, made.stride()) == (shape, theirs.stride())
        assert made.is_contiguous() is theirs.is_contiguous()
