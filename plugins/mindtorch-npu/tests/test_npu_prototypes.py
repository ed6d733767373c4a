"""Our tables of prototypes against the C++ source of the simulator, which states them a second time."""

import ctypes
import re
from pathlib import Path

import pytest

from mindtorch_npu.acl import PROTOTYPES
from mindtorch_npu.acl.codes import NAMES
from mindtorch_npu.acl.enums import DataType, Format, MemcpyKind
from mindtorch_npu.acl.prototypes import parse
from mindtorch_npu.aclnn import operator, operators
from mindtorch_npu.ops import steps

SIMULATOR = Path(__file__).parents[2] / "mindtorch-npu-simulator"
SOURCES = SIMULATOR / "src"
# Sizes of what is passed by value; enumerations have 4 bytes.
SIZES = {
    "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8, "int8_t": 1, "bool": 1, "aclFloat16": 2,
    "aclrtStream": 8, "aclrtEvent": 8, "aclrtContext": 8, "aclrtCallback": 8,
}  # fmt: skip
KINDS = {
    "const aclTensor *": {"T"},
    "aclTensor *": {"T>", "T±"},
    "const aclTensorList *": {"TL"},
    "aclTensorList *": {"TL>", "TL±"},
    "const aclScalar *": {"S"},
    "const aclIntArray *": {"IA"},
    "const aclBoolArray *": {"BA"},
    "const aclFloatArray *": {"FA"},
    "const char *": {"str"},
    "char *": {"str"},
    "int64_t": {"i64"},
    "uint64_t": {"u64"},
    "int": {"i32"},
    "int32_t": {"i32"},
    "int8_t": {"i8"},
    "bool": {"b"},
    "double": {"f64"},
    "float": {"f32"},
    "aclDataType": {"DT"},
}


def source(*folders):
    """The C++ source of some libraries, without comments."""
    if not SOURCES.is_dir():
        pytest.skip("the simulator's source is not beside this package")
    files = [path for folder in folders for path in sorted((SOURCES / folder).rglob("*.cpp"))]
    return re.sub(r"//.*", "", "\n".join(path.read_text("utf-8") for path in files))


def declared(parameters):
    """Types and names of a C parameter list."""
    texts = [
        " ".join(text.split()) for text in parameters.split(",") if text.strip() not in ("", "void")
    ]
    matches = [
        re.fullmatch(r"((?:const )?\w+(?: \*+(?: ?const \*)?)?) ?(\w*)", text) for text in texts
    ]
    return [(match[1].strip(), match[2]) for match in matches]


def numbers(place):
    """Names and numbers of an enumeration, or of a namespace of constants, in the header."""
    header = SIMULATOR / "include" / "cann_abi.h"
    if not header.is_file():
        pytest.skip("the simulator's header is not beside this package")
    body = re.search(place + r"[^{]*\{(.*?)\n\}", header.read_text("utf-8"), re.DOTALL)[1]
    return {name: int(number) for name, number in re.findall(r"(\w+) = (-?\d+)", body)}


@pytest.mark.parametrize(
    ("ours", "place", "prefix"),
    [
        (DataType, "enum aclDataType", "ACL_"),
        (Format, "enum aclFormat", "ACL_FORMAT_"),
        (MemcpyKind, "enum aclrtMemcpyKind", "ACL_MEMCPY_"),
    ],
)
def test_enumerations(ours, place, prefix):
    theirs = numbers(place)
    assert {prefix + e.name: int(e) for e in ours}.items() <= theirs.items()


def test_codes():
    prefixes = ("ACL_", "ACL_ERROR_", "ACL_ERROR_RT_", "ACLNN_ERR_")
    for name, number in numbers("namespace code").items():
        plain = name.removeprefix("RT_").removeprefix("ACLNN_")
        assert NAMES[number] in {f"{p}{plain}" for p in prefixes}, number


def test_rows_that_are_wrong_are_named():
    for line in ("", "int f", "f()", "int f(void *p", "int (void *p)", "int f(int a, b+)"):
        with pytest.raises(ValueError, match=f"not a C prototype, .*: {re.escape(repr(line))}$"):
            parse(line, quick=True)
    with pytest.raises(LookupError, match=r"^aten::einsum has no rule of shapes and dtypes$"):
        steps.rule_of("aten::einsum")


def test_functions_of_the_runtime():
    text = source("core", "runtime", "nnopbase")
    found = re.findall(r"CANN_EXPORT\s+[\w\s*]+?\*?\b(acl\w+)\s*\(([^)]*)\)", text)
    compared = 0
    for name, parameters in found:
        if name not in PROTOTYPES:
            continue
        types = [kind for kind, _ in declared(parameters)]
        expected = [
            8 if "*" in kind else SIZES.get(kind.removeprefix("const "), 4) for kind in types
        ]
        assert [ctypes.sizeof(t) for t in PROTOTYPES[name].argtypes] == expected, name
        compared += 1
    assert compared > 100


def test_operators():
    found = re.findall(r"\bACLNN\(\s*(\w+),\s*\(([^)]*)\)", source("opapi"))
    known = set(operators())
    compared = 0
    for name, parameters in found:
        if name not in known:
            continue
        row = operator(name)
        given = declared(parameters)
        assert len(given) == len(row.parameters), name
        for (c_type, c_name), (parameter, kind) in zip(given, row.parameters, strict=True):
            assert kind in KINDS[c_type], (name, parameter)
            assert c_name.rstrip("s") == parameter.rstrip("s"), (name, parameter)
        compared += 1
    assert compared > 100
