"""The memory format that a layout is taken for, over layouts of all kinds: as PyTorch has it."""

import random

import pytest

from mindtorch_core.values.memory_formats import suggested

pt = pytest.importorskip("torch")
common = pytest.importorskip("torch._prims_common")


def layouts(ndim):
    """Shapes with sizes of 0 and 1, their dimensions in any order, gaps, and strides of 0."""
    draw = random.Random(ndim)
    for _ in range(1500):
        shape, order = (
            draw.choices((0, 1, 2, 3), (1, 4, 5, 5), k=ndim),
            draw.sample(range(ndim), ndim),
        )
        if draw.random() < 0.5:
            order = [1, *range(ndim - 1, 1, -1), 0]
        strides, step = [0] * ndim, draw.choice((1, 1, 2))
        for d in order:
            strides[d] = step
            step *= max(shape[d], 1)
        if draw.random() < 0.2:
            strides[draw.choice((0, 1))] = 0
        yield tuple(shape), tuple(strides)


@pytest.mark.parametrize("ndim", [4, 5])
def test_the_format_that_a_layout_is_taken_for(ndim):
    for shape, strides in layouts(ndim):
        wanted = common.suggest_memory_format(pt.empty_strided(shape, strides))
        assert suggested(shape, strides).name == str(wanted).removeprefix("torch."), (
            shape,
            strides,
        )
