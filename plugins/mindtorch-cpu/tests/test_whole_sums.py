"""Sums of whole numbers that threads share are those of NumPy, along any dimensions."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu import whole_sums
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.ops import reduction


@pytest.fixture(autouse=True)
def by_threads(monkeypatch):
    """Threads share few elements; a test sees how many parts there were."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.setattr(reduction, "SHARED", 1)
    monkeypatch.setattr(whole_sums, "_PART", 2)
    monkeypatch.setattr(whole_sums, "_MANY", 1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8, np.bool_])
@pytest.mark.parametrize("shape", [(700,), (1, 300), (9, 40), (5, 6, 7), (6, 1, 4, 3)], ids=str)
def test_along_any_dimensions(dtype, shape):
    random = np.random.default_rng(0)
    given = random.integers(0, 2 if dtype is np.bool_ else 127, shape).astype(dtype)
    for a in (given, given.T, given[::2], given[..., ::-1].copy()):
        x = torch.from_numpy(a)
        for count in range(a.ndim + 1):
            for dims in itertools.combinations(range(a.ndim), count):
                for keep in (False, True):
                    found = x.sum(dims, keepdim=keep) if dims else x.sum()
                    wanted = np.add.reduce(a, dims or None, np.int64, keepdims=keep and bool(dims))
                    assert found.is_contiguous()
                    assert np.array_equal(found.numpy(), wanted)


def test_sums_that_do_not_fit_wrap_around():
    x = torch.full((900,), 2**62)
    assert x.sum().item() == (900 * 2**62 + 2**63) % 2**64 - 2**63
    assert torch.ones(900, dtype=torch.int32).sum(dtype=torch.int8).item() == 900 % 256 - 256


def test_parts_are_added_up(monkeypatch):
    parts = []
    reduce_rows = whole_sums.reduce_rows

    def seen(join, a, *rest):
        parts.append(len(a))
        return reduce_rows(join, a, *rest)

    monkeypatch.setattr(whole_sums, "reduce_rows", seen)
    assert torch.arange(100).sum().item() == 4950
    assert sum(parts) == 100
    assert len(parts) == 4


@pytest.mark.usefixtures("by_kernels")
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.int8, np.bool_, np.uint8])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_are_added_by_a_loop(threads, dtype, monkeypatch):
    monkeypatch.undo()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    random = np.random.default_rng(0)
    top = 2 if dtype is np.bool_ else np.iinfo(dtype).max
    for count in (40_000, 131_072, 131_073, 700_001):
        given = random.integers(0 if dtype in (np.bool_, np.uint8) else -top, top, count).astype(
            dtype
        )
        if dtype is not np.uint8 and KERNELS.enabled:
            with pytest.MonkeyPatch.context() as patch:  # NumPy adds nothing but sums of parts
                patch.delattr(whole_sums, "reduce_rows")
                found = torch.from_numpy(given).sum().item()
        else:
            found = torch.from_numpy(given).sum().item()
        assert found == int(np.add.reduce(given, dtype=np.int64))
    torch.set_num_threads(before)
