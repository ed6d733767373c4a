"""Compiled kernels add up rows in NumPy's order, whatever their length."""

import ml_dtypes
import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu import row_sums
from mindtorch_cpu.native import eager
from mindtorch_cpu.native.kernels import KERNELS

# Around the ends of leaves and of their halves, where all parts are leaves and where only some are.
LENGTHS = [
    *range(2, 71),
    *(near + i for near in (96, 128, 192, 256, 384, 512, 640, 1024, 2048) for i in (-9, -1, 0, 1, 8, 9)),
    1500, 3001, 5000, 8193, 20_001, 32_768,
]  # fmt: skip
NUMPY = {
    torch.float32: np.float32,
    torch.float64: np.float64,
    torch.float16: np.float16,
    torch.bfloat16: ml_dtypes.bfloat16,
}


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Kernels are made when they are first asked for."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)


def rows(count, length, dtype, seed=0):
    random = np.random.default_rng(seed)
    drawn = random.normal(0, 1, (count, length)) * np.exp2(random.integers(-9, 9, (count, length)))
    return drawn.astype(NUMPY[dtype])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_of_every_length(dtype):
    for length in LENGTHS:
        given = rows(3, length, dtype, length)
        given[1, : length // 2] = -0.0
        if length % 5 == 0:
            given[2, length // 3] = np.nan if length % 2 else np.inf
        out = np.empty((3, 1), given.dtype)
        trace = row_sums._added
        assert eager.prepared((trace,), trace, [given], [out], rows=True), length
        wanted = np.add.reduce(given, 1, keepdims=True)
        assert np.array_equal(out, wanted, equal_nan=True), length
        assert np.array_equal(np.signbit(out[:2]), np.signbit(wanted[:2])), length


@pytest.mark.parametrize("dtype", NUMPY, ids=str)
@pytest.mark.parametrize(
    ("shape", "dims"), [((3, 1000), (1,)), ((9001,), None), ((5, 7, 300), (1, 2)), ((40, 33), (-1,))]
)  # fmt: skip
def test_sums_of_tensors(dtype, shape, dims, monkeypatch):
    served = []

    def computed_rows(key, *args):
        served.append(eager.prepared((key,), *args, rows=True))
        return served[-1]

    monkeypatch.setattr(row_sums, "computed_rows", computed_rows)
    given = rows(1, int(np.prod(shape)), dtype).reshape(shape)
    wide = given if given.itemsize > 2 else given.astype(np.float32)
    axis = None if dims is None else tuple(d % len(shape) for d in dims)
    x = torch.from_numpy(given.view(np.int16) if given.itemsize == 2 else given).view(dtype)
    for keep in (False, True):
        wanted = np.add.reduce(wide, axis, keepdims=keep).astype(given.dtype)
        found = x.sum(dims, keepdim=keep)
        assert (found.dtype, found.shape) == (dtype, wanted.shape)
        assert np.array_equal(found.double().numpy(), wanted.astype(np.float64))
    assert served == [True, True]


@pytest.mark.parametrize("dtype", NUMPY, ids=str)
@pytest.mark.parametrize(
    ("shape", "dims"), [((40, 33), (0,)), ((5, 30, 9), (1,)), ((5, 30, 9), (0, 1)), ((5, 30, 9), (0, 2))]
)  # fmt: skip
def test_sums_along_other_dimensions(dtype, shape, dims):
    given = rows(1, int(np.prod(shape)), dtype).reshape(shape)
    wide = given if given.itemsize > 2 else given.astype(np.float32)
    x = torch.from_numpy(given.view(np.int16) if given.itemsize == 2 else given).view(dtype)
    for a, seen in ((wide, x), (wide.T, x.permute(*range(len(shape) - 1, -1, -1)))):
        exact = a.astype(np.float64)
        wanted, size = np.add.reduce(exact, dims), np.add.reduce(np.abs(exact), dims)
        lost = (
            torch.finfo(dtype).eps * np.abs(wanted)
            + (1e-14 if given.itemsize == 8 else 1e-6) * size
        )
        assert (np.abs(seen.sum(dims).double().numpy() - wanted) <= lost).all()


def test_elements_that_lie_otherwise_are_added_as_without_kernels(monkeypatch):
    for seed in range(8):
        x = torch.from_numpy(rows(40, 200, torch.float32, seed))
        found = [t.sum().item() for t in (x.t(), x[:, 1:], x[::2])]
        with monkeypatch.context() as patch:
            patch.setattr(KERNELS, "mode", "off")
            assert found == [t.sum().item() for t in (x.t(), x[:, 1:], x[::2])]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_large_sums_of_half_precision_are_rounded_once(dtype, monkeypatch):
    for seed, size in enumerate((*[40_000] * 6, 131_072, 262_144 + 77, 1_300_000)):
        given = (rows(1, size, torch.float32, seed)[0] / 64).astype(NUMPY[dtype])
        x = torch.from_numpy(given.view(np.int16)).view(dtype)
        found = x.sum()
        with monkeypatch.context() as patch:
            patch.setattr(KERNELS, "mode", "off")
            assert found.item() == x.sum().item()
        if size <= 131_072:  # more floats are added by tiles
            assert found.item() == x.float().sum().to(dtype).item()
        wide = given.astype(np.float64)
        lost = torch.finfo(dtype).eps / 2 * abs(wide.sum()) + 1e-6 * np.abs(wide).sum()
        assert abs(found.item() - wide.sum()) <= lost
