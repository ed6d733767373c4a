"""What the tests of element-wise ops share: operands by dtype and layout, and how results compare."""

import pytest

from mindtorch_core.testing.comparison import assert_close

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


def raise_or_return(value):
    """A recorded outcome, once more."""
    if isinstance(value, Exception):
        raise value
    return value
