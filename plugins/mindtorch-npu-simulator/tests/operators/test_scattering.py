from typing import Any

import pytest
from calling import InOut, Out, fault, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

NUM12 = dtypes("NUM12")
IDX = dtypes("IDX")
JOINS = {0: None, 1: "add", 2: "multiply"}


def plain(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    return sample(dtype, shape, seed, special=False)


def places(dtype: str = "i64", distinct: bool = False) -> Any:
    """Indices into the first of (6, 5) for (4, 3) values."""
    rows = [[0, 5, 2], [1, 0, -1], [3, 4, 0], [5, 1, 1]]
    rows = rows if distinct else [[0, 5, 2], [0, 0, -1], [3, 4, 2], [0, 4, 1]]
    return torch.tensor(rows).to(torch.int32 if dtype == "i32" else torch.int64)


def expected(a: Any, at: Any, values: Any, reduce: str | None) -> Any:
    at = at.long() % 6
    if reduce is None:
        return a.scatter(0, at, values)
    if a.dtype.is_complex and reduce == "multiply":
        result = a.clone()
        for row, places in zip(values, at, strict=True):
            result[places, torch.arange(len(places))] *= row[: len(places)]
        return result
    if reduce == "add":
        return a.scatter_add(0, at, values)
    return a.scatter_reduce(0, at, values, "prod")


@pytest.mark.parametrize("reduce", JOINS)
def test_scatter(reduce: int) -> None:
    for dtype in NUM12:
        if dtype == "b" and reduce:
            continue
        a, values = plain(dtype, (6, 5)), plain(dtype, (4, 5), 1)
        for index in IDX:
            at = places(index, distinct=reduce == 0)
            right = expected(a, at, values, JOINS[reduce])
            with case(dtype, index):
                check("Scatter", [a, 0, at, values, reduce, Out(dtype, a.shape)], right, factor=2)
                check("InplaceScatter", [InOut(a), 0, at, values, reduce], right, factor=2)
        number: complex = (
            {"f": 1.5, "b": 1.5, "c": 2 - 1j}.get(dtype[0], 3) if dtype != "b" else True
        )
        if JOINS[reduce] and dtype[0] == "c":
            continue
        right = expected(a, at, torch.full_like(values, number), JOINS[reduce])
        with case(dtype, number):
            check("ScatterValue", [a, 0, at, number, reduce, Out(dtype, a.shape)], right, factor=2)
            check("InplaceScatterValue", [InOut(a), 0, at, number, reduce], right, factor=2)


def test_scatter_add() -> None:
    for dtype in NUM12:
        a, values, at = plain(dtype, (6, 5)), plain(dtype, (4, 5), 1), places()
        right = a.scatter_add(0, at % 6, values)
        with case(dtype):
            for x in (a, strided(a)):
                result = run("ScatterAdd", x, 0, strided(at), values, Out(dtype, a.shape))
                assert torch.allclose(result.to(torch.complex128), right.to(torch.complex128), 1e-2)
    a, at, out = plain("f32", (6, 5)), places(), Out("f32", [6, 5])
    assert refused("ScatterAdd", a, 0, at, strided(a[:4]), out) == CODES.INVALID
    assert refused("ScatterAdd", a, 0, at, a, Out("f32", [6, 5], strided=True)) == CODES.INVALID


REDUCTIONS = {1: "sum", 2: "prod", 3: "amax", 4: "amin", 5: "mean"}


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_reduce(reduce: int, include: bool) -> None:
    for dtype in dtypes("REAL9"):
        a, values, at = plain(dtype, (6, 5)), plain(dtype, (4, 5), 1), places()
        right = a.scatter_reduce(0, at % 6, values, REDUCTIONS[reduce], include_self=include)
        arguments = [0, at, values, reduce, include]
        with case(dtype):
            check("ScatterReduce", [a, *arguments, Out(dtype, a.shape)], right, factor=2)
            check("InplaceScatterReduce", [InOut(a), *arguments], right, factor=2)


def test_scatter_reduce_with_nan() -> None:
    a, at = torch.zeros(3), torch.tensor([0, 0, 1])
    values = torch.tensor([torch.nan, 1.0, -2.0])
    result = run("ScatterReduce", a, 0, at, values, 3, True, Out("f32", [3]))
    assert result.isnan().tolist() == [True, False, False]
    assert result[1:].tolist() == [0, 0]
    c = torch.zeros(3, dtype=torch.complex64)
    assert refused("ScatterReduce", c, 0, at, c, 3, True, Out("c64", [3])) == CODES.INVALID
    replaced = run("InplaceScatterReduce", InOut(a), 0, at[1:], torch.ones(2), 0, False)
    assert replaced.tolist() == [1, 1, 0]


def test_other_dims_and_ranks() -> None:
    a, at = plain("f32", (2, 3, 4)), torch.tensor([[[0, 2], [3, 1]]])
    values = plain("f32", (2, 2, 2), 1)
    right = a.scatter(-1, at, values)
    check("Scatter", [a, -1, at, values, 0, Out("f32", a.shape)], right)
    one, zero = torch.tensor(1.0), torch.tensor(0)
    assert run("Scatter", one, 0, zero, torch.tensor(5.0), 1, Out("f32", [])).item() == 6
    none = torch.zeros(0, 5, dtype=torch.int64)
    assert torch.equal(run("Scatter", a[0], 0, none, a[0], 0, Out("f32", [3, 4])), a[0])


def test_indices_out_of_range() -> None:
    a = torch.zeros(6, 5)
    for bad in (6, -7):
        at = torch.full((1, 1), bad)
        assert fault("InplaceScatter", InOut(a), 0, at, a, 0) == CODES.AICORE
        assert fault("InplaceScatterValue", InOut(a), 0, at, 1.0, 0) == CODES.AICORE
        assert fault("ScatterAdd", a, 0, at, a, Out("f32", [6, 5])) == CODES.AICORE
        assert fault("InplaceScatterReduce", InOut(a), 0, at, a, 1, True) == CODES.AICORE


def test_refusals() -> None:
    a, at, out = torch.zeros(6, 5), places(), Out("f32", [6, 5])
    one = [["f32"], IDX, ["f32"], ["f32"]]
    check_refusals("Scatter", [a, 0, at, a, 0, out], one)
    check_refusals("ScatterAdd", [a, 0, at, a, out], one)
    check_refusals("ScatterReduce", [a, 0, at, a, 1, True, out], one)
    check_refusals("InplaceScatterValue", [InOut(a), 0, at, 1, 0], [NUM12, IDX])
    assert refused("Scatter", a, 0, at, a, 3, out) == CODES.INVALID
    assert refused("ScatterReduce", a, 0, at, a, 6, True, out) == CODES.INVALID
    assert refused("Scatter", a, 2, at, a, 0, out) == CODES.INVALID
    assert refused("Scatter", a, 0, at[0], a, 0, out) == CODES.INVALID
    assert refused("Scatter", a, 0, at, a[:3], 0, out) == CODES.INVALID
    assert (
        refused("Scatter", a, 0, torch.zeros(4, 6).long(), torch.zeros(4, 6), 0, out)
        == CODES.INVALID
    )
    assert refused("Scatter", a, 0, at, a, 0, Out("f32", [5, 6])) == CODES.INVALID
    assert refused("InplaceScatterValue", InOut(a), 0, at, None, 0) == CODES.NULLPTR
