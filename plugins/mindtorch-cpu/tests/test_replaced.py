"""`nan_to_num` is PyTorch's, whichever way it is computed."""

import pytest

import mindtorch_core as torch
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS

NUMBERS = [0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 1e-45, -3.0]
VIEWS = {
    "whole": lambda x: x,
    "turned": lambda x: x.t(),
    "some": lambda x: x[:, ::2],
    "again": lambda x: x[:1].expand(30, -1),
}

pytestmark = pytest.mark.usefixtures("by_kernels")


def drawn(lib, dtype):
    x = lib.tensor(NUMBERS * 120).reshape(40, 24)
    if dtype.startswith("complex"):
        x = lib.complex(x, x.flip(1))
    return x.to(getattr(lib, dtype))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int64"]
)
def test_numbers_are_pytorchs(dtype, view):
    pytorch = pytest.importorskip("torch")
    for numbers in ((), (1.0,), (None, 5), (2.0, 1e10, -1e10), (float("nan"), None, -1)):
        wanted, x = (VIEWS[view](drawn(lib, dtype)) for lib in (pytorch, torch))
        wanted = wanted.nan_to_num(*numbers)
        for _ in range(2):
            found = x.nan_to_num(*numbers)
            assert repr(found.tolist()) == repr(wanted.tolist())
            assert found.stride() == wanted.stride()
        few = x[:2, :3].nan_to_num(*numbers)
        assert repr(few.tolist()) == repr(wanted[:2, :3].tolist())


def test_a_kernel_replaces_them():
    x = drawn(torch, "bfloat16")
    x.nan_to_num()
    keys = {key[0][0] for key in CALLS if isinstance(key[0], tuple)}
    assert "nan_to_num" in keys or not KERNELS.enabled
