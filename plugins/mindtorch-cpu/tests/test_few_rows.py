"""Products of few rows with matrices that lie the other way around, and of rows of one element."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.ops import few_rows

SIZES = [
    (m, k, n)
    for m in (1, 2, 3, 8, 33, 64, 65)
    for k, n in ((64, 256), (128, 129), (300, 70), (65, 1000))
]


def drawn(*shape):
    return torch.from_numpy(np.random.default_rng(sum(shape)).normal(0, 1, shape).astype("f4"))


def is_near(found, a, b):
    wanted = a.numpy().astype("f8") @ b.numpy().astype("f8")
    assert found.shape == wanted.shape
    assert found.is_contiguous()
    np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=1e-5 * a.shape[-1] ** 0.5)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_linear_layers(either_way, sizes):
    m, k, n = sizes
    x, w, b = drawn(m, k), drawn(n, k), drawn(n)
    is_near(F.linear(x, w), x, w.t())
    is_near(x @ w.t(), x, w.t())
    is_near(F.linear(x, w, b) - b, x, w.t())
    is_near(F.linear(x.view(1, m, k), w)[0], x, w.t())
    wide = drawn(m, k + 3)[:, 3:]  # rows lie apart
    is_near(wide @ w.t(), wide, w.t())
    is_near(drawn(k, m).t() @ w.t(), drawn(k, m).t(), w.t())


@pytest.mark.parametrize(
    "sizes", [(5, 40, 32, 70), (3, 130, 64, 90), (4, 1, 64, 2000), (2, 8, 3, 300)], ids=str
)
def test_stacks(either_way, sizes):
    batch, m, k, n = sizes
    q, keys = drawn(batch, m, k), drawn(batch, n, k)
    is_near(q @ keys.transpose(1, 2), q, keys.transpose(1, 2))


def test_bits_are_the_same_with_loops_and_without(by_kernels, monkeypatch):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)

    def bits():
        x, w = drawn(33, 128), drawn(512, 128)
        q, keys = drawn(9, 40, 32), drawn(9, 64, 32)
        return [t.numpy().tobytes() for t in (F.linear(x, w), q @ keys.transpose(1, 2))]

    found = bits()
    monkeypatch.setattr(KERNELS, "mode", "off")
    assert found == bits()


def test_which_products_are_turned():
    x, w = (drawn(*shape).numpy() for shape in ((8, 128), (512, 128)))
    assert few_rows.by_few_rows(x, w.T) is not None or not few_rows.is_openblas()
    for a, b in (
        (x.astype("f8"), w.T.astype("f8")),
        (x, np.ascontiguousarray(w.T)),
        (x[:, :32], w[:, :32].T),
    ):
        assert few_rows.by_few_rows(a, b) is None
    q, keys = (drawn(*shape).numpy() for shape in ((9, 40, 32), (9, 32, 64)))
    assert few_rows.as_packed(q, keys) is keys


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize("shape", [(300, 200), (7, 90, 40)], ids=str)
def test_rows_of_one_element(dtype, shape):
    """Each product is one multiplication: NaN and infinities, and signs of zeros as PyTorch has them."""
    *batch, m, n = shape
    a, b = drawn(*batch, m, 1).to(dtype), drawn(*batch, 1, n).to(dtype)
    with np.errstate(all="ignore"):
        a.view(-1)[0], a.view(-1)[1], a.view(-1)[2], b.view(-1)[0] = (
            float("nan"),
            float("inf"),
            -0.0,
            0,
        )
        found, wanted = (a @ b).numpy(), a.numpy() * b.numpy()
    assert found.tobytes() == wanted.tobytes()
