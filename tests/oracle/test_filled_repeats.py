"""`masked_fill_` of what shows elements several times: filled where one of their masks holds, as PyTorch does."""

import contextlib

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

MASKS = {
    "for all alike": lambda lib, n: lib.arange(n) % 3 == 0,
    "for one of them": lambda lib, n: (lib.arange(2 * n) % 5 == 1).view(2, n),
    "one number": lambda lib, n: lib.tensor(True),
}
VALUES = {"number": lambda lib: -5.0, "tensor": lambda lib: lib.tensor(-5.0)}
MODES = {
    "as ever": contextlib.nullcontext,
    "inference": torch.inference_mode,
    "pipeline": torch.pipeline,
}


@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("n", [4, 1 << 17])
def test_as_in_pytorch(n, mask, value, mode):
    def run(lib):
        base = lib.arange(float(n)) + 0
        base.expand(2, n).masked_fill_(MASKS[mask](lib, n), VALUES[value](lib))
        return base

    wanted = run(pt)
    with MODES[mode]():
        found = run(torch)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.filterwarnings("ignore:Use of masked_fill_ on expanded tensors")
@pytest.mark.parametrize(
    "arguments",
    [
        lambda lib: (lib.ones(3), 1.0),
        lambda lib: (lib.ones(3, 2, 4, dtype=lib.bool), 1.0),
        lambda lib: (lib.ones(4, dtype=lib.bool), lib.ones(2)),
        lambda lib: (lib.ones(4, dtype=lib.bool), 1j),
    ],
)
def test_refused_as_in_pytorch_and_nothing_is_written(arguments):
    for lib in (pt, torch):
        base = lib.arange(4.0)
        with pytest.raises(RuntimeError):
            base.expand(2, 4).masked_fill_(*arguments(lib))
        assert base.tolist() == [0, 1, 2, 3]
