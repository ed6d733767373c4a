"""``MINDTORCH_NATIVE=fast``: functions by few operations, as exact as NumPy's, and the same bits at each call."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native import quick
from mindtorch_cpu.native.kernels import KERNELS


@pytest.mark.parametrize("name", ["exp", "log"])
def test_errors_are_small_and_limits_are_numpys(name):
    x = np.arange(0, 1 << 32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    limits = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1.0,
        -1.0,
        1e-45,
        1e-38,
        88.7,
        88.8,
        -103.9,
        -104.1,
        3e38,
    ]
    x = np.concatenate([x, np.array(limits, np.float32)])
    with np.errstate(all="ignore"):
        found = quick.FORMULAS[getattr(np, name)](x)
        wanted = getattr(np, name)(x.astype(np.float64))
        single = wanted.astype(np.float32)
        finite = np.isfinite(single)
        errors = np.abs(found - wanted)[finite] / np.spacing(np.abs(single[finite])).astype(
            np.float64
        )
    assert found.dtype == np.float32
    assert errors.max() < 1.1
    np.testing.assert_array_equal(found[~finite], single[~finite])


def test_the_exponential_of_numbers_up_to_0_has_the_same_bits_by_fewer_operations():
    x = np.arange(0, 1 << 32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([x, np.array([0.0, -87.3, -87.4, -103.9, -104.1, 1.0], np.float32)])
    x = x[~(x > 1)]
    with np.errstate(all="ignore"):
        found, wanted = quick.exp(x, falling=True), quick.exp(x)
    np.testing.assert_array_equal(found, wanted)


PROGRAM = """
import numpy as np
import mindtorch_core as torch
from mindtorch_cpu.native import quick
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.showing import condition

torch.manual_seed(0)
x = torch.randn(400, 500)

def grouped(x):
    with torch.pipeline() as pipe:
        made = (x.abs() + 1).log() - (x * 1).exp()
    assert pipe.stats()["group_notes"] == {"compiled": 1}, pipe.stats()
    return made

first = grouped(x)
assert torch.equal(grouped(x), first)
a = x.numpy()
assert np.array_equal(first.numpy(), quick.log(np.abs(a) + np.float32(1)) - quick.exp(a))
wide = x.double()
assert np.array_equal(grouped(wide).numpy(), np.log(np.abs(wide.numpy()) + 1) - np.exp(wide.numpy()))
few = [torch.nn.functional.silu(x[0, :100]) for _ in range(40)]
assert all(torch.equal(each, few[0]) for each in few)
soft = [torch.softmax(x, -1) for _ in range(3)]
assert torch.equal(soft[0], soft[2]) and torch.allclose(soft[0].sum(-1), torch.ones(400))
assert KERNELS.broken is None and not KERNELS.failures, (KERNELS.broken, KERNELS.failures)
print(condition())
"""


def test_a_process_that_asks_for_it_has_the_same_bits_at_each_call(tmp_path):
    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MINDTORCH_NATIVE": "fast", "MINDTORCH_KERNEL_CACHE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "exp and log by few operations" in done.stdout
