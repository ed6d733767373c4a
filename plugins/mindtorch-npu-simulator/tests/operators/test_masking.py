from typing import Any

import pytest
from calling import TORCH, InOut, Out, fault, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

FILLED = dtypes("FLT3 i8 i32 i64 b")
REAL10 = dtypes("REAL10")
SOURCES = dtypes("REAL10 u16 u32 u64")
MASK = torch.tensor([[1, 0, 1, 1, 0, 0, 1]] * 2 + [[0, 1, 1, 0, 0, 1, 0]]).bool()


def test_masked_fill() -> None:
    for dtype in FILLED:
        a = sample(dtype)
        value: Any = {"f": 2.5, "b": True}.get(dtype[0], 3)
        number = torch.tensor(value).to(TORCH[dtype])
        for mask in (MASK, MASK[0], MASK[:, :1], torch.tensor(True)):
            right = a.masked_fill(mask, number)
            with case(dtype, mask.shape):
                check("InplaceMaskedFillScalar", [InOut(a), mask, value], right)
                check("InplaceMaskedFillTensor", [InOut(a), mask, number], right)
    a = sample("f16")
    check("InplaceMaskedFillTensor", [InOut(a), MASK, torch.tensor(7)], a.masked_fill(MASK, 7))
    half = torch.zeros(1, dtype=torch.bool)
    assert run("InplaceMaskedFillScalar", InOut(half), torch.tensor([True]), 0.5).tolist() == [True]


def test_masked_scatter() -> None:
    for dtype in REAL10:
        a, values = sample(dtype), sample(dtype, (4, 7), 1)
        for mask in (MASK, MASK[0], MASK.byte()):
            with case(dtype, mask.shape):
                right = a.masked_scatter(mask.bool(), values)
                check("InplaceMaskedScatter", [InOut(a), mask, values], right)
    a = torch.zeros(3, 7)
    assert fault("InplaceMaskedScatter", InOut(a), MASK, torch.ones(2)) == CODES.AICORE


def test_masked_select() -> None:
    for dtype in REAL10:
        a = sample(dtype)
        with case(dtype):
            for mask in (MASK, MASK.byte(), MASK[0]):
                for x in (a, strided(a)):
                    result = run("MaskedSelect", x, mask, Out(dtype, [21]))
                    torch.testing.assert_close(
                        result, a.masked_select(mask.bool()), rtol=0, atol=0, equal_nan=True
                    )
    assert run("MaskedSelect", torch.ones(3), ~MASK[0, :1], Out("f32", [3])).shape == (0,)
    wide = run("MaskedSelect", torch.arange(7), MASK, Out("i64", [21]))
    assert wide.tolist() == torch.arange(7).expand(3, 7)[MASK].tolist()
    assert run("MaskedSelect", torch.zeros(0), torch.zeros(0).bool(), Out("f32", [0])).shape == (0,)


@pytest.mark.parametrize("dtype", SOURCES)
def test_nonzero(dtype: str) -> None:
    for shape in [(3, 7), (21,), (2, 3, 4), (0, 3), ()]:
        a = sample(dtype, shape)
        signed = a.to(torch.int64) if dtype in {"u16", "u32", "u64"} else a
        places = signed.nonzero()
        with case(shape):
            for x in (a, strided(a)):
                result = run("Nonzero", x, Out("i64", [a.numel(), a.dim()]))
                assert torch.equal(result, places)
                turned = run("NonzeroV2", x, Out("i64", [a.dim(), a.numel()]))
                assert torch.equal(turned, places.T)


def test_refusals() -> None:
    a = torch.ones(3, 7)
    fill = ["InplaceMaskedFillScalar", "InplaceMaskedFillTensor"]
    check_refusals(fill[0], [InOut(a), MASK, 1], [FILLED, ["b"]])
    check_refusals(fill[1], [InOut(a), MASK, torch.tensor(1.0)], [FILLED, ["b"], FILLED])
    check_refusals("InplaceMaskedScatter", [InOut(a), MASK, a], [["f32"], ["u8", "b"], ["f32"]])
    check_refusals("MaskedSelect", [a, MASK, Out("f32", [21])], [["f32"], ["u8", "b"], ["f32"]])
    check_refusals("Nonzero", [a, Out("i64", [21, 2])], [SOURCES, ["i64"]])
    check_refusals("NonzeroV2", [a, Out("i64", [2, 21])], [SOURCES, ["i64"]])
    assert refused(fill[0], InOut(a[0]), MASK, 1) == CODES.INVALID
    assert refused(fill[0], InOut(a), MASK, None) == CODES.NULLPTR
    assert refused(fill[1], InOut(a), MASK, torch.ones(2)) == CODES.INVALID
    assert refused("MaskedSelect", a, MASK, Out("f32", [20])) == CODES.INVALID
    assert refused("MaskedSelect", a, MASK, Out("f32", [21], strided=True)) == CODES.INVALID
    assert refused("Nonzero", a, Out("i64", [2, 21])) == CODES.INVALID
    assert refused("Nonzero", a, Out("i64", [21, 2], strided=True)) == CODES.INVALID
