"""Calls of the namespace beside those of NumPy's, which follows the standard too."""

import numpy as np

import mindtorch_core as torch
from mindtorch_core import array_api as xp

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATING = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = SIGNED + UNSIGNED
REAL = INTEGERS + FLOATING
NUMERIC = REAL + COMPLEX
ALL = ("bool", *NUMERIC)

INF, NAN = float("inf"), float("nan")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 1e30, INF, -INF, NAN)


def sample(dtype, shape=(2, 3), seed=0, low=None):
    """An array with elements of a dtype, small integers or about -3 to 3."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if kind in "ui":
        return rng.integers((0 if kind == "u" else -5) if low is None else low, 6, shape).astype(
            dtype
        )
    values = rng.uniform(-3 if low is None else low, 3, shape)
    if kind == "c":
        values = values + 1j * rng.uniform(-3, 3, shape)
    return np.asarray(values, dtype)


def tensors(value):
    """A tree of arrays, numbers and dtypes as one of tensors."""
    if isinstance(value, np.ndarray):
        return torch.asarray(value.copy())
    if isinstance(value, np.dtype):
        return getattr(xp, value.name)
    if type(value) in (tuple, list):
        return type(value)(map(tensors, value))
    return value


def of(namespace, path):
    for name in path.split("."):
        namespace = getattr(namespace, name)
    return namespace


def assert_same(ours, theirs, *, within=None):
    """A tree of tensors has the shapes, dtypes and elements of one of arrays."""
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other, within=within)
        return
    assert isinstance(ours, torch.Tensor), ours
    theirs = np.asarray(theirs)
    assert tuple(ours.shape) == theirs.shape
    assert str(ours.dtype) == f"torch.{theirs.dtype.name}"
    if within is None:
        within = 1e-5 if theirs.dtype in (np.float32, np.complex64) else 1e-12
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=within, atol=within)
    if theirs.dtype.kind == "f":  # the sign of a zero is part of the value
        zeros = theirs == 0
        assert np.array_equal(np.signbit(ours.numpy())[zeros], np.signbit(theirs)[zeros])


def check(path, *args, within=None, **kwargs):
    """A function of the namespace gives what NumPy's of the same path gives; the result."""
    with np.errstate(all="ignore"):
        expected = of(np, path)(*args, **kwargs)
    named = {name: tensors(value) for name, value in kwargs.items()}
    result = of(xp, path)(*tensors(list(args)), **named)
    assert_same(result, expected, within=within)
    return result
