"""Products: threads of BLAS by size, set back whatever happens; batches; half precision by blocks."""

import itertools
import signal
import threading
import tracemalloc

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu import blas
from mindtorch_cpu.memory_pool import POOL
from mindtorch_cpu.native.compiler import has_pairs
from mindtorch_cpu.native.synchronous import available
from mindtorch_cpu.ops import bfloat_products, linalg

HALVES = [torch.float16, torch.bfloat16]


@pytest.fixture
def threads():
    """OpenBLAS's functions, with its number of threads set to three and back."""
    torch.zeros(1)
    found = blas._threads()
    if found is None:
        pytest.skip("NumPy has another BLAS than OpenBLAS")
    before = found.get()
    found.set(3)
    try:
        yield found
        assert found.get() == 3
        assert not blas._ACTIVE
    finally:
        found.set(before)


def test_the_library_is_numpys(threads):
    config = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    assert "openblas" in config["name"]
    assert threads.get() == 3


def test_small_products_use_one_thread_and_large_ones_what_is_set(threads):
    seen = []
    own = torch.get_num_threads()
    try:
        for count in (1, 2, 8):
            torch.set_num_threads(count)
            for work in (blas.TINY, blas.TINY + 1, blas._FEW - 1, blas._FEW):
                blas.multiplied(work, lambda: seen.append(threads.get()))
    finally:
        torch.set_num_threads(own)
    assert seen == [3, 1, 1, 1, 3, 1, 1, 2, 3, 1, 1, 3]


def test_products_do_so(threads, monkeypatch):
    """Every way to multiply: what BLAS is set to while NumPy multiplies."""
    seen = []

    def watched(name):
        real = getattr(np, name)

        def function(*args, **kwargs):
            seen.append(threads.get())
            return real(*args, **kwargs)

        return function

    class Watched:
        matmul, dot = staticmethod(watched("matmul")), staticmethod(watched("dot"))

        def __getattr__(self, name):
            return getattr(np, name)

    monkeypatch.setattr(linalg, "np", Watched())
    a, batch = torch.randn(200, 200), torch.randn(8, 100, 100)
    a @ a, torch.mm(a, a), torch.addmm(a, a, a), torch.nn.functional.linear(a, a)
    batch @ batch, torch.bmm(batch, batch), batch @ a[:100, :100], a.half() @ a.half()
    assert len(seen) >= 8
    assert set(seen) == {1}


def test_errors_and_nested_calls_set_it_back(threads):
    def fail():
        assert threads.get() == 1
        raise KeyError("inside")

    with pytest.raises(KeyError):
        blas.alone(fail)
    assert threads.get() == 3
    assert blas.alone(lambda: blas.alone(threads.get)) == 1


def test_several_threads_set_it_back_once(threads):
    """Calls that overlap in any order leave what was before the first."""

    def work():
        for _ in range(300):
            blas.alone(np.dot, a, a)

    a = np.ones((20, 20))
    others = [threading.Thread(target=work) for _ in range(4)]
    for t in others:
        t.start()
    for t in others:
        t.join()
    assert threads.get() == 3


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # within a finaliser
def test_interrupts_set_it_back(threads):
    """Ctrl-C at any instant of a batch or a product."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    # Too small for the pool of memory, whose finalisers drop interrupts.
    batch, a = torch.randn(16, 42, 42), torch.randn(100, 100)

    def multiply():
        batch @ batch, a @ a, torch.nn.functional.scaled_dot_product_attention(*[batch] * 3)

    multiply()  # an interrupted import is another story
    before = signal.signal(signal.SIGALRM, interrupt)
    hit = 0
    try:
        for i in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-6 + i * 3e-6)
                multiply()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                hit += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert threads.get() == 3
            assert not blas._ACTIVE
    finally:
        signal.signal(signal.SIGALRM, before)
    assert hit


SHAPES = [
    ((7, 70, 80), (7, 80, 90)),
    ((2, 3, 64, 65), (2, 3, 65, 66)),
    ((2, 3, 70, 70), (3, 70, 70)),
    ((3, 70, 80), (80, 90)),
    ((80, 90), (3, 90, 70)),
    ((1, 300, 300), (5, 300, 300)),
    ((120, 130), (130, 140)),
    ((3, 900), (900, 800)),
    ((900,), (900, 800)),
    ((700, 900), (900,)),
    ((0, 50, 50), (0, 50, 50)),
    ((4, 60, 0), (4, 0, 60)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True)], ids=str)
def test_products_of_stacks(shapes, turned, monkeypatch):
    x, y = (np.random.default_rng(i).normal(0, 1, shape) for i, shape in enumerate(shapes))
    wanted = np.matmul(x, y)
    for d in (torch.float64, torch.float32, *HALVES, torch.bfloat16):
        a, b = (
            torch.from_numpy(np.ascontiguousarray(t.swapaxes(-1, -2))).to(d).transpose(-1, -2)
            if turn and t.ndim > 1
            else torch.from_numpy(t).to(d)
            for t, turn in zip((x, y), turned, strict=True)
        )
        exact = wanted if d is torch.float64 else np.matmul(a.double().numpy(), b.double().numpy())
        made = (a @ b).double().numpy()
        assert made.shape == exact.shape
        if d is torch.bfloat16:  # the next time by the processor's instruction, or without it
            other = not bfloat_products.usable() and available() and has_pairs()
            monkeypatch.setattr("mindtorch_cpu.ops.bfloat_products.usable", lambda: other)
        # Rounded once: half a unit in the last place, and what float32 adds.
        slack = 1e-4 if d is not torch.float64 else 1e-11
        assert (np.abs(made - exact) <= np.abs(exact) * torch.finfo(d).eps / 2 * 1.01 + slack).all()


def test_stacks_of_any_layout_are_one_product(monkeypatch):
    """A batch whose first dimensions were exchanged, as attention's is."""
    x, w, b = torch.randn(50, 16, 128), torch.randn(96, 128), torch.randn(96)
    turned = x.transpose(0, 1)
    wanted = [F.linear(turned.contiguous(), w, b), turned.contiguous() @ w.T]
    whole, ranks = np.matmul, []
    monkeypatch.setattr(np, "matmul", lambda a, *rest: ranks.append(a.ndim) or whole(a, *rest))
    found = [F.linear(turned, w, b), turned @ w.T]
    assert ranks == [2, 2]
    for one, other in zip(found, wanted, strict=True):
        assert one.is_contiguous()
        assert torch.equal(one, other)


def test_large_results_are_not_filled_before(monkeypatch):
    """``dot`` writes zeros first; ``matmul`` is slow where BLAS cannot read an operand."""
    used = []
    for name in ("dot", "matmul"):
        run = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *a, n=name, run=run: used.append(n) or run(*a))
    a, b = torch.randn(300, 40), torch.randn(200, 40)
    apart = torch.randn(300, 80)[:, ::2]
    found = [a @ b.T, apart @ b.T]
    assert used == ["matmul", "dot"]
    for made, left in zip(found, (a, apart), strict=True):
        np.testing.assert_allclose(made.numpy(), left.numpy() @ b.numpy().T, atol=1e-4)


@pytest.mark.parametrize("d", HALVES)
def test_the_bits_do_not_depend_on_threads(d):
    a, b = torch.randn(9, 150, 150), torch.randn(9, 150, 150)
    own = torch.get_num_threads()
    found = []
    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            found.append([a @ b, a.to(d) @ b.to(d), a[0].to(d) @ b[0].to(d)])
    finally:
        torch.set_num_threads(own)
    for one, other in itertools.pairwise(found):
        assert all(torch.equal(x, y) for x, y in zip(one, other, strict=True))


def test_half_precision_makes_no_whole_copies():
    """Blocks of the operands are widened: whole in float32 there is neither they nor the result."""
    a = torch.zeros(3000, 2000, dtype=torch.bfloat16)
    b = torch.zeros(2000, 3000, dtype=torch.bfloat16)
    a @ b  # modules and kernels that the first one of this size loads are not its memory
    POOL.empty_cache()
    tracemalloc.start()
    try:
        made = a @ b
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    result = made.numel() * 2
    assert peak - result < 32 << 20  # the two whole are 48 MiB in float32, with the result 84


@pytest.mark.parametrize("d", HALVES)
def test_numbers_that_are_none(d):
    a, b = torch.ones(80, 80, dtype=d), torch.ones(80, 80, dtype=d)
    a[3, 5], b[7, 2], a[9, 9] = float("nan"), float("inf"), 6e4
    made = (a @ b).float()
    assert made[3].isnan().all()
    assert made.isnan().sum() == 80
    assert (made[:, 2] == float("inf")).sum() == 79
