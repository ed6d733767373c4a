"""How element-wise results of operands that are broadcast lie in memory: as PyTorch's."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ORDERS = list(itertools.permutations(range(3)))
SHAPES = [
    ((2, 3, 4), (1, 3, 4)), ((2, 3, 4), (2, 1, 4)), ((3, 2, 4), (3, 1, 4)), ((2, 2, 3), (2, 1, 1)),
    ((2, 1, 3), (1, 2, 3)), ((2, 2, 2), (1, 2, 1)), ((1, 2, 3), (2, 1, 1)),
]  # fmt: skip


def permuted(lib, shape, order):
    t = lib.ones([shape[i] for i in order])
    return t.permute([order.index(i) for i in range(len(shape))])


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_strides_are_pytorchs(shapes):
    for first, second in itertools.product(ORDERS, ORDERS):
        a, b = (
            [permuted(lib, s, o) for s, o in zip(shapes, (first, second), strict=True)]
            for lib in (torch, pt)
        )
        for pair in (slice(None), slice(None, None, -1)):
            (x, y), (p, q) = a[pair], b[pair]
            assert (x + y).stride() == (p + q).stride(), (first, second)
            assert (x + y).to("meta").stride() == (x.to("meta") + y.to("meta")).stride()
