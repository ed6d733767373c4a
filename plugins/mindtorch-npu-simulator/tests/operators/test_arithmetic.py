from typing import Any

import pytest
from calling import InOut, Out, Scalar, refused, run, torch
from samples import case, check, check_refusals, sample, widened
from simtoolkit import CODES, dtypes


def pair(dtype: str) -> tuple[Any, Any]:
    """Two tensors that broadcast; of integers the second has no zeros."""
    a, b = sample(dtype, (3, 7)), sample(dtype, (7,), 1)
    if dtype[0] in "iu":
        b[b == 0] = 3
    return a, b


def added(a: Any, b: Any, sign: int) -> Any:
    """a + sign * 2 * b, of bool as PyTorch adds it."""
    return (a.long() + 2 * sign * b.long()).bool() if a.dtype == torch.bool else a + 2 * sign * b


@pytest.mark.parametrize(("name", "sign"), [("Add", 1), ("Sub", -1)])
def test_sums(name: str, sign: int) -> None:
    for dtype in dtypes("NUM12"):
        a, b = pair(dtype)
        expected = added(widened(a), widened(b), sign)
        with case(dtype):
            check(name, [a, b, 2, Out(dtype, a.shape)], expected, factor=2.0)
            check("Inplace" + name, [InOut(a), b, 2], expected, factor=2.0)
            number = 1 + 2j if dtype[0] == "c" else 3.5 if dtype[0] == "f" else 3
            if dtype not in {"b", "bf16"}:
                expected = widened(a) + sign * 2 * number
                check(name + "s", [a, number, 2, Out(dtype, a.shape)], expected, factor=2.0)
                if not (name == "Add" and dtype[0] == "c"):
                    check(f"Inplace{name}s", [InOut(a), number, 2], expected, factor=2.0)


def test_reversed_differences() -> None:
    for dtype in dtypes("REAL9+c64+c128"):
        a, b = pair(dtype)
        expected = widened(b) - 2 * widened(a)
        check("Rsub", [a, b, 2, Out(dtype, a.shape)], expected, factor=2.0)
        check("Rsubs", [a, 3, 2, Out(dtype, a.shape)], 3 - 2 * widened(a), factor=2.0)


def test_products() -> None:
    for dtype in dtypes("NUM12"):
        a, b = pair(dtype)
        expected = widened(a) * widened(b)
        with case(dtype):
            check("Mul", [a, b, Out(dtype, a.shape)], expected, factor=2.0)
            check("InplaceMul", [InOut(a), b], expected, factor=2.0)
            number = True if dtype == "b" else 3
            check("Muls", [a, number, Out(dtype, a.shape)], widened(a) * number, factor=2.0)
            check("InplaceMuls", [InOut(a), number], widened(a) * number, factor=2.0)


def test_quotients() -> None:
    for dtype in dtypes("REAL10"):
        a, b = pair(dtype)
        to = dtype if a.dtype.is_floating_point else "f32"
        expected = a.double() / b.double()
        with case(dtype):
            check("Div", [a, b, Out(to, a.shape)], expected, factor=2.0)
            check("DivMod", [a, b, 0, Out(to, a.shape)], expected, factor=2.0)
            check("Divs", [a, 4, Out(to, a.shape)], a.double() / 4, factor=2.0)
            if to == dtype:
                check("InplaceDiv", [InOut(a), b], expected, factor=2.0)
                check("InplaceDivs", [InOut(a), 4], a.double() / 4, factor=2.0)


@pytest.mark.parametrize(("mode", "rounding"), [(1, "trunc"), (2, "floor")])
def test_rounded_quotients(mode: int, rounding: str) -> None:
    for dtype in dtypes("REAL9"):
        a, b = pair(dtype)
        expected = torch.div(widened(a), widened(b), rounding_mode=rounding)
        out = Out(dtype, a.shape)
        with case(dtype):
            check("DivMod", [a, b, mode, out], expected)
            number = 2.5 if a.dtype.is_floating_point else 2
            by_number = torch.div(widened(a), number, rounding_mode=rounding)
            check("InplaceDivMods", [InOut(a), number, mode], by_number)
            if dtype == "bf16":
                continue
            check("InplaceDivMod", [InOut(a), b, mode], expected)
            check("DivMods", [a, number, mode, out], by_number)
            if rounding == "floor":
                check("FloorDivide", [a, b, out], expected)
                check("InplaceFloorDivide", [InOut(a), b], expected)
                check("FloorDivides", [a, number, out], by_number)
                check("InplaceFloorDivides", [InOut(a), number], by_number)
    assert refused("DivMod", a, b, 3, out) == CODES.INVALID


def test_whole_numbers_divided_by_zero_do_not_trap() -> None:
    a = torch.tensor([5, -5, -(2**63)])
    for mode in (1, 2):
        assert run("DivMod", a, torch.zeros(3).long(), mode, Out("i64", (3,))).tolist() == [0] * 3
        minus = run("DivMod", a, torch.full((3,), -1), mode, Out("i64", (3,)))
        assert minus.tolist() == [-5, 5, -(2**63)]


def test_promotion() -> None:
    whole, half = torch.tensor([1, 2]), torch.tensor([0.5, 1.5]).half()
    assert run("Add", whole, half, 1, Out("f16", (2,))).tolist() == [1.5, 3.5]
    assert run("Adds", whole, 0.5, 1, Out("f32", (2,))).tolist() == [1.5, 2.5]
    assert run("Adds", whole.int(), Scalar(3, "i64"), 1, Out("i32", (2,))).tolist() == [4, 5]
    assert run("Add", half, half.bfloat16(), 1, Out("f32", (2,))).tolist() == [1.0, 3.0]
    assert refused("Add", whole.to(torch.complex64), half, 1, Out("i64", (2,))) == CODES.INVALID
    assert refused("Add", half, half, 1, Out("b", (2,))) == CODES.INVALID
    assert refused("InplaceAdd", InOut(whole[:1]), half, 1) == CODES.INVALID


def test_refusals() -> None:
    f = sample("f32")
    out = Out("f32", f.shape)
    every, no_bool = dtypes("NUM12"), dtypes("NUM12-b")
    check_refusals("Add", [f, f, 1, out], [every, every, no_bool])
    check_refusals("Rsub", [f, f, 1, out], [no_bool] * 3)
    check_refusals("FloorDivide", [f, f, out], [dtypes("REAL10-bf16")] * 2 + [None])
    assert refused("Add", f, f, None, out) == CODES.NULLPTR
    assert refused("Muls", f, None, out) == CODES.NULLPTR
    assert refused("Add", f, f[:, :2], 1, out) == CODES.INVALID


def test_integers_at_their_ends_wrap() -> None:
    a, b, out = torch.tensor([2**63 - 1]), torch.tensor([-(2**63)]), Out("i64", (1,))
    assert run("Add", a, a, 1, out).item() == -2
    assert run("Sub", b, a, 1, out).item() == 1
    assert run("Rsub", b, b, 2, out).item() == -(2**63)
    assert run("Adds", a, 1, 3, out).item() == -(2**63) + 2
    assert run("Mul", a, a, out).item() == 1
    assert run("RoundDecimals", a, -1, out).item() == -(2**63) + 2
