"""Whether elements are among others: shapes, dtypes that differ, one and none to be among, as in PyTorch."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ELEMENTS = [3, [3, 4], [[1, 2], [3, 3]], []]
AMONG = [3, [3], [], [3, 4], [[3], [1]], [*range(2, 12)]]
DTYPES = [("int64", "int64"), ("int64", "float32"), ("uint8", "int16"), ("float32", "float64")]


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("dtypes", DTYPES, ids="-".join)
def test_isin(dtypes, invert):
    for elements, among in itertools.product(ELEMENTS, AMONG):
        found = []
        for lib in (torch, pt):
            a, b = (
                lib.tensor(x, dtype=getattr(lib, d))
                for x, d in zip((elements, among), dtypes, strict=True)
            )
            made = lib.isin(a, b, invert=invert)
            found.append((str(made.dtype).split(".")[1], tuple(made.shape), made.tolist()))
        assert found[0] == found[1], (elements, among)
