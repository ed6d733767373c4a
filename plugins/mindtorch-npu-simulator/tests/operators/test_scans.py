from typing import Any

import pytest
from calling import TORCH, InOut, Out, Scalar, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes

SHAPE = (2, 3, 5)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_running_sums(dim: int) -> None:
    for dtype in dtypes("REAL9+c64+c128"):
        x = sample(dtype, SHAPE, special=dtype == "f32")
        wide = widened(x)
        expected = torch.cumsum(wide, dim).to(x.dtype)
        out = Out(dtype, SHAPE)
        with case(dtype):
            check("Cumsum", [x, dim, dtype, out], expected, factor=2.0)
            check("CumsumV2", [x, dim, False, False, out], expected, factor=2.0)
            flipped = torch.cumsum(wide.flip(dim), dim).flip(dim).to(x.dtype)
            check("CumsumV2", [x, dim, False, True, out], flipped, factor=2.0)
            if dtype != "f32":
                check(
                    "CumsumV2", [x, dim, True, False, out], (expected - x).to(x.dtype), factor=9.0
                )


def test_running_sums_convert() -> None:
    x = torch.full((200,), 100, dtype=torch.int8)
    assert run("Cumsum", x, 0, "i64", Out("i64", (200,)))[-1].item() == 20000
    assert refused("Cumsum", x, 0, "i64", Out("i32", (200,))) == CODES.INVALID
    assert refused("Cumsum", x, 1, "i64", Out("i64", (200,))) == CODES.INVALID
    assert run("Cumsum", x[:0], 0, "i8", Out("i8", (0,))).numel() == 0


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_running_products(dim: int) -> None:
    for dtype in dtypes("REAL9"):
        x = sample(dtype, SHAPE, special=False)
        expected = torch.cumprod(widened(x), dim).to(x.dtype)
        number = Scalar(dim, "i32")
        with case(dtype):
            check("Cumprod", [x, number, dtype, Out(dtype, SHAPE)], expected, factor=8.0)
            check("Cumprod", [x, number, -1, Out(dtype, SHAPE)], expected, factor=8.0)
            check("InplaceCumprod", [InOut(x), number], expected, factor=8.0)
    x = torch.full((3,), 3, dtype=torch.uint32)
    assert run("Cumprod", x, 0, "u32", Out("u32", (3,))).tolist() == [3, 9, 27]
    assert refused("Cumprod", x, None, "u32", Out("u32", (3,))) == CODES.NULLPTR
    assert refused("Cumprod", x, 0.0, "u32", Out("u32", (3,))) == CODES.INVALID
    assert refused("Cumprod", x, 1, "u32", Out("u32", (3,))) == CODES.INVALID


@pytest.mark.parametrize(("name", "oracle"), [("Cummax", torch.cummax), ("Cummin", torch.cummin)])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_running_extremes(name: str, oracle: Any, dim: int) -> None:
    for dtype in dtypes("REAL10"):
        x = sample(dtype, (4, 6), special=dtype == "f32")
        values, indices = oracle(x, dim)
        for index in ("i32", "i64"):
            outs = [Out(dtype, x.shape), Out(index, x.shape)]
            with case(dtype, index):
                check(name, [x, dim, *outs], values, indices.to(TORCH[index]))
    f = sample("f32")
    outs = [Out("f32", f.shape), Out("i32", f.shape)]
    check_refusals(name, [f, 0, *outs], [dtypes("REAL10"), dtypes("REAL9"), dtypes("IDX")])
