import pytest
from calling import TORCH, Out, Scalar, close, refused, run, torch
from samples import case, check, check_refusals
from simtoolkit import CODES, dtypes

SEQUENCES = dtypes("FLT4 i32 i64")


@pytest.mark.parametrize("dtype", SEQUENCES)
def test_arange(dtype: str) -> None:
    for start, end, step in [(0, 10, 1), (2, 11, 3), (10, -1, -2), (3, 3, 1), (-5, 5, 4)]:
        expected = torch.arange(start, end, step, dtype=TORCH[dtype])
        with case(start, end, step):
            check("Arange", [start, end, step, Out(dtype, expected.shape)], expected)
    if dtype in dtypes("FLT4"):
        expected = torch.arange(0.5, 2.0, 0.25, dtype=TORCH[dtype])
        check("Arange", [0.5, 2.0, 0.25, Out(dtype, expected.shape)], expected)


def test_whole_numbers_are_exact() -> None:
    start = 2**53 + 1
    result = run("Arange", start, start + 3, 1, Out("i64", [3]))
    assert result.tolist() == [start, start + 1, start + 2]


def test_range_has_its_end() -> None:
    check("Range", [1, 9, 2, Out("i32", [5])], torch.tensor([1, 3, 5, 7, 9]))
    check("Range", [0.0, 1.0, 0.25, Out("f32", [5])], torch.linspace(0, 1, 5))
    check("Range", [1, 8, 2, Out("i64", [4])], torch.tensor([1, 3, 5, 7]))


def test_linspace() -> None:
    for dtype in dtypes("FLT4 i8 i16 i32 u8"):
        for steps in (0, 1, 2, 5, 6):
            right = torch.linspace(0, 10, steps, dtype=torch.float64).to(TORCH[dtype])
            with case(dtype, steps):
                check("Linspace", [0, 10, steps, Out(dtype, [steps])], right)
    close(run("Linspace", 1.0, -1.0, 7, Out("f32", [7])), torch.linspace(1, -1, 7))


def test_eye() -> None:
    for dtype in dtypes("REAL10-f64"):
        for n, m in [(3, 3), (2, 5), (4, 1), (0, 3)]:
            check("Eye", [n, m, Out(dtype, [n, m])], torch.eye(n, m).to(TORCH[dtype]))
    check_refusals("Eye", [2, 2, Out("f32", [2, 2])], [dtypes("REAL10-f64")])
    assert refused("Eye", 2, 3, Out("f32", [3, 2])) == CODES.INVALID
    assert refused("Eye", -1, 3, Out("f32", [0, 3])) == CODES.INVALID


def test_refusals() -> None:
    check_refusals("Arange", [0, 3, 1, Out("f32", [3])], [SEQUENCES])
    check_refusals("Range", [0, 3, 1, Out("f32", [4])], [SEQUENCES])
    check_refusals("Linspace", [0, 3, 4, Out("f32", [4])], [dtypes("FLT4 i8 i16 i32 u8")])
    assert refused("Arange", None, 3, 1, Out("f32", [3])) == CODES.NULLPTR
    assert refused("Arange", 0, 3, 0, Out("f32", [3])) == CODES.INVALID
    assert refused("Arange", 0, 3, -1, Out("f32", [3])) == CODES.INVALID
    assert refused("Arange", 0, 3, 1, Out("f32", [4])) == CODES.INVALID
    assert refused("Linspace", 0, Scalar(3, "f32"), 5, Out("f32", [4])) == CODES.INVALID
