"""Every dtype converted into every other, in each way there is: PyTorch's numbers."""

import itertools
import warnings

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip
NUMBERS = (0, 1, 2.5, 0.25, 0, 100)
IMAGINARY = (1, 0, 2, 0, float("nan"), 0)


def assigned(lib, x, d):
    made = lib.zeros(x.shape, dtype=d)
    made[:] = x
    return made


WAYS = {
    "to": lambda lib, x, d: x.to(d),
    "columns": lambda lib, x, d: x.view(2, 3).t().to(d),
    "steps": lambda lib, x, d: x[::2].to(d),
    "expanded": lambda lib, x, d: x.expand(2, 6).to(d),
    "copy_": lambda lib, x, d: lib.zeros(6, dtype=d).copy_(x),
    "into columns": lambda lib, x, d: lib.zeros(3, 2, dtype=d).t().copy_(x.view(2, 3)),
    "assigned": assigned,
    "of numbers": lambda lib, x, d: lib.tensor(x.tolist(), dtype=d),
}


def told(call):
    """What a tensor holds, or the type of an error."""
    with warnings.catch_warnings(action="ignore"):  # that imaginary parts are lost
        try:
            made = call()
        except (TypeError, RuntimeError) as error:
            return type(error).__name__
    return str(made.dtype).rpartition(".")[2], repr(made.tolist())


def converted(lib, way, held, wanted):
    pairs = zip(NUMBERS, IMAGINARY, strict=True)
    values = [complex(*pair) for pair in pairs] if held.startswith("complex") else NUMBERS
    x = lib.tensor(values).to(getattr(lib, held))
    return told(lambda: WAYS[way](lib, x, getattr(lib, wanted)))


@pytest.mark.parametrize("held", DTYPES)
@pytest.mark.parametrize("way", WAYS)
def test_tensors(way, held):
    for wanted in DTYPES:
        assert converted(torch, way, held, wanted) == converted(pt, way, held, wanted), wanted


@pytest.mark.parametrize("made", ["array", "number"])
@pytest.mark.parametrize("value", [0, 1, -1, 300, 2.5, 1e30, float("nan"), 2 + 1j, 1j], ids=str)
def test_values_of_numpy(value, made):
    kinds = ("bool", "int8", "int64", "float32", "float64", "complex128")
    with np.errstate(all="ignore"):
        arrays = [np.asarray([value]).astype(kind) for kind in kinds]
    for array, wanted in itertools.product(arrays, DTYPES):
        x = array if made == "array" else array[0]
        mine, expected = (
            told(lambda: lib.tensor(x, dtype=getattr(lib, wanted))) for lib in (torch, pt)
        )
        if expected != "TypeError":  # floats of NumPy's as whole numbers, for one, are served here
            assert mine == expected, (x, wanted)
