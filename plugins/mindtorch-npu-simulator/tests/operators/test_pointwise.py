import math
from typing import Any

import pytest
from calling import InOut, Out, close, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes

CUT = "FLT4 i8 i32 i64 u8"
DIVIDED = "FLT4 IDX"
WIDE = ["u16", "u32", "u64"]


def pair(dtype: str) -> tuple[Any, Any]:
    """Two tensors that broadcast; of integers the second has no zeros."""
    a, b = sample(dtype, (3, 7)), sample(dtype, (7,), 1)
    if dtype[0] in "iu":
        b[b == 0] = 3
    return a, b


def double(*tensors: Any) -> list[Any]:
    """Floating numbers in double precision; integers and bool too."""
    return [widened(t) if t.dtype.is_complex else t.double() for t in tensors]


# ---- remainders and powers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "oracle", "inputs", "inplace"),
    [
        ("Remainder", torch.remainder, "REAL9", DIVIDED),
        ("Fmod", torch.fmod, CUT, CUT),
    ],
)
def test_remainders(name: str, oracle: Any, inputs: str, inplace: str) -> None:
    both = "RemainderTensorTensor" if name == "Remainder" else "FmodTensor"
    scalar = "RemainderTensorScalar" if name == "Remainder" else "FmodScalar"
    for dtype in dtypes(inputs):
        a, b = pair(dtype)
        expected = oracle(widened(a), widened(b))
        with case(dtype):
            check(both, [a, b, Out(dtype, a.shape)], expected)
            if dtype in dtypes(inplace):
                check("Inplace" + both, [InOut(a), b], expected)
                number = 2.5 if a.dtype.is_floating_point else 3
                check(scalar, [a, number, Out(dtype, a.shape)], oracle(widened(a), number))
                check("Inplace" + scalar, [InOut(a), number], oracle(widened(a), number))
                if name == "Remainder":
                    expected = oracle(torch.tensor(number), widened(b))
                    check("RemainderScalarTensor", [number, b, Out(dtype, b.shape)], expected)


def test_whole_numbers_divided_by_zero_do_not_trap() -> None:
    for dtype in ("i8", "i32", "i64", "u8"):
        a = sample(dtype)
        for name in ("RemainderTensorTensor", "FmodTensor"):
            assert run(name, a, torch.zeros_like(a), Out(dtype, a.shape)).tolist() == [[0] * 7] * 3
    least = torch.tensor([-(2**63)])
    minus = torch.tensor([-1])
    assert run("FmodTensor", least, minus, Out("i64", (1,))).tolist() == [0]
    assert run("RemainderTensorTensor", least, minus, Out("i64", (1,))).tolist() == [0]


def test_divisors() -> None:
    for dtype in dtypes("INT5"):
        a, b = sample(dtype), sample(dtype, (7,), 1)
        check("Gcd", [a, b, Out(dtype, a.shape)], torch.gcd(a, b))


def test_powers() -> None:
    for dtype in dtypes("REAL9"):
        a, b = pair(dtype)
        whole = not a.dtype.is_floating_point
        expected = torch.pow(widened(a), widened(b))
        with case(dtype):
            check("PowTensorTensor", [a, b, Out(dtype, a.shape)], expected, factor=8.0)
            check("InplacePowTensorTensor", [InOut(a), b], expected, factor=8.0)
            for number in (0, 1, 2, 3) if whole else (0.0, 0.5, 2.0, -1.5, 3):
                expected = torch.pow(widened(a), number)
                check("PowTensorScalar", [a, number, Out(dtype, a.shape)], expected, factor=8.0)
                check("InplacePowTensorScalar", [InOut(a), number], expected, factor=8.0)
            number = 3 if whole else 1.5
            expected = torch.pow(number, widened(b))
            check("PowScalarTensor", [number, b, Out(dtype, b.shape)], expected, factor=8.0)
    a, b = sample("c64"), sample("c64", (7,), 1)
    expected = torch.pow(widened(a), widened(b))
    check("PowTensorTensor", [a, b, Out("c64", a.shape)], expected, factor=50.0)


def test_powers_refuse() -> None:
    a, flags = sample("i32"), sample("b")
    assert refused("PowTensorTensor", flags, flags, Out("b", (3, 7))) == CODES.INVALID
    assert refused("PowTensorScalar", a, -1, Out("i32", a.shape)) == CODES.INVALID
    assert refused("InplacePowTensorScalar", InOut(a), -2) == CODES.INVALID
    close(run("PowTensorScalar", a, -1.0, Out("f32", a.shape)), 1 / a)
    no_bool = dtypes("REAL9 c64 c128")
    f = sample("f32")
    check_refusals("InplacePowTensorTensor", [InOut(f), f], [no_bool, no_bool])
    check_refusals("PowScalarTensor", [2.0, f, Out("f32", f.shape)], [no_bool, [*no_bool, *WIDE]])


# ---- extremes and bounds -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "oracle"), [("Maximum", torch.maximum), ("Minimum", torch.minimum)]
)
def test_extremes(name: str, oracle: Any) -> None:
    for dtype in dtypes("REAL10"):
        a, b = sample(dtype), sample(dtype, (7,), 1)
        check(name, [a, b, Out(dtype, a.shape)], oracle(a, b))
    check(name, [a, b.int(), Out("i32", a.shape)], oracle(a, b.int()))
    real, not_bool = dtypes("REAL10"), dtypes("REAL9")
    f = sample("f32")
    check_refusals(name, [f, f, Out("f32", f.shape)], [real, real, not_bool])


def test_clamp() -> None:
    for dtype in dtypes("REAL9"):
        a = sample(dtype)
        low, high = (-0.75, 2.0) if a.dtype.is_floating_point else (1, 4)
        out = Out(dtype, a.shape)
        for least, most in [(low, high), (low, None), (None, high), (high, low)]:
            expected = torch.clamp(widened(a), least, most)
            check("Clamp", [a, least, most, out], expected)
        check("ClampMin", [a, low, out], torch.clamp(widened(a), min=low))
        check("ClampMax", [a, high, out], torch.clamp(widened(a), max=high))
        check("InplaceClampMax", [InOut(a), high], torch.clamp(widened(a), max=high))
        check("Hardtanh", [a, low, high, out], torch.clamp(widened(a), low, high))
        check("InplaceHardtanh", [InOut(a), low, high], torch.clamp(widened(a), low, high))
    whole = torch.tensor([1, 2, 3])
    assert run("Clamp", whole, 1.5, None, Out("f32", (3,))).tolist() == [1.5, 2.0, 3.0]
    assert refused("Clamp", whole, None, None, Out("i64", (3,))) == CODES.NULLPTR
    assert refused("ClampMin", whole, None, Out("i64", (3,))) == CODES.NULLPTR
    f = sample("f32")
    check_refusals("Clamp", [f, 0.0, 1.0, Out("f32", f.shape)], [dtypes("REAL10"), dtypes("REAL9")])
    check_refusals("ClampMin", [f, 0.0, Out("f32", f.shape)], [dtypes("REAL9")] * 2)


@pytest.mark.parametrize("bound", [0.0, -0.0])
def test_zeros_at_a_bound_of_zero_stay(bound: float) -> None:
    a = torch.tensor([0.0, -0.0, -1.0, 1.0, math.nan])
    like, out = torch.full_like(a, bound), Out("f32", a.shape)
    below, above = a.clamp(min=bound), a.clamp(max=bound)
    for name, arguments, expected in (
        ("Clamp", [a, bound, None, out], below),
        ("Clamp", [a, None, bound, out], above),
        ("ClampMin", [a, bound, out], below),
        ("ClampMax", [a, bound, out], above),
        ("InplaceClampMax", [InOut(a), bound], above),
        ("ClampMinTensor", [a, like, out], below),
        ("ClampMaxTensor", [a, like, out], above),
        ("InplaceClampMinTensor", [InOut(a), like], below),
        ("InplaceClampMaxTensor", [InOut(a), like], above),
        ("ClampTensor", [a, like, like, out], a.clamp(like, like)),
        ("Hardtanh", [a, bound, 1.0, out], a.clamp(bound, 1.0)),
    ):
        found = run(name, *arguments)
        assert repr(found.tolist()) == repr(expected.tolist()), name


def test_clamp_between_tensors() -> None:
    for dtype in dtypes("REAL9"):
        a, low, high = sample(dtype), sample(dtype, (7,), 1), sample(dtype, (3, 1), 2)
        out = Out(dtype, a.shape)
        check("ClampTensor", [a, low, high, out], torch.clamp(a, low, high))
        check("ClampMinTensor", [a, low, out], torch.clamp(a, min=low))
        check("ClampMaxTensor", [a, high, out], torch.clamp(a, max=high))
        check("InplaceClampMinTensor", [InOut(a), low], torch.clamp(a, min=low))
        check("InplaceClampMaxTensor", [InOut(a), high], torch.clamp(a, max=high))
    f = sample("f32")
    sets = [dtypes("REAL9"), dtypes("REAL10"), dtypes("REAL10"), dtypes("REAL9")]
    check_refusals("ClampTensor", [f, f, f, Out("f32", f.shape)], sets)


def test_threshold() -> None:
    allowed = dtypes("REAL10-f64-b")
    for dtype in allowed:
        a = sample(dtype)
        limit, value = (0.5, -3.0) if a.dtype.is_floating_point else (1, 7)
        expected = torch.nn.functional.threshold(a, limit, value)
        check("Threshold", [a, limit, value, Out(dtype, a.shape)], expected)
        check("InplaceThreshold", [InOut(a), limit, value], expected)
    f = sample("f32")
    check_refusals("Threshold", [f, 0.0, 1.0, Out("f32", f.shape)], [allowed] * 2)


# ---- three tensors -------------------------------------------------------------------------------


def test_products_and_quotients_added() -> None:
    for dtype in dtypes(CUT):
        x, a, b = sample(dtype), sample(dtype, (7,), 1), sample(dtype, (3, 1), 2)
        value = 2 if not x.dtype.is_floating_point else 0.5
        expected = torch.addcmul(widened(x), widened(a), widened(b), value=value)
        check("Addcmul", [x, a, b, value, Out(dtype, x.shape)], expected, factor=4.0)
        check("InplaceAddcmul", [InOut(x), a, b, value], expected, factor=4.0)
        if x.dtype.is_floating_point:
            expected = torch.addcdiv(widened(x), widened(a), widened(b), value=value)
            check("Addcdiv", [x, a, b, value, Out(dtype, x.shape)], expected, factor=4.0)
            check("InplaceAddcdiv", [InOut(x), a, b, value], expected, factor=4.0)
    f = sample("f32")
    assert refused("Addcmul", f, f, f, None, Out("f32", f.shape)) == CODES.NULLPTR
    check_refusals("Addcmul", [f, f, f, 1.0, Out("f32", f.shape)], [dtypes(CUT)] * 4)
    check_refusals("Addcdiv", [f, f, f, 1.0, Out("f32", f.shape)], [dtypes("FLT4 i64")] * 4)


def test_lerp() -> None:
    for dtype in dtypes("FLT3"):
        a, b, w = sample(dtype), sample(dtype, (7,), 1), sample(dtype, (3, 1), 2, special=False)
        expected = torch.lerp(widened(a), widened(b), widened(w))
        check("Lerp", [a, b, w, Out(dtype, a.shape)], expected, factor=8.0)
        check("InplaceLerp", [InOut(a), b, w], expected, factor=8.0)
        for number in (0.25, 0.75, 0, 1):
            expected = torch.lerp(widened(a), widened(b), number)
            check("Lerps", [a, b, number, Out(dtype, a.shape)], expected, factor=8.0)
            check("InplaceLerps", [InOut(a), b, number], expected, factor=8.0)
    h = sample("f16")
    assert refused("Lerp", h, h, h.float(), Out("f16", h.shape)) == CODES.INVALID
    assert refused("Lerps", h, h.float(), 0.5, Out("f16", h.shape)) == CODES.INVALID


def test_where() -> None:
    condition = sample("b", (3, 1))
    for dtype in dtypes("NUM12 u16 u64"):
        plain = {"u16": "i32", "u64": "i64"}.get(dtype, dtype)
        a, b = sample(plain, (7,), 1), sample(plain, (3, 7), 2)
        if plain != dtype:
            a, b = (
                a.abs().to(getattr(torch, dtype.replace("u", "uint"))),
                b.abs().to(getattr(torch, dtype.replace("u", "uint"))),
            )
        for mask in (condition, condition.byte() * 3):
            with case(dtype):
                result = run("SWhere", mask, a, b, Out(dtype, (3, 7)))
                assert torch.equal(
                    torch.nan_to_num(result, 77.0) if dtype[0] in "fb" and dtype != "b" else result,
                    torch.nan_to_num(torch.where(condition, a, b), 77.0)
                    if dtype[0] in "fb" and dtype != "b"
                    else torch.where(condition, a, b),
                )
    a, b = sample("i32"), sample("f16", (7,))
    check("SWhere", [condition, a, b, Out("f16", a.shape)], torch.where(condition, a, b))
    f = sample("f32")
    check_refusals(
        "SWhere", [condition, f, f, Out("f32", f.shape)], [["u8", "b"], None, None, None]
    )
    assert refused("SWhere", condition, f, f[:, :3], Out("f32", f.shape)) == CODES.INVALID


# ---- floating functions of two tensors -----------------------------------------------------------

OF_TWO: dict[str, tuple[Any, str, str]] = {
    "Atan2": (torch.atan2, "REAL10", "FLT4"),
    "LogAddExp": (torch.logaddexp, "REAL10", "FLT3"),
    "LogAddExp2": (torch.logaddexp2, "REAL10", "FLT3"),
    "XLogYTensor": (torch.xlogy, "REAL10-f64", "REAL10-f64"),
    "Heaviside": (torch.heaviside, "FLT3", "FLT3"),
}


@pytest.mark.parametrize("name", OF_TWO)
def test_of_two(name: str) -> None:
    oracle, inputs, outputs = OF_TWO[name]
    for dtype in dtypes(inputs):
        a, b = sample(dtype), sample(dtype, (7,), 1)
        to = dtype if a.dtype.is_floating_point and dtype in dtypes(outputs) else "f32"
        with case(dtype):
            check(name, [a, b, Out(to, a.shape)], oracle(*double(a, b)), factor=4.0)
    empty = torch.zeros(0, 7)
    assert run(name, empty, torch.zeros(7), Out("f32", (0, 7))).shape == (0, 7)
    f = sample("f32")
    sets = [dtypes(inputs), dtypes(inputs), [d for d in dtypes(outputs) if d != "b"]]
    check_refusals(name, [f, f, Out("f32", f.shape)], sets)


def test_atan2_in_place_and_xlogy_with_numbers() -> None:
    a, b = sample("f16"), sample("f16", (7,), 1)
    check("InplaceAtan2", [InOut(a), b], torch.atan2(*double(a, b)))
    check("XLogYScalarOther", [a, 2.5, Out("f16", a.shape)], torch.xlogy(widened(a), 2.5))
    check("XLogYScalarSelf", [2.5, b, Out("f16", b.shape)], torch.xlogy(2.5, widened(b)))
    whole = torch.tensor([0, 2])
    close(run("XLogYScalarOther", whole, 3, Out("f32", (2,))), torch.tensor([0.0, 2 * math.log(3)]))
