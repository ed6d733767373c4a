"""Numbers beside operands of half precision: PyTorch's bits, so nothing is rounded twice."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

CALLS = [
    "torch.add(a, b, alpha=s)", "torch.sub(a, b, alpha=s)", "torch.rsub(a, b, alpha=s)", "torch.add(a, 0.7, alpha=s)",
    "torch.sub(a, 0.7, alpha=s)", "a.clone().add_(b.expand_as(a), alpha=s)", "a.clone().sub_(b.expand_as(a), alpha=s)",
    "torch.addcmul(a, b, c, value=s)", "torch.addcdiv(a, b, c, value=s)", "torch.lerp(a, b, s)", "torch.clamp(a, -s, s)",
    "a + s", "s - a", "a * s", "a / s", "s / c", "a.fmod(s)", "a.remainder(s)", "F.elu(a, s)", "F.leaky_relu(a, s)",
    "F.threshold(a, s, s)", "F.hardshrink(a, s)", "F.hardtanh(a, -s, s)",
    "torch.where(a > 0, a, s)", "torch.masked_fill(a, a > 0, s)", "torch.copysign(a, s)",
    "torch._foreach_add([a], [b], alpha=s)[0]", "torch._foreach_mul([a], s)[0]", "torch._foreach_addcmul([a], [b], [c], s)[0]",
    "torch._foreach_addcdiv([a], [b], [c], s)[0]", "torch._foreach_lerp([a], [b], s)[0]",
]  # fmt: skip
SHAPES = [
    ((64,), (64,)),
    ((3, 32), (32,)),
    ((64,), ()),
    ((128,), (1,)),
]  # of a few elements PyTorch rounds products as well


def made(lib, shape, start, dtype):
    count = 1
    for size in shape:
        count *= size
    return (
        (lib.arange(count, dtype=lib.float64) * 0.37 + start)
        .sin()
        .mul(3)
        .to(getattr(lib, dtype))
        .reshape(shape)
    )


def bits(lib, call, dtype, s, shapes):
    a, b = made(lib, shapes[0], 0.3, dtype), made(lib, shapes[1], 1.1, dtype)
    c = made(lib, shapes[1], 2.0, dtype).abs() + 0.5
    try:
        found = eval(call, {"torch": lib, "F": lib.nn.functional, "a": a, "b": b, "c": c, "s": s})
    except Exception as error:  # noqa: BLE001 (compared)
        return type(error).__name__
    return str(found.dtype).rpartition(".")[2], tuple(found.shape), found.double().tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("call", CALLS)
def test_the_same_bits(call, dtype):
    for s, shapes in itertools.product((0.3, -1.7, 3), SHAPES):
        if "rsub" in call and not shapes[1]:  # what is taken from a number is rounded before
            continue
        assert repr(bits(torch, call, dtype, s, shapes)) == repr(
            bits(pt, call, dtype, s, shapes)
        ), (s, shapes)
