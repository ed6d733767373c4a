"""Type promotion against PyTorch: all pairs of dtypes, numbers, zero-dimensional and in-place operands."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome, from_pytorch, outcome

pt = pytest.importorskip("torch")

NAMES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128", "uint16", "uint32", "uint64",
]  # fmt: skip
COMMON = [n for n in NAMES if n not in ("uint16", "uint32", "uint64")]
NUMBERS = [True, 2, 2.5, 1 + 2j]


def name_of(d):
    return str(d).rpartition(".")[2]


def result_name(call):
    """Name of the dtype that a call gives, or the type of its exception."""
    found = outcome(call)
    return found if isinstance(found, Exception) else name_of(getattr(found, "dtype", found))


def same(ours, theirs, case):
    wanted, found = result_name(theirs), result_name(ours)
    if isinstance(wanted, Exception):
        assert isinstance(found, type(wanted)), (case, wanted, found)
    elif wanted != "complex32":  # not a dtype here: its operations give complex64
        assert found == wanted, (case, wanted, found)


@pytest.mark.parametrize("first", NAMES)
def test_promote_types(first):
    for second in NAMES:
        same(
            lambda second=second: torch.promote_types(
                getattr(torch, first), getattr(torch, second)
            ),
            lambda second=second: pt.promote_types(getattr(pt, first), getattr(pt, second)),
            second,
        )


@pytest.mark.parametrize("first", NAMES)
def test_can_cast(first):
    for second in NAMES:
        assert torch.can_cast(getattr(torch, first), getattr(torch, second)) == pt.can_cast(
            getattr(pt, first), getattr(pt, second)
        ), second


def made(lib, name, rank):
    return lib.ones((1,) * rank, dtype=getattr(lib, name))


@pytest.mark.parametrize("first", COMMON)
def test_result_type(first):
    for second, (a, b) in itertools.product(COMMON, itertools.product((0, 1), repeat=2)):
        same(
            lambda second=second, a=a, b=b: torch.result_type(
                made(torch, first, a), made(torch, second, b)
            ),
            lambda second=second, a=a, b=b: pt.result_type(made(pt, first, a), made(pt, second, b)),
            (second, a, b),
        )
    for number, rank in itertools.product(NUMBERS, (0, 1)):
        same(
            lambda number=number, rank=rank: torch.result_type(made(torch, first, rank), number),
            lambda number=number, rank=rank: pt.result_type(made(pt, first, rank), number),
            (number, rank),
        )
        same(
            lambda number=number, rank=rank: torch.result_type(number, made(torch, first, rank)),
            lambda number=number, rank=rank: pt.result_type(number, made(pt, first, rank)),
            (number, rank),
        )


OPS = [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "pow",
    "eq",
    "lt",
    "bitwise_and",
    "maximum",
    "atan2",
    "where",
    "remainder",
]


def apply(lib, name, a, b):
    if name == "where":
        return lib.where(lib.ones((), dtype=lib.bool), a, b)
    return getattr(lib, name)(a, b)


@pytest.mark.parametrize("first", COMMON)
@pytest.mark.parametrize("name", OPS)
def test_two_tensors(name, first):
    for second, (a, b) in itertools.product(COMMON, ((1, 1), (0, 1), (1, 0), (0, 0))):
        if "float16" in (first, second) and "complex" in first + second:
            continue  # PyTorch computes these in its experimental complex32
        same(
            lambda second=second, a=a, b=b: apply(
                torch, name, made(torch, first, a), made(torch, second, b)
            ),
            lambda second=second, a=a, b=b: apply(
                pt, name, made(pt, first, a), made(pt, second, b)
            ),
            (second, a, b),
        )


@pytest.mark.parametrize("first", COMMON)
@pytest.mark.parametrize("name", [n for n in OPS if n not in ("maximum", "atan2")])
def test_a_tensor_and_a_number(name, first):
    for number, rank in itertools.product(NUMBERS, (0, 1)):
        if first == "float16" and isinstance(number, complex):
            continue
        if name == "pow" and first == "bool" and number is True:
            continue  # PyTorch makes an exception for the exponent True
        same(
            lambda number=number, rank=rank: apply(torch, name, made(torch, first, rank), number),
            lambda number=number, rank=rank: apply(pt, name, made(pt, first, rank), number),
            (number, rank),
        )


@pytest.mark.parametrize("first", COMMON)
@pytest.mark.parametrize(
    "name", ["add_", "sub_", "mul_", "div_", "pow_", "eq_", "bitwise_or_", "copy_", "fill_"]
)
def test_in_place(name, first):
    others = [*itertools.product(COMMON, (0, 1))]
    for second, rank in others:
        if name == "fill_" and rank:
            continue
        if "complex" in second and "complex" not in first and name in ("copy_", "fill_", "eq_"):
            continue  # PyTorch drops the imaginary part with a warning
        same(
            lambda second=second, rank=rank: getattr(made(torch, first, 1), name)(
                made(torch, second, rank)
            ),
            lambda second=second, rank=rank: getattr(made(pt, first, 1), name)(
                made(pt, second, rank)
            ),
            (second, rank),
        )
    if name == "copy_":
        return
    for number in NUMBERS:
        if name == "pow_" and first == "bool" and number is True:
            continue
        if name == "eq_" and isinstance(number, complex) and "complex" not in first:
            continue
        same(
            lambda number=number: getattr(made(torch, first, 1), name)(number),
            lambda number=number: getattr(made(pt, first, 1), name)(number),
            number,
        )


@pytest.mark.parametrize("out", COMMON)
@pytest.mark.parametrize("name", ["add", "div", "eq", "exp", "mul"])
def test_out(name, out):
    for first in COMMON:
        if "complex" in first and "complex" not in out and name in ("eq",):
            continue

        def call(lib, first=first):
            a = lib.ones(2, dtype=getattr(lib, first))
            operands = (a,) if name == "exp" else (a, a)
            return getattr(lib, name)(*operands, out=lib.empty(2, dtype=getattr(lib, out)))

        same(lambda call=call: call(torch), lambda call=call: call(pt), first)


@pytest.mark.parametrize("name", COMMON)
def test_functions_of_integers(name):
    for function in (
        "exp",
        "sqrt",
        "sin",
        "sigmoid",
        "sum",
        "prod",
        "mean",
        "abs",
        "neg",
        "relu",
        "floor",
        "square",
        "amax",
        "argmax",
        "any",
        "softmax",
    ):
        arguments = (0,) if function == "softmax" else ()
        same(
            lambda function=function, arguments=arguments: getattr(torch, function)(
                made(torch, name, 1), *arguments
            ),
            lambda function=function, arguments=arguments: getattr(pt, function)(
                made(pt, name, 1), *arguments
            ),
            function,
        )


def test_values_survive_promotion():
    cases = [
        lambda lib: lib.tensor([2**53 + 1]) + lib.tensor([0], dtype=lib.int32),
        lambda lib: lib.tensor([1.5], dtype=lib.float64) + lib.tensor([0.1]),
        lambda lib: lib.tensor([200], dtype=lib.uint8) + lib.tensor([100], dtype=lib.int8),
        lambda lib: lib.tensor([True]) + lib.tensor([True]),
        lambda lib: lib.tensor([True]) * 3,
        lambda lib: lib.tensor([7]) / lib.tensor([2]),
        lambda lib: lib.tensor([7], dtype=lib.int8) / 2,
        lambda lib: lib.tensor(1.5) * lib.tensor([2]),
        lambda lib: lib.tensor([2], dtype=lib.int32) ** 0.5,
        lambda lib: lib.tensor([1, 2, 3]).sum(),
        lambda lib: lib.tensor([1], dtype=lib.bfloat16) + lib.tensor([1], dtype=lib.float16),
        lambda lib: lib.tensor([1 + 1j]) * lib.tensor(2.0, dtype=lib.float64),
        lambda lib: 1 - lib.tensor([2], dtype=lib.uint8),
        lambda lib: 2 ** lib.tensor([3], dtype=lib.int8),
        lambda lib: 7 // lib.tensor([2.0]),
        lambda lib: lib.cat([lib.tensor([1], dtype=lib.int8), lib.tensor([2.5])]),
        lambda lib: lib.stack([lib.tensor(1), lib.tensor(2.5)]),
    ]
    for case in cases:
        assert_same_outcome(lambda case=case: case(torch), lambda case=case: case(pt))


def test_default_dtype():
    kept = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        pt.set_default_dtype(pt.float64)
        for case in (
            lambda lib: lib.tensor([1.5]),
            lambda lib: lib.ones(2),
            lambda lib: lib.tensor([1]) / 2,
            lambda lib: lib.tensor([1]) + 1.5,
            lambda lib: lib.tensor([1 + 2j]),
            lambda lib: lib.arange(0.0, 2),
            lambda lib: lib.exp(lib.tensor([1])),
            lambda lib: lib.full((1,), 2.5),
        ):
            assert_same_outcome(lambda case=case: case(torch), lambda case=case: case(pt))
    finally:
        torch.set_default_dtype(kept)
        pt.set_default_dtype(pt.float32)
    assert_same_outcome(
        lambda: torch.set_default_dtype(torch.int64), lambda: pt.set_default_dtype(pt.int64)
    )


@pytest.mark.parametrize(
    "name",
    [
        "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128", "float8_e4m3fn",
        "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
    ],
)  # fmt: skip
def test_finfo(name):
    ours, theirs = torch.finfo(getattr(torch, name)), pt.finfo(getattr(pt, name))
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution"):
        assert getattr(ours, field) == pytest.approx(getattr(theirs, field), rel=1e-12), field
    assert ours.dtype == theirs.dtype
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "int64", "uint16", "uint32"])
def test_iinfo(name):
    ours, theirs = torch.iinfo(getattr(torch, name)), pt.iinfo(getattr(pt, name))
    assert (ours.bits, ours.max, ours.min, ours.dtype) == (
        theirs.bits,
        theirs.max,
        theirs.min,
        theirs.dtype,
    )
    if ours.bits < 32:  # PyTorch rounds the larger ones to six digits
        assert repr(ours) == repr(theirs)


def test_limits_of_the_wrong_kind():
    assert_same_outcome(lambda: torch.finfo(torch.int64), lambda: pt.finfo(pt.int64))
    assert_same_outcome(lambda: torch.iinfo(torch.float32), lambda: pt.iinfo(pt.float32))
    assert_same_outcome(lambda: torch.iinfo(torch.bool), lambda: pt.iinfo(pt.bool))


def test_flags_of_dtypes():
    for name in NAMES:
        ours, theirs = getattr(torch, name), getattr(pt, name)
        for flag in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
            assert getattr(ours, flag) == getattr(theirs, flag), (name, flag)
        assert repr(ours) == repr(theirs)
        assert name_of(ours.to_real()) == name_of(theirs.to_real())
    assert torch.half is torch.float16
    assert torch.double is torch.float64
    assert torch.long is torch.int64


def test_zero_dimensional_tensors_do_not_widen():
    ours = from_pytorch(pt.ones(2, dtype=pt.float32)) + torch.tensor(1.0, dtype=torch.float64)
    assert ours.dtype is torch.float32
    assert (torch.ones(2, dtype=torch.int8) + torch.tensor(1000)).dtype is torch.int8


@pytest.mark.parametrize("first", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("second", ["float32", "float64", "complex64", "complex128"])
def test_gradients_have_the_dtypes_of_their_operands(first, second):
    found = []
    for lib in (torch, pt):
        x = lib.tensor([1.0, 2.0]).to(getattr(lib, first)).requires_grad_()
        y = lib.tensor([3.0, 4.0]).to(getattr(lib, second))
        y = (y * (1 + 1j) if y.is_complex() else y).requires_grad_()
        z = x * y
        z.backward(lib.ones_like(z) * (1 + 2j if z.is_complex() else 1))
        found.append([(str(t.grad.dtype).partition(".")[2], t.grad.tolist()) for t in (x, y)])
    assert found[0] == found[1]
