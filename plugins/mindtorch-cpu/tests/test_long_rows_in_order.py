"""Long rows put in order: by a compiled loop that goes digit by digit, or without."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk

pytestmark = pytest.mark.usefixtures("either_way")
NUMBERS = np.random.default_rng(0)


def of_floats(shape):
    numbers = NUMBERS.normal(0, 9, shape).astype("f4").round(1)
    numbers.flat[::31], numbers.flat[5:9] = np.nan, (np.inf, -np.inf, 0, -0.0)
    return numbers


DRAWN = {
    "floats": of_floats,
    "few kinds": lambda shape: NUMBERS.integers(-3, 3, shape),
    "one kind": lambda shape: np.full(shape, -7),
    "short": lambda shape: NUMBERS.integers(-(1 << 31), 1 << 31, shape, np.int32),
    "of 33 bits": lambda shape: NUMBERS.integers(-(1 << 32), 1 << 32, shape),
    "of 50 bits": lambda shape: NUMBERS.integers(-(1 << 49), 1 << 49, shape),
    "of all bits": lambda shape: NUMBERS.integers(-(1 << 63), (1 << 63) - 1, shape),
}


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", DRAWN)
def test_equal_elements_keep_their_order(kind, descending):
    for shape, axis in (((1023,), 0), ((1024,), 0), ((70_001,), 0), ((5, 3001), 1), ((2500, 3), 0)):
        numbers = DRAWN[kind](shape)
        none = numbers != numbers
        ranks = np.unique(np.where(none, 0, numbers), return_inverse=True)[1].reshape(shape)
        ranks = np.where(none, numbers.size, ranks)
        order = np.argsort(-ranks if descending else ranks, axis, "stable")
        values, places = torch.from_numpy(numbers).sort(
            dim=axis, descending=descending, stable=True
        )
        assert np.array_equal(places.numpy(), order)
        assert np.take_along_axis(numbers, order, axis).tobytes() == values.numpy().tobytes()


def test_a_loop_orders_them():
    torch.randn(5000).sort()
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert "by_digits" in made or KERNELS.mode == "off" or not KERNELS.enabled
