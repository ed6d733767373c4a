from typing import Any

import pytest
from calling import TORCH, InOut, Out, close, refused, run, strided, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

EVERY = dtypes("NUM12 u16 u32 u64")
JOINED = dtypes("REAL10 u16 u32 u64 c64")


def equal(result: Any, expected: Any) -> None:
    torch.testing.assert_close(result, expected, rtol=0, atol=0, equal_nan=True)


def test_cat() -> None:
    for dtype in JOINED:
        parts = [
            sample(dtype, shape, k) for k, shape in enumerate([(2, 3), (2, 1), (2, 0), (2, 4)])
        ]
        with case(dtype):
            for dim in (1, -1):
                right = torch.cat([p.view(TORCH[dtype]) for p in parts], dim)
                equal(
                    run("Cat", [strided(p) for p in parts], dim, Out(dtype, [2, 8], strided=True)),
                    right,
                )
    a, b = torch.ones(2, 3), torch.full((1, 3), 2, dtype=torch.int32)
    equal(run("Cat", [a, torch.zeros(0), b], 0, Out("f32", [3, 3])), torch.cat([a, b]))
    assert run("Cat", [torch.zeros(0), torch.zeros(0)], 0, Out("f32", [0])).shape == (0,)


def test_stack() -> None:
    for dtype in EVERY:
        parts = [sample(dtype, (2, 3), k) for k in range(3)]
        with case(dtype):
            for dim in (0, 1, 2, -1):
                right = torch.stack(parts, dim)
                equal(
                    run("Stack", [strided(p) for p in parts], dim, Out(dtype, right.shape)), right
                )
    one = torch.tensor(1.5)
    equal(run("Stack", [one, one], 0, Out("f32", [2])), torch.stack([one, one]))


def test_split() -> None:
    for dtype in EVERY:
        a = sample(dtype, (3, 7))
        parts = list(a.split([3, 3, 1], 1))
        outs = [Out(dtype, p.shape, strided=True) for p in parts]
        with case(dtype):
            for name, sizes in [("SplitTensor", 3), ("SplitWithSize", [3, 3, 1])]:
                for result, right in zip(
                    run(name, strided(a), sizes, -1, outs), parts, strict=True
                ):
                    equal(result, right)


def test_refusals() -> None:
    a, out = torch.ones(2, 3), Out("f32", [4, 3])
    check_refusals("Cat", [[a, a], 0, out], [dtypes("REAL10-b u16 u32 u64 c64")])
    assert refused("Cat", None, 0, out) == CODES.NULLPTR
    assert refused("Cat", [a, None], 0, out) == CODES.NULLPTR
    for wrong in (
        [],
        [a, a[:, :2]],
        [a, a[0]],
        [a, a.to(torch.complex128)],
        [a, a.to(torch.uint16)],
    ):
        assert refused("Cat", wrong, 0, out) == CODES.INVALID
    assert refused("Cat", [a, a], 2, out) == CODES.INVALID
    assert refused("Cat", [a, a], 0, Out("f32", [3, 3])) == CODES.INVALID
    assert refused("Stack", [a, a[0]], 0, Out("f32", [2, 2, 3])) == CODES.INVALID
    assert refused("Stack", [a, a], 3, Out("f32", [2, 2, 3])) == CODES.INVALID
    assert refused("Stack", [a, a], 0, Out("b", [2, 2, 3])) == CODES.INVALID
    halves = [Out("f32", [1, 3]), Out("f32", [1, 3])]
    assert refused("SplitTensor", a, 0, 0, halves) == CODES.INVALID
    assert refused("SplitTensor", a, 1, 0, halves[:1]) == CODES.INVALID
    assert refused("SplitTensor", a, 1, 1, halves) == CODES.INVALID
    assert refused("SplitWithSize", a, [1, 2], 0, halves) == CODES.INVALID
    assert refused("SplitWithSize", a, [3, -1], 0, halves) == CODES.INVALID
    assert refused("SplitWithSize", a, None, 0, halves) == CODES.NULLPTR


# ---- rearrangements ------------------------------------------------------------------------------

SLICED = dtypes("REAL10-f64-i16")


def test_slices() -> None:
    for dtype in SLICED:
        a = sample(dtype, (4, 9))
        for dim, start, end, step in [(1, 1, 8, 3), (1, -4, 100, 1), (0, 2, 1, 1), (-1, 0, 9, 2)]:
            right = a[(slice(None),) * (dim % 2) + (slice(start, end, step),)]
            with case(dtype, dim, start, end, step):
                check("Slice", [a, dim, start, end, step, Out(dtype, right.shape)], right)
        right = a[1:4:2, 2:7]
        check("SliceV2", [a, [1, 2], [4, 7], [0, 1], [2, 1], Out(dtype, right.shape)], right)
    a = torch.ones(4, 9)
    check_refusals("Slice", [a, 1, 0, 9, 1, Out("f32", [4, 9])], [["f32"], ["f32"]])
    assert refused("Slice", a, 1, 0, 9, 0, Out("f32", [4, 9])) == CODES.INVALID
    assert refused("Slice", a, 1, 0, 9, -1, Out("f32", [4, 9])) == CODES.INVALID
    assert refused("Slice", a, 1, 0, 8, 1, Out("f32", [4, 9])) == CODES.INVALID
    assert refused("SliceV2", a, [1], [4, 7], [0, 1], [1, 1], Out("f32", [4, 9])) == CODES.INVALID


def test_permute_expand_repeat() -> None:
    for dtype in EVERY:
        a = sample(dtype, (2, 3, 4))
        with case(dtype):
            check("Permute", [a, [2, 0, -2], Out(dtype, [4, 2, 3])], a.permute(2, 0, 1))
            right = a.repeat(2, 1, 3, 2)
            check("Repeat", [a, [2, 1, 3, 2], Out(dtype, right.shape)], right)
            if dtype in SLICED:
                check(
                    "Expand",
                    [a[:, :1], [5, 2, 3, -1], Out(dtype, [5, 2, 3, 4])],
                    a[:, :1].expand(5, 2, 3, 4),
                )
            if dtype not in {"f64", "c64", "c128"}:
                check("Flatten", [a, 1, Out(dtype, [2, 12])], a.view(2, 12))
                check("Flatten", [a, -1, Out(dtype, [6, 4])], a.view(6, 4))
    a = torch.ones(2, 3)
    assert run("Repeat", a, [0, 2], Out("f32", [0, 6])).shape == (0, 6)
    assert refused("Permute", a, [0], Out("f32", [2, 3])) == CODES.INVALID
    assert refused("Permute", a, [0, 0], Out("f32", [2, 2])) == CODES.INVALID
    assert refused("Permute", a, [1, 0], Out("f32", [2, 3])) == CODES.INVALID
    assert refused("Expand", a, [3, 3], Out("f32", [3, 3])) == CODES.INVALID
    assert refused("Expand", a, [3], Out("f32", [3])) == CODES.INVALID
    assert refused("Repeat", a, [2], Out("f32", [2, 6])) == CODES.INVALID
    assert refused("Repeat", a, [-1, 1], Out("f32", [0, 3])) == CODES.INVALID
    assert refused("Flatten", a, 3, Out("f32", [6, 1])) == CODES.INVALID


def test_flip_and_roll() -> None:
    for dtype in dtypes("NUM12"):
        a = sample(dtype, (2, 3, 4))
        for dims in ([0], [0, 2], [-1, 1], []):
            with case(dtype, dims):
                check("Flip", [a, dims, Out(dtype, a.shape)], a.flip(dims))
    for dtype in dtypes("f32 f16 bf16 i8 i16 i32 i64 u8 u32 b c64"):
        a = sample(dtype, (2, 3, 4))
        for shifts, dims in [([1], [0]), ([2, -5], [1, -1]), ([4], [2]), ([1, 1], [1, 1])]:
            right = (
                a.to(torch.int64).roll(shifts, dims).to(a.dtype)
                if dtype == "u32"
                else a.roll(shifts, dims)
            )
            with case(dtype, shifts, dims):
                check("Roll", [a, shifts, dims, Out(dtype, a.shape)], right)
    a = torch.ones(2, 3)
    assert refused("Flip", a, [0, 0], Out("f32", [2, 3])) == CODES.INVALID
    assert refused("Flip", a, [2], Out("f32", [2, 3])) == CODES.INVALID
    assert refused("Roll", a, [1], [0, 1], Out("f32", [2, 3])) == CODES.INVALID


@pytest.mark.parametrize("name", ["Tril", "Triu"])
def test_triangles(name: str) -> None:
    allowed = dtypes("REAL10 u16 u32 u64 c64")
    for dtype in allowed:
        a = sample(dtype, (2, 4, 5), special=False)
        for diagonal in (0, 2, -1, 9, -9):
            wide = a.to(torch.complex128)
            right = getattr(wide, name.lower())(diagonal)
            right = right if dtype == "c64" else right.real
            with case(dtype, diagonal):
                check(name, [a, diagonal, Out(dtype, a.shape)], right.to(a.dtype))
                check(f"Inplace{name}", [InOut(a), diagonal], right.to(a.dtype))
    check_refusals(name, [torch.ones(2, 2), 0, Out("f32", [2, 2])], [["f32"], ["f32"]])
    assert refused(name, torch.ones(2), 0, Out("f32", [2])) == CODES.INVALID


def test_diagonals() -> None:
    for dtype in dtypes("REAL10 c64"):
        v, m = sample(dtype, (3,)), sample(dtype, (3, 5))
        for diagonal in (0, 2, -1):
            with case(dtype, diagonal):
                for right, x in [(v.diag(diagonal), v), (m.diag(diagonal), m)]:
                    close(
                        run("Diag", strided(x), diagonal, Out(dtype, right.shape, strided=True)),
                        right,
                    )
                right = m[:2, :2].diagflat(diagonal)
                check("DiagFlat", [m[:2, :2], diagonal, Out(dtype, right.shape)], right)
    assert refused("Diag", torch.ones(2, 2, 2), 0, Out("f32", [2])) == CODES.INVALID
    assert refused("Diag", torch.ones(2), 1, Out("f32", [2, 2])) == CODES.INVALID
