"""Elementwise functions against NumPy's: all dtypes, special values, numbers as operands."""

import itertools

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

np = pytest.importorskip("numpy")

from against_numpy import (  # noqa: E402
    ALL,
    COMPLEX,
    FLOATING,
    INF,
    INTEGERS,
    NAN,
    NUMERIC,
    REAL,
    SPECIAL,
    assert_same,
    check,
    sample,
)

INEXACT = FLOATING + COMPLEX
ONE = {
    "abs": NUMERIC,
    "acos": INEXACT,
    "acosh": INEXACT,
    "asin": INEXACT,
    "asinh": INEXACT,
    "atan": INEXACT,
    "atanh": INEXACT,
    "bitwise_invert": ("bool", *INTEGERS),
    "ceil": REAL,
    "conj": NUMERIC,
    "cos": INEXACT,
    "cosh": INEXACT,
    "exp": INEXACT,
    "expm1": INEXACT,
    "floor": REAL,
    "imag": INEXACT,
    "isfinite": NUMERIC,
    "isinf": NUMERIC,
    "isnan": NUMERIC,
    "log": INEXACT,
    "log10": INEXACT,
    "log1p": INEXACT,
    "log2": INEXACT,
    "logical_not": ("bool",),
    "negative": NUMERIC,
    "positive": NUMERIC,
    "real": NUMERIC,
    "reciprocal": INEXACT,
    "round": NUMERIC,
    "sign": NUMERIC,
    "signbit": FLOATING,
    "sin": INEXACT,
    "sinh": INEXACT,
    "sqrt": INEXACT,
    "square": NUMERIC,
    "tan": INEXACT,
    "tanh": INEXACT,
    "trunc": REAL,
}
TWO = {
    "add": NUMERIC,
    "atan2": FLOATING,
    "bitwise_and": ("bool", *INTEGERS),
    "bitwise_left_shift": INTEGERS,
    "bitwise_or": ("bool", *INTEGERS),
    "bitwise_right_shift": INTEGERS,
    "bitwise_xor": ("bool", *INTEGERS),
    "copysign": FLOATING,
    "divide": INEXACT,
    "equal": ALL,
    "floor_divide": REAL,
    "greater": REAL,
    "greater_equal": REAL,
    "hypot": FLOATING,
    "less": REAL,
    "less_equal": REAL,
    "logaddexp": FLOATING,
    "logical_and": ("bool",),
    "logical_or": ("bool",),
    "logical_xor": ("bool",),
    "maximum": REAL,
    "minimum": REAL,
    "multiply": NUMERIC,
    "nextafter": FLOATING,
    "not_equal": ALL,
    "pow": NUMERIC,
    "remainder": REAL,
    "subtract": NUMERIC,
}
# Second operands that are 0, or negative for integers, are not what these are about.
POSITIVE_SECOND = {"floor_divide", "remainder", "pow", "bitwise_left_shift", "bitwise_right_shift"}


def cases(table):
    return [(name, dtype) for name, dtypes in table.items() for dtype in dtypes]


@pytest.mark.parametrize(("name", "dtype"), cases(ONE))
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)], ids=str)
def test_functions_of_one(name, dtype, shape):
    low = 1 if name in ("log1p", "acosh") and dtype in FLOATING else None
    check(name, sample(dtype, shape, low=low))


@pytest.mark.parametrize(("name", "dtype"), cases(TWO))
@pytest.mark.parametrize("shapes", [((2, 3), (3,)), ((), (2, 1)), ((0, 2), (1,))], ids=str)
def test_functions_of_two(name, dtype, shapes):
    low = 1 if name in POSITIVE_SECOND and dtype in REAL else None
    first, second = sample(dtype, shapes[0], 0), sample(dtype, shapes[1], 1, low)
    if name == "pow" and dtype in FLOATING:
        first = np.asarray(np.abs(first))
    check(name, first, second)


# Where NumPy does not follow the standard; the standard's cases are tested below.
DIFFERENT = {"floor_divide"}


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    "name", [n for n, d in TWO.items() if "float32" in d and n not in DIFFERENT]
)
def test_special_values_of_two(name, dtype):
    pairs = np.array(list(itertools.product(SPECIAL, repeat=2)), dtype)
    check(name, pairs[:, 0].copy(), pairs[:, 1].copy())


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("name", [n for n, d in ONE.items() if "float32" in d])
def test_special_values_of_one(name, dtype):
    check(name, np.array(SPECIAL, dtype))


@pytest.mark.parametrize("dtype", FLOATING)
def test_floor_division_by_the_standard(dtype):
    """Whoever is infinite: the quotient, rounded down."""
    finite = [x for x in SPECIAL if abs(x) < INF and x]
    for x, y in [*itertools.product((INF, -INF), finite), *itertools.product(finite, (INF, -INF))]:
        a, b = np.array([x], dtype), np.array([y], dtype)
        for second in (torch.asarray(b), y):
            assert_same(xp.floor_divide(torch.asarray(a), second), np.floor(a / b))
    for x, y in itertools.product((INF, -INF), repeat=2):
        assert xp.isnan(xp.floor_divide(torch.tensor([x]), torch.tensor([y]))).item()


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(
    ("z", "real", "imag"),
    [
        (complex(-0.0, 0.0), 0.0, 0.0),
        (complex(0.0, -0.0), 0.0, -0.0),
        (complex(INF, 0), INF, 0.0),
        (complex(-INF, INF), -1.0, 0.0),
        (complex(INF, INF), INF, NAN),
        (complex(-INF, NAN), -1.0, 0.0),
        (complex(INF, NAN), INF, NAN),
        (complex(NAN, 0), NAN, 0.0),
        (complex(1, INF), NAN, NAN),
        (complex(NAN, 1), NAN, NAN),
        (complex(1e-12, 1e-12), 1e-12, 1e-12),
    ],
)
def test_expm1_of_complex_numbers_by_the_standard(dtype, z, real, imag):
    result = xp.expm1(torch.tensor([z], dtype=getattr(torch, dtype)))
    assert str(result.dtype) == f"torch.{dtype}"
    parts = (abs(xp.real(result)) if real == INF else xp.real(result), xp.imag(result))
    for part, expected in zip(parts, (real, imag), strict=True):
        np.testing.assert_allclose(part.numpy(), [expected], rtol=1e-6)
        if expected == 0 and abs(z) == 0:
            assert np.signbit(part.numpy()) == np.signbit(expected)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_tanh_of_infinite_numbers_by_the_standard(dtype):
    for real, imag in itertools.product((INF, -INF), (0.5, 2.0, 100.0, -2.0)):
        z = xp.tanh(torch.tensor([complex(real, imag)], dtype=getattr(torch, dtype)))
        assert z.real.tolist() == [np.copysign(1, real)]
        assert z.imag.tolist() == [0]
        assert xp.signbit(z.imag).item() is (imag < 0)


def test_signs():
    check("sign", np.array([NAN, -0.0, 3, -INF]))
    z = np.array([3 + 4j, 0, complex(NAN, 1), -2j, complex(-0.0, -0.0)])
    check("sign", z)
    assert xp.sign(torch.tensor([2, -3, 0], dtype=torch.int8)).tolist() == [1, -1, 0]


def test_rounding_goes_to_the_even_number():
    check("round", np.array([0.5, 1.5, 2.5, -0.5, -1.5, INF, NAN]))
    check("round", np.array([0.5 + 1.5j, -2.5 - 0.5j]))


def test_the_conjugate_can_be_read_by_others():
    z = torch.tensor([1 + 2j])
    assert np.asarray(xp.conj(z)).tolist() == [1 - 2j]
    assert not xp.conj(z).is_conj()


@pytest.mark.parametrize("dtype", REAL)
def test_bounds(dtype):
    x, low, high = (
        sample(dtype),
        sample(dtype, (3,), 1, 1),
        sample(dtype, (2, 1), 2, 1) + np.dtype(dtype).type(5),
    )
    for bounds in [(low, high), (low, None), (None, high), (1, 3), (None, 2), (2, None), (1, high)]:
        check("clip", x, *bounds)
        result = xp.clip(
            torch.asarray(x),
            *(torch.asarray(b) if isinstance(b, np.ndarray) else b for b in bounds),
        )
        assert str(result.dtype) == f"torch.{dtype}"
    same = torch.asarray(x)
    assert xp.clip(same).tolist() == x.tolist()
    assert xp.clip(same) is not same
    assert xp.clip(same, max=3, min=2).tolist() == np.clip(x, 2, 3).tolist()


def test_bounds_that_are_nan():
    x = torch.tensor([1.0, NAN, 3.0])
    assert xp.isnan(xp.clip(x, 0, 2)).tolist() == [False, True, False]
    assert xp.isnan(xp.clip(x, NAN, 2)).all()
    assert xp.isnan(xp.clip(x, None, torch.tensor(NAN))).all()


@pytest.mark.parametrize("name", [n for n in TWO if "float64" in TWO[n]])
@pytest.mark.parametrize("number", [2, 1.5, 0.0, NAN])
def test_numbers_as_operands(name, number):
    x = sample("float64", low=1)
    for operands in ((x, number), (number, x)):
        if name == "nextafter":  # NumPy has no difference between the two
            operands = tuple(
                np.float64(o) if not isinstance(o, np.ndarray) else o for o in operands
            )
            operands = tuple(o if isinstance(o, np.ndarray) else float(o) for o in operands)
        check(name, *operands)


@pytest.mark.parametrize(
    "name", ["logical_and", "logical_or", "logical_xor", "bitwise_and", "equal"]
)
def test_truth_values_as_operands(name):
    for value in (True, False):
        check(name, sample("bool"), value)
        check(name, value, sample("bool"))


@pytest.mark.parametrize(
    ("name", "arguments"), [("add", 2), ("multiply", 2), ("exp", 1), ("hypot", 2), ("clip", 3)]
)
def test_gradients_pass(name, arguments):
    operands = [
        torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True) for _ in range(arguments)
    ]
    xp.sum(getattr(xp, name)(*operands)).backward()
    assert operands[0].grad is not None


def test_functions_are_deferred_in_a_pipeline():
    x = torch.tensor([1.0, 4.0])
    with torch.pipeline():
        y = xp.add(xp.sqrt(x), 1)
        assert y._pending
    assert y.tolist() == [2, 3]
