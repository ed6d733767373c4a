"""Element-wise functions of one tensor against PyTorch: dtypes, layouts, in place, special values."""

import math

import pytest

import mindtorch_core as torch
from elementwise import (
    DTYPES,
    FLOATS,
    LAYOUTS,
    check,
    loose,
    raise_or_return,
    sample,
    strides_that_matter,
)
from mindtorch_core.nn import functional as F
from mindtorch_core.testing.comparison import assert_same_outcome, from_pytorch, outcome

pt = pytest.importorskip("torch")

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
