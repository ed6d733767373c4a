"""Numbers as the bytes of elements, which backends hand to their libraries: as PyTorch writes them."""

import math

import pytest

import mindtorch_core as torch
from mindtorch_core.backend import pack, unpack

pt = pytest.importorskip("torch")

FLOATS = [
    0.0, -0.0, 1.0, -1.5, math.pi, 1e-45, 1e-40, -6e-8, 3e-8, 65504.0, 65519.9, 65520.0, -65520.0, 1e5, 448.0, -464.0,
    3.3895e38, 3.4e38, -3.4e38, 3.4028235e38, 1e39, -1e39, 1e300, -1e300, math.inf, -math.inf, math.nan,
]  # fmt: skip
KINDS = {
    "float16": FLOATS, "bfloat16": FLOATS, "float32": FLOATS, "float64": FLOATS,
    "float8_e4m3fn": FLOATS, "float8_e5m2": FLOATS, "float8_e4m3fnuz": FLOATS, "float8_e5m2fnuz": FLOATS,
    "complex64": [1 - 2j, 1e300j, -1e300, complex(math.nan, -0.0)],
    "complex128": [1 - 2j, 1e300j, -1e300, complex(math.nan, -0.0)],
    "bool": [True, False], "uint8": [0, 255], "int8": [-128, 127], "int16": [-(1 << 15), 3],
    "int32": [-(1 << 31), 7], "int64": [-(1 << 63), (1 << 63) - 1], "uint16": [65535], "uint32": [(1 << 32) - 1],
    "uint64": [(1 << 64) - 1],
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_bytes_are_pytorchs(name):
    values, d = KINDS[name], getattr(torch, name)
    for value in values:
        wanted = pt.tensor([value], dtype=getattr(pt, name))
        mine = pack([value], d)
        assert len(mine) == d.itemsize
        (back,) = unpack(mine, d)
        (expected,) = wanted.tolist()
        assert repr(back) == repr(expected), value
        if value == value:
            assert mine == bytes(wanted.view(pt.uint8).tolist()), value
    assert pack(values, d) == b"".join(pack([v], d) for v in values)
