"""Running statistics of batches, of dtypes and layouts that are served in one go and others."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("d", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("momentum", "shape"), [(0.1, (4, 3, 5)), (0.25, (2, 3)), (1.0, (2, 3, 50, 7))]
)
def test_they_move_as_in_pytorch(momentum, shape, d, apart):
    data = np.random.default_rng(2).normal(2, 3, shape)
    found = []
    for lib in (torch, pt):
        x = lib.tensor(data).to(getattr(lib, d))
        own = lib.float32 if d == "bfloat16" else x.dtype
        kept = [lib.arange(6.0).to(own).reshape(2, 3)[1] + 1 for _ in range(2)]
        if apart:
            kept = [lib.stack([t, t], 1)[:, 1] for t in kept]
        versions = [t._version for t in kept]
        lib.nn.functional.batch_norm(x, *kept, training=True, momentum=momentum)
        found.append([*(t.numpy() for t in kept), [t._version for t in kept] == versions])
    for ours, theirs in zip(found[0][:2], found[1][:2], strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-5)
    if not apart:
        assert found[0][2] == found[1][2]
