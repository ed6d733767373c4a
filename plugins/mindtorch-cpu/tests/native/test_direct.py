"""Kernels bound to shapes: what they refuse, how they are switched off, and that they stay within their arrays."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu import compiled
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.pool import pool
from mindtorch_cpu.native.reference import probes


@pytest.fixture
def now(monkeypatch):
    """Kernels are made at once, and none is known yet."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)


def product(tracer, x, y):
    return [np.multiply(x, np.exp(y))]


def bound(x, y):
    """The bound function for operands, and where its result goes."""
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), x.dtype)
    key = ("product", x.shape, y.shape, x.strides, y.strides)
    assert compiled.computed(key, product, [x, y], [out])
    return CALLS[key, x.shape, x.dtype.num, None], out


def test_a_bound_function_takes_arrays_like_its_own_and_no_others(now):
    x, y = probes("f4", 1, 60).reshape(5, 12), probes("f4", 2, 60).reshape(5, 12)
    call, out = bound(x, y)
    out[...] = 7
    for others in [
        (x, y), (x, y, out, out), (x, y, list(out)), (x.tolist(), y, out), (x, y, None),
        (x.astype("f8"), y, out), (x, np.zeros(y.shape, "i4"), out), (x.T, y, out), (x[::-1], y, out),
        (x[:, :6], y, out), (x[:4], y, out), (x.reshape(-1), y, out), (x, y.reshape(5, 12, 1), out),
        (x, y, out.view(np.int32)), (np.asfortranarray(x), y, out), (),
    ]:  # fmt: skip
        assert call(*others) is False
    assert (out == 7).all()
    assert call(x, y, out) is True
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, x * np.exp(y))


@pytest.mark.parametrize("view", [np.s_[:, ::2], np.s_[::-1], np.s_[2:3], np.s_[:, 3:4]])
def test_strides_and_broadcasting_are_those_that_it_was_bound_to(now, view):
    x, y = probes("f4", 1, 320).reshape(20, 16), probes("f4", 2, 320).reshape(20, 16)[view]
    x = x if 1 in y.shape else x[view]
    call, out = bound(x, y)
    out[...] = 7
    assert call(x, y, out)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, x * np.exp(y))


@pytest.mark.parametrize("seats", [0, 1, 3])
def test_its_strips_are_shared_out(now, seats):
    x, y = probes("f4", 1, 300_000), probes("f4", 2, 300_000)
    call, out = bound(x, y)
    threads = pool()
    if threads is None:
        pytest.skip("this system has no threads that a pool is made of")
    with np.errstate(all="ignore"):
        wanted = x * np.exp(y)
    for step in (1, 7, 1000):
        out[...] = 7
        assert call._call(x, y, out, seats, step) is True
        np.testing.assert_array_equal(out, wanted)
    few, out = bound(x[:9000], y[:9000])
    assert few(x[:9000], y[:9000], out, seats, 1) is False  # such a one has no threads


def test_switching_kernels_off_forgets_what_is_bound_and_changes_no_bit(now):
    x = torch.from_numpy(probes("f4", 1, 7000)).reshape(100, 70)
    found = []
    for turn in range(6):
        KERNELS.mode = "off" if turn % 2 else "now"
        found.append([F.silu(x), F.gelu(x), x.softmax(-1), F.layer_norm(x, [70])])
        assert bool(CALLS) == (turn % 2 == 0)
    for made in found[1:]:
        for one, other in zip(made, found[0], strict=True):
            assert torch.equal(one.nan_to_num(), other.nan_to_num())
            assert torch.equal(one.isnan(), other.isnan())


def test_few_calls_of_few_elements_compile_nothing():
    torch.zeros(1)
    script = """
import sys
import mindtorch_core as torch
from mindtorch_core.nn import functional as F
x = torch.linspace(-2, 2, 640).reshape(64, 10)
for _ in range(5):
    F.silu(x), x.softmax(-1), F.layer_norm(x, [10])
assert "llvmlite" not in sys.modules
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.pool import pool
wanted = F.silu(x)
for _ in range(60):
    assert torch.equal(F.silu(x), wanted)
KERNELS.wait()
for _ in range(3):
    assert torch.equal(F.silu(x), wanted)
    KERNELS.wait()
print(sum("silu" in str(key) for key in __import__("mindtorch_cpu.bound_calls").bound_calls.CALLS), KERNELS.enabled)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() in (["1", "True"], ["0", "False"])


def test_threads_of_python_call_it_at_once(now):
    x = torch.from_numpy(np.linspace(-3, 3, 50_000, dtype=np.float32))
    wanted, wrong = F.silu(x), []

    def work():
        wrong.extend(i for i in range(40) if not torch.equal(F.silu(x), wanted))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
