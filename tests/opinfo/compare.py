"""Comparing results with PyTorch's."""

import torch as oracle
from convert import DTYPES, THEIRS, to_theirs

import mindtorch_core as torch

# Relative and absolute tolerance by PyTorch's dtype: a few units in the last place of sums.
TOLERANCE = {
    oracle.float16: (2e-3, 2e-3),
    oracle.bfloat16: (1.6e-2, 1e-2),
    oracle.float32: (2e-5, 2e-5),
    oracle.float64: (1e-7, 1e-7),
    oracle.complex64: (2e-5, 2e-5),
    oracle.complex128: (1e-7, 1e-7),
}


def same(actual, expected, *, factor=1.0, values=True, what="result"):
    """Assert that a result equals PyTorch's: structure, shapes, dtypes, values.

    Args:
        actual, expected: ours and theirs.
        factor: multiplies the tolerance.
        values: whether values are compared (not those of random ops).
        what: how messages call the result.
    """
    if isinstance(expected, oracle.Tensor):
        assert isinstance(actual, torch.Tensor), f"{what}: {type(actual)} is no tensor"
        assert DTYPES.get(expected.dtype) is actual.dtype, (
            f"{what}: dtype {actual.dtype}, not {expected.dtype}"
        )
        assert tuple(actual.shape) == tuple(expected.shape), (
            f"{what}: shape {tuple(actual.shape)}, not {tuple(expected.shape)}"
        )
        if values:
            _close(actual, expected, factor, what)
    elif isinstance(expected, list | tuple) and not isinstance(expected, oracle.Size):
        assert isinstance(actual, list | tuple), f"{what}: {type(actual)} is no sequence"
        assert len(actual) == len(expected), f"{what}: {len(actual)} items, not {len(expected)}"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            same(a, e, factor=factor, values=values, what=f"{what}[{i}]")
    elif isinstance(expected, oracle.dtype):
        assert THEIRS[actual] is expected, f"{what}: {actual}, not {expected}"
    elif values:
        nan = expected != expected and actual != actual
        assert actual == expected or nan, f"{what}: {actual!r}, not {expected!r}"


def _close(actual, expected, factor, what):
    expected = expected.detach()
    rtol, atol = TOLERANCE.get(expected.dtype, (0, 0))
    found = to_theirs(actual)
    oracle.testing.assert_close(
        found,
        expected.resolve_conj().resolve_neg(),
        rtol=rtol * factor,
        atol=atol * factor,
        equal_nan=True,
        check_stride=False,
        msg=lambda text: f"{what}: {text}",
    )
