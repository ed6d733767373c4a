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


def pulled(x, y, g):
    x, y = (t.clone().requires_grad_() for t in (x, y))
    return torch.autograd.grad(torch.cdist(x, y), (x, y), g)


@pytest.mark.parametrize("batch", [(), (3,)])
def test_gradients_of_many_rows(batch, monkeypatch):
    """They have all digits, of rows that are the same and nearly the same too; few rows are pulled one by one."""
    x, y = (torch.from_numpy(np.stack([rows(n, 8, n)] * 3)) for n in (60, 70))
    y[:, :20] = x[:, :20]
    y[:, 10:20] += 1e-4
    x, y = (t if batch else t[0] for t in (x, y))
    g = torch.from_numpy(rows(60, 70, 3)).expand(*batch, 60, 70)
    found = pulled(x, y, g)
    distances = torch.cdist(x, y).double()  # as the gradient has them
    gaps = x.double().unsqueeze(-2) - y.double().unsqueeze(-3)
    parts = (gaps * (g / distances.where(distances > 0, torch.inf)).unsqueeze(-1)).numpy()
    for mine, wanted in zip(found, (parts.sum(-2), -parts.sum(-3)), strict=True):
        np.testing.assert_allclose(mine.numpy(), wanted, rtol=1e-5, atol=3e-6)
    monkeypatch.setattr(pair_distances, "_MANY", 1 << 30)
    for mine, wanted in zip(found, pulled(x, y, g), strict=True):
        np.testing.assert_allclose(mine.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)


def test_gradients_that_are_not_finite_are_those_of_rows_one_by_one(monkeypatch):
    x, y = (torch.from_numpy(rows(n, 4, n)) for n in (40, 50))
    x[3, 1], y[7, 2] = float("inf"), float("nan")
    found = pulled(x, y, torch.ones(40, 50))
    monkeypatch.setattr(pair_distances, "_MANY", 1 << 30)
    for mine, wanted in zip(found, pulled(x, y, torch.ones(40, 50)), strict=True):
        np.testing.assert_array_equal(mine.numpy(), wanted.numpy())
