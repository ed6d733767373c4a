"""Element-wise functions of one tensor against PyTorch: dtypes, layouts, in place, special values."""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import (
    assert_close,
    assert_same_outcome,
    from_pytorch,
    outcome,
)

pt = pytest.importorskip("torch")

DTYPES = [
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int8", "uint8", "bool",
    "complex64",
]  # fmt: skip
FLOATS = ["float32", "float64", "float16", "bfloat16"]
LAYOUTS = ["contiguous", "transposed", "expanded", "stepped", "scalar", "empty", "permuted"]


def sample(layout, dtype, seed=0, positive=False):
    """A PyTorch tensor of a dtype in a layout, with values that most functions accept."""
    generator = pt.Generator().manual_seed(seed)
    shape = {"scalar": (), "empty": (0, 3), "expanded": (1, 3), "stepped": (5, 7)}.get(
        layout, (2, 3)
    )
    if layout == "permuted":
        shape = (2, 3, 4)
    d = getattr(pt, dtype)
    if dtype == "bool":
        t = pt.rand(shape, generator=generator) > 0.5
    elif d.is_floating_point or d.is_complex:
        t = pt.randn(shape, generator=generator, dtype=pt.complex64 if d.is_complex else pt.float64)
        t = (t.abs() + 0.1 if positive else t * 2).to(d)
    else:
        low = 1 if positive or dtype == "uint8" else -5
        t = pt.randint(low, 6, shape, generator=generator).to(d)
    if layout == "transposed":
        return t.t()
    if layout == "expanded":
        return t.expand(2, 3)
    if layout == "stepped":
        return t[1::2, 1::3]
    if layout == "permuted":
        return t.permute(2, 0, 1)
    return t


def strides_that_matter(t):
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1] if t.numel() else []


def check(actual, expected, **options):
    """Values, shape, dtype, and the strides of dimensions longer than 1."""
    assert_close(actual, expected, equal_nan=True, **options)
    assert strides_that_matter(actual) == strides_that_matter(expected)


def loose(dtype):
    """Tolerances for functions whose last bits differ between mathematics libraries."""
    rtol = {"float16": 4e-3, "bfloat16": 2e-2, "float64": 1e-12}.get(dtype, 4e-6)
    return {"rtol": rtol, "atol": 1e-6 if dtype != "float64" else 1e-12}


UNARY = [
    "neg", "abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "sigmoid", "erf", "floor",
    "ceil", "trunc", "round", "sign", "sgn", "relu", "square", "isnan", "isinf", "isfinite",
    "logical_not", "bitwise_not", "positive", "conj", "frac", "erfc",
]  # fmt: skip
POSITIVE = {"log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_tensor(name, dtype):
    for seed, layout in enumerate(LAYOUTS):
        theirs = sample(layout, dtype, seed, positive=name in POSITIVE)
        if name in ("asin", "acos") and theirs.is_floating_point():
            theirs = theirs.clamp(-1, 1)
        ours = from_pytorch(theirs)
        options = {**loose(dtype), "equal_nan": True, "msg": layout}
        expected = outcome(getattr(pt, name), theirs)
        assert_same_outcome(
            lambda: getattr(torch, name)(ours), lambda: getattr(pt, name)(theirs), **options
        )
        assert_same_outcome(
            lambda: getattr(ours, name)(), lambda: getattr(theirs, name)(), **options
        )
        if not isinstance(expected, Exception) and name != "conj":  # PyTorch's conj is a lazy view
            assert strides_that_matter(getattr(torch, name)(ours)) == strides_that_matter(expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", [n for n in UNARY if n not in ("isnan", "isinf", "isfinite", "positive", "conj")]
)
def test_function_of_one_tensor_in_place(name, dtype):
    if name == "abs" and dtype == "complex64":
        pytest.skip("PyTorch refuses it; here the absolute values become the real parts")
    for layout in ("contiguous", "transposed", "stepped", "scalar", "empty"):
        theirs = sample(layout, dtype, positive=name in POSITIVE).clone(
            memory_format=pt.preserve_format
        )
        if name in ("asin", "acos") and theirs.is_floating_point():
            theirs = theirs.clamp(-1, 1)
        ours = from_pytorch(theirs)
        before = ours._version
        if not hasattr(theirs, f"{name}_"):
            assert not hasattr(ours, f"{name}_")
            continue
        expected = outcome(getattr(theirs, f"{name}_"))
        assert_same_outcome(
            lambda: getattr(ours, f"{name}_")(),
            lambda: raise_or_return(expected),
            **loose(dtype),
            equal_nan=True,
            msg=layout,
        )
        if not isinstance(expected, Exception):
            assert ours._version > before


def raise_or_return(value):
    if isinstance(value, Exception):
        raise value
    return value


SPECIAL = [
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    1e30,
    -1e30,
    1e-40,
    88.0,
    -104.0,
    700.0,
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_function_of_special_values(name, dtype):
    theirs = pt.tensor(SPECIAL, dtype=getattr(pt, dtype))
    if name in ("sin", "cos", "tan"):
        theirs = theirs.clamp(-1000, 1000)
    ours = from_pytorch(theirs)
    assert_same_outcome(
        lambda: getattr(torch, name)(ours),
        lambda: getattr(pt, name)(theirs),
        equal_nan=True,
        **loose(dtype),
    )
    if name in ("sin", "cos", "neg", "abs", "floor", "ceil", "trunc", "round", "sqrt"):
        signs = [math.copysign(1, v) for v in getattr(torch, name)(ours).tolist() if v == v]
        assert signs == [math.copysign(1, v) for v in getattr(pt, name)(theirs).tolist() if v == v]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate, dtype):
    for layout in LAYOUTS:
        a = sample(layout, dtype)
        check(
            F.gelu(from_pytorch(a), approximate=approximate),
            pt.nn.functional.gelu(a, approximate=approximate),
            **loose(dtype),
            msg=layout,
        )
