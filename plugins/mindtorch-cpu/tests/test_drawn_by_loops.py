"""Uniform and normal float32 numbers, drawn by a compiled loop and without: PyTorch's, and the same stream."""

import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk

RANGES = [(0, 1), (-1, 1), (0, 1e-3), (-3.7, 100.1), (1, 1.0000002), (5, 5), (-1e38, 2e38)]


pytestmark = pytest.mark.usefixtures("either_way")


def drawn(lib, count, limits):
    lib.manual_seed(3)
    lib.rand(count % 700)  # from the middle of a state
    state = lib.get_rng_state()
    made = [lib.empty(count).uniform_(*limits), lib.rand(count), lib.rand(3), lib.randn(count)]
    made.append(lib.rand(count + 1, dtype=lib.float64)[:-1])
    lib.set_rng_state(state)
    made.append(lib.empty(count // 2, 2).t().uniform_(*limits))
    lib.nn.init.kaiming_uniform_(made[1].view(count // 50, 50))
    return [t.tolist() for t in made], lib.get_rng_state().tolist()


@pytest.mark.parametrize("limits", RANGES, ids=str)
@pytest.mark.parametrize("count", [4100, 8200, 70_000])
def test_numbers_are_pytorchs(count, limits):
    pytorch = pytest.importorskip("torch")
    assert drawn(torch, count, limits) == drawn(pytorch, count, limits)


@pytest.mark.parametrize("count", [16, 17, 31, 64, 100, 240, 255, 256, 272])
def test_few_normal_numbers_are_pytorchs(count):
    pytorch = pytest.importorskip("torch")

    def few(lib):
        lib.manual_seed(5)
        made = [
            lib.randn(count),
            lib.empty(2, count // 2).t().normal_(),
            lib.rand(count),
            lib.randn(count),
        ]
        return [t.tolist() for t in made], lib.get_rng_state().tolist()

    assert few(torch) == few(pytorch)


@pytest.mark.parametrize("count", [1, 7, 100, 256, 257, 600, 1025, 2000])
def test_few_others_are_pytorchs(count):
    pytorch = pytest.importorskip("torch")

    def few(lib):
        lib.manual_seed(8)
        made = [lib.randint(-3, high, (count,)) for high in (-2, 4, 1 << 20, 1 << 29)]
        made += [lib.rand(count), lib.bernoulli(lib.rand(2, count).t())]
        made += [lib.randint(0, 9, (count,), dtype=lib.uint8), lib.empty(count).random_(5, 50)]
        return [t.tolist() for t in made], lib.get_rng_state().tolist()

    assert few(torch) == few(pytorch)


def test_a_loop_draws_them():
    torch.rand(5000)
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert "singles" in made or KERNELS.mode == "off" or not KERNELS.enabled
