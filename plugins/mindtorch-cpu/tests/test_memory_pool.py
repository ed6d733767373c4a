"""Memory of large results is reused, and never while somebody still looks at it."""

import gc

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.pool import LARGE, Pool

N = LARGE // 4  # float32 elements of the smallest pooled result


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def pool():
    return Pool(limit=4 * LARGE)


def test_a_block_is_used_again_when_its_array_is_gone(pool):
    first = pool.empty((N,), np.dtype("f4"))
    where = address(first)
    del first
    assert address(pool.empty((N,), np.dtype("f4"))) == where
    assert pool.stats()["blocks_reused"] == 1


@pytest.mark.parametrize(
    "keep",
    [
        lambda a: a[5:7],
        lambda a: a.reshape(2, -1).T,
        memoryview,
        lambda a: np.from_dlpack(a),
        lambda a: a.view(np.int32),
    ],
    ids=["slice", "transposed", "memoryview", "dlpack", "view"],
)
def test_a_block_stays_while_a_view_of_it_lives(pool, keep):
    array = pool.empty((N,), np.dtype("f4"))
    array[:] = 7
    where, kept = address(array), keep(array)
    del array
    gc.collect()
    other = pool.empty((N,), np.dtype("f4"))
    other[:] = 0
    assert address(other) != where
    assert np.asarray(kept).view(np.float32).ravel()[0] == 7
    del kept, other


def test_small_results_do_not_come_from_the_pool(pool):
    pool.empty((8,), np.dtype("f4"))
    assert pool.stats() == {"cached_bytes": 0, "blocks_made": 0, "blocks_reused": 0}


def test_it_keeps_no_more_than_its_limit(pool):
    arrays = [pool.empty((N,), np.dtype("f4")) for _ in range(10)]
    arrays.clear()
    assert 0 < pool.stats()["cached_bytes"] <= pool.limit
    pool.empty_cache()
    assert pool.stats()["cached_bytes"] == 0


@pytest.mark.parametrize("name", ["float32", "float64", "int64", "bool", "bfloat16", "complex64"])
def test_results_of_every_dtype_are_served(name):
    x = torch.zeros(2 * LARGE, dtype=getattr(torch, name))
    for _ in range(2):
        y = torch.eq(x, x) if name == "bool" else x + x
        assert y.shape == x.shape
        del y


def test_a_numpy_view_of_a_result_survives_the_tensor():
    x = torch.ones(2 * LARGE)
    kept = (x + 1).numpy()
    for _ in range(3):
        x * 5
    assert (kept == 2).all()


def test_users_see_the_counters_and_can_empty_the_cache():
    x = torch.ones(2 * LARGE)
    for _ in range(3):
        x + 1
    assert torch.cpu.memory_stats()["blocks_reused"] > 0
    torch.cpu.empty_cache()
    assert torch.cpu.memory_stats()["cached_bytes"] == 0
