"""Memory of large results is reused, and never while somebody still looks at it."""

import _thread
import gc
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu import memory_pool
from mindtorch_cpu.memory_pool import LARGE, Pool

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


@pytest.mark.parametrize("size", [N, N + 3, 5 * N, 100 * N])
def test_blocks_begin_with_a_line_of_the_cache(pool, size):
    kept = [pool.empty((size,), np.dtype("f4")) for _ in range(3)]
    for a in kept:
        a[...] = 1  # all of it is there
        assert address(a) % 64 == 0


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.complex64])
def test_copies_come_from_the_pool(dtype):
    x = torch.arange(4 * N).reshape(4, N).to(dtype)
    x.clone()
    before = torch.cpu.memory_stats()["blocks_reused"]
    copy = x.clone()
    assert torch.cpu.memory_stats()["blocks_reused"] == before + 1
    assert torch.equal(copy, x)
    assert copy.data_ptr() != x.data_ptr()
    turned = x.t().clone(memory_format=torch.contiguous_format)
    assert torch.equal(turned, x.t())
    assert turned.stride() == (4, 1)


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


def in_thread(work):
    """Run in a thread of its own, so that a deadlock fails the test instead of stopping all."""
    failed = []

    def run():
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (raised by the caller)
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "deadlock"
    if failed:
        raise failed[0]


def test_an_array_may_die_while_its_thread_is_inside_the_pool(pool):
    class Size(int):
        """A number of elements whose arithmetic drops an array, as a finaliser may at any place."""

        def __rmul__(self, other):
            arrays.clear()
            return other * int(self)

    arrays = [pool.empty((N,), np.dtype("f4")) for _ in range(3)]
    size = sum(a.nbytes for a in arrays)

    taken = []
    in_thread(lambda: taken.append(pool.empty((Size(N),), np.dtype("f4"))))
    assert not arrays
    assert pool.stats()["cached_bytes"] == size - taken[0].nbytes


class _Signal(int):
    """A signal that arrives where its attribute is read; Python looks for it at the next instant."""

    arrives = property(_thread.interrupt_main)


@pytest.fixture
def ctrl_c_interrupts():
    """Also where the tests run in the background of a shell, which has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_an_interrupt_that_comes_with_the_end_of_an_array_is_not_lost(pool):
    """In a finaliser that is written in Python its exception would be printed and forgotten."""

    def last():
        array = pool.empty((N,), np.dtype("f4"))
        _Signal(signal.SIGINT).arrives
        del array
        seen.append(pool._free[LARGE].copy())

    seen = []
    with pytest.raises(KeyboardInterrupt):
        last()
    assert not seen
    assert pool.stats()["cached_bytes"] == LARGE


def test_blocks_of_other_sizes_go_when_it_makes_one_beyond_its_limit(pool):
    arrays = [pool.empty((n * N,), np.dtype("f4")) for n in (1, 2, 4) for _ in range(4)]
    arrays.clear()
    assert pool.stats()["cached_bytes"] == 3 * pool.limit  # each size has its own
    pool.empty((3 * N,), np.dtype("f4"))
    assert pool.stats()["cached_bytes"] <= pool.limit + 3 * LARGE


def test_several_threads_use_the_pool():
    pool = Pool(limit=64 * LARGE)

    def use(value):
        for _ in range(50):
            first = pool.empty((N,), np.dtype("i4"))
            first[:] = value
            second = pool.empty((N,), np.dtype("i4"))
            second[:] = -value
            assert first[0] == first[-1] == value
            assert second[0] == second[-1] == -value

    def work():
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(use, range(1, 5)))

    in_thread(work)
    stats = pool.stats()
    assert stats["cached_bytes"] == stats["blocks_made"] * LARGE
    assert stats["blocks_made"] + stats["blocks_reused"] == 400


@pytest.mark.parametrize("broken", [False, True])
def test_large_blocks_are_pages_of_the_system_or_come_from_numpy(broken, monkeypatch):
    pool = Pool()
    if broken:
        monkeypatch.setattr(memory_pool.mmap, "mmap", refusing)
    large = 1 << 20  # elements
    array = pool.empty((large,), np.dtype("f4"))
    array[:] = 5
    where = address(array)
    kept = array[7:9]
    del array
    assert address(pool.empty((large,), np.dtype("f4"))) != where
    assert kept.tolist() == [5, 5]
    del kept
    assert address(pool.empty((large,), np.dtype("f4"))) == where
    with pytest.raises(MemoryError):
        pool.empty((1 << 60,), np.dtype("f4"))


def refusing(*args, **kwargs):
    raise OSError("no memory")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_writes_to_large_memory_of_its_own():
    x = torch.empty(1 << 20).fill_(0)
    child = os.fork()
    if not child:
        x.fill_(3)
        os._exit(0 if x.sum().item() == 3 << 20 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert x.sum().item() == 0
