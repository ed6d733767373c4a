"""Tensors are divided among buckets as PyTorch does it, whatever their sizes, dtypes and numbers."""

import random

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
if not pt.distributed.is_available():
    pytest.skip("PyTorch was built without torch.distributed", allow_module_level=True)


@pytest.mark.parametrize("seed", range(40))
def test_buckets(seed):
    draw = random.Random(seed)
    count = draw.randint(1, 14)
    kinds = [draw.choice(["float32", "float64", "float16"]) for _ in range(count)]
    if seed % 2:
        kinds = ["float32"] * count
    sizes = [draw.choice([0, 1, 5, 10, 25, 100, 300]) for _ in range(count)]
    limits = sorted(draw.choice([1, 40, 100, 400, 800, 4000]) for _ in range(draw.randint(1, 5)))
    sparse = [draw.random() < 0.2 for _ in range(count)] if seed % 3 == 0 else []
    numbers = draw.sample(range(count), count) if seed % 4 == 0 else []

    def divided(lib):
        tensors = [lib.zeros(n, dtype=getattr(lib, d)) for n, d in zip(sizes, kinds, strict=True)]
        divide = lib.distributed._compute_bucket_assignment_by_size
        return tuple(map(list, divide(tensors, limits, sparse, numbers)))

    found, expected = divided(torch), divided(pt)
    if numbers:  # in the order of closing here, of a table of kinds there
        found, expected = (
            sorted((tuple(row), limit) for row, limit in zip(*each, strict=True))
            for each in (found, expected)
        )
    assert found == expected
