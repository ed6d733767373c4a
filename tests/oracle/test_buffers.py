"""`frombuffer` reads the elements that PyTorch's reads, at every offset and of every length, or refuses them."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


def read(lib, dtype, length, options):
    """The elements, or the kind of the error and whether it speaks of the length of elements."""
    try:
        return lib.frombuffer(
            bytearray(range(length)), dtype=getattr(lib, dtype), **options
        ).tolist()
    except ValueError as error:
        return "ValueError", "multiple of element size" in str(error)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_elements_at_every_offset(dtype):
    counts = [{}, *({"count": n} for n in (-1, 0, 1, 2, 4, 5))]
    for length, offset, count in itertools.product(range(14), range(-1, 14), counts):
        options = {"offset": offset, **count}
        ours, theirs = (read(lib, dtype, length, options) for lib in (torch, pt))
        assert ours == theirs, (length, options)
