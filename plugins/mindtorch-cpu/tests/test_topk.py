"""The first elements of long rows by rank: those that sorting gives, by a compiled loop or without."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk

DTYPES = ["float16", "bfloat16", "float32", "float64", "int64", "int32", "uint8"]


pytestmark = pytest.mark.usefixtures("either_way")


def drawn(shape, dtype, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 200, shape).astype("f8")
    if dtype.startswith(("float", "bfloat")):
        numbers -= 100
        numbers[0, ::31], numbers[1, 5:9], numbers[2] = np.nan, (np.inf, -np.inf, 0, -0.0), -0.0
        numbers[2, ::2], numbers[3] = 0, np.nan
    return torch.from_numpy(numbers).to(getattr(torch, dtype))


def compared(x, k, dim, largest):
    values, indices = x.topk(k, dim, largest)
    ordered, places = x.sort(dim=dim, descending=largest, stable=True)
    assert indices.tolist() == places.narrow(dim, 0, k).tolist()
    assert repr(values.tolist()) == repr(ordered.narrow(dim, 0, k).tolist())
    assert values.is_contiguous()
    assert values.dtype is x.dtype


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_they_are_the_first_that_sorting_gives(dtype, largest):
    for shape in ((50, 131), (5, 1000), (4, 5003)):
        x = drawn(shape, dtype)
        for k in (1, 7, 30):
            compared(x, k, -1, largest)
        compared(x[:, 1:-1], 3, 1, largest)
        compared(x.t().contiguous(), 3, 0, largest)
        compared(x[None].expand(2, -1, -1), 2, 2, largest)
        compared(x[-1].repeat(40), 5, 0, largest)


@pytest.mark.parametrize("largest", [True, False])
def test_rows_that_are_in_order(largest):
    for x in (torch.arange(40_000.0), -torch.arange(40_000.0), torch.ones(40_000)):
        for rows in (1, 20):
            compared(x.reshape(rows, -1), 60, 1, largest)


def test_a_loop_finds_them():
    x = torch.randn(100, 500)
    x.topk(3)
    x.topk(3, largest=False)
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert (
        {"largest_first", "smallest_first"} <= made or KERNELS.mode == "off" or not KERNELS.enabled
    )


def test_threads_change_nothing():
    threads, x = torch.get_num_threads(), drawn((300, 700), "float32")
    try:
        made = []
        for count in (1, 3):
            torch.set_num_threads(count)
            made.append([repr(t.tolist()) for t in x.topk(9)])
        assert made[0] == made[1]
    finally:
        torch.set_num_threads(threads)
