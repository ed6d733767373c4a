"""Functions that NumPy and SciPy compute number by number, and their vectors here: the digits of float64."""

import numpy as np
import pytest
import scipy.special

import mindtorch_core as torch

ENDS = np.array([1, -1, 1.5, -2, np.nan, 0, -0.0, np.inf, -np.inf] * 20, "f4")


def test_inverse_of_the_error_function(either_way):
    near = 1 - np.arange(1, 500) * np.float32(2**-24)
    x = np.concatenate([np.linspace(-1, 1, 60_001), near, -near, 10.0 ** -np.arange(45)]).astype(
        "f4"
    )
    wanted = scipy.special.erfinv(x.astype("f8"))
    found = torch.from_numpy(x).erfinv().numpy()
    inside = np.isfinite(wanted)
    assert (np.isinf(found) == ~inside).all()
    error = np.abs(found[inside].astype("f8") - wanted[inside])
    assert (error <= 0.6 * np.spacing(np.abs(wanted[inside]).astype("f4"))).all()
    ends = torch.from_numpy(ENDS).erfinv().numpy()
    np.testing.assert_array_equal(ends, scipy.special.erfinv(ENDS))
    assert (np.signbit(ends[5:7]) == [False, True]).all()


@pytest.mark.parametrize(
    ("dtype", "error"),
    [("float64", 4e-16), ("float32", 3e-7), ("float16", 1e-3), ("bfloat16", 8e-3)],
)
def test_logarithms_of_sums_of_exponentials(either_way, dtype, error):
    special = [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 88, -88, 1e-30, 3e38, -3e38, 700, -700]
    pairs = np.array(
        [(x, y) for x in special for y in special]
        + list(np.random.default_rng(0).normal(0, 9, (300, 2)))
    )
    a, b = (torch.from_numpy(p.copy()).to(getattr(torch, dtype)) for p in pairs.T)
    found = torch.logaddexp(a, b)
    assert found.dtype == a.dtype
    with np.errstate(all="ignore"):
        wanted = np.logaddexp(a.double().numpy(), b.double().numpy())
    wanted = torch.from_numpy(wanted).to(a.dtype).double().numpy()
    np.testing.assert_allclose(found.double().numpy(), wanted, rtol=error, atol=error / 8)
    assert torch.logaddexp(a.view(4, -1)[:, :1], b.view(4, -1)).shape == (4, len(pairs) // 4)
