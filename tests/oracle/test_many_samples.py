"""Samples of images at many positions, of so many neighbours that these are taken one after the other."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


@pytest.mark.parametrize("side", [64, 256])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_samples_and_gradients(mode, side):
    random = np.random.default_rng(3)
    image = random.normal(size=(1, 33, 9, 11)).astype(np.float32)
    grid = random.uniform(-1.3, 1.3, (1, side, side, 2)).astype(np.float32)
    grid[0, 0, 0] = 1e12  # outside of all integers
    image[0, 0, 0, 0] = np.inf  # what is outside is 0, not a product with 0
    found = []
    for lib in (torch, pt):
        x, at = (lib.tensor(a).requires_grad_() for a in (image, grid))
        made = lib.nn.functional.grid_sample(x, at, mode=mode, align_corners=False)
        made[:, 1:].square().sum().backward()
        found.append([made.detach(), x.grad, *([at.grad] if mode == "bilinear" else [])])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-4, 2e-2)
