"""Other shapes of row-major elements whose sizes of 1 have any strides: views and refusals, beside PyTorch's."""

import pytest

import mindtorch_core as torch

oracle = pytest.importorskip("torch")

LAYOUTS = [
    ((1, 6), (17, 1)), ((6, 1), (1, 17)), ((1, 6), (1, 1)), ((2, 1, 3), (3, 17, 1)), ((1, 2, 3), (2, 3, 1)),
    ((2, 3, 1), (3, 1, 5)), ((1, 1, 6), (3, 5, 1)), ((1, 1), (7, 5)), ((2, 1, 3), (3, 3, 1)), ((2, 3), (1, 2)),
]  # fmt: skip
SIZES = [
    (4,), (6,), (-1,), (2, 3), (3, 2), (3, -1), (2, 2), (0,), (-1, 0), (7,), (12,), (6, 1, 1), (1, -1, 4), (1, 6, 1),
    (-1, -1), (-2, 3), (1,), (), (2, 1, 3, 1), (1, 2, 1, 3), (-6,), (-2, -3),
]  # fmt: skip


@pytest.mark.parametrize("name", ["view", "reshape"])
@pytest.mark.parametrize(("shape", "strides"), LAYOUTS, ids=str)
def test_as_in_pytorch(name, shape, strides):
    def shown(lib, size):
        x = lib.arange(64.0).as_strided(shape, strides, 1)
        try:
            found = getattr(x, name)(size)
        except RuntimeError as error:
            return str(error).partition("(")[0]
        return tuple(found.shape), found.stride(), found.storage_offset(), found.tolist()

    for size in SIZES:
        for _ in range(2):  # what is told of a shape is kept
            assert shown(torch, size) == shown(oracle, size), size
