"""What the library exports, against the facts that the plugin's table is tested with."""

import re
from collections.abc import Iterator
from ctypes import byref, c_int64, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from simtoolkit import DTYPES, Toolkit, toolkit

FACTS = Path(__file__).parents[3] / "mindtorch-npu" / "tests" / "data" / "aclnn_operators.tsv"

# The C types of a parameter, as simOperators abbreviates them.
KINDS = {
    "const aclTensor *": "T",
    "aclTensor *": "T>",
    "const aclScalar *": "S",
    "const aclIntArray *": "IA",
    "const aclBoolArray *": "BA",
    "const aclFloatArray *": "FA",
    "const aclTensorList *": "TL",
    "aclTensorList *": "TL>",
    "const aclScalarList *": "SL",
    "int64_t": "i64",
    "uint64_t": "u64",
    "int": "i32",
    "int32_t": "i32",
    "int8_t": "i8",
    "bool": "b",
    "double": "f64",
    "float": "f32",
    "aclDataType": "DT",
    "char *": "str",
    "const char *": "str",
}


class Fact(NamedTuple):
    """An operator: its parameters' kinds and names, and the dtypes of tensors where known."""

    kinds: list[str]
    names: list[str]
    dtypes: dict[str, set[str]]


LONG_NAMES = {
    **{
        f"{word}{bits}": f"{word[0]}{bits}"
        for word in ("float", "int", "uint")
        for bits in (8, 16, 32, 64)
    },
    "bfloat16": "bf16",
    "bool": "b",
    "complex64": "c64",
    "complex128": "c128",
}


@cache
def facts() -> dict[str, Fact]:
    """Read the file; the test is skipped where this distribution stands alone."""
    if not FACTS.is_file():
        pytest.skip(f"{FACTS} is not in this checkout")
    found = {}
    for line in FACTS.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, parameters, types, *_ = line.split("\t")
        kinds, names = [], []
        for parameter in parameters.split(", "):
            match = re.fullmatch(r"(.*?[ *])(\w+)", parameter)
            assert match, parameter
            kinds.append(KINDS[match[1].strip()])
            names.append(match[2])
        sets = dict(part.split(": ") for part in types.split("; ") if ": " in part)
        dtypes = {k: {LONG_NAMES.get(d, d) for d in v.split()} for k, v in sets.items()}
        found[name] = Fact(kinds, names, dtypes)
    return found


def operators() -> list[str]:
    """The names of all operators that the library exports."""
    return [name.removeprefix("aclnn") for name in toolkit().kinds]


def test_prototypes() -> None:
    known = facts()
    wrong = {
        name: (toolkit().kinds[f"aclnn{name}"], known[name].kinds)
        for name in operators()
        if toolkit().kinds[f"aclnn{name}"] != known[name].kinds
    }
    assert wrong == {}


def test_both_functions_are_exported() -> None:
    ops = toolkit().ops
    for name in operators():
        assert hasattr(ops, f"aclnn{name}")
        assert hasattr(ops, f"aclnn{name}GetWorkspaceSize")


class Probe:
    """Phase one with tensors of chosen dtypes, everything else as plain as it can be."""

    def __init__(self, kit: Toolkit) -> None:
        self.kit = kit
        self.memory = kit.upload(bytes(256))
        self.tensors = {d: kit.tensor(d, [2, 2], self.memory) for d in DTYPES}
        self.number = kit.base.aclCreateScalar(bytes(8), DTYPES["i64"][0])
        self.array = kit.base.aclCreateIntArray((c_int64 * 1)(), 1)

    def close(self) -> None:
        """Release the objects."""
        for tensor in self.tensors.values():
            self.kit.base.aclDestroyTensor(tensor)
        self.kit.base.aclDestroyScalar(self.number)
        self.kit.base.aclDestroyIntArray(self.array)
        self.kit.free(self.memory)

    def _argument(self, kind: str, dtype: str) -> object:
        if kind in {"T", "T>"}:
            return self.tensors[dtype]
        known = {"S": self.number, "IA": self.array, "str": b"none"}
        return known.get(kind, None if kind in {"BA", "FA", "TL", "TL>", "SL"} else 0)

    def phase_one(self, name: str, fact: Fact, place: int, dtype: str) -> str:
        """What phase one says of one tensor's dtype, the others being as usual; "" if it succeeds."""
        one, _ = self.kit.phases(name)
        size, executor = c_uint64(), c_void_p()
        arguments = []
        for k, (kind, parameter) in enumerate(zip(fact.kinds, fact.names, strict=True)):
            allowed = fact.dtypes.get(parameter, {"f32"})
            usual = next((d for d in ("f32", "i64", "b", "f16", "c64") if d in allowed), "f32")
            arguments.append(self._argument(kind, dtype if k == place else usual))
        if one(*arguments, byref(size), byref(executor)) == 0:
            self.kit.base.aclDestroyAclOpExecutor(executor)
            return ""
        return self.kit.message()


@pytest.fixture
def probe(opened: Toolkit) -> Iterator[Probe]:
    """Descriptors of every dtype."""
    made = Probe(opened)
    yield made
    made.close()


def test_dtypes(probe: Probe) -> None:
    """What the facts list is not refused; what they do not list is, be it for its dtype or another."""
    wrong = []
    for name in operators():
        fact = facts()[name]
        for place, parameter in enumerate(fact.names):
            if fact.kinds[place] not in {"T", "T>"} or parameter not in fact.dtypes:
                continue
            for dtype in DTYPES:
                text = probe.phase_one(name, fact, place, dtype)
                if dtype not in fact.dtypes[parameter]:
                    if not text:
                        wrong.append(f"aclnn{name} takes {dtype} as {parameter}")
                elif f": {parameter} has dtype" in text and "not supported" in text:
                    wrong.append(text)
    assert wrong == []
