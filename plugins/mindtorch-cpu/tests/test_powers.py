"""Powers by one number: of half precision PyTorch's, to the last bit; of float32 the nearest there is."""

import numpy as np
import pytest

import mindtorch_core as torch

EXPONENTS = [2, 2.0, 3, 0.5, -0.5, -1, -2, 4, 5.0, -3, 8, 1.5, 1]

pytestmark = pytest.mark.usefixtures("by_kernels")


def every(lib, dtype):
    """All numbers of half precision, but for NaN that signals."""
    x = lib.arange(-(1 << 15), 1 << 15).to(lib.int16).view(getattr(lib, dtype))
    return lib.where(x.isnan(), float("nan"), x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_of_half_precision(exponent, dtype):
    pytorch = pytest.importorskip("torch")
    wanted = repr((every(pytorch, dtype) ** exponent).tolist())
    x = every(torch, dtype)
    assert repr((x**exponent).tolist()) == wanted
    parts = [part**exponent for part in x.split(2000)]  # which no kernel computes
    assert repr(torch.cat(parts).tolist()) == wanted
    x **= exponent
    assert repr(x.tolist()) == wanted


@pytest.mark.parametrize("exponent", [n for n in range(-8, 9) if n not in (-2, 0, 1, 3)])
def test_whole_powers_of_float32_are_the_nearest(exponent):
    random = np.random.default_rng(0)
    x = random.normal(0, 1, 10_000) * np.exp2(random.integers(-40, 40, 10_000))
    x = np.concatenate([x, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38]]).astype("f4")
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.longdouble), exponent).astype("f4")
    given = torch.from_numpy(x)
    for found in (given**exponent, torch.cat([part**exponent for part in given.split(50)])):
        assert np.array_equal(found.numpy(), wanted, equal_nan=True)
        there = ~np.isnan(wanted)
        assert np.array_equal(np.signbit(found.numpy()[there]), np.signbit(wanted[there]))
