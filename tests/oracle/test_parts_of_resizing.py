"""Resized images, by the ops that resizing is made of where a backend has no kernel, are PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry

pt = pytest.importorskip("torch")

SIZES = {1: [(7,), (3,), (5,)], 2: [(7, 3), (2, 9), (5, 4)], 3: [(2, 5, 3), (4, 3, 2)]}
OPS = [("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_bicubic2d", 2), ("upsample_trilinear3d", 3),
       ("_upsample_bilinear2d_aa", 2), ("_upsample_bicubic2d_aa", 2)]  # fmt: skip
NEAREST = [(f"upsample_{kind}{n}d", n) for kind in ("nearest", "nearest_exact") for n in (1, 2, 3)]


def image(n):
    return np.random.default_rng(n).normal(size=(2, 3, 5, 4, 3)[: 2 + n])


def compare(name, size, *args):
    x = image(len(size))
    theirs = name.replace("upsample_nearest_exact", "_upsample_nearest_exact")
    wanted = getattr(pt.ops.aten, theirs)(pt.from_numpy(x), size, *args).numpy()
    composed = registry.entry(f"aten::{theirs}").definition.decomposition
    np.testing.assert_allclose(
        composed(torch.from_numpy(x), size, *args).numpy(), wanted, atol=1e-12
    )


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize(("name", "n"), OPS)
def test_weighted(name, n, corners):
    for size in SIZES[n]:
        compare(name, size, corners)


@pytest.mark.parametrize(("name", "n"), NEAREST)
def test_nearest(name, n):
    for size in SIZES[n]:
        compare(name, size)
