"""Integers that no tensor of a dtype is made of, and those that just are, against PyTorch."""

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

ENDS = [
    0,
    -1,
    255,
    256,
    -(2**31),
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**64 - 1,
    2**64,
    -(2**64),
    2**70,
]
KINDS = [
    None,
    "bool",
    "uint8",
    "int8",
    "int64",
    "uint16",
    "uint64",
    "float32",
    "float64",
    "complex64",
]
MAKE = {
    "tensor": lambda lib, v, d: lib.tensor(v, dtype=d),
    "as_tensor": lambda lib, v, d: lib.as_tensor(v, dtype=d),
    "asarray": lambda lib, v, d: lib.asarray(v, dtype=d),
    "new_tensor": lambda lib, v, d: lib.ones(2, dtype=d).new_tensor(v),
}  # fmt: skip


def outcome(call):
    try:
        made = call()
    except (OverflowError, RuntimeError, TypeError, ValueError) as error:
        return type(error), str(error).partition(":")[0]
    return str(made.dtype), made.tolist()


@pytest.mark.parametrize("how", MAKE)
@pytest.mark.parametrize("kind", KINDS)
def test_at_the_ends(kind, how):
    if kind is None and how == "new_tensor":
        kind = "int64"
    for value in ENDS:
        for data in (value, [value], [[1], [value]]):
            ours, theirs = (
                outcome(lambda lib=lib, v=data: MAKE[how](lib, v, kind and getattr(lib, kind)))
                for lib in (torch, pt)
            )
            if isinstance(theirs[0], type):
                assert ours[0] is theirs[0], (value, ours, theirs)
                if "without overflow" not in theirs[1]:  # of which ours names the number
                    assert ours[1].startswith(theirs[1])
            else:
                assert ours == theirs, value
