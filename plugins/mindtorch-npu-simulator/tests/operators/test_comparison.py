from collections.abc import Callable
from typing import Any

import pytest
from calling import InOut, Out, Scalar, refused, run, torch
from samples import case, check, check_refusals, sample
from simtoolkit import CODES, dtypes

EVERY = dtypes("NUM12 u16 u32 u64")

# PyTorch's function, the operands' dtypes, those of the in-place tensor and scalar forms.
ORDERED = "REAL10 u16 u32 u64"
COMPARISONS: dict[str, tuple[Any, str, str, str]] = {
    "Eq": (torch.eq, "NUM12 u32 u64", "NUM12 u32 u64", "NUM12 u32 u64"),
    "Ne": (torch.ne, "NUM12 u64", "REAL10-f64 u32 u64", "NUM12 u64"),
    "Lt": (torch.lt, ORDERED, ORDERED, ORDERED),
    "Le": (torch.le, "REAL10 u16 u64", "REAL10 u16 u64", "REAL10 u16 u64"),
    "Gt": (torch.gt, ORDERED, ORDERED, ORDERED),
    "Ge": (torch.ge, ORDERED, ORDERED, ORDERED),
}


def pairs(dtype: str) -> tuple[Any, Any]:
    """Two tensors that broadcast, with equal elements among them."""
    a = sample(dtype, (3, 7))
    return a, a[1].clone()


def known(names: str) -> list[str]:
    """The dtypes with which PyTorch compares."""
    return [d for d in dtypes(names) if d not in {"u16", "u32", "u64"}]


@pytest.mark.parametrize("name", COMPARISONS)
def test_tensors(name: str) -> None:
    oracle, inputs, inplace, _ = COMPARISONS[name]
    for dtype in known(inputs):
        a, b = pairs(dtype)
        with case(dtype):
            check(f"{name}Tensor", [a, b, Out("b", a.shape)], oracle(a, b))
            check(f"{name}Tensor", [a, b, Out("f16", a.shape)], oracle(a, b).half())
    for dtype in known(inplace):
        a, b = pairs(dtype)
        with case(dtype):
            check(f"Inplace{name}Tensor", [InOut(a), b], oracle(a, b).to(a.dtype))


@pytest.mark.parametrize("name", COMPARISONS)
def test_scalars(name: str) -> None:
    oracle, inputs, _, inplace = COMPARISONS[name]
    for dtype in known(inputs):
        a = sample(dtype, (3, 7))
        number = {"c": 1 + 2j, "f": 0.5, "b": True}.get(dtype[0], 2)
        a[0, 0] = number
        with case(dtype):
            check(f"{name}Scalar", [a, number, Out("b", a.shape)], oracle(a, number))
            if dtype in dtypes(inplace):
                check(f"Inplace{name}Scalar", [InOut(a), number], oracle(a, number).to(a.dtype))


@pytest.mark.parametrize("name", COMPARISONS)
def test_refusals(name: str) -> None:
    _, inputs, inplace, inplace_scalar = COMPARISONS[name]
    wide = {"u16", "u32", "u64"}

    def combining(names: str) -> list[str]:
        return [d for d in dtypes(names) if d not in wide]

    a = sample("f32")
    check_refusals(
        f"{name}Tensor", [a, a, Out("b", a.shape)], [combining(inputs), combining(inputs), EVERY]
    )
    check_refusals(f"Inplace{name}Tensor", [InOut(a), a], [combining(inplace), combining(inplace)])
    check_refusals(f"{name}Scalar", [a, 1, Out("b", a.shape)], [dtypes(inputs), EVERY])
    check_refusals(f"Inplace{name}Scalar", [InOut(a), 1], [dtypes(inplace_scalar)])
    assert refused(f"{name}Scalar", a, None, Out("b", a.shape)) == CODES.NULLPTR
    assert refused(f"{name}Tensor", a, a.T.contiguous(), Out("b", a.shape)) == CODES.INVALID
    assert refused(f"Inplace{name}Tensor", InOut(a[0]), a) == CODES.INVALID


def test_large_numbers_keep_all_bits() -> None:
    big = torch.tensor([2**63 + 1, 2**63], dtype=torch.uint64)
    other = torch.tensor([2**63, 2**63 + 1], dtype=torch.uint64)
    assert run("GtTensor", big, other, Out("b", (2,))).tolist() == [True, False]
    near = torch.tensor([2**60 + 1, 2**60])
    assert run("EqScalar", near, 2**60, Out("b", (2,))).tolist() == [False, True]


def test_scalars_are_rounded_to_the_tensor() -> None:
    tenth = torch.tensor([0.1]).half()
    assert run("EqScalar", tenth, 0.1, Out("b", (1,))).tolist() == [True]
    whole = torch.tensor([1, 2], dtype=torch.int32)
    assert run("LtScalar", whole, 1.5, Out("b", (2,))).tolist() == [True, False]


def test_empty_and_single() -> None:
    assert run("EqTensor", torch.zeros(0, 3), torch.zeros(3), Out("b", (0, 3))).shape == (0, 3)
    assert run("EqTensor", torch.tensor(1.0), torch.tensor(1), Out("b", ())).item() is True


# ---- logic ---------------------------------------------------------------------------------------

LOGICAL: dict[str, tuple[Any, list[str]]] = {
    "LogicalAnd": (torch.logical_and, dtypes("NUM12")),
    "LogicalOr": (torch.logical_or, EVERY),
    "LogicalXor": (torch.logical_xor, dtypes("NUM12")),
}


@pytest.mark.parametrize("name", LOGICAL)
def test_logic(name: str) -> None:
    oracle, outputs = LOGICAL[name]
    for dtype in dtypes("NUM12"):
        a, b = sample(dtype, (3, 7)), sample(dtype, (7,), 1)
        a[:2, :3], b[1:5] = 0, 0
        with case(dtype):
            check(name, [a, b, Out("b", a.shape)], oracle(a, b))
            check(
                name,
                [a, b > b if dtype[0] != "c" else b, Out("i32", a.shape)],
                oracle(a, b > b if dtype[0] != "c" else b).int(),
            )
            if name != "LogicalXor":
                check("Inplace" + name, [InOut(a), b], oracle(a, b).to(a.dtype))
    a = sample("f32")
    check_refusals(name, [a, a, Out("b", a.shape)], [dtypes("NUM12"), dtypes("NUM12"), outputs])


def test_not() -> None:
    for dtype in dtypes("REAL10"):
        a = sample(dtype)
        check("LogicalNot", [a, Out("b", a.shape)], torch.logical_not(a))
        check("InplaceLogicalNot", [InOut(a)], torch.logical_not(a).to(a.dtype))
    for dtype in dtypes("INTB6"):
        a = sample(dtype)
        check("BitwiseNot", [a, Out(dtype, a.shape)], torch.bitwise_not(a))
    a = sample("i32")
    check_refusals("LogicalNot", [a, Out("b", a.shape)], [dtypes("REAL10")] * 2)
    check_refusals("BitwiseNot", [a, Out("i32", a.shape)], [dtypes("INTB6"), dtypes("INT5")])


SOME_BITS, BITS = "INTB6 u16", "INTB6 u16 u32 u64"
BITWISE: dict[str, tuple[Any, str, list[str], list[str]]] = {
    "BitwiseAnd": (torch.bitwise_and, SOME_BITS, dtypes(BITS), dtypes("REAL10 u16")),
    "BitwiseOr": (torch.bitwise_or, BITS, dtypes(BITS), EVERY),
    "BitwiseXor": (torch.bitwise_xor, BITS, EVERY, EVERY),
}


@pytest.mark.parametrize("name", BITWISE)
def test_bits(name: str) -> None:
    oracle, inputs, outputs, scalar_outputs = BITWISE[name]
    for dtype in known(inputs):
        a, b = sample(dtype, (3, 7)), sample(dtype, (7,), 1)
        number = True if dtype == "b" else 3
        with case(dtype):
            check(f"{name}Tensor", [a, b, Out(dtype, a.shape)], oracle(a, b))
            check(f"Inplace{name}Tensor", [InOut(a), b], oracle(a, b))
            check(f"{name}Scalar", [a, number, Out(dtype, a.shape)], oracle(a, number))
            check(f"Inplace{name}Scalar", [InOut(a), number], oracle(a, number))
    a, b = sample("u8"), sample("i8", seed=1)
    check(f"{name}Tensor", [a, b, Out("i16", a.shape)], oracle(a, b))
    a = sample("i32")
    plain = known(inputs)
    not_bool = [d for d in outputs if d != "b"]
    check_refusals(f"{name}Tensor", [a, a, Out("i32", a.shape)], [plain, plain, not_bool])
    scalar = [a, 1, Out("i32", a.shape)]
    not_bool = [d for d in scalar_outputs if d != "b"]
    check_refusals(f"{name}Scalar", scalar, [dtypes(inputs), not_bool])
    assert refused(f"{name}Scalar", a, 1.0, Out("i32", a.shape)) == CODES.INVALID


def test_shifts() -> None:
    for dtype in dtypes("INT5"):
        a, by = sample(dtype), sample("i8", seed=2).abs().to(sample(dtype).dtype)
        check("LeftShift", [a, by, Out(dtype, a.shape)], a << by)
        check("RightShift", [a, by, Out(dtype, a.shape)], a >> by)
        check("LeftShifts", [a, 3, Out(dtype, a.shape)], a << 3)
    a = torch.tensor([5, -5, 5, -5], dtype=torch.int8)
    by = torch.tensor([8, 100, -1, 7], dtype=torch.int8)
    assert run("RightShift", a, by, Out("i8", (4,))).tolist() == [0, -1, 0, -1]
    assert run("LeftShift", a, by, Out("i8", (4,))).tolist() == [0, 0, 0, -128]
    wide = torch.tensor([2**63, 1], dtype=torch.uint64)
    by = torch.tensor([63, 64], dtype=torch.uint64)
    assert run("RightShift", wide, by, Out("u64", (2,))).tolist() == [1, 0]
    shifted = dtypes("INT5")
    check_refusals(
        "LeftShift", [a, a, Out("i8", (4,))], [shifted, shifted, [*shifted, "u16", "u32", "u64"]]
    )


# ---- predicates ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "oracle"),
    [("IsFinite", torch.isfinite), ("IsPosInf", torch.isposinf), ("IsNegInf", torch.isneginf)],
)
def test_predicates(name: str, oracle: Callable[[Any], Any]) -> None:
    for dtype in dtypes("FLT4"):
        a = sample(dtype)
        check(name, [a, Out("b", a.shape)], oracle(a))
    check_refusals(name, [sample("f32"), Out("b", (3, 7))], [dtypes("FLT4"), ["b"]])


def test_infinite() -> None:
    for dtype in dtypes("REAL10"):
        a = sample(dtype)
        assert torch.equal(run("IsInf", a.T, Out("b", a.T.shape)), torch.isinf(a.T))
    check_refusals("IsInf", [a, Out("b", a.shape)], [dtypes("REAL10"), ["b"]])
    assert refused("IsInf", a, Out("b", a.shape, strided=True)) == CODES.INVALID


@pytest.mark.parametrize("equal_nan", [False, True])
def test_close(equal_nan: bool) -> None:
    for dtype in dtypes("REAL10"):
        a = sample(dtype)
        b = a.clone()
        b[0] = sample(dtype, (7,), 3)
        b[1] = (a[1].double() * 1.01).to(a.dtype)
        expected = torch.isclose(a, b, rtol=0.02, atol=1e-3, equal_nan=equal_nan)
        with case(dtype):
            check("IsClose", [a, b, 0.02, 1e-3, equal_nan, Out("b", a.shape)], expected)
    assert refused("IsClose", a, b, -1.0, 0.0, False, Out("b", a.shape)) == CODES.INVALID


def test_equal() -> None:
    for dtype in [*dtypes("REAL10"), "u64"]:
        a = sample("i32").abs().to(sample(dtype).dtype)
        b = a.clone()
        check("Equal", [a, b, Out("b", (1,))], torch.tensor([True]))
        b.view(-1)[-1] = b.view(-1)[-1] == 0
        check("Equal", [a, b, Out("b", ())], torch.tensor(False))
    assert run("Equal", torch.zeros(3), torch.zeros(1), Out("b", (1,))).tolist() == [False]
    nan = torch.tensor([float("nan")])
    assert run("Equal", nan, nan, Out("b", (1,))).tolist() == [False]
    assert refused("Equal", nan, nan, Out("f32", (1,))) == CODES.INVALID


@pytest.mark.parametrize("invert", [False, True])
def test_membership(invert: bool) -> None:
    for dtype in dtypes("NUM12"):
        a = sample(dtype, special=False)
        number = {"c": 1 + 2j, "f": 0.5, "b": True}.get(dtype[0], 2)
        a[1, 1] = number
        member = torch.tensor(number, dtype=a.dtype)
        expected = (a == member) != invert
        check("IsInTensorScalar", [a, number, False, invert, Out("b", a.shape)], expected)
        found = torch.tensor(not invert)
        check("IsInScalarTensor", [number, a, False, invert, Out("b", ())], found)
    missing = Scalar(77, "i32")
    result = run("IsInScalarTensor", missing, torch.arange(9), True, invert, Out("b", ()))
    assert result.item() is invert
