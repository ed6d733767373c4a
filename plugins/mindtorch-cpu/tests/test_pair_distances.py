"""Euclidean distances of many pairs of rows: as exact as those that are computed one by one."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.ops import pair_distances


def rows(n, width, seed, far=0.0):
    return np.random.default_rng(seed).normal(far, 1, (n, width)).astype("f4")


def exactly(a, b):
    gaps = a.astype("f8")[..., :, None, :] - b.astype("f8")[..., None, :, :]
    return np.sqrt((gaps * gaps).sum(-1))


def agrees(a, b, dtype=torch.float32, **options):
    x, y = (torch.from_numpy(m).to(dtype) for m in (a, b))
    found = torch.cdist(x, y, **options)
    wanted = exactly(x.float().numpy(), y.float().numpy())
    assert (found.dtype, found.stride()) == (dtype, torch.empty(wanted.shape).stride())
    near = torch.from_numpy(wanted).to(dtype).float().numpy()
    np.testing.assert_allclose(found.float().numpy(), near, rtol=2 * torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [1, 3, 64])
def test_many_rows(width, dtype):
    agrees(rows(40, width, 0), rows(3000, width, 1), dtype)
    agrees(rows(3000, width, 0), rows(40, width, 1), dtype)
    agrees(np.stack([rows(50, width, n) for n in range(3)]), rows(30, width, 9), dtype)


def test_rows_that_are_nearly_the_same():
    """Of the same rows the distance is 0, and of near ones all digits are right."""
    a = rows(200, 5, 0)
    b = a.copy()
    b[::2, 3] += 1e-6
    agrees(a, b)
    assert (torch.cdist(torch.from_numpy(a), torch.from_numpy(a)).diagonal() == 0).all()
    agrees(rows(100, 4, 0, far=1e6), rows(100, 4, 1, far=1e6))  # all of them


def test_rows_that_are_not_finite():
    a, b = rows(60, 4, 0), rows(60, 4, 1)
    a[3, 2], b[5, 1], b[7, 0] = np.inf, np.nan, -np.inf
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    with np.errstate(all="ignore"):
        wanted = exactly(a, b)
    found = torch.cdist(x, y).numpy()
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert (np.isinf(found) == np.isinf(wanted)).all()


def test_what_goes_by_a_product(monkeypatch):
    taken = []
    real = pair_distances._by_product
    monkeypatch.setattr(pair_distances, "_by_product", lambda *a: taken.append(1) or real(*a))
    x, y = torch.from_numpy(rows(60, 4, 0)), torch.from_numpy(rows(60, 4, 1))
    torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
    for p in (0, 1, 1.5, float("inf")):
        torch.cdist(x, y, p)
    torch.cdist(x.double(), y.double())
    torch.cdist(x[:3], y[:3])
    assert not taken
    torch.cdist(x, y)
    assert taken
