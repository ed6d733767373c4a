"""Our tables of prototypes against the C++ source of the simulator, which states them a second time."""

import ctypes
import re
from pathlib import Path

import pytest

from mindtorch_npu.acl import PROTOTYPES
from mindtorch_npu.aclnn import operator, operators

SOURCES = Path(__file__).parents[2] / "mindtorch-npu-simulator" / "src"
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
