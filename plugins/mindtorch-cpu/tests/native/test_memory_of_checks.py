"""Kernels, and what is laid out to check them at first use, stay within their memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS

CHECKING = "libc_malloc_debug.so.0"  # of glibc: an allocator that looks behind what it has given
PROGRAM = """
import itertools
import mindtorch_core as torch
F = torch.nn.functional

def run(dtype, size, channels, groups, kernel, stride):
    x = torch.randn(3, channels, size, size + 1, dtype=dtype, requires_grad=True)
    w = torch.randn(channels, channels // groups, kernel, kernel, dtype=dtype, requires_grad=True)
    F.conv2d(x, w, None, stride, kernel // 2, 1, groups).sum().backward()

for dtype in (torch.float32, torch.float64):
    for size, (channels, groups), kernel, stride in itertools.product(
        (5, 9, 17), ((4, 4), (4, 1), (16, 1)), (1, 3, 5), (1, 2)
    ):
        run(dtype, size, channels, groups, kernel, stride)
    x = torch.randn(300, 37, dtype=dtype, requires_grad=True)
    F.layer_norm(F.gelu(x), (37,)).softmax(1).cumsum(0).sum().backward()

from mindtorch_cpu.native.planes import Plane, PlaneGradient
from mindtorch_cpu.native.synchronous import served

for dtype, taps, taken in itertools.product(("f4", "f8"), (1, 9, 25), (1, 2)):
    assert served(PlaneGradient(dtype, taps, taken)) is not None
    for vectors in (1, 2, 4):
        assert served(Plane(dtype, taps, vectors, taken, 1)) is not None
        assert served(Plane(dtype, taps, vectors, 1, taken)) is not None
print("done")
"""


def test_nothing_is_written_behind_it():
    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    folders = ("/lib64", "/usr/lib64", *Path("/lib").glob("*-linux-gnu"))
    if not any(Path(folder, CHECKING).exists() for folder in folders):
        pytest.skip(f"this system has no {CHECKING}")
    variables = {
        "LD_PRELOAD": CHECKING, "GLIBC_TUNABLES": "glibc.malloc.check=3", "MINDTORCH_NATIVE": "now",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **variables}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "done\n"
