"""Things that other libraries and Python hand over instead of tensors and numbers."""

import array
import collections
import decimal
import fractions
import tempfile

import ml_dtypes
import numpy as np


class Lies:
    """Says of an array what is not so."""

    def __init__(self, **changes):
        self.kept = np.arange(4.0)
        self.__array_interface__ = {**self.kept.__array_interface__, **changes}


class GivesArray:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Indexes:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class IsFloat:
    def __float__(self):
        return 1.5


class Sequence:
    """By the old protocol."""

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i > 2:
            raise IndexError
        return i


class LongerThanItSays(Sequence):
    def __len__(self):
        return 2


class Text(str):
    __slots__ = ()


class Number(float):
    __slots__ = ()


class Whole(int):
    __slots__ = ()


class Rows(list):
    __slots__ = ()


class Array(np.ndarray):
    """A subclass."""


def itself():
    made = [1.0]
    made.append(made)
    return made


def memmap():
    with tempfile.TemporaryFile() as file:
        made = np.memmap(file, np.float32, "w+", shape=(3,))
    made[:] = 2
    return made


def readonly():
    made = np.arange(3.0)
    made.flags.writeable = False
    return made


ARRAYS = {
    **{
        f"array of {d}": (lambda d=d: np.array([0, 1, 2]).astype(d))
        for d in (
            "?",
            "i1",
            "i2",
            "i4",
            "i8",
            "u1",
            "u2",
            "u4",
            "u8",
            "f2",
            "f4",
            "f8",
            "g",
            "c8",
            "c16",
            "G",
            ">i2",
            ">i4",
            ">i8",
            ">f4",
            ">f8",
            ">c8",
            "M8[s]",
            "m8[s]",
            "O",
            "U3",
            "S3",
        )
    },
    "structured": lambda: np.zeros(3, [("a", "f4"), ("b", "i4")]),
    "record": lambda: np.rec.fromarrays([[1, 2], [3.0, 4.0]]),
    "negative strides": lambda: np.arange(4.0)[::-1],
    "zero strides": lambda: np.broadcast_to(np.float32(3), (2, 2)),
    "column-major": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "steps": lambda: np.arange(6)[::2],
    "unaligned": lambda: np.frombuffer(b"\0" * 13, np.uint8)[1:].view("<f4"),
    "between": lambda: np.zeros(3, [("a", "f4"), ("b", "i1")])["a"],
    "readonly": readonly,
    "no dimensions": lambda: np.array(2.5),
    "nothing": lambda: np.zeros((0, 3)),
    "memmap": memmap,
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
    "subclass": lambda: np.arange(3.0).view(Array),
    "matrix": lambda: np.arange(4.0).reshape(2, 2).view(np.matrix),
    "33 dimensions": lambda: np.zeros((1,) * 30),
    "bfloat16": lambda: np.array([1, 2], ml_dtypes.bfloat16),
    "float8": lambda: np.array([1, 2], ml_dtypes.float8_e4m3fn),
    "int4": lambda: np.array([1, 2], ml_dtypes.int4),
}
OTHERS = {
    **{
        f"numpy.{n}": (lambda n=n: getattr(np, n)(1))
        for n in (
            "bool_",
            "int8",
            "int64",
            "uint8",
            "uint64",
            "float16",
            "float32",
            "float64",
            "longdouble",
            "complex64",
            "complex128",
        )
    },
    "datetime64": lambda: np.datetime64(3, "s"),
    "numpy str": lambda: np.str_("a"),
    "bfloat16 scalar": lambda: ml_dtypes.bfloat16(1.5),
    "True": lambda: True,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "-2**63": lambda: -(2**63),
    "-2**63 - 1": lambda: -(2**63) - 1,
    "2**31": lambda: 2**31,
    "10**400": lambda: 10**400,
    "-1": lambda: -1,
    "Fraction": lambda: fractions.Fraction(1, 2),
    "Decimal": lambda: decimal.Decimal("1.5"),
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1j": lambda: 1j,
    "None": lambda: None,
    "Ellipsis": lambda: ...,
    "float of a class": lambda: Number(1.5),
    "int of a class": lambda: Whole(1),
    "index": lambda: Indexes(1),
    "index that raises": lambda: Indexes(ValueError("no")),
    "float()": IsFloat,
    "str": lambda: "cpu",
    "str of a class": lambda: Text("cpu"),
    "bytes": lambda: b"abc",
    "bytearray": lambda: bytearray(b"abc"),
    "range": lambda: range(3),
    "generator": lambda: (i for i in range(3)),
    "set": lambda: {1, 2},
    "dict": lambda: {0: 1},
    "deque": lambda: collections.deque([1, 2]),
    "map": lambda: map(float, [1, 2]),
    "sequence": Sequence,
    "longer than it says": LongerThanItSays,
    "list of a class": lambda: Rows([1, 2]),
    "itself": itself,
    "ragged": lambda: [[1], [1, 2]],
    "mixed": lambda: [1, 2.5, True],
    "with None": lambda: [1, None],
    "with text": lambda: [1, "a"],
    "huge inside": lambda: [2**64, 1],
    "arrays inside": lambda: [np.ones(2), np.zeros(2)],
    "big-endian inside": lambda: [np.array([1, 2], ">i4"), np.array([3, 4], ">i4")],
    "scalars inside": lambda: [np.float32(1), np.int64(2)],
    "empty": list,
    "empty rows": lambda: [[], []],
    "deep": lambda: [[[[[[[[1]]]]]]]],
    "slice": lambda: slice(0, 2),
    "slice of arrays": lambda: slice(np.int64(0), np.array(2)),
    "backwards": lambda: slice(None, None, -1),
    "array.array f": lambda: array.array("f", [1, 2]),
    "array.array b": lambda: array.array("b", [1, 2]),
    "memoryview": lambda: memoryview(b"\1\2\3"),
    "memoryview of f": lambda: memoryview(array.array("f", [1, 2])),
    "memoryview of two": lambda: memoryview(np.ones((2, 2))),
    "gives an array": lambda: GivesArray(np.arange(3.0)),
    "gives a list": lambda: GivesArray([1, 2]),
    "raises for an array": lambda: GivesArray(ValueError("no array")),
    "lies about its type": lambda: Lies(typestr="<q9"),
    "type": lambda: float,
    "object": object,
    "function": lambda: len,
}
VALUES = {**ARRAYS, **OTHERS}
