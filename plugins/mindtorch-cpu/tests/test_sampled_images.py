"""Images sampled at positions by a compiled loop: the composition's bits, and gradients as before."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk
from mindtorch_cpu.register import composition_of

SHAPES = [(2, 3, 5, 7, 4, 6), (1, 1, 1, 1, 3, 3), (3, 2, 9, 4, 20, 30), (0, 2, 3, 3, 2, 2)]

pytestmark = pytest.mark.usefixtures("by_kernels")


def case(shape, dtype, turned=False):
    """Images with infinities and zeros of both signs; positions inside, outside and none."""
    random = np.random.default_rng(1)
    images, channels, high, wide, *points = shape
    x = (random.standard_normal((images, channels, high, wide)) * 3).round(1)
    at = random.uniform(-1.5, 1.5, (images, *points, 2))
    if images:
        x.flat[::5], x.flat[-1] = -0.0, np.inf
        at.flat[:8] = -1, 1, np.nan, np.inf, 1e20, 0, -1, -np.inf
    x, at = (torch.from_numpy(t).to(getattr(torch, dtype)) for t in (x, at))
    if turned:
        x, at = x.contiguous(memory_format=torch.channels_last), at.permute(3, 1, 2, 0).contiguous()
        at = at.permute(3, 1, 2, 0)
    return x, at


def shown(t):
    return t.dtype, t.shape, t.stride(), repr(t.tolist())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bits_are_those_of_the_composition(shape, dtype):
    whole = composition_of("grid_sampler_2d")
    for options in itertools.product((0, 1, 2), (0, 1, 2), (False, True)):
        for turned in (False, True):
            given = case(shape, dtype, turned)
            found = torch.grid_sampler_2d(*given, *options)
            assert shown(found) == shown(whole(*given, *options)), (options, turned)


@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_gradients_are_those_without_the_loop(padding, monkeypatch):
    found = []
    for name in ("now", "off"):
        monkeypatch.setattr(KERNELS, "mode", name)
        x, at = (t.requires_grad_() for t in case(SHAPES[0], "float64"))
        made = F.grid_sample(x, at, padding_mode=padding, align_corners=False)
        weights = torch.arange(made.numel()).reshape(made.shape).sin()
        made.nan_to_num(0, 0, 0).mul(weights).sum().backward()
        found.append([shown(t) for t in (made.detach(), x.grad, at.grad)])
    assert found[0] == found[1]


def test_what_does_not_fit_is_refused_as_before():
    x, at = case(SHAPES[0], "float32")
    for wrong in ((x, at[:1]), (x[0], at), (x, at.double()), (x, at[..., :1]), (x[:, :, :0], at)):
        with pytest.raises(RuntimeError, match="grid_sampler"):
            torch.grid_sampler(*wrong, 0, 0, False)


def test_a_loop_samples_them():
    torch.grid_sampler_2d(*case(SHAPES[0], "float32"), 0, 0, False)
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert "sampled" in made or not KERNELS.enabled
