"""Dtypes: which two meet in, kinds, limits, conversion."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import ALL, COMPLEX, FLOATING, INTEGERS, SIGNED, UNSIGNED, check, sample  # noqa: E402

# The standard's tables of promotion: pairs of one kind, and floats with complex numbers.
MEET = [
    (a, b)
    for kind in (INTEGERS, FLOATING + COMPLEX, ("bool",))
    for a, b in itertools.product(kind, repeat=2)
    if not ({a, b} & {*SIGNED} and "uint64" in (a, b))
]
TWO = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "equal",
    "less",
    "greater_equal",
    "bitwise_and",
    "bitwise_xor",
]


def dtype(name):
    return getattr(xp, name)


@pytest.mark.parametrize(("a", "b"), MEET)
def test_promotion_of_the_standard(a, b):
    expected = np.result_type(np.dtype(a), np.dtype(b)).name
    assert xp.result_type(dtype(a), dtype(b)) is dtype(expected)
    x, y = torch.zeros(2, dtype=dtype(a)), torch.zeros((), dtype=dtype(b))
    for each in (x, y), (y, x), (x, dtype(b)), (x, y, dtype(a)):
        assert xp.result_type(*each) is dtype(expected)
    assert xp.can_cast(dtype(a), dtype(b)) is (expected == b)
    assert xp.can_cast(x, dtype(b)) is (expected == b)


@pytest.mark.parametrize("signed", SIGNED)
def test_uint64_and_a_signed_integer_do_not_meet(signed):
    for pair in itertools.permutations((xp.uint64, dtype(signed))):
        with pytest.raises(TypeError, match="no integer dtype holds all values"):
            xp.result_type(*pair)
        assert xp.can_cast(*pair) is False


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize(("a", "b"), MEET)
def test_a_tensor_without_dimensions_decides_as_any_other(name, a, b):
    x, y = sample(a, (2, 3)), sample(b, (), seed=1)
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    if name.startswith("bitwise") and kinds & {"f", "c"}:
        return
    if kinds & {"c"} and name not in ("add", "subtract", "multiply", "equal"):
        return
    if name == "subtract" and kinds == {"b"}:
        return
    check(name, x, y)
    check(name, y, x)
    check(name, y, sample(a, (), seed=2))


NUMBERS = [
    ("bool", True),
    *((d, 2) for d in INTEGERS),
    *((d, n) for d in FLOATING for n in (2, 2.5)),
]
NUMBERS += [(d, n) for d in COMPLEX for n in (2, 2.5, 1j)]


@pytest.mark.parametrize(("name", "number"), NUMBERS)
@pytest.mark.parametrize("shape", [(2,), ()], ids=str)
def test_a_number_takes_the_dtype_of_the_tensor(name, number, shape):
    x = torch.ones(shape, dtype=dtype(name))
    assert xp.result_type(x, number) is dtype(name)
    assert xp.result_type(number, dtype(name)) is dtype(name)
    assert xp.equal(x, number).dtype is torch.bool
    assert xp.where(torch.tensor(True), x, number).dtype is dtype(name)
    if name != "bool":
        assert xp.multiply(x, number).dtype is xp.multiply(number, x).dtype is dtype(name)


def test_a_number_of_a_higher_kind():
    for real, complex_ in zip(FLOATING, COMPLEX, strict=True):
        x = torch.ones(2, dtype=dtype(real))
        assert xp.add(x, 1j).dtype is xp.result_type(1j, x) is dtype(complex_)
    ints = torch.ones(2, dtype=torch.int32)
    assert xp.add(ints, 0.5).tolist() == xp.add(0.5, ints).tolist() == [1.5, 1.5]


@pytest.mark.parametrize("operands", [(1, 2), (), ("a", xp.int8), ([1], xp.int8)], ids=str)
def test_what_result_type_refuses(operands):
    with pytest.raises(TypeError, match="result_type takes"):
        xp.result_type(*operands)


@pytest.mark.parametrize(
    "operands", [(1, 2), ([1.0], torch.ones(1)), (torch.ones(1), None)], ids=str
)
def test_what_functions_of_two_refuse(operands):
    with pytest.raises(
        TypeError, match="add: operands must be tensors, or numbers beside a tensor"
    ):
        xp.add(*operands)


KINDS = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
KINDS += ["complex floating", "numeric"]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "kind", [*KINDS, ("bool", "integral"), ("real floating", "complex floating")]
)
def test_kinds(name, kind):
    assert xp.isdtype(dtype(name), kind) is np.isdtype(np.dtype(name), kind)
    assert (name in xp.__array_namespace_info__().dtypes(kind=kind)) is xp.isdtype(
        dtype(name), kind
    )
    assert xp.isdtype(dtype(name), dtype(name)) is True
    assert xp.isdtype(dtype(name), (dtype(name), "bool")) is True
    assert xp.isdtype(dtype(name), torch.bfloat16) is False


def test_kinds_of_dtypes_beside_the_standard():
    assert xp.isdtype(torch.bfloat16, "real floating")
    assert xp.isdtype(torch.float16, "numeric")
    assert "bfloat16" not in xp.__array_namespace_info__().dtypes()


@pytest.mark.parametrize(
    ("kind", "error"), [("floating", ValueError), (7, TypeError), (("bool", "x"), ValueError)]
)
def test_kinds_that_are_none(kind, error):
    with pytest.raises(error, match="kind"):
        xp.isdtype(xp.int8, kind)


def test_dtypes_of_others_are_refused():
    with pytest.raises(TypeError, match=r"is no dtype of mindtorch's"):
        xp.isdtype(np.dtype("int64"), "integral")


@pytest.mark.parametrize("name", FLOATING + COMPLEX)
def test_limits_of_floats(name):
    ours, theirs = xp.finfo(dtype(name)), np.finfo(name)
    for limit in ("eps", "max", "min", "smallest_normal"):
        value = getattr(ours, limit)
        assert type(value) is float
        assert value == getattr(theirs, limit)
    assert (ours.bits, ours.dtype) == (theirs.bits, dtype(theirs.dtype.name))
    assert xp.finfo(torch.ones(1, dtype=dtype(name))) == ours


@pytest.mark.parametrize("name", INTEGERS)
def test_limits_of_integers(name):
    ours, theirs = xp.iinfo(dtype(name)), np.iinfo(name)
    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)
    assert ours.dtype is dtype(name)
    assert xp.iinfo(torch.ones(1, dtype=dtype(name))) == ours


def test_limits_of_other_kinds():
    with pytest.raises(TypeError, match="floating point"):
        xp.finfo(xp.int8)
    with pytest.raises(TypeError, match="iinfo"):
        xp.iinfo(xp.float32)


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("to", ALL)
def test_conversion(source, to):
    if source in COMPLEX and to not in (*COMPLEX, "bool"):
        with pytest.raises(TypeError, match="take real"):
            xp.astype(torch.ones(1, dtype=dtype(source)), dtype(to))
        return
    x = sample(source, low=0 if to in UNSIGNED and source in FLOATING else None)
    check("astype", x, np.dtype(to))


def test_copies_of_conversions():
    x = torch.ones(2)
    assert xp.astype(x, xp.float32, copy=False) is x
    copied = xp.astype(x, xp.float32)
    assert copied.data_ptr() != x.data_ptr()
    assert xp.astype(x, xp.float64, device="meta").device.type == "meta"
