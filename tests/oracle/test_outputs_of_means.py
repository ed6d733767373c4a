"""Sums and means into outputs of another dtype, against PyTorch: what they compute in, and what is refused."""

import warnings

import pytest

import mindtorch_core as torch
from mindtorch_core.testing import assert_close

pt = pytest.importorskip("torch")

DTYPES = ["bool", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


def outcome(lib, name, source, output, dims):
    """The result, or that it is refused; PyTorch has a kernel's own error where outputs are of whole numbers."""
    x = lib.tensor([[0.1, 2.3, -4.5], [7.1, 0.3, 1.9]], dtype=lib.float64)
    x = (x * (1 + 2j) if "complex" in source else x).to(getattr(lib, source))
    out = lib.empty(0, dtype=getattr(lib, output))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of imaginary parts that are dropped
        try:
            return getattr(lib, name)(x, dims, out=out)
        except RuntimeError:
            return None


@pytest.mark.parametrize("dims", [[0], [0, 1]], ids=str)
@pytest.mark.parametrize("output", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("name", ["sum", "mean", "nansum", "nanmean"])
def test_dtypes(name, source, output, dims):
    ours, theirs = (outcome(lib, name, source, output, dims) for lib in (torch, pt))
    if theirs is None:
        assert ours is None
        return
    coarse = "float16" in output or "float16" in source  # PyTorch's own half sums differ by an ulp
    assert_close(ours, theirs, **({"rtol": 1e-2, "atol": 1e-2} if coarse else {}))


@pytest.mark.parametrize("name", ["mean", "nanmean", "nansum"])
@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_a_wider_output_gets_what_is_not_rounded_before(name, source):
    """A third in float32, or a sum beyond the half's greatest, and not what the half has of it."""
    for lib in (torch, pt):
        x = lib.tensor(
            [1.0, 0.0, 0.0] if "mean" in name else [60000.0] * 3, dtype=getattr(lib, source)
        )
        exact = x.double().mean() if "mean" in name else x.double().sum()
        found = getattr(lib, name)(x, [0], out=lib.empty((), dtype=lib.float32))
        assert found.dtype is lib.float32
        assert abs(found.item() - exact.item()) <= 1e-6 * abs(exact.item()), lib
