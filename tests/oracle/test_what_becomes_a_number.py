"""What `tensor` makes numbers of where a dtype is asked for: objects with ``__float__`` or ``__index__``, as PyTorch."""

import decimal
import fractions

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


class OfIndex:
    def __index__(self):
        return 3


class OfFloat:
    def __float__(self):
        return 2.5


class OfInt:
    def __int__(self):
        return 3


VALUES = [fractions.Fraction(1, 2), decimal.Decimal("2.5"), OfIndex(), OfFloat(), OfInt(), object()]
DTYPES = ["bool", "uint8", "int64", "float16", "float32", "complex64", None]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_of_the_dtype(value, dtype):
    def made(lib, data):
        try:
            return lib.tensor(data, dtype=dtype and getattr(lib, dtype)).tolist()
        except (TypeError, RuntimeError) as error:
            return type(error)

    for data in (value, [value, value], [[1], [value]]):
        assert made(torch, data) == made(pt, data)
