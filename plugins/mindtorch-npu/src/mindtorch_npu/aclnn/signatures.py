"""The operators of CANN: one table of their parameters and of what they accept.

``operators.tsv`` has a row for each operator: name, parameters, element types, strided tensors.
A parameter is ``name:kind``. The kinds:

    T  T>  T±       tensor that is read, written, or both
    TL TL> TL±      list of tensors
    S  SL           scalar, list of scalars
    IA FA BA        array of int64, float32, bool
    i64 u64 i32 i8  integers of C         f64 f32   floats of C
    b               bool of C             DT        data type
    str             text

Element types are ``parameter,parameter: types; ...``, or types alone where they hold for all tensors;
``=p`` means the types of parameter p. Sets may be changed, as in ``NUM12+u16-b``. The last column tells
which tensors may be strided in the same way: ``y:`` those that may, ``n:`` those that may not. Where a
row is silent, CANN's documents are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from mindtorch_core.backend import dtype

__all__ = ["KINDS", "Operator", "accepts", "declare", "operator", "operators", "takes_strides"]

KINDS: Final = frozenset({
    "T", "T>", "T±", "TL", "TL>", "TL±", "S", "SL", "IA", "FA", "BA",
    "i64", "u64", "i32", "i8", "f64", "f32", "b", "DT", "str",
})  # fmt: skip
_TYPES: Final = {
    "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "b": "bool", "c64": "complex64", "c128": "complex128",
    "c32": "complex32", "i4": "int4",
}  # fmt: skip
_SETS: Final = {
    "NUM12": "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b c64 c128",
    "REAL10": "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b",
    "REAL9": "f32 f16 bf16 f64 i8 i16 i32 i64 u8",
    "FLT3": "f32 f16 bf16",
    "FLT4": "f32 f16 bf16 f64",
    "FLTC6": "f32 f16 bf16 f64 c64 c128",
    "INT5": "i8 i16 i32 i64 u8",
    "INTB6": "i8 i16 i32 i64 u8 b",
    "IDX": "i32 i64",
}


@dataclass(frozen=True, slots=True)
class Operator:
    """A row of the table.

    Attributes:
        name: the operator's name, without the prefix ``aclnn``.
        parameters: names and kinds, in order.
        types: names of the element types that a tensor parameter takes, where documented.
        strided: whether a tensor parameter may be strided, where documented.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    types: dict[str, frozenset[str]]
    strided: dict[str, bool]


@cache
def _lines() -> dict[str, list[str]]:
    """The columns of each row, by operator."""
    text = files(__package__).joinpath("operators.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {row[0]: [*row, "", "", ""][1:4] for row in rows}


def operators() -> list[str]:
    """The names of all operators."""
    return list(_lines())


def declare(name: str, parameters: str) -> None:
    """Add an operator of a custom package to the table, so that it can be called.

    Args:
        name: its name, without the prefix ``aclnn``.
        parameters: those of its first function without the last two, such as ``"x:T bias:S y:T>"``.

    Raises:
        ValueError: if the table has the name with other parameters, a kind is unknown, or there is
            no tensor, which would tell the device.
    """
    words = parameters.split()
    if not any(_parameter(word)[1].startswith("T") for word in words):
        raise ValueError(f"aclnn{name} needs a tensor among its parameters, which tells the device")
    given = " ".join(words)
    present = _lines().setdefault(name, [given, "", ""])[0]
    if present != given:
        raise ValueError(f"aclnn{name} is in the table already, with the parameters {present}")


@cache
def operator(name: str) -> Operator:
    """The row of an operator.

    Raises:
        ValueError: if there is none of that name.
    """
    columns = _lines().get(name)
    if columns is None:
        raise ValueError(
            f"no operator {name!r} is in the table of CANN's operators; one of a custom package is "
            f"added by aclnn.declare"
        )
    parameters = tuple(_parameter(text) for text in columns[0].split(" "))
    tensors = [p for p, kind in parameters if kind.startswith("T")]
    return Operator(name, parameters, _types(columns[1], tensors), _strided(columns[2], tensors))


def accepts(name: str, parameter: str, d: dtype) -> bool:
    """Whether an operator takes tensors of a dtype for a parameter.

    True as well where CANN's documents do not say. Chips before the 910B have no bfloat16 at all.

    Raises:
        ValueError: if there is no such operator or tensor parameter.
    """
    found = operator(name).types.get(_tensor(name, parameter))
    return found is None or d.name in found


def takes_strides(name: str, parameter: str) -> bool:
    """Whether an operator is documented to take strided tensors for a parameter.

    Raises:
        ValueError: if there is no such operator or tensor parameter.
    """
    return operator(name).strided.get(_tensor(name, parameter), False)


def _tensor(name: str, parameter: str) -> str:
    """The name of a tensor parameter, which the operator must have."""
    tensors = [p for p, kind in operator(name).parameters if kind.startswith("T")]
    if parameter not in tensors:
        raise ValueError(
            f"aclnn{name} has no tensor {parameter!r}; its tensors are {', '.join(tensors)}"
        )
    return parameter


def _parameter(text: str) -> tuple[str, str]:
    name, _, kind = text.partition(":")
    if kind not in KINDS:
        raise ValueError(f"unknown kind of parameter in the operator table: {text!r}")
    return name, kind


def _clauses(column: str, tensors: list[str]) -> dict[str, str]:
    """What a column says of each tensor."""
    if not column:
        return {}
    if ":" not in column:
        return dict.fromkeys(tensors, column)
    found = {}
    for clause in column.split("; "):
        names, _, text = clause.partition(": ")
        found.update(dict.fromkeys(names.split(","), text))
    return found


def _types(column: str, tensors: list[str]) -> dict[str, frozenset[str]]:
    texts = _clauses(column, tensors)
    found = {}
    for parameter, text in texts.items():
        while text.startswith("="):
            text = texts[text[1:]]
        found[parameter] = _expanded(text)
    return found


def _expanded(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in text.split(" "):
        base, *changes = re.split(r"(?=[+-])", word)
        types = set(_SETS.get(base, base).split(" "))
        types |= {change[1:] for change in changes if change[0] == "+"}
        types -= {change[1:] for change in changes if change[0] == "-"}
        found |= types
    return frozenset(_TYPES[each] for each in found)


def _strided(column: str, tensors: list[str]) -> dict[str, bool]:
    if column in ("all", "none"):
        return dict.fromkeys(tensors, column == "all")
    found = {}
    for clause in column.split("; ") if column else ():
        answer, _, names = clause.partition(": ")
        found.update(dict.fromkeys(names.split(","), answer == "y"))
    return found
