from typing import Any

import pytest
from calling import (
    TORCH,
    InOut,
    Out,
    Scalar,
    garbage,
    refused,
    run,
    strided,
    torch,
    workspace_size,
)
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

EVERY = dtypes("NUM12 u16 u32 u64")


def finite(dtype: str, shape: tuple[int, ...] = (3, 7)) -> Any:
    """Numbers that every dtype can take: what a cast makes of others is the hardware's."""
    return sample(dtype, shape, special=False) if dtype[0] != "u" else sample(dtype, shape)


def cast(tensor: Any, dtype: str) -> Any:
    """PyTorch's cast; the real part of a complex number, without its warning."""
    if tensor.dtype.is_complex and dtype[0] != "c" and dtype != "b":
        tensor = tensor.real
    if dtype[0] == "u" and not tensor.dtype.is_complex:
        tensor = tensor.to(torch.int64)  # negative numbers wrap
    return tensor.to(TORCH[dtype])


@pytest.mark.parametrize("to", EVERY)
def test_casts(to: str) -> None:
    for dtype in EVERY:
        a = finite(dtype)
        expected = cast(a, to)
        with case(dtype):
            check("Cast", [a, to, Out(to, a.shape)], expected)
            check("InplaceCopy", [InOut(torch.zeros_like(expected)), a], expected)


def test_cast_keeps_what_is_not_finite() -> None:
    a = sample("f32", (4, 8))
    check("Cast", [a, "bf16", Out("bf16", a.shape)], a.bfloat16())
    check("Cast", [a, "b", Out("b", a.shape)], a.bool())
    large = torch.tensor([65519.0, 65520.0, 1e-8, 5.9604645e-8, 3e-8, -1e30])
    check("Cast", [large, "f16", Out("f16", [6])], large.half())


def test_copy_broadcasts() -> None:
    target = torch.zeros(2, 3, 4)
    for source in (torch.randn(3, 1), torch.randn(4), torch.tensor(7.0), torch.ones(2, 1, 4)):
        check("InplaceCopy", [InOut(target), source], source.expand(2, 3, 4).contiguous())
    check("InplaceCopy", [InOut(torch.tensor(1.0)), torch.tensor(2)], torch.tensor(2.0))
    empty = torch.zeros(0, 3)
    assert run("InplaceCopy", InOut(empty), torch.ones(3)).shape == (0, 3)


def test_copy_within_one_storage() -> None:
    whole = torch.arange(12.0)
    source, target = whole[:9], whole[3:]
    expected = source.clone()
    assert torch.equal(run("InplaceCopy", InOut(target), source), expected)
    square = torch.arange(16.0).view(4, 4)
    expected = square.T.clone()
    assert torch.equal(run("InplaceCopy", InOut(square), square.T), expected)


def test_copy_refusals() -> None:
    a = sample("f32")
    check_refusals("InplaceCopy", [InOut(a), a], [EVERY, EVERY])
    check_refusals("Cast", [a, "f16", Out("f16", a.shape)], [EVERY, ["f16"]])
    assert refused("InplaceCopy", InOut(a[0]), a) == CODES.INVALID
    assert refused("InplaceCopy", InOut(a[:, :1]), a) == CODES.INVALID
    assert refused("Cast", a, "f16", Out("f16", [7, 3])) == CODES.INVALID
    assert refused("Cast", a, "f16", Out("f32", a.shape)) == CODES.INVALID


# ---- fills ---------------------------------------------------------------------------------------

FILLS = {"Zero": (0, "NUM12 u16"), "One": (1, "REAL10 u16")}


@pytest.mark.parametrize("name", FILLS)
def test_constant_fills(name: str) -> None:
    value, names = FILLS[name]
    for dtype in dtypes(names):
        with case(dtype):
            for shape in [(3, 7), (), (0, 2)]:
                target = garbage(dtype, shape)
                check(f"Inplace{name}", [InOut(target)], torch.full(shape, value).to(TORCH[dtype]))
    check_refusals(f"Inplace{name}", [InOut(torch.zeros(3))], [dtypes(names)])


def test_fills() -> None:
    for dtype in EVERY:
        value: complex = {"f": 1.5, "c": 1 - 2j, "b": True}.get(dtype[0], 5)
        expected = torch.full((3, 7), value, dtype=TORCH[dtype])
        with case(dtype):
            check("InplaceFillScalar", [InOut(garbage(dtype, (3, 7))), value], expected)
            if dtype not in {"f64", "c64", "c128"}:
                check(
                    "InplaceFillTensor", [InOut(garbage(dtype, (3, 7))), expected[0, 0]], expected
                )
    half = torch.full((2,), 0.5, dtype=torch.float16)
    assert run("InplaceFillScalar", InOut(half), Scalar(0.25, "f16")).tolist() == [0.25, 0.25]
    truth = torch.zeros(2, dtype=torch.bool)
    assert run("InplaceFillScalar", InOut(truth), 0.5).tolist() == [True, True]
    check_refusals("InplaceFillScalar", [InOut(half), 1], [EVERY])
    assert refused("InplaceFillScalar", InOut(half), None) == CODES.NULLPTR
    assert refused("InplaceFillTensor", InOut(half), half) == CODES.INVALID
    assert refused("InplaceFillTensor", InOut(half), torch.tensor(1.0)) == CODES.INVALID


@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(wrap: bool) -> None:
    for shape in [(3, 3), (8, 3), (3, 8), (4, 1), (3, 3, 3)]:
        a = sample("i32", shape)
        with case(shape):
            expected = a.clone().fill_diagonal_(9, wrap=wrap)
            check("InplaceFillDiagonal", [InOut(a), 9, wrap], expected)
    assert refused("InplaceFillDiagonal", InOut(torch.zeros(3)), 1, wrap) == CODES.INVALID
    assert refused("InplaceFillDiagonal", InOut(torch.zeros(2, 3, 3)), 1, wrap) == CODES.INVALID


def test_a_strided_copy_asks_for_a_workspace() -> None:
    a, target = sample("f32"), InOut(torch.zeros(3, 7))
    assert workspace_size("InplaceCopy", target, a) == 0
    assert workspace_size("InplaceCopy", target, strided(a)) == a.nbytes
