"""`rms_norm` is one pass, by compiled kernels or by blocks of rows: the same bits, PyTorch's numbers."""

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.bound_calls import CALLS
from mindtorch_cpu.native.kernels import KERNELS

CLOSE = {"float16": 5e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}
SHAPES = [(1, 1), (3, 5), (40, 8), (7, 63), (5, 64), (2, 30, 256), (3, 1500), (2, 4500), (0, 4)]


pytestmark = pytest.mark.usefixtures("either_way")


def drawn(lib, shape, dtype, *, turned=False):
    x = lib.arange(torch.Size(shape).numel(), dtype=lib.float64).mul(0.7).sin().mul(3)
    x = x.reshape(shape).to(getattr(lib, dtype))
    return x.mT.contiguous().mT if turned else x


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers_and_gradients_are_pytorchs(shape, dtype):
    pytorch = pytest.importorskip("torch")
    for weighted, eps, turned in (
        (False, None, False),
        (True, None, False),
        (True, 0.5, False),
        (True, None, True),
    ):
        found = []
        for lib in (pytorch, torch):
            x = drawn(lib, shape, dtype, turned=turned).requires_grad_()
            weight = drawn(lib, shape[-1:], dtype).add(2).detach() if weighted else None
            leaves = [x] if weight is None else [x, weight.requires_grad_()]
            with lib.no_grad():
                plain = lib.nn.functional.rms_norm(x, shape[-1:], weight, eps)
            y = lib.nn.functional.rms_norm(x, shape[-1:], weight, eps)
            grads = lib.autograd.grad((y * y.detach()).sum(), leaves)
            found.append([t.detach().double().tolist() for t in (plain, y, *grads)])
        for wanted, own in zip(*found, strict=True):
            own, wanted = (torch.tensor(each, dtype=torch.float64) for each in (own, wanted))
            torch.testing.assert_close(own, wanted, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.parametrize("dtype", CLOSE)
def test_bits_are_the_same_with_and_without_kernels_and_in_pipelines(dtype, monkeypatch):
    x, w = drawn(torch, (70, 300), dtype), drawn(torch, (300,), dtype)
    made = []
    for name in ("now", "off"):
        monkeypatch.setattr(KERNELS, "mode", name)
        made += [F.rms_norm(x, (300,), w), F.rms_norm(x[:2], (300,), w)]
        with torch.pipeline():
            made += [F.rms_norm(x, (300,), w), F.rms_norm(x, (300,), w)[:2]]
    for again in made[2:]:
        assert torch.equal(again, made[len(again) == 2])


def test_a_kernel_normalises():
    CALLS.clear()
    F.rms_norm(torch.randn(64, 128), (128,))
    assert (
        KERNELS.mode == "off"
        or not KERNELS.enabled
        or any(key[0][0] == "rms_norm" for key in CALLS)
    )


def test_gradients_have_gradients():
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    w = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x, w: F.rms_norm(x, (4,), w), (x, w))


def test_weights_of_other_dtypes():
    x, w = drawn(torch, (6, 70), "float32"), drawn(torch, (70,), "float64")
    assert F.rms_norm(x, (70,), w).dtype is torch.float32
    half = F.rms_norm(x, (70,), w.half())
    torch.testing.assert_close(half, F.rms_norm(x, (70,), w.half().float()))


def test_wrong_shapes_are_refused():
    with pytest.raises(RuntimeError, match="normalized_shape"):
        F.rms_norm(torch.randn(3, 4), (3,))
