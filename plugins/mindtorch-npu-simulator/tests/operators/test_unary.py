from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from calling import InOut, Out, close, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes


class Row(NamedTuple):
    """A function of one element: its sets of dtypes, and PyTorch's function for it."""

    name: str
    oracle: Callable[[Any], Any]
    inputs: str
    outputs: str
    inplace: str = ""  # dtypes of aclnnInplace<name>; none where it does not exist
    same: bool = False  # integers give integers


NO_BF16 = "f32 f16 f64"

FLOATING = [
    Row("Exp", torch.exp, "FLT4+i64+b+c64+c128", "FLTC6", "FLTC6"),
    Row("Exp2", torch.exp2, "REAL10", "FLT4", "FLT4"),
    Row("Expm1", torch.expm1, "FLT3+i64+b", "FLT4", "FLT3"),
    Row("Log", torch.log, "NUM12", "FLTC6", "FLTC6"),
    Row("Log1p", torch.log1p, "REAL10", "FLT4", "FLT4"),
    Row("Log2", torch.log2, "NUM12", "FLTC6", "FLTC6"),
    Row("Log10", torch.log10, "NUM12", "FLT3+c64+c128", "FLTC6"),
    Row("Sqrt", torch.sqrt, "NUM12", "FLTC6", "FLTC6"),
    Row("Rsqrt", torch.rsqrt, "NUM12", "FLTC6", "FLTC6"),
    Row("Reciprocal", torch.reciprocal, "NUM12", "FLTC6", "FLTC6"),
    Row("Sin", torch.sin, "NUM12", "FLTC6", "FLT3"),
    Row("Cos", torch.cos, "NUM12", "FLTC6", "FLTC6"),
    Row("Tan", torch.tan, "NUM12", "FLTC6", "FLTC6"),
    Row("Asin", torch.asin, "REAL10-bf16", NO_BF16, NO_BF16),
    Row("Acos", torch.acos, "REAL10-bf16", NO_BF16, NO_BF16),
    Row("Atan", torch.atan, "REAL10", "FLT4", "FLT4"),
    Row("Sinh", torch.sinh, "NUM12", "FLTC6", "FLTC6"),
    Row("Cosh", torch.cosh, NO_BF16, NO_BF16, NO_BF16),
    Row("Tanh", torch.tanh, "REAL10-f64", "FLT3", "FLT3"),
    Row("Asinh", torch.asinh, "REAL10-bf16", NO_BF16, NO_BF16),
    Row("Acosh", torch.acosh, NO_BF16, NO_BF16, NO_BF16),
    Row("Atanh", torch.atanh, "REAL10-bf16", NO_BF16, NO_BF16),
    Row("Sinc", torch.sinc, "REAL10-bf16", NO_BF16, NO_BF16),
    Row("Erf", torch.erf, NO_BF16 + " i64 b", NO_BF16, NO_BF16),
    Row("Erfc", torch.erfc, NO_BF16 + " i64 b", NO_BF16, NO_BF16),
    Row("Erfinv", torch.erfinv, "REAL10-f64", "FLT3", "FLT3"),
    Row("Lgamma", torch.lgamma, NO_BF16, NO_BF16),
    Row("Digamma", torch.digamma, NO_BF16, NO_BF16),
]

SAME = [
    Row("Neg", torch.neg, "FLT4 i8 i32 i64 c64 c128", "FLT4 i8 i32 i64 c64 c128", "FLT4", True),
    Row("Sign", torch.sgn, "FLT4 IDX b c64 c128", "FLT4 IDX b c64 c128", same=True),
    Row("Square", torch.square, "FLT3 IDX", "FLT3 IDX", same=True),
    Row("Abs", torch.abs, "REAL10+c64", "REAL10", same=True),
    Row("Floor", torch.floor, NO_BF16 + " INT5", NO_BF16 + " INT5", NO_BF16 + " INT5", True),
    Row("Ceil", torch.ceil, "FLT4", "FLT4", "FLT4", True),
    Row("Round", torch.round, "FLT4 IDX", "FLT4 IDX", "FLT4 IDX", True),
    Row("Trunc", torch.trunc, "FLT3", "FLT3", "FLT3", True),
]

WIDE = {"Neg": [], "Floor": ["u16", "u32", "u64"]}


def oracle(row: Row, x: Any) -> Any:
    """Compute in double precision, but for integers that stay integers."""
    if row.same and not x.dtype.is_floating_point and not x.dtype.is_complex:
        return row.oracle(x) if x.dtype != torch.bool else x
    return row.oracle(widened(x) if x.dtype.is_floating_point or x.dtype.is_complex else x.double())


def result_dtype(row: Row, dtype: str) -> str:
    """Choose an output's dtype that holds the result as exactly as the set allows."""
    real = {"c64": "f32", "c128": "f64"}.get(dtype, dtype) if row.name == "Abs" else dtype
    allowed = dtypes(row.outputs)
    if real in allowed and (row.same or (real[0] in "fcb" and real != "b")):
        return real
    return "f32"


@pytest.mark.parametrize("row", FLOATING + SAME, ids=lambda row: row.name)
def test_values(row: Row) -> None:
    for dtype in dtypes(row.inputs):
        for shape in [(3, 7), (), (0, 4)]:
            x = sample(dtype, shape)
            with case(dtype, shape):
                out = Out(result_dtype(row, dtype), shape)
                check(row.name, [x, out], oracle(row, x), factor=4.0)


@pytest.mark.parametrize("row", [r for r in FLOATING + SAME if r.inplace], ids=lambda row: row.name)
def test_in_place(row: Row) -> None:
    for dtype in dtypes(row.inplace):
        x = sample(dtype, (2, 3, 5))
        with case(dtype):
            check("Inplace" + row.name, [InOut(x)], oracle(row, x), factor=4.0)


@pytest.mark.parametrize("row", FLOATING + SAME, ids=lambda row: row.name)
def test_refusals(row: Row) -> None:
    wide = WIDE.get(row.name, [])
    x = sample("f32")
    allowed = [dtypes(row.inputs) + wide, dtypes(row.outputs) + wide]
    if row.same and row.name != "Abs":  # a float may be stored as an integer, not as bool
        allowed[1] = [d for d in allowed[1] if d != "b"]
    check_refusals(row.name, [x, Out("f32", x.shape)], allowed)
    assert refused(row.name, x, Out("f32", (7, 3))) == CODES.INVALID


def test_results_are_converted_to_the_output() -> None:
    x = torch.tensor([-2.75, 0.5, 3.0])
    assert run("Floor", x, Out("i32", (3,))).tolist() == [-3, 0, 3]
    assert run("Exp", x, Out("c64", (3,))).dtype == torch.complex64
    assert refused("Neg", x.to(torch.complex64), Out("i32", (3,))) == CODES.INVALID
    close(
        run("Abs", torch.tensor([3 + 4j, -1j]), Out("f16", (2,))), torch.tensor([5.0, 1.0]).half()
    )


def test_integers_at_their_ends_wrap() -> None:
    ends = torch.tensor([-(2**63), 2**63 - 1])
    assert run("Neg", ends, Out("i64", (2,))).tolist() == [-(2**63), -(2**63) + 1]
    assert run("Abs", torch.tensor([-128], dtype=torch.int8), Out("i8", (1,))).tolist() == [-128]


def test_signs_of_zero() -> None:
    x = torch.tensor([0.0, -0.0])
    for name, expected in {
        "Neg": [True, False],
        "Floor": [False, True],
        "Abs": [False, False],
    }.items():
        assert torch.signbit(run(name, x, Out("f32", (2,)))).tolist() == expected


@pytest.mark.parametrize("decimals", [0, 1, 3, -1, -2])
def test_round_decimals(decimals: int) -> None:
    for dtype in dtypes("FLT4"):
        x = sample(dtype, special=False) * 40
        expected = torch.round(widened(x), decimals=decimals)
        check("RoundDecimals", [x, decimals, Out(dtype, x.shape)], expected)
        check("InplaceRoundDecimals", [InOut(x), decimals], expected)
    whole = torch.tensor([15, 25, -15, -25, 149, 151, -949, 0])
    expected = torch.round(whole.double(), decimals=decimals).long()
    check("RoundDecimals", [whole, decimals, Out("i64", whole.shape)], expected)
    assert run("RoundDecimals", whole, -30, Out("i64", whole.shape)).tolist() == [0] * 8


def test_fractions() -> None:
    for dtype in dtypes("REAL10-f64-b"):
        x = sample(dtype)
        whole = not x.dtype.is_floating_point
        expected = torch.zeros_like(x) if whole else torch.frac(widened(x))
        check("Frac", [x, Out(dtype, x.shape)], expected)
        check("InplaceFrac", [InOut(x)], expected)


def test_nan_to_num() -> None:
    for dtype in dtypes("REAL10-f64"):
        x = sample(dtype)
        expected = x if dtype == "b" else torch.nan_to_num(x, 0.5, 9.0, -8.0)
        check("NanToNum", [x, 0.5, 9.0, -8.0, Out(dtype, x.shape)], expected)
        check("InplaceNanToNum", [InOut(x), 0.5, 9.0, -8.0], expected)
    check_refusals(
        "NanToNum", [sample("f32"), 0.0, 0.0, 0.0, Out("f32", (3, 7))], [dtypes("REAL10-f64")] * 2
    )


@pytest.mark.parametrize("eps", [-1.0, 0.0, 0.1])
def test_logit(eps: float) -> None:
    for dtype in dtypes("FLT3"):
        x = (torch.arange(9) / 8).to(sample(dtype).dtype)
        expected = torch.logit(widened(x), eps if eps >= 0 else None)
        check("Logit", [x, eps, Out(dtype, x.shape)], expected)


def test_signbit() -> None:
    for dtype in dtypes("REAL10"):
        x = sample(dtype)
        check("Signbit", [x, Out("b", x.shape)], torch.signbit(x))
    wide = torch.tensor([0, 2**63], dtype=torch.uint64)
    assert run("Signbit", wide, Out("b", (2,))).tolist() == [False, False]
    outputs = ["b"]
    inputs = dtypes("REAL10 u16 u32 u64")
    check_refusals("Signbit", [sample("f32"), Out("b", (3, 7))], [inputs, outputs])
