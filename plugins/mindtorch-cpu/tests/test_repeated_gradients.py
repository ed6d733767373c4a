"""A gradient that is one number repeated, as that of a sum, gives what the same numbers give one by one."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.compiled import one_pass
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.ops import normalization

pytestmark = pytest.mark.usefixtures("either_way")

FUNCTIONS = {
    **{
        name: getattr(F, name)
        for name in (
            "elu",
            "gelu",
            "hardsigmoid",
            "hardswish",
            "leaky_relu",
            "mish",
            "relu",
            "silu",
            "softplus",
        )
    },
    "layer_norm": lambda x: F.layer_norm(
        x, x.shape[2:], *(x.new_ones(x.shape[2:]) * n for n in (2, 1))
    ),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "group_norm": lambda x: F.group_norm(x, 4, torch.arange(8, dtype=x.dtype)),
    "batch_norm": lambda x: F.batch_norm(
        x, None, None, torch.arange(8, dtype=x.dtype), training=True
    ),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(1),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients(name, dtype):
    drawn = np.random.default_rng(0).normal(0, 2, (3, 8, 20, 30)).astype("f4")
    x = torch.from_numpy(drawn).to(getattr(torch, dtype))

    def gradient(of):
        leaf = x.clone().requires_grad_()
        out = FUNCTIONS[name](leaf)
        grad = torch.tensor(0.5, dtype=out.dtype).expand(out.shape)
        out.backward(of(grad))
        return leaf.grad

    found, wanted = gradient(lambda g: g), gradient(lambda g: g.contiguous())
    assert found.stride() == wanted.stride()
    assert torch.equal(found, wanted)
    some, same = (
        gradient(lambda g, k=k: torch.ones_like(g[:1]).expand(g.shape) * 0.5 if k else g)
        for k in (1, 0)
    )
    assert torch.equal(some, same)


def test_layer_norm_of_what_lies_otherwise(monkeypatch):
    """Images whose channels are normalised, as in ConvNeXt: by the kernel, and row-major as in PyTorch."""
    x = torch.randn(2, 16, 20, 30).permute(0, 2, 3, 1)
    weight, bias = torch.randn(16), torch.randn(16)
    wanted = F.layer_norm(x.contiguous(), (16,), weight, bias)
    monkeypatch.setattr(normalization, "_layer_norm", None)  # the composition fails
    found = F.layer_norm(x, (16,), weight, bias)
    assert found.is_contiguous()
    assert torch.equal(found, wanted)


def test_a_repeated_number_is_served_by_the_kernel(by_kernels):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    a = np.arange(600, dtype="f4").reshape(20, 30)
    one = np.broadcast_to(np.float32(0.5), a.shape)
    found = one_pass("repeated", lambda tracer, g, x: [np.multiply(g, x)], a.dtype, one, a)
    assert found.tobytes() == (a / 2).tobytes()
