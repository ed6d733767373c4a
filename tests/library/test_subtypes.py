"""Which types of schemas are subtypes of which, beside PyTorch.

Those that values carry as ints, such as SymInt and Layout, are left out: they are ints here, not so in PyTorch.
"""

import pytest

from mindtorch_core.dispatch.schema import parse_schema

pt = pytest.importorskip("torch")

TYPES = """
    Tensor | Tensor? | Tensor[] | Tensor?[] | Tensor[]? | int | int? | int[] | int[2] | int[]? | int?[] | float | float[]
    float? | bool | bool[] | bool? | complex | Scalar | Scalar? | Scalar[] | str | str? | str[] | Device | Device?
    (Tensor, int) | (Tensor, int?) | (int, Tensor) | (Tensor, int, int) | (Tensor?, Scalar) | Any | Any[] | Dict(str, int)
    Dict(str, Tensor) | Future(Tensor) | Future(Tensor?) | Generator? | NoneType | int[][] | Tensor[][]
"""


def types(parse):
    names = [each.strip() for line in TYPES.strip().splitlines() for each in line.split("|")]
    return {n: parse(f"f({n} x) -> ()").arguments[0].real_type for n in names}


OURS, THEIRS = types(parse_schema), types(pt._C.parse_schema)


def test_subtypes():
    unlike = [
        f"{a} of {b}: {OURS[a].isSubtypeOf(OURS[b])}"
        for a in THEIRS
        for b in THEIRS
        if OURS[a].isSubtypeOf(OURS[b]) is not THEIRS[a].isSubtypeOf(THEIRS[b])
    ]
    assert unlike == []
