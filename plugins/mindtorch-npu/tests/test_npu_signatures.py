"""The operator table against the facts: what it says is what CANN's headers and documents say."""

import ctypes
import re
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core.values.dtypes import DTYPES
from mindtorch_npu.acl import PROTOTYPES, PointerAttributes
from mindtorch_npu.acl.enums import DataType
from mindtorch_npu.aclnn import accepts, operator, operators, takes_strides
from mindtorch_npu.aclnn.calls import _VALUES
from mindtorch_npu.aclnn.descriptors import DESTROYERS, MAKERS
from mindtorch_npu.aclnn.signatures import KINDS

FACTS = Path(__file__).parent / "data" / "aclnn_operators.tsv"
# C types, and the kinds that stand for them.
HANDLES = {
    "const aclTensor": {"T"},
    "aclTensor": {"T>", "T±"},
    "const aclTensorList": {"TL"},
    "aclTensorList": {"TL>", "TL±"},
    "const aclScalar": {"S"},
    "const aclScalarList": {"SL"},
    "const aclIntArray": {"IA"},
    "const aclFloatArray": {"FA"},
    "const aclBoolArray": {"BA"},
    "char": {"str"},
}
VALUES = {
    "int64_t": ("i64", 8),
    "uint64_t": ("u64", 8),
    "int": ("i32", 4),
    "int8_t": ("i8", 1),
    "double": ("f64", 8),
    "float": ("f32", 4),
    "bool": ("b", 1),
    "aclDataType": ("DT", 4),
}


def facts():
    rows = {}
    for line in FACTS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            name, *columns = line.split("\t")
            rows[name] = columns
    return rows


FACT_ROWS = facts()


def by_parameter(column):
    """``a: x y; b: z`` as a dict."""
    return dict(part.split(": ") for part in column.split("; ")) if column else {}


def test_table_and_facts_have_the_same_operators():
    assert len(FACT_ROWS) == 601
    assert operators() == list(FACT_ROWS)


@pytest.mark.parametrize("name", FACT_ROWS)
def test_row(name):
    prototype, types, strides, _ = FACT_ROWS[name]
    declared = [re.fullmatch(r"(.*?) ?(\*?)(\w+)", p).groups() for p in prototype.split(", ")]
    row = operator(name)
    assert [p for p, _ in row.parameters] == [parameter for _, _, parameter in declared]
    for (parameter, kind), (c_type, star, _) in zip(row.parameters, declared, strict=True):
        if star:
            assert kind in HANDLES[c_type], parameter
        else:
            assert (kind, ctypes.sizeof(_VALUES[kind])) == VALUES[c_type], parameter
    assert {p: " ".join(sorted(found)) for p, found in row.types.items()} == {
        p: " ".join(sorted(text.split())) for p, text in by_parameter(types).items()
    }
    assert row.strided == {p: text == "yes" for p, text in by_parameter(strides).items()}


def test_every_kind_is_passed_in_one_way():
    assert MAKERS.keys() | _VALUES.keys() == KINDS
    assert not MAKERS.keys() & _VALUES.keys()
    assert DESTROYERS.keys() == MAKERS.keys()
    used = {k for n in operators() for _, k in operator(n).parameters}
    assert KINDS - used == {"SL"}  # lists of scalars are parameters of the foreach operators only
    assert set(DESTROYERS.values()) <= PROTOTYPES.keys()


def test_types_are_names_of_dtypes():
    names = {t for n in operators() for found in operator(n).types.values() for t in found}
    assert names - DTYPES.keys() == {"complex32", "int4"}


def test_accepts():
    assert accepts("Exp", "self", torch.int64)
    assert not accepts("Exp", "self", torch.int16)
    assert not accepts("Exp", "out", torch.int64)
    assert accepts("IndexPutImpl", "values", torch.float64)  # as selfRef
    assert not accepts("IndexPutImpl", "indices", torch.float32)
    assert accepts("Cast", "self", torch.uint16)


def test_what_documents_do_not_say_is_accepted_but_not_strided():
    (name, parameter) = next(
        (n, p)
        for n in operators()
        for p, kind in operator(n).parameters
        if kind == "T" and p not in operator(n).types and p not in operator(n).strided
    )
    assert accepts(name, parameter, torch.complex128)
    assert not takes_strides(name, parameter)


def test_takes_strides():
    assert takes_strides("Add", "out")
    assert takes_strides("Nonzero", "self")
    assert not takes_strides("Nonzero", "out")
    assert not takes_strides("Matmul", "out")


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no operator 'Addd' is in the table"):
        operator("Addd")
    with pytest.raises(
        ValueError, match="aclnnAdd has no tensor 'alpha'; its tensors are self, other, out"
    ):
        accepts("Add", "alpha", torch.int8)
    with pytest.raises(ValueError, match="aclnnAdd has no tensor 'input'"):
        takes_strides("Add", "input")


# ---- the runtime's functions -----------------------------------------------------------------------


def test_prototypes_of_the_runtime():
    """Some prototypes in full, as their types are easily got wrong."""
    expected = {
        "aclrtMalloc": (ctypes.c_int32, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_int32]),
        "aclrtGetDeviceCount": (ctypes.c_int32, [ctypes.POINTER(ctypes.c_uint32)]),
        "aclrtGetSocName": (ctypes.c_char_p, []),
        "aclrtCreateStreamWithConfig": (
            ctypes.c_int32, [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32, ctypes.c_uint32],
        ),
        "aclrtMemcpyAsync": (
            ctypes.c_int32,
            [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32, ctypes.c_void_p],
        ),
        "aclrtEventElapsedTime": (
            ctypes.c_int32, [ctypes.POINTER(ctypes.c_float), ctypes.c_void_p, ctypes.c_void_p],
        ),
        "aclCreateTensor": (
            ctypes.c_void_p,
            [
                ctypes.POINTER(ctypes.c_int64), ctypes.c_uint64, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64),
                ctypes.c_int64, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_uint64, ctypes.c_void_p,
            ],
        ),
        "aclGetViewShape": (
            ctypes.c_int32,
            [ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)), ctypes.POINTER(ctypes.c_uint64)],
        ),
        "aclFloat16ToFloat": (ctypes.c_float, [ctypes.c_uint16]),
    }  # fmt: skip
    for name, (restype, argtypes) in expected.items():
        assert (PROTOTYPES[name].restype, list(PROTOTYPES[name].argtypes)) == (restype, argtypes), (
            name
        )


def test_the_structure_that_the_runtime_fills_has_its_size():
    assert ctypes.sizeof(PointerAttributes) == 28


def test_calls_that_wait_leave_the_lock_to_other_threads():
    waiting = [
        n
        for n in PROTOTYPES
        if re.search("Synchronize|Memcpy|Malloc|Free|SetDevice|Reset|Init$", n)
    ]
    assert len(waiting) > 20
    assert [n for n in waiting if PROTOTYPES[n].quick] == []
    assert PROTOTYPES["aclCreateTensor"].quick


def test_data_types_are_numbered_as_in_c():
    numbers = {t.name: int(t) for t in DataType}
    assert numbers["FLOAT"] == 0
    assert numbers["DOUBLE"] == 11
    assert numbers["BOOL"] == 12
    assert numbers["BF16"] == 27
    assert len(set(numbers.values())) == len(numbers)
