"""Groups with reductions run in tiles, by compiled kernels: what is written there arrives, what is read lives."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS


@pytest.fixture(params=[1, 2])
def in_tiles(request, monkeypatch):
    """Small groups are planned, cut into tiles of two elements, compiled at once and shared among threads."""
    torch.zeros(1)
    monkeypatch.setattr(KERNELS, "mode", "now")
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 2)
    monkeypatch.setattr(LIMITS, "min_elements", 2)
    monkeypatch.setattr(LIMITS, "tile_elements", 2)
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def scaled_maxima(x):
    most = x.amax(-1, keepdim=True)
    most.mul_(0.5)
    return x + most, most


def maxima_scaled_into_themselves(x):
    most = x.amax(-1, keepdim=True)
    torch.mul(most, 0.5, out=most)
    return (-x.reshape(-1)).lerp(most, 0.5), most


def minima_without_their_dimension(x):
    least = (x * 2).amin(-1)
    least.sub_(1)
    return least * 2, least


def sums_read_before_they_change(x):
    total = x.sum(-1, keepdim=True)
    seen = total + x
    total.neg_()
    return seen * total, total, seen


def rows_that_change_after_their_sum(x):
    doubled = x * 2
    total = doubled.sum(-1, keepdim=True)
    doubled.sub_(total)
    total.copy_(doubled[:, :1])
    return doubled, total * 3


def sum_of_all(x):
    total = x.sum()
    total.mul_(0.5)
    return x * total, total


def a_number_less_each_element(x):
    return 1 - x, torch.sum(x, -1, out=torch.empty(0, dtype=x.dtype))


PROGRAMS = [scaled_maxima, maxima_scaled_into_themselves, minima_without_their_dimension,
            sums_read_before_they_change, rows_that_change_after_their_sum, sum_of_all,
            a_number_less_each_element]  # fmt: skip


def test_a_smaller_last_tile_waits_for_a_kernel_of_its_own(in_tiles, monkeypatch):
    # Two tiles of two rows, and one of one row, which lies in memory as a line.
    monkeypatch.setattr(LIMITS, "tile_elements", 10)
    monkeypatch.setattr(KERNELS, "mode", "on")
    functions = [torch.sin, torch.cos, torch.atan, torch.tanh, torch.sigmoid, torch.sinh]
    for inner, outer in itertools.permutations(functions, 2):  # nobody has asked for these yet
        for i in range(1, 5):  # other numbers each time: memory is given out again as it is
            x = ((torch.arange(20.0) * 7919) % 11).reshape(5, 4) / i
            wanted = outer(inner(x - x.amin(-1, keepdim=True)))
            with torch.pipeline():
                found = outer(inner(x - x.amin(-1, keepdim=True)))
            assert torch.equal(found, wanted)
            KERNELS.wait()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_group_in_tiles_gives_what_eager_calls_do(program, dtype, in_tiles):
    x = ((torch.arange(24.0) * 7919) % 11 - 5).reshape(4, 6).to(dtype)
    wanted = program(x)
    for _ in range(40):  # what was freed too early holds its value now and then
        with torch.pipeline():
            found = program(x.clone())
        assert all(map(torch.equal, found, wanted))
