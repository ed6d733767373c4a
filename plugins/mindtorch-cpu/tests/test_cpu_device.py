"""The device's own behaviour: random numbers, floating-point warnings, threads, ``torch.cpu``."""

import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mindtorch_core as torch

# ---- random numbers -----------------------------------------------------------------------------

DRAWS = [
    lambda **g: torch.rand(5, **g),
    lambda **g: torch.randn(5, dtype=torch.float64, **g),
    lambda **g: torch.randint(0, 1000, (5,), **g),
    lambda **g: torch.randperm(9, **g),
    lambda **g: torch.empty(5).normal_(2, 3, **g),
    lambda **g: torch.empty(5, dtype=torch.int64).random_(**g),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seed_gives_the_same_numbers(draw):
    torch.manual_seed(3)
    first = draw().tolist()
    torch.manual_seed(3)
    assert draw().tolist() == first
    assert draw().tolist() != first


@pytest.mark.parametrize("draw", DRAWS)
def test_a_state_goes_back_to_the_same_place(draw):
    torch.manual_seed(4)
    draw()
    state = torch.get_rng_state()
    assert state.dtype is torch.uint8
    following = [draw().tolist() for _ in range(3)]
    torch.set_rng_state(state)
    assert [draw().tolist() for _ in range(3)] == following


def test_a_generator_is_a_stream_of_its_own():
    mine = torch.Generator().manual_seed(7)
    torch.manual_seed(7)
    expected = torch.rand(4).tolist()
    torch.manual_seed(8)
    before = torch.get_rng_state().tolist()
    assert torch.rand(4, generator=mine).tolist() == expected
    assert torch.get_rng_state().tolist() == before
    assert mine.initial_seed() == 7
    copied = torch.Generator()
    copied.set_state(mine.get_state())
    following = torch.rand(4, generator=mine).tolist()
    assert torch.rand(4, generator=copied).tolist() == following


def test_a_state_of_another_length_is_refused():
    with pytest.raises(RuntimeError, match=r"size 5056 .* to be 3"):
        torch.Generator().set_state(torch.tensor([1, 2, 3], dtype=torch.uint8))


def test_fork_rng_leaves_no_trace():
    torch.manual_seed(5)
    with torch.fork_rng():
        inside = torch.rand(3).tolist()
        torch.manual_seed(99)
    assert torch.rand(3).tolist() == inside


def test_numpys_own_generator_is_not_touched():
    before = np.random.get_state()[1].tolist()
    torch.manual_seed(1)
    torch.rand(3)
    assert np.random.get_state()[1].tolist() == before


# ---- floating-point warnings --------------------------------------------------------------------


def arithmetic():
    """Ops that make NumPy warn: division by zero, domain errors, overflow, lossy conversions."""
    zero, minus, huge = torch.zeros(3), torch.tensor([-1.0]), torch.tensor([3e38, 1e-38])
    return [
        (torch.ones(3) / zero).tolist() == [float("inf")] * 3,
        bool((zero / zero).isnan().all()),
        bool(minus.log().isnan() & minus.sqrt().isnan()),
        (huge * huge)[0].item() == float("inf"),
        huge.exp()[0].item() == float("inf"),
        bool((zero @ (torch.ones(3) / zero)).isnan()),
        (torch.full((2,), 1e6).half() * 2)[0].item() == float("inf"),
        torch.tensor([float("inf"), 1e30]).to(torch.int32).shape == (2,),
        bool(torch.ones(0).mean().isnan()),
        (torch.tensor([127], dtype=torch.int8) + 1).item() == -128,
        torch.zeros(2).div_(0).isnan().all().item(),
        bool(torch.tensor([1.0]).pow(float("inf")).item() == 1),
    ]


def test_arithmetic_never_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(arithmetic())


def test_numpys_error_state_is_neither_read_nor_changed():
    with np.errstate(all="raise"):
        state = np.geterr()
        assert all(arithmetic())
        assert np.geterr() == state
        with pytest.raises(FloatingPointError):
            np.float64(1) / np.float64(0)


def test_other_threads_do_not_warn_either():
    with warnings.catch_warnings(), ThreadPoolExecutor(4) as pool:
        warnings.simplefilter("error")
        assert all(all(done) for done in pool.map(lambda _: arithmetic(), range(8)))


# ---- threads ------------------------------------------------------------------------------------


@pytest.fixture
def hasty_switching():
    """Let Python change threads after a few instructions."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def chain(seed):
    """A little of everything, with a gradient, whose result depends on the seed only."""
    x = torch.arange(12.0).reshape(3, 4) * (seed + 1) / 10
    w = torch.ones(4, 2, requires_grad=True)
    loss = (x @ w).tanh().sum() * (seed + 1)
    loss.backward()
    with torch.no_grad():
        w.sub_(w.grad, alpha=0.1)
    return torch.cat([w.detach().reshape(-1), loss.detach().reshape(1)]).tolist()


def test_kernels_run_from_four_threads(hasty_switching):
    expected = [chain(seed) for seed in range(4)]
    gate = threading.Barrier(4, timeout=60)

    def work(seed):
        gate.wait()
        return all(chain(seed) == expected[seed] for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_pipelines_belong_to_their_threads(hasty_switching):
    gate = threading.Barrier(4, timeout=60)

    def work(n):
        gate.wait()
        for _ in range(20):
            with torch.pipeline():
                t = torch.full((3,), float(n)) * 2 + 1
                assert t._pending
            assert t.tolist() == [2 * n + 1] * 3
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


# ---- torch.cpu ----------------------------------------------------------------------------------


def test_the_device_module():
    assert torch.cpu.is_available()
    assert torch.cpu.device_count() == 1
    assert torch.cpu.synchronize() is None


def test_synchronize_launches_what_is_recorded():
    with torch.pipeline():
        t = torch.ones(2) + 1
        assert t._pending
        torch.cpu.synchronize()
        assert not t._pending


def test_there_is_one_cpu():
    assert torch.ones(1, device="cpu:0").device is torch.device("cpu")
    with pytest.raises(RuntimeError, match=r"cpu:1 was asked for, but there is one cpu device"):
        torch.ones(1, device="cpu:1")


def test_memory_that_is_not_there():
    with pytest.raises(torch.OutOfMemoryError, match="tried to allocate"):
        torch.empty(1 << 60)
