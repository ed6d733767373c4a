"""Padding with a tensor's own elements: as NumPy pads, in one block or several, from any layout."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk
from mindtorch_cpu.ops import padding

MODES = {"reflect": "reflect", "replicate": "edge"}
# Pairs of sizes, the last dimension's first, of an input of so many elements.
CASES = {
    (2, 3, 5): [(0, 0), (1, 0), (0, 4), (3, 2)],
    (3, 2, 5, 4): [(0, 0, 0, 0), (1, 2, 3, 4), (0, 3, 0, 0), (0, 0, 4, 1)],
    (2, 1, 3, 4, 2): [(1, 1, 3, 2, 0, 2), (0, 0, 1, 0, 2, 1)],
    (2, 3, 5, 7, 45): [(40, 3, 6, 1, 0, 2), (0, 17, 0, 0, 1, 0)],  # so many that a loop is worth it
}


@pytest.mark.parametrize("block", [1, 400, 1 << 20])
@pytest.mark.parametrize("dtype", ["float32", "bool", "bfloat16", "complex64"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.usefixtures("either_way")
def test_the_border_is_what_numpy_makes_it(mode, dtype, block, monkeypatch):
    for name in ("_CACHED", "_SHARE"):
        monkeypatch.setattr(padding, name, block)
    for shape, pads in CASES.items():
        whole = (torch.arange(torch.Size(shape).numel()) % 7 * 3 % 5).reshape(shape)
        t = whole.to(getattr(torch, dtype))
        turned = t.transpose(-1, -2).contiguous().transpose(-1, -2)
        for pad, given, plain in itertools.product(pads, (t, turned), (False, True)):
            given = given[0] if plain else given
            pairs = [*zip(pad[-2::-2], pad[-1::-2], strict=True)]
            pairs = [(0, 0)] * (given.ndim - len(pairs)) + pairs
            wanted = np.pad(given.to(torch.complex64).numpy(), pairs, MODES[mode])
            found = torch.nn.functional.pad(given, pad, mode)
            assert found.is_contiguous()
            assert np.array_equal(found.to(torch.complex64).numpy(), wanted)


@pytest.mark.parametrize("block", [1, 400, 1 << 20])
@pytest.mark.parametrize("mode", MODES)
def test_gradients_come_back_to_where_numpy_copied_from(mode, block, monkeypatch):
    for name in ("_CACHED", "_SHARE"):
        monkeypatch.setattr(padding, name, block)
    for shape, pads in CASES.items():
        for pad in pads:
            x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
            padded = torch.nn.functional.pad(x, pad, mode)
            g = torch.arange(float(padded.numel()), dtype=torch.float64).reshape(padded.shape)
            (found,) = torch.autograd.grad(padded, x, g.mT.contiguous().mT)
            pairs = [*zip(pad[-2::-2], pad[-1::-2], strict=True)]
            pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs
            places = np.pad(np.arange(x.numel()).reshape(shape), pairs, MODES[mode])
            wanted = np.bincount(places.reshape(-1), g.numpy().reshape(-1))
            assert np.array_equal(found.numpy().reshape(-1), wanted)
            assert found.is_contiguous()


@pytest.mark.parametrize("mode", MODES)
def test_negative_numbers_cut_off(mode):
    t = torch.arange(30.0).reshape(1, 1, 5, 6)
    found = torch.nn.functional.pad(t, (-2, 1, 3, -1), mode)
    rows = [3, 2, 1, 0, 1, 2, 3] if mode == "reflect" else [0, 0, 0, 0, 1, 2, 3]
    columns = [2, 3, 4, 5, 4 if mode == "reflect" else 5]
    assert found.tolist() == t[:, :, rows][..., columns].tolist()


def test_the_input_is_not_shown():
    t = torch.ones(2, 3)
    torch.nn.functional.pad(t, (0, 0), "replicate").zero_()
    assert t.all()


def test_a_loop_pads_many(by_kernels):
    torch.nn.functional.pad(torch.ones(8, 30, 37), (3, 2), "replicate")
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert "padding" in made or not KERNELS.enabled
