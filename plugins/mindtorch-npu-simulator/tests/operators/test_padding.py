from typing import Any

import pytest
from calling import Out, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes

functional = torch.nn.functional
SHAPE = (2, 3, 4, 5, 6)
PADS = [[1, 2, 0, 3, 1, 1], [2, 0, 0, 0, 1, 2], [-1, 2, 1, -2, 0, 1]]


@pytest.mark.parametrize("pad", [[], [1, 2], [2, -1, -2, 3], [0, 0, 0, 0, 1, 1]])
def test_constant(pad: list[int]) -> None:
    for dtype in dtypes("NUM12"):
        x = sample(dtype, (2, 4, 5))
        value = {"b": True, "f": 2.5, "c": 1.5}.get(dtype[0], 3)
        if dtype == "bf16":
            value = 2.5
        expected = functional.pad(x, pad, value=value) if pad else x
        with case(dtype):
            check("ConstantPadNd", [x, pad, value, Out(dtype, expected.shape)], expected)
    empty = torch.zeros(0, 2)
    assert (
        run("ConstantPadNd", empty, [0, 0, 1, 1], 7.0, Out("f32", (2, 2))).tolist()
        == [[7.0] * 2] * 2
    )


def test_constant_refuses() -> None:
    x, out = sample("f32", (2, 3)), Out("f32", (2, 4))
    assert refused("ConstantPadNd", x, [1, 0], 0.0, out) == 0
    assert refused("ConstantPadNd", x, [1], 0.0, out) == CODES.INVALID
    assert refused("ConstantPadNd", x, [1, 1], 0.0, out) == CODES.INVALID
    assert refused("ConstantPadNd", x, [-4, 0], 0.0, out) == CODES.INVALID
    assert refused("ConstantPadNd", x, [1, 0, 0, 0, 0, 0], 0.0, out) == CODES.INVALID
    assert refused("ConstantPadNd", x, None, 0.0, out) == CODES.NULLPTR
    assert refused("ConstantPadNd", x, [1, 0], None, out) == CODES.NULLPTR
    check_refusals("ConstantPadNd", [x, [1, 0], 0.0, out], [["f32"], ["f32"]])


def padded(x: Any, pad: list[int], mode: str) -> Any:
    """PyTorch's padding."""
    return functional.pad(x, pad, mode=mode)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize(
    ("name", "mode", "dims"),
    [
        *[("ReflectionPad", "reflect", d) for d in (1, 2, 3)],
        *[("ReplicationPad", "replicate", d) for d in (1, 2, 3)],
        ("CircularPad", "circular", 2),
    ],
)
def test_borders(name: str, mode: str, dims: int, batched: bool) -> None:
    shape = SHAPE[0 if batched else 1 : 2] + SHAPE[-dims:]
    for pads in PADS if mode != "circular" else PADS[:2]:
        pad = pads[: 2 * dims]
        for dtype in ["f32", "f16", "f64", "bf16"] if mode != "circular" else dtypes("FLT3"):
            x = sample(dtype, shape, special=False)
            leaf = widened(x).requires_grad_()
            y = padded(leaf, pad, mode)
            grad = sample(dtype, y.shape, 1, special=False)
            with case(dtype, pad):
                check(f"{name}{dims}d", [x, pad, Out(dtype, y.shape)], y.detach())
                gradient = torch.autograd.grad(y, leaf, widened(grad))[0]
                arguments = [grad, x, pad, Out(dtype, shape)]
                check(f"{name}{dims}dBackward", arguments, gradient)


def test_borders_refuse() -> None:
    x = sample("f32", (2, 4))
    assert refused("ReflectionPad1d", x, [3, 0], Out("f32", (2, 7))) == 0
    assert refused("ReflectionPad1d", x, [4, 0], Out("f32", (2, 8))) == CODES.INVALID
    assert refused("ReplicationPad1d", x, [9, 0], Out("f32", (2, 13))) == 0
    assert refused("ReplicationPad1d", x, [1, 0, 0, 0], Out("f32", (2, 5))) == CODES.INVALID
    assert refused("ReflectionPad2d", x, [1, 0, 0, 0], Out("f32", (2, 5))) == CODES.INVALID
    assert refused("ReflectionPad1d", x, None, Out("f32", (2, 7))) == CODES.NULLPTR
    empty = sample("f32", (2, 0))
    assert refused("ReplicationPad1d", empty, [1, 0], Out("f32", (2, 1))) == CODES.INVALID
