from typing import Any

import pytest
from calling import Out, fault, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes

# ---- lists of tensors ----------------------------------------------------------------------------


def three(dtype: str) -> list[Any]:
    """Three tensors of one shape."""
    return [sample(dtype, seed=k) for k in range(3)]


@pytest.mark.parametrize(
    ("name", "allowed", "oracle"),
    [
        ("Sum", "f32 f16 i8 i32 u8", lambda a, b: a + b),
        ("AddN", "FLT3 IDX", lambda a, b: a + b),
        ("MaxN", "FLT3 i8 i32 i64", torch.maximum),
        ("MinN", "FLT3 i8 i32 i64 u8", torch.minimum),
    ],
)
def test_lists(name: str, allowed: str, oracle: Any) -> None:
    for dtype in dtypes(allowed):
        a, b, c = three(dtype)
        expected = oracle(oracle(widened(a), widened(b)), widened(c)).to(a.dtype)
        with case(dtype):
            check(name, [[a, b, c], Out(dtype, a.shape)], expected)
            check(name, [[a], Out(dtype, a.shape)], a)
            if name != "AddN":
                expected = oracle(oracle(widened(a), widened(b[0])), widened(c)).to(a.dtype)
                check(name, [[a, b[0], c], Out(dtype, a.shape)], expected)
    assert refused(name, [], Out(dtype, a.shape)) == CODES.INVALID
    assert refused(name, None, Out(dtype, a.shape)) == CODES.NULLPTR
    assert refused(name, [a, sample("c64")], Out(dtype, a.shape)) == CODES.INVALID


def test_add_n_wants_equal_tensors() -> None:
    a = sample("f32")
    assert refused("AddN", [a, a[0]], Out("f32", a.shape)) == CODES.INVALID
    assert refused("AddN", [a, a.half()], Out("f32", a.shape)) == CODES.INVALID


# ---- complex numbers -----------------------------------------------------------------------------


def test_parts() -> None:
    for dtype, to in {"c64": "f32", "c128": "f64", "f32": "f32", "f16": "f16"}.items():
        x = sample(dtype)
        check("Real", [x, Out(to, x.shape)], x.real)
    for dtype, to in {"f32": "c64", "f64": "c128"}.items():
        a, b = sample(dtype, special=False), sample(dtype, (7,), 1, special=False)
        check("Complex", [a, b, Out(to, a.shape)], torch.complex(a, b.expand(3, 7).clone()))
    a, b = sample("f32", special=False).abs(), sample("f32", (3, 1), 1, special=False)
    check("Polar", [a, b, Out("c64", a.shape)], torch.polar(a, b.expand(3, 7).clone()))
    check_refusals("Polar", [a, b, Out("c64", a.shape)], [["f32"], ["f32"], ["c64"]])
    assert refused("Complex", a, b, Out("c128", a.shape)) == CODES.INVALID


# ---- counts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_bincount(weighted: bool) -> None:
    for dtype in dtypes("INT5"):
        x = sample(dtype, (40,)).abs()
        weights = sample("f32", (40,), 1, special=False) if weighted else None
        expected = torch.bincount(x.long(), weights, 9)
        to = "f32" if weighted else "i64"
        check("Bincount", [x, weights, 9, Out(to, (9,))], expected, factor=9.0)
    assert fault("Bincount", x, None, 0, Out("i64", (2,))) == CODES.AICORE
    assert fault("Bincount", torch.tensor([-1]), None, 0, Out("i64", (2,))) == CODES.AICORE
    assert refused("Bincount", x, None, 9, Out("i64", (8,))) == CODES.INVALID
    assert refused("Bincount", x.reshape(4, 10), None, 9, Out("i64", (9,))) == CODES.INVALID


def test_histogram() -> None:
    for dtype in dtypes("f32 f16 INT5"):
        x = sample(dtype, (50,), special=False)
        for low, high in [(-2, 3), (0, 0)]:
            expected = torch.histc(x.double(), 5, low, high)
            check("Histc", [x, 5, low, high, Out(dtype, (5,))], expected)
    same = torch.full((3,), 2.0)
    assert run("Histc", same, 2, 0, 0, Out("f32", (2,))).tolist() == [0.0, 3.0]
    assert run("Histc", same[:0], 2, 0, 0, Out("f32", (2,))).tolist() == [0.0, 0.0]
    infinite = torch.tensor([float("inf")])
    assert fault("Histc", infinite, 2, 0, 0, Out("f32", (2,))) == CODES.AICORE
    assert refused("Histc", same, 0, 0, 0, Out("f32", (0,))) == CODES.INVALID
    assert refused("Histc", same, 2, 1, 0, Out("f32", (2,))) == CODES.INVALID
