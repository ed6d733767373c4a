"""Compositions of ops that the CPU has kernels of: devices without a kernel run them, and give PyTorch's results.

Each is called with tensors of the CPU, as the row of its op has it.
"""

import math

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.testing.comparison import assert_same_outcome

pt = pytest.importorskip("torch")

INF, NAN = math.inf, math.nan
NUMBERS = [
    -300.0,
    -20.5,
    -3.0,
    -1.0,
    -0.5,
    -1e-8,
    -0.0,
    0.0,
    1e-8,
    0.25,
    1.0,
    2.5,
    20.5,
    300.0,
    INF,
    -INF,
    NAN,
]
# Inside the circle of convergence and outside of it, in all quadrants, and beside the cuts.
PLANE = [complex(a, b) for a in (-2.5, -0.5, 0.25, 1.5) for b in (-3.0, -0.25, 0.5, 2.0)]
ELEMENTARY = (
    "log2",
    "log10",
    "sinh",
    "cosh",
    "tan",
    "asin",
    "acos",
    "atan",
    "asinh",
    "isinf",
    "sign",
    "ceil",
    "trunc",
    "logical_not",
)
OF_COMPLEX = ("sinh", "cosh", "tan", "asin", "acos", "atan", "asinh", "isinf", "logical_not")
OF_INTEGERS = ("isinf", "sign", "ceil", "trunc", "bitwise_not", "logical_not", "sinh", "atan")


def theirs(name):
    packet, _, overload = name.partition(".")
    return getattr(getattr(pt.ops.aten, packet), overload or "default")


def check(name, *values, dtype=None, **options):
    """Compare a composition with PyTorch's op; lists and arrays are made tensors."""

    def call(lib, function):
        def made(value):
            if isinstance(value, np.ndarray | list):
                return lib.tensor(value, dtype=dtype and getattr(lib, dtype))
            return value

        return function(*map(made, values), **options)

    def ours(*args, **kwargs):
        return registry.entry(name).definition.decomposition(*args, **kwargs)

    assert_same_outcome(lambda: call(torch, ours), lambda: call(pt, theirs(name)), equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary_functions_of_floats(name, dtype):
    if name == "tan":  # of infinities and NaN, and moderate numbers: large ones lose digits
        check(name, [v for v in NUMBERS if not 100 < abs(v) < INF], dtype=dtype)
    else:
        check(name, NUMBERS, dtype=dtype)


@pytest.mark.parametrize("name", OF_COMPLEX)
def test_elementary_functions_of_complex_numbers(name):
    check(name, PLANE, dtype="complex128")


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int8", "bool"])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_elementary_functions_of_integers(name, dtype):
    check(name, [0, 1] if dtype == "bool" else [0, 1, 5, 100], dtype=dtype)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logic_is_of_truths(name):
    check(name, [0.0, 0.5, 0.0, NAN], [0.0, 0.0, 2.0, 1.0])


def drawn(*shape):
    return np.random.default_rng(7).standard_normal(shape)


def whole(*shape):
    return np.random.default_rng(7).integers(0, 4, shape)


NONE = np.zeros((0, 3))
COMPLEX = drawn(3, 4) + 1j * drawn(3, 4)[::-1]
ODD = np.array([complex(NAN, 1), complex(INF, -INF), complex(2, NAN)])

# Compositions, by op: arguments, of which lists and arrays are tensors.
CALLS = [
    ("roll", drawn(3, 4), (1,), (0,)),
    ("roll", drawn(3, 4), (-1, 6), (0, 1)),
    ("roll", drawn(3, 4), (2, 2), (1, 1)),
    ("roll", drawn(3, 4), (3,), (0,)),
    ("roll", drawn(3, 4), (5,), ()),
    ("roll", NONE, (1,), (1,)),
    ("repeat_interleave.Tensor", [2, 0, 3]),
    ("repeat_interleave.Tensor", [0, 0]),
    ("repeat_interleave.Tensor", np.zeros(0, np.int64)),
    ("fmod.Tensor", drawn(5) * 9, drawn(5)),
    ("fmod.Tensor", [7, -7, 7, -7, -6], [3, 3, -3, -3, 3]),
    ("frac", drawn(5) * 9),
    ("logit", [0.0, 0.1, 0.5, 0.9, 1.0]),
    ("logit", [0.0, 0.1, 0.5, 0.9, 1.0, NAN], 0.2),
    ("logit", [0.0, 0.1, 0.5, 0.9, 1.0, NAN], 0.7),
    ("nan_to_num", [1.0, NAN, INF, -INF], 2.0, 3.0, 4.0),
    ("nan_to_num", ODD, 2.0, 3.0, -4.0),
    ("nan_to_num", ODD),
    ("index_select", drawn(3, 4), 1, [2, 0]),
    ("index_select", drawn(3, 4), 0, [3]),
    ("index_select", np.array(2.5), 0, [0]),
    ("index_add", drawn(3, 4), 0, [0, 2], drawn(2, 4)),
    ("index_add", whole(3, 4), 0, [2, 2], whole(2, 4)),
    ("put", drawn(3), [0, -1], [5.0, 6.0]),
    ("put", drawn(3), np.zeros(0, np.int64), np.zeros(0)),
    ("scatter_reduce.two", drawn(3), 0, np.zeros(0, np.int64), np.zeros(0), "sum"),
    ("scatter_reduce.two", whole(3), 0, [0, 0, 1], [5, 6, 9], "mean"),
    ("scatter_reduce.two", drawn(3), 0, [0, 0, 1], [5.0, -6.0, 9.0], "amax"),
    ("linalg_matrix_exp", drawn(2, 1, 1)),
    ("linalg_matrix_exp", drawn(4, 4)),
    ("matmul", drawn(3), drawn(3)),
    ("matmul", drawn(3), drawn(3, 2)),
    ("matmul", drawn(3), drawn(4, 3, 2)),
    ("matmul", drawn(4, 2, 3), drawn(3)),
    ("gelu", drawn(9)),
    ("cumprod", drawn(3, 4), 1),
    ("cumprod", drawn(3, 4).T, -2),
    ("cumprod", np.array(2.5), 0),
    ("cummax", drawn(3, 4), 1),
    ("cummax", np.array(2.5), 0),
    ("cummin", NONE, 1),
    ("argmin", drawn(3, 4)),
    ("argmin", drawn(3, 4), 1, True),
    ("argmin", whole(3, 9), 0),
    ("argmin", whole(3, 9).astype(np.uint8), 1),
    ("max.dim", drawn(3, 4), 1, True),
    ("min.dim", drawn(3, 4), 0),
    ("max.dim", np.array(2.5), 0, True),
    ("min.dim", [[True, False], [True, True]], 1),
    ("topk", drawn(3, 9), 4),
    ("topk", drawn(9, 3), 2, 0, False),
    ("topk", np.array(2.5), 1),
    ("bincount", [1, 3, 1]),
    ("bincount", np.zeros(0, np.int64), None, 3),
    ("bincount", [1, 3, 1], [0.5, 2.0, 1.5], 6),
    ("_cdist_forward", drawn(3, 4), drawn(2, 4), 1.5, None),
    ("_cdist_forward", np.zeros((3, 0)), np.zeros((2, 0)), 2.0, None),
    ("linalg_vecdot", np.array(2.0), np.array(3.0)),
    ("linalg_vecdot", COMPLEX, COMPLEX * 1j),
    ("native_dropout_backward", drawn(3), [True, False, True], 2.0),
    ("native_dropout_backward", drawn(3), [0.5, 0.0, 1.0], 2.0),
    ("_safe_softmax", [[1.0, 2.0], [-INF, -INF]], 1),
    ("_safe_softmax", [[1, 2], [3, 5]], 1),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_ops(call):
    check(*call)


@pytest.mark.parametrize("correction", [0, 1, 2.5])
@pytest.mark.parametrize("values", [drawn(3, 4), COMPLEX], ids=["real", "complex"])
def test_variances(values, correction):
    for dim in (None, (0,), (1,)):
        check("var.correction", values, dim, correction=correction)
        check("std.correction", values, dim, correction=correction, keepdim=True)


@pytest.mark.parametrize("values", [[True, False], [2, 3], [2.5, 3.0]], ids=str)
def test_powers(values):
    check("linalg_vander", values)
    check("linalg_vander", values, N=4)
    check("vander", values)
