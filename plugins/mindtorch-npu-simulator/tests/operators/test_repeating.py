from typing import Any

from calling import TORCH, Out, fault, refused, run, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

REPEATED = dtypes("REAL10-f64")
TIMES = torch.tensor([2, 0, 3])


def repeated(a: Any, times: Any, dim: int | None = None) -> Any:
    """PyTorch's repeat_interleave, which gives the size that the operators must be told."""
    return a.repeat_interleave(times, dim)


def test_one_number_for_all() -> None:
    for dtype in REPEATED:
        a = sample(dtype, (3, 4))
        with case(dtype):
            for times in (0, 1, 3):
                check(
                    "RepeatInterleaveInt",
                    [a, times, 12 * times, Out(dtype, [12 * times])],
                    repeated(a, times),
                )
                right = repeated(a, times, 1)
                check(
                    "RepeatInterleaveIntWithDim",
                    [a, times, -1, 4 * times, Out(dtype, right.shape)],
                    right,
                )
    one = torch.tensor(2.5)
    check("RepeatInterleaveInt", [one, 3, 3, Out("f32", [3])], one.expand(3))


def test_a_number_for_each() -> None:
    for dtype in REPEATED:
        a = sample(dtype, (3, 4))
        for index in dtypes("IDX"):
            times = TIMES.to(TORCH[index])
            with case(dtype, index):
                right = repeated(a, TIMES, 0)
                check("RepeatInterleaveWithDim", [a, times, 0, 5, Out(dtype, [5, 4])], right)
                flat = torch.arange(12).to(TORCH[index])
                right = repeated(a, flat.long())
                check("RepeatInterleave", [a, flat, 66, Out(dtype, [66])], right)
                same = repeated(a, 2)
                check("RepeatInterleave", [a, times[:1], 24, Out(dtype, [24])], same)
                places = repeated(torch.arange(3), TIMES).to(TORCH[index])
                check("RepeatInterleaveTensor", [times, 5, Out(index, [5])], places)


def test_sizes_that_do_not_fit_fail_on_the_stream() -> None:
    a = torch.randn(3, 4)
    for size in (4, 6):
        assert (
            fault("RepeatInterleaveWithDim", a, TIMES, 0, size, Out("f32", [size, 4]))
            == CODES.AICORE
        )
        assert fault("RepeatInterleaveTensor", TIMES, size, Out("i64", [size])) == CODES.AICORE
    negative = torch.tensor([3, -1, 3])
    assert fault("RepeatInterleaveWithDim", a, negative, 0, 5, Out("f32", [5, 4])) == CODES.AICORE


def test_refusals() -> None:
    a, out = torch.randn(3, 4), Out("f32", [5, 4])
    given = [a, TIMES, 0, 5, out]
    check_refusals("RepeatInterleaveWithDim", given, [["f32"], dtypes("IDX"), ["f32"]])
    assert refused("RepeatInterleaveWithDim", a, TIMES[:2], 0, 5, out) == CODES.INVALID
    assert refused("RepeatInterleaveWithDim", a, TIMES, 2, 5, out) == CODES.INVALID
    assert refused("RepeatInterleaveWithDim", a, TIMES, 0, 4, out) == CODES.INVALID
    assert refused("RepeatInterleaveInt", a, 2, 23, Out("f32", [23])) == CODES.INVALID
    assert refused("RepeatInterleaveInt", a, -1, 0, Out("f32", [0])) == CODES.INVALID
    assert run("RepeatInterleaveInt", a[:0], 5, 0, Out("f32", [0])).shape == (0,)
