"""Gradients of layer, group and batch norm: one launch for all of them, and what it leaves out."""

import pytest

import mindtorch_core as torch
import mindtorch_core.nn.functional as F
from mindtorch_core.frontend.dispatch_modes import DispatchMode
from mindtorch_core.operators.elementwise.composed import by_name

pt = pytest.importorskip("torch")

SHAPE = (2, 4, 3, 3)
NORMS = {
    "layer": lambda x, w, b: F.layer_norm(x, SHAPE[-1:], w, b),
    "group": lambda x, w, b: F.group_norm(x, 2, w, b),
    "batch": lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
    "instance": lambda x, w, b: F.instance_norm(x, None, None, w, b),
}
EVERY_NORM = pytest.mark.parametrize("name", NORMS)
MASKS = [(True, True, True), (True, False, False), (False, True, False), (False, False, True)]


def leaves(name, requiring=MASKS[0], device="cpu"):
    made = torch.Generator().manual_seed(3)
    width = SHAPE[-1] if name == "layer" else SHAPE[1]
    return [
        torch.randn(shape, generator=made).to(device).requires_grad_(flag)
        for shape, flag in zip((SHAPE, (width,), (width,)), requiring, strict=True)
    ]


def backward(name, given):
    y = NORMS[name](*given)
    (y * y * torch.arange(72.0, device=y.device).view(SHAPE)).sum().backward()
    return [t.grad for t in given]


@EVERY_NORM
@pytest.mark.parametrize("requiring", MASKS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_have_the_gradients_of_floats_rounded(name, requiring, dtype):
    """What is computed in float32 arrives in the gradient that is made in the halves' dtype."""
    halves = [t.detach().to(dtype).requires_grad_(t.requires_grad) for t in leaves(name, requiring)]
    wide = [t.detach().float().requires_grad_(t.requires_grad) for t in halves]
    found, wanted = (NORMS[name](*given).float() for given in (halves, wide))
    towards = torch.arange(72.0).view(SHAPE) / 36 - 1
    for y in (found, wanted):
        (y * towards.to(dtype).float()).sum().backward()
    for mine, other in zip(halves, wide, strict=True):
        if mine.requires_grad:
            assert mine.grad.dtype is dtype
            scale = other.grad.abs().max().item()
            torch.testing.assert_close(mine.grad.float(), other.grad, rtol=0, atol=scale / 64)


class Launches(DispatchMode):
    """What the gradients of norms were asked for."""

    def __init__(self):
        super().__init__()
        self.masks = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if "norm_backward" in str(func):
            self.masks.append(tuple(args[-1]))
        return func(*args, **(kwargs or {}))


@EVERY_NORM
@pytest.mark.parametrize("requiring", MASKS)
def test_one_launch_gives_what_is_wanted(name, requiring):
    alone = backward(name, leaves(name))
    with Launches() as launches:
        found = backward(name, leaves(name, requiring))
    assert launches.masks == [requiring]
    for gradient, whole, wanted in zip(found, alone, requiring, strict=True):
        assert torch.equal(gradient, whole) if wanted else gradient is None


@EVERY_NORM
@pytest.mark.parametrize("requiring", MASKS)
def test_one_entry_in_a_pipeline(name, requiring):
    eager = backward(name, leaves(name, requiring))
    given = leaves(name, requiring)
    with torch.pipeline() as pipe:
        y = NORMS[name](*given)
        loss = (y * y * torch.arange(72.0).view(SHAPE)).sum()
        loss.backward()
        recorded = str(pipe.graph)
        assert recorded.count("norm_backward") == 1
        assert "rsqrt" not in recorded  # which its composition has
    for t, wanted in zip(given, eager, strict=True):
        assert t.grad is None if wanted is None else torch.allclose(t.grad, wanted, 1e-4, 1e-4)


@EVERY_NORM
@pytest.mark.parametrize("requiring", MASKS)
def test_shapes_are_known_without_elements(name, requiring):
    given = leaves(name, requiring, "meta")
    with Launches() as launches:
        found = backward(name, given)
    assert launches.masks == [requiring]
    shapes = [None if g is None else g.shape for g in found]
    wanted = [t.shape if flag else None for t, flag in zip(given, requiring, strict=True)]
    assert shapes == wanted


# ---- layouts ------------------------------------------------------------------------------------


def images(lib, layout):
    if layout == "channels last":
        return lib.arange(72.0).reshape(2, 3, 3, 4).permute(0, 3, 1, 2)
    if layout == "transposed":
        return lib.arange(72.0).reshape(3, 3, 4, 2).permute(3, 2, 1, 0)
    if layout == "expanded":
        return lib.arange(36.0).reshape(1, *SHAPE[1:]).expand(SHAPE)
    return lib.arange(72.0).reshape(SHAPE)


def gradients(lib, name, x, g):
    """Results of a norm and of its gradient, by PyTorch's names."""

    def op(name):
        return getattr(lib.ops.aten, name) if lib is pt else by_name(name)

    if name == "layer":
        w = lib.ones(3)
        out = op("native_layer_norm")(x, [3], w, w, 1e-5)
        back = op("native_layer_norm_backward")(g, x, [3], out[1], out[2], w, w, [True] * 3)
    elif name == "group":
        w, sizes = lib.ones(4), (2, 4, 9, 2)
        out = op("native_group_norm")(x, w, w, *sizes, 1e-5)
        back = op("native_group_norm_backward")(g, x, out[1], out[2], w, *sizes, [True] * 3)
    else:
        w = lib.ones(4)
        out = op("native_batch_norm")(x, w, w, None, None, True, 0.1, 1e-5)
        options = (None, None, out[1], out[2], True, 1e-5, [True] * 3)
        back = op("native_batch_norm_backward")(g, x, w, *options)
    return [*out, *back]


LAYOUTS = ("row-major", "channels last", "transposed", "expanded")


@pytest.mark.parametrize("other", LAYOUTS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["layer", "group", "batch"])
def test_layouts_are_those_of_pytorch(name, layout, other):
    if name == "group" and layout in LAYOUTS[2:]:
        pytest.skip("PyTorch's op takes the formats that group_norm gives it")
    strides = [
        [tuple(t.stride()) for t in gradients(lib, name, images(lib, layout), images(lib, other))]
        for lib in (torch, pt)
    ]
    assert strides[0] == strides[1]
