from typing import Any

import pytest
from calling import TORCH, InOut, Out, fault, garbage, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

EVERY = dtypes("NUM12 u16 u32 u64")
IDX = dtypes("IDX")


def same(result: Any, expected: Any) -> None:
    """Bit by bit: these operators only move elements."""
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert torch.equal(
        result.contiguous().view(torch.uint8) if result.dim() else result.view(1).view(torch.uint8),
        expected.contiguous().view(torch.uint8) if expected.dim() else expected.view(1).view(torch.uint8),
    )  # fmt: skip


def anything(dtype: str, shape: tuple[int, ...] = (4, 5)) -> Any:
    return sample(dtype, shape)


@pytest.mark.parametrize("index", IDX)
def test_lines(index: str) -> None:
    at = torch.tensor([3, 0, 0, 2], dtype=TORCH[index])
    for dtype in EVERY:
        a = anything(dtype)
        with case(dtype):
            for x in (a, strided(a)):
                for dim in (0, -1):
                    expected = x.index_select(dim, at.long())
                    same(
                        run("IndexSelect", x, dim, strided(at), Out(dtype, expected.shape)),
                        expected,
                    )
    a = anything("f32", (4, 5, 3))
    expected = a[:, at.long().view(2, 2)]
    same(run("GatherV2", a, 1, at.view(2, 2), Out("f32", expected.shape)), expected)
    same(run("GatherV2", a, 1, at.view(2, 2) - 4, Out("f32", expected.shape)),
         a[:, at.long().view(2, 2) + 1])  # fmt: skip
    scalar = torch.tensor(3.5)
    same(run("IndexSelect", scalar, 0, torch.tensor([0]), Out("f32", [])), scalar)
    same(run("IndexSelect", a, 0, torch.tensor(2), Out("f32", [1, 5, 3])), a[2:3])


@pytest.mark.parametrize("index", IDX)
def test_gather_and_take(index: str) -> None:
    for dim, shape in [(0, (6, 3)), (1, (2, 9)), (-1, (4, 5))]:
        size = (4, 5)[dim]
        at = torch.randint(-size, size, shape).to(TORCH[index])
        for dtype in dtypes("REAL10 u16 u32 u64"):
            a = anything(dtype)
            # By places, because PyTorch's own gather changes NaNs and knows fewer dtypes.
            places = torch.arange(20).view(4, 5).gather(dim, at.long() % size)
            right = a.view(-1)[places]
            with case(dtype, dim):
                same(run("Gather", strided(a), dim, strided(at), Out(dtype, shape)), right)
    at = torch.tensor([[0, 19, -1], [7, 7, -20]], dtype=TORCH[index])
    for dtype in EVERY:
        a = anything(dtype)
        same(run("Take", strided(a), at, Out(dtype, [2, 3])), a.reshape(-1)[at.long()])
    one = torch.tensor(2.5)
    same(run("Gather", one, 0, torch.tensor(0), Out("f32", [])), one)


INDICES: list[tuple[tuple[int, ...], list[Any]]] = [
    ((4, 5), [[0, 3, -1]]),
    ((4, 5), [None, [4, 0]]),
    ((4, 5), [[0, 1], [2, -2]]),
    ((4, 5, 6), [[[0, 1], [2, 3]], None, [1, 5]]),
    ((4, 5, 6), [None, [0, 1], [2, 5]]),
    ((4, 5, 6), [None, [[0], [1]], [2, 5]]),
    ((4, 5, 6), [2, None, [1, 5]]),
    ((4,), [3]),
]


def index_lists(case_: list[Any], dtype: Any = None) -> tuple[Any, Any]:
    """The same indices for PyTorch, and as a list of tensors with empty ones where a dim is whole."""
    numbers = [None if i is None else torch.tensor(i) for i in case_]
    given = [torch.zeros(0, dtype=torch.int64) if i is None else i for i in numbers]
    return numbers, [i if dtype is None else i.to(dtype) for i in given]


@pytest.mark.parametrize("index", IDX)
def test_index(index: str) -> None:
    for shape, places in INDICES:
        key, given = index_lists(places, TORCH[index])
        for dtype in dtypes("REAL10 c64"):
            a = anything(dtype, shape)
            expected = torch.ops.aten.index(a, key)
            with case(shape, places, dtype):
                same(run("Index", strided(a), given, Out(dtype, expected.shape)), expected)


def test_index_by_masks() -> None:
    a = anything("f32", (4, 5))
    mask = torch.rand(4, 5) > 0.5
    rows = torch.tensor([True, False, True, True])
    columns = torch.tensor([3, 0, 1])
    same(run("Index", a, [mask], Out("f32", [int(mask.sum())])), a[mask])
    same(run("Index", a, [rows, columns], Out("f32", [3])), a[rows, columns])
    assert fault("Index", a, [rows], Out("f32", [4, 5])) == CODES.AICORE
    same(
        run("IndexPutImpl", InOut(a), [mask], torch.tensor([9.0]), False, False),
        a.masked_fill(mask, 9),
    )


@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put(accumulate: bool) -> None:
    for shape, places in INDICES:
        key, given = index_lists(places)
        for dtype in dtypes("REAL10"):
            a = sample(dtype, shape, special=False)
            values = sample(dtype, tuple(torch.ops.aten.index(a, key).shape), 1, special=False)
            expected = torch.ops.aten.index_put(a, key, values, accumulate)
            with case(shape, places, dtype):
                check("IndexPutImpl", [InOut(a), given, values, accumulate, False], expected)
    a = torch.zeros(4)
    at, ones = torch.tensor([1, 1, 1, 3]), torch.ones(4)
    result = run("IndexPutImpl", InOut(a), [at], ones, True, True)
    assert result.tolist() == [0, 3, 0, 1]
    wide = run(
        "IndexPutImpl",
        InOut(torch.zeros(2, 3)),
        [torch.tensor([1])],
        torch.tensor(5.0),
        False,
        False,
    )
    assert wide.tolist() == [[0, 0, 0], [5, 5, 5]]


def test_writing_lines() -> None:
    at = torch.tensor([2, 0])
    for dtype in dtypes("NUM12 u32 u64"):
        a, values = anything(dtype), sample(dtype, (4, 2), 1)
        expected = torch.cat([values[:, 1:], a[:, 1:2], values[:, :1], a[:, 3:]], 1)
        with case(dtype):
            for x, v in [(a, values), (strided(a), strided(values))]:
                same(run("InplaceIndexCopy", InOut(x), 1, at, v), expected)
                before, copied = run("IndexCopy", InOut(x), 1, at, v, Out(dtype, a.shape))
                same(before, a)
                same(copied, expected)
    for dtype in dtypes("REAL10"):
        a, values = sample(dtype, (4, 5), special=False), sample(dtype, (3, 5), 1, special=False)
        rows = torch.tensor([2, 0, 2])
        alpha = 1 if dtype == "b" else 3
        wide = a.double().index_add(0, rows, values.double(), alpha=alpha)
        right = (
            wide.bool()
            if dtype == "b"
            else wide.to(a.dtype)
            if dtype[0] in "fb"
            else wide.long().to(a.dtype)
        )
        with case(dtype):
            check("IndexAdd", [a, 0, rows, values, alpha, Out(dtype, a.shape)], right, factor=2)
            value = True if dtype == "b" else 3
            filled = a.clone().index_fill_(1, at, value)
            check("IndexFill", [a, 1, at, value, Out(dtype, a.shape)], filled)
            check("InplaceIndexFill", [InOut(a), 1, at, value], filled)
            if dtype in dtypes("FLT3 i32 i64 b"):
                check("IndexFillTensor", [a, 1, [2, -5], value, Out(dtype, a.shape)], filled)
                check("InplaceIndexFillTensor", [InOut(a), 1, [2, 0], value], filled)


def test_put() -> None:
    at = torch.tensor([[0, 7], [-1, 7]])
    for dtype in dtypes("NUM12"):
        a, values = sample(dtype, (4, 5), special=False), sample(dtype, (4,), 1, special=False)
        flat = a.clone().view(-1)
        flat[at.view(-1)] = values
        with case(dtype):
            check("InplacePut", [InOut(a), at, values, False], flat.view(4, 5))
            added = a.clone().put_(at, values, accumulate=True) if dtype != "b" else None
            if added is not None:
                check("InplacePut", [InOut(a), at, values, True], added, factor=2)


def test_indices_out_of_range_fail_on_the_stream() -> None:
    a, out = torch.randn(4, 5), Out("f32", [1, 5])
    for bad in (4, -1, 2**40):
        at = torch.tensor([bad])
        with case(bad):
            assert fault("IndexSelect", a, 0, at, out) == CODES.AICORE
            assert fault("InplaceIndexCopy", InOut(a), 0, at, a[:1]) == CODES.AICORE
            assert fault("IndexAdd", a, 0, at, a[:1], 1, Out("f32", [4, 5])) == CODES.AICORE
    for bad in (4, -5):
        at = torch.tensor([bad])
        assert fault("Index", a, [at], out) == CODES.AICORE
        assert fault("IndexPutImpl", InOut(a), [at], a[:1], True, False) == CODES.AICORE
        assert fault("Gather", a, 0, at.view(1, 1), Out("f32", [1, 1])) == CODES.AICORE
        assert fault("InplaceIndexFill", InOut(a), 0, at, 1) == CODES.AICORE
    assert fault("Take", a, torch.tensor([20]), Out("f32", [1])) == CODES.AICORE
    assert fault("InplacePut", InOut(a), torch.tensor([-21]), a[0, :1], False) == CODES.AICORE


def test_empty() -> None:
    a, none = torch.randn(4, 5), torch.zeros(0, dtype=torch.int64)
    assert run("IndexSelect", a, 0, none, Out("f32", [0, 5])).shape == (0, 5)
    assert run("Gather", a, 0, none.view(0, 5), Out("f32", [0, 5])).shape == (0, 5)
    assert run("Index", a, [none], Out("f32", [0, 5])).shape == (0, 5)
    assert torch.equal(run("IndexAdd", a, 0, none, a[:0], 1, Out("f32", [4, 5])), a)
    same(run("IndexPutImpl", InOut(a), [none], a[:0], False, False), a)
    assert run("Take", a[:0], none, Out("f32", [0])).shape == (0,)


def test_refusals() -> None:
    a, at = torch.randn(4, 5), torch.tensor([0, 1])
    out = Out("f32", [2, 5])
    check_refusals("IndexSelect", [a, 0, at, out], [["f32"], IDX, ["f32"]])
    check_refusals("Gather", [a, 0, at[:, None], Out("f32", [2, 1])], [["f32"], IDX, ["f32"]])
    check_refusals("Take", [a, at, Out("f32", [2])], [["f32"], IDX, ["f32"]])
    check_refusals("InplacePut", [InOut(a), at, a[0, :2], False], [["f32"], IDX, ["f32"]])
    check_refusals(
        "IndexAdd", [a, 0, at, a[:2], 1, Out("f32", [4, 5])], [["f32"], IDX, ["f32"], ["f32"]]
    )
    check_refusals("InplaceIndexCopy", [InOut(a), 0, at, a[:2]], [["f32"], IDX, ["f32"]])
    check_refusals("InplaceIndexFill", [InOut(a), 0, at, 1], [dtypes("REAL10"), IDX])
    check_refusals("IndexPutImpl", [InOut(a), [at], a[:2], False, False], [["f32"], ["f32"]])
    for dtype in ("u16", "u32", "u64", "c128"):
        x = garbage(dtype, [4])
        assert refused("Index", x, [at], Out(dtype, [2])) == CODES.INVALID
    assert refused("IndexSelect", a, 2, at, out) == CODES.INVALID
    assert refused("IndexSelect", a, 0, at, Out("f32", [3, 5])) == CODES.INVALID
    assert refused("IndexSelect", a, 0, at[None], out) == CODES.INVALID
    assert refused("Gather", a, 0, at, Out("f32", [2])) == CODES.INVALID
    assert refused("Gather", a, 0, torch.zeros(2, 6).long(), Out("f32", [2, 6])) == CODES.INVALID
    assert refused("Index", a, None, out) == CODES.NULLPTR
    assert refused("Index", a, [at, None], out) == CODES.NULLPTR
    assert refused("Index", a, [at, at, at], Out("f32", [2])) == CODES.INVALID
    assert refused("Index", a, [at, torch.tensor([0, 1, 2])], Out("f32", [2])) == CODES.INVALID
    assert refused("Index", a, [at], Out("f32", [2, 4])) == CODES.INVALID
    assert refused("IndexPutImpl", InOut(a), [at], torch.zeros(3, 5), False, False) == CODES.INVALID
    assert refused("IndexAdd", a, 0, at, a[:3], 1, Out("f32", [4, 5])) == CODES.INVALID
    assert refused("IndexAdd", a, 0, at, a[:2], None, Out("f32", [4, 5])) == CODES.NULLPTR
    assert refused("InplaceIndexFillTensor", InOut(a), 0, [4], 1) == CODES.INVALID
    assert refused("InplacePut", InOut(a), at, a[0], False) == CODES.INVALID
