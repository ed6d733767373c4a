"""The names by which the code of a captured function can reach what is around it."""

from __future__ import annotations

import dis
import itertools
import re
from collections.abc import Iterator, Set
from types import CodeType
from typing import Final

__all__ = [
    "by_text", "globals_of", "imported_by", "joins_names", "loaded_by", "modules_meant", "names_in",
    "read_by", "stored_by", "texts_of", "tried_by", "walked_by", "walks_modules",
]  # fmt: skip

_LOADS: Final = frozenset({
    "IMPORT_FROM", "LOAD_ATTR", "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME",
})  # fmt: skip
_ADDING: Final = frozenset({"add", "append", "appendleft", "extend"})
_BY_TEXT: Final = frozenset({
    "AttributeError", "__dict__", "__getattribute__", "__globals__", "attrgetter", "eval", "exec",
    "f_globals", "format", "format_map", "getattr", "getattr_static", "globals", "hasattr", "methodcaller",
    "vars",
})  # fmt: skip
_FIELD: Final = re.compile(r"{([\w.]+)")  # in a text that is filled in
_FINDING: Final = frozenset({"__import__", "import_module", "modules"})
_EVALUATING: Final = frozenset({"eval", "exec"})
_LOOKED_THROUGH: Final = frozenset({"items", "keys", "values"})
_JOINING: Final = frozenset({"BINARY_OP", "BUILD_STRING"})
# What operators call, by how the compiler shows them.
_CALLED_BY: Final = {
    "+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "//": "floordiv", "%": "mod",
    "**": "pow", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
    "<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge", "[]": "getitem",
}  # fmt: skip
_CALLED_BY_STEP: Final = {
    "BINARY_SUBSCR": {"__getitem__"}, "BINARY_SLICE": {"__getitem__"}, "STORE_SUBSCR": {"__setitem__"},
    "UNARY_NEGATIVE": {"__neg__"}, "UNARY_INVERT": {"__invert__"}, "CONTAINS_OP": {"__contains__"},
    "FORMAT_VALUE": {"__format__", "__repr__", "__str__"}, "FORMAT_SIMPLE": {"__format__", "__str__"},
    "FORMAT_WITH_SPEC": {"__format__", "__str__"}, "CONVERT_VALUE": {"__repr__", "__str__"},
    "MATCH_CLASS": {"__match_args__"}, "GET_ITER": {"__iter__", "__getitem__"},
}  # fmt: skip
_CALLED_BY_NAME: Final = {
    "callable": {"__call__"}, "str": {"__str__", "__repr__"},
    "repr": {"__repr__"}, "format": {"__format__", "__str__", "__repr__"},
}  # fmt: skip
_TRUTH: Final = ("POP_JUMP", "JUMP_IF", "TO_BOOL", "UNARY_NOT")
_KEYS: Final = (
    "LOAD_CLOSURE", "LOAD_CONST", "LOAD_DEREF", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "PUSH_NULL",
)  # fmt: skip
_TAKING_WHOLE: Final = (
    "BUILD_LIST", "BUILD_MAP", "BUILD_TUPLE", "CALL", "COMPARE_OP", "DICT_", "KW_NAMES", "PRECALL",
)  # fmt: skip
_NOTHING: Final[frozenset[str]] = frozenset()


def by_text(names: Set[str]) -> bool:
    """Whether code that loads these names may look attributes up by texts."""
    return bool(names & _BY_TEXT)


def loaded_by(code: CodeType) -> set[str]:
    """The names that a function and those within it load, also as texts where it looks up by those."""
    steps = [*dis.get_instructions(code)]
    found = {i.argval for i in steps if i.opname in _LOADS}
    for i in steps:
        found |= _CALLED_BY_STEP.get(i.opname, _NOTHING)
        if i.opname.startswith(_TRUTH):
            found |= {"__bool__", "__len__"}
        if i.opname in ("BINARY_OP", "COMPARE_OP"):
            found |= _operator(str(i.argrepr))
    for step, following in itertools.pairwise(steps):
        if step.opname == "PUSH_EXC_INFO" and following.opname == "POP_TOP":
            found.add("Exception")  # ``except`` without a name
    for name in found & _CALLED_BY_NAME.keys():
        found |= _CALLED_BY_NAME[name]
    if found & _BY_TEXT:
        found |= texts_of(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= loaded_by(constant)
        elif isinstance(constant, str) and found & _EVALUATING:
            found |= _loaded_by_text(constant)
    return found


def _operator(shown: str) -> set[str]:
    """The methods of both operands that an operator calls, by how the compiler shows it."""
    in_place = shown not in _CALLED_BY
    name = _CALLED_BY.get(shown.removesuffix("=") if in_place else shown)
    if name is None:
        return set()
    return {f"__{name}__", f"__r{name}__"} | ({f"__i{name}__"} if in_place else set())


def _loaded_by_text(text: str) -> set[str]:
    """The names that a text loads if it is code."""
    try:
        return loaded_by(compile(text, "", "exec"))
    except (SyntaxError, ValueError):
        return set()


def texts_of(code: CodeType) -> set[str]:
    """The names in the texts in a function."""
    return {name for c in code.co_consts if isinstance(c, str) for name in names_in(c)}


def tried_by(code: CodeType) -> set[str]:
    """The attributes that a function may find to be absent: it handles errors that tell of that."""
    steps = [*dis.get_instructions(code)]
    if not any(i.argval in ("AttributeError", "Exception") for i in steps if i.opname in _LOADS):
        return set()
    return {i.argval for i in steps if i.opname in ("LOAD_ATTR", "LOAD_METHOD")}


def names_in(text: str) -> set[str]:
    """The names in a text: it is one, consists of them with dots between, or has such fields to fill in."""
    texts = [text, *_FIELD.findall(text)] if "{" in text else [text]
    parts = [each.split(".") for each in texts]
    found = {part for each in parts if all(map(_is_name, each)) for part in each}
    return {part for part in found if part.isidentifier()}


def _is_name(text: str) -> bool:
    return not text or text.isidentifier() or text.isdecimal()


def globals_of(code: CodeType) -> set[str]:
    """The variables outside of all functions that a function and those within it load."""
    found = {
        i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= globals_of(constant)
    return found


def stored_by(code: CodeType) -> set[str]:
    """The attributes that a function and those within it set."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= stored_by(constant)
    return found


def joins_names(code: CodeType) -> bool:
    """Whether a function may ask for attributes by texts that it puts together."""
    steps = [*dis.get_instructions(code)]
    loaded = {i.argval for i in steps if i.opname in _LOADS}
    if loaded & {"__dict__", "vars"} and loaded & _LOOKED_THROUGH:
        return True
    for at, step in enumerate(steps):
        if step.opname in _LOADS and step.argval in ("getattr", "hasattr"):
            called = itertools.takewhile(lambda i: "CALL" not in i.opname, steps[at + 1 :])
            if any(i.opname in _JOINING for i in called):
                return True
    return any(isinstance(c, CodeType) and joins_names(c) for c in code.co_consts)


def read_by(code: CodeType, local: Set[str] = _NOTHING) -> set[str]:
    """The names that a function and those within it load, but for adding something to what they name.

    Args:
        code: the function.
        local: names of arguments, of which that is asked instead.
    """
    steps = [*dis.get_instructions(code)]
    found = {
        step.argval
        for step, following in itertools.pairwise(steps)
        if (step.argval in local if local else step.opname in _LOADS)
        and following.argval not in _ADDING
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= read_by(constant, local)
    return found


def walked_by(code: CodeType) -> set[str]:
    """What a function and those within it hand on as a whole, walk through or compare; ``[]`` for elements.

    What is loaded for one of its elements or attributes is followed by a key, or by the attribute.
    """
    steps = [i for i in dis.get_instructions(code) if i.opname not in ("CACHE", "EXTENDED_ARG")]
    found = set()
    for at, step in enumerate(steps):
        is_local = "FAST" in step.opname
        if step.opname == "BINARY_SUBSCR" or step.argrepr == "[]":
            name = "[]"
        elif step.opname in _LOADS or is_local:
            name = step.argval
        else:
            continue
        if _is_handed_on(steps, at + 1):
            found.add(name)
            if is_local and any(i.opname == "FOR_ITER" for i in steps):
                found.add("[]")  # it may be an element that a loop goes over
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= walked_by(constant)
    return found


def _is_handed_on(steps: list[dis.Instruction], at: int) -> bool:
    """Whether what the step before one has loaded is taken as a whole, maybe with what is loaded after it."""
    start = at
    while at < len(steps) and steps[at].opname.startswith(_KEYS) and "ATTR" not in steps[at].opname:
        at += 1
    if at == len(steps):
        return False
    taking = steps[at]
    if at > start:
        is_operator = taking.opname == "BINARY_OP" and taking.argrepr != "[]" and at == start + 1
        return is_operator or taking.opname.startswith(_TAKING_WHOLE)
    return "ATTR" not in taking.opname and taking.opname != "LOAD_METHOD"


def modules_meant(code: CodeType, loaded: Set[str]) -> set[str]:
    """The texts in a function that may name modules, where it looks modules up by these."""
    if not loaded & _FINDING:
        return set()
    return {c for c in code.co_consts if isinstance(c, str) and c.replace(".", "").isidentifier()}


def walks_modules(code: CodeType) -> bool:
    """Whether a function asks for more of ``sys.modules`` than single ones."""
    return any(
        a.argval == "sys"
        and b.argval == "modules"
        and ("CALL" in c.opname or c.opname == "GET_ITER" or c.argval in _LOOKED_THROUGH)
        for a, b, c in _in_threes([*dis.get_instructions(code)])
    )


def _in_threes(steps: list[dis.Instruction]) -> Iterator[tuple[dis.Instruction, ...]]:
    return zip(steps, steps[1:], steps[2:], strict=False)


def imported_by(code: CodeType) -> set[str]:
    """The modules that a function and those within it import, with the packages that begin their names."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"}
    found |= {name.partition(".")[0] for name in found}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= imported_by(constant)
    return found
