"""Where numbers are the largest there are: remainders to the last bit, waves with all their digits."""

import itertools
import math

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")
mpmath = pytest.importorskip("mpmath")

LARGEST = {
    "float32": [3.4028235e38, 1e38, 7e9, 16777217.0, 1.1754944e-38, 1e-45],
    "float64": [1.7976931348623157e308, 1e200, 2.0**53 + 2, 2.2250738585072014e-308, 5e-324],
    "bfloat16": [3.3895314e38, 1e38, 1e20, 1e-38],
    "float16": [65504, 3e4, 6.1e-5, 6e-8],
}


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("dtype", LARGEST)
@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders(name, dtype, deferred):
    values = [*LARGEST[dtype], 1, 2, 3, 0.1, 0.3, 7.5, 0, math.inf, math.nan]
    values += [-v for v in values]
    d = getattr(pt, dtype)
    # One by one: PyTorch's vectors give NaN where the quotient is larger than numbers are.
    pairs = [[pt.tensor(v, dtype=d) for v in pair] for pair in itertools.product(values, repeat=2)]
    expected = np.array([getattr(pt, name)(a, b).double().item() for a, b in pairs])
    mine = [
        torch.tensor([p[side].item() for p in pairs] * 3, dtype=getattr(torch, dtype))
        for side in (0, 1)
    ]
    with torch.pipeline() if deferred else torch.enable_grad():
        found = getattr(torch, name)(*mine)
    found = found.double().numpy()
    expected = np.tile(expected, 3)
    assert np.array_equal(found, expected, equal_nan=True)
    same_sign = np.signbit(found) == np.signbit(expected)
    assert (same_sign | np.isnan(expected)).all()


def test_waves_of_airy():
    """Where single digits of the phase are lost, in PyTorch and SciPy, and where SciPy gives up."""
    values = [-29.5, -30.5, -57.3, -1e3, -12345.678, -1e6, -1e8, -1e10, -1e12, -1e14]
    with mpmath.workdps(60):
        expected = [float(mpmath.airyai(v)) for v in values]
    found = torch.special.airy_ai(torch.tensor(values, dtype=torch.float64)).tolist()
    assert found == pytest.approx(expected, rel=1e-8)
    assert found[1:8] == pytest.approx(expected[1:8], rel=1e-12)
    single = torch.tensor(values)
    with mpmath.workdps(60):
        expected = [float(mpmath.airyai(v)) for v in single.tolist()]
    assert torch.special.airy_ai(single).tolist() == pytest.approx(expected, rel=2e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_waves_of_airy_where_no_phase_is_left(dtype):
    x = -torch.logspace(15, 38 if dtype == "float32" else 200, 50, dtype=getattr(torch, dtype))
    highest = 1 / (math.sqrt(math.pi) * x.double().abs() ** 0.25)
    assert (torch.special.airy_ai(x).double().abs() <= highest * 1.01).all()
    ends = [-math.inf, math.nan]
    mine, other = (
        lib.special.airy_ai(lib.tensor(ends, dtype=getattr(lib, dtype))) for lib in (torch, pt)
    )
    assert mine.isnan().all()
    assert other.isnan().all()
