from typing import Any

import pytest
from calling import TORCH, Out, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

SORTED = dtypes("REAL9-f64 u16 u32 u64")
SIGNED = dtypes("REAL9-f64")


def equal(result: Any, expected: Any) -> None:
    torch.testing.assert_close(result, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("descending", [False, True])
def test_sort(descending: bool) -> None:
    for dtype in [*SORTED, "b"]:
        for shape, dim in [((3, 7), 1), ((3, 7), 0), ((2, 3, 4), -2), ((), 0), ((0, 3), 0)]:
            a = sample(dtype, shape)
            wide = a.to(torch.int64) if dtype in {"u16", "u32", "u64"} else a
            values, places = wide.sort(stable=True, dim=dim, descending=descending)
            outs = [Out(dtype, shape), Out("i64", shape)]
            with case(dtype, shape):
                check("Sort", [a, True, dim, descending, *outs], values.to(a.dtype), places)
                if dtype != "b":
                    check("Argsort", [a, dim, descending, outs[1]], places)


@pytest.mark.parametrize("largest", [False, True])
def test_topk(largest: bool) -> None:
    for dtype in dtypes("REAL9 u16 u32 u64"):
        a = sample(dtype, (3, 7), 1, special=dtype[0] == "f")
        wide = a.to(torch.int64) if dtype in {"u16", "u32", "u64"} else a
        for k in (0, 1, 4, 7):
            order = wide.sort(stable=True, dim=1, descending=largest)
            outs = [Out(dtype, [3, k]), Out("i64", [3, k])]
            with case(dtype, k):
                check(
                    "Topk",
                    [a, k, -1, largest, True, *outs],
                    order[0][:, :k].to(a.dtype),
                    order[1][:, :k],
                )
    one = torch.tensor(3.0)
    values, places = run("Topk", one, 1, 0, True, True, Out("f32", []), Out("i64", []))
    assert (values.item(), places.item()) == (3, 0)


def test_kthvalue() -> None:
    for dtype in SIGNED:
        a = sample(dtype, (3, 7))
        values, places = a.sort(stable=True, dim=0)
        for k in (1, 2, 3):
            with case(dtype, k):
                for keep, shape in [(False, [7]), (True, [1, 7])]:
                    outs = [Out(dtype, shape), Out("i64", shape)]
                    check("Kthvalue", [a, k, 0, keep, *outs],
                          values[k - 1].view(shape), places[k - 1].view(shape))  # fmt: skip


# ---- uniqueness ----------------------------------------------------------------------------------

UNIQUE = dtypes("REAL10 u16 u32 u64")


@pytest.mark.parametrize("dtype", UNIQUE)
def test_unique(dtype: str) -> None:
    for shape in [(3, 7), (30,), (), (0,)]:
        a = sample(dtype, shape, special=False)
        wide = a.to(torch.int64) if dtype in {"u16", "u32", "u64"} else a
        values, inverse, counts = wide.unique(return_inverse=True, return_counts=True)
        outs = [Out(dtype, [a.numel()]), Out("i64", shape), Out("i64", [a.numel()])]
        with case(shape):
            for x in (a, strided(a)):
                result = run("Unique2", x, True, True, True, *outs)
                equal(result[0], values.to(TORCH[dtype]))
                equal(result[1], inverse)
                equal(result[2], counts)
                result = run("Unique", x, True, True, *outs[:2])
                equal(result[0], values.to(TORCH[dtype]))
                equal(result[1], inverse)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_unique_dim(dim: int) -> None:
    for dtype in dtypes("f32 bf16 i8 i64 b u8"):
        a = (
            sample(dtype, (3, 8), special=False).sign().to(TORCH[dtype])
            if dtype != "b"
            else sample(dtype, (3, 8))
        )
        a = a.repeat(2, 2)
        values, inverse, counts = a.unique(dim=dim, return_inverse=True, return_counts=True)
        size = a.shape[dim]
        outs = [Out(dtype, a.shape), Out("i64", [size]), Out("i64", [size])]
        with case(dtype):
            result = run("UniqueDim", strided(a), True, True, dim, *outs)
            equal(result[0], values)
            equal(result[1], inverse)
            equal(result[2], counts)


def test_unique_consecutive() -> None:
    a = torch.tensor([[1, 1, 2], [2, 3, 1]])
    for dtype in dtypes("NUM12"):
        x = a.to(TORCH[dtype])
        values, inverse, counts = torch.unique_consecutive(
            a if dtype[0] == "c" else x, return_inverse=True, return_counts=True
        )
        outs = [Out(dtype, [6]), Out("i64", [2, 3]), Out("i64", [6])]
        with case(dtype):
            result = run("UniqueConsecutive", strided(x), True, True, 1000, *outs)
            equal(result[0], values.to(x.dtype))
            equal(result[1], inverse)
            equal(result[2], counts)
    rows = torch.tensor([[1, 2], [1, 2], [3, 4], [1, 2]])
    outs = [Out("i64", [4, 2]), Out("i32", [4]), Out("i32", [4])]
    result = run("UniqueConsecutive", rows, True, True, 0, *outs)
    assert result[0].tolist() == [[1, 2], [3, 4], [1, 2]]
    assert result[1].tolist() == [0, 0, 1, 2]
    assert result[2].tolist() == [2, 1, 1]


def test_refusals() -> None:
    a = torch.ones(3, 7)
    values, places = Out("f32", [3, 7]), Out("i64", [3, 7])
    check_refusals("Sort", [a, True, 1, False, values, places], [["f32"], ["f32"], ["i64"]])
    check_refusals("Argsort", [a, 1, False, places], [SORTED, ["i64"]])
    check_refusals("Topk", [a, 7, 1, True, True, values, places], [["f32"], ["f32"], ["i64"]])
    flat = [Out("f32", [21]), Out("i64", [3, 7]), Out("i64", [21])]
    check_refusals("Unique2", [a, True, True, True, *flat], [["f32"], ["f32"], ["i64"], ["i64"]])
    assert refused("Sort", a, True, 2, False, values, places) == CODES.INVALID
    assert refused("Sort", a, True, 1, False, Out("f32", [7, 3]), places) == CODES.INVALID
    assert (
        refused("Topk", a, 8, 1, True, True, Out("f32", [3, 8]), Out("i64", [3, 8]))
        == CODES.INVALID
    )
    assert refused("Topk", a, 7, 1, True, False, values, places) == CODES.INVALID
    for k in (0, 8):
        outs = Out("f32", [3]), Out("i64", [3])
        assert refused("Kthvalue", a, k, 1, False, *outs) == CODES.INVALID
    assert refused("Unique2", a, True, True, True, Out("f32", [20]), *flat[1:]) == CODES.INVALID
