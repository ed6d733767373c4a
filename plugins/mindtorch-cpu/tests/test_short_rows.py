"""Reductions of many short rows have NumPy's bits."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.short_rows import reduce_rows

ROWS = 5000
SPECIAL = [0.0, -0.0, 0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 3e38, 1e-45]
NUMBERS = [np.add, np.multiply, np.maximum, np.minimum]


def given(width, code):
    random = np.random.default_rng(width)
    if code[0] == "f":
        found = random.normal(0, 1, (ROWS, width)) * np.exp2(
            random.integers(-20, 20, (ROWS, width))
        )
        found[::3] = random.choice(SPECIAL, found[::3].shape)
        found[1::3] = random.choice([0.0, -0.0], found[1::3].shape)
        return found.astype(code)
    return random.integers(-3 if code[0] == "i" else 0, 4, (ROWS, width)).astype(code)


@pytest.mark.parametrize("code", ["f4", "f8", "i8", "i4", "u1", "?"])
@pytest.mark.parametrize("width", range(1, 20))
def test_every_join_has_numpys_bits(width, code):
    a = given(width, code)
    joins = [(join, None) for join in NUMBERS] if code != "?" else []
    joins += [(np.logical_or, np.bool_), (np.logical_and, np.bool_)]
    joins += [(join, np.int64) for join in NUMBERS[:2]] if code[0] != "f" else []
    for join, d in joins:
        with np.errstate(all="ignore"):
            wanted = join.reduce(a, 1, d)
            found = reduce_rows(join, a, 1, d)
            kept = reduce_rows(join, a.reshape(50, -1, width), (2,), d, True)
        assert found.dtype == wanted.dtype
        assert np.array_equal(np.isnan(found), np.isnan(wanted))
        assert np.nan_to_num(found, nan=7).tobytes() == np.nan_to_num(wanted, nan=7).tobytes()
        assert np.array_equal(kept.reshape(-1), wanted, equal_nan=found.dtype.kind == "f")
        assert kept.shape == (50, ROWS // 50, 1)


@pytest.mark.parametrize("width", [3, 11])
def test_ops_agree_with_pytorch(width):
    pt = pytest.importorskip("torch")
    a = np.random.default_rng(0).normal(0, 1, (ROWS, width)).astype("f4")
    for name in (
        "sum",
        "mean",
        "amax",
        "amin",
        "prod",
        "argmax",
        "any",
        "all",
        "softmax",
        "logsumexp",
    ):
        for x in (a, np.asfortranarray(a), a[:, ::-1].copy()[:, 1:], a.reshape(50, 100, width)):
            ours = getattr(torch.from_numpy(x), name)(-1)
            wanted = getattr(pt.from_numpy(x), name)(-1)
            np.testing.assert_allclose(ours.numpy(), wanted.numpy(), 1e-5, 1e-6, err_msg=name)
    for name in ("max", "min"):
        values, places = getattr(torch.from_numpy(a), name)(-1)
        np.testing.assert_array_equal(
            values.numpy(), getattr(pt.from_numpy(a), name)(-1)[0].numpy()
        )
        np.testing.assert_array_equal(
            np.take_along_axis(a, places.numpy()[:, None], 1)[:, 0], values.numpy()
        )
