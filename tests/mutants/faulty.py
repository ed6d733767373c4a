"""Faults that no file has: in the functions of a running process, and in modules that are imported.

What a fault changes within functions is put into those that are there, which takes no time. What runs as a
module is imported (tables, defaults, classes) wants a process that has not imported it.
"""

from __future__ import annotations

import gc
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType

FAULT = "MUTANTS_FAULT"  # the variable that names a file with the path of a module and its text
OPTIMIZED = 1  # the flag of code that is a function's, and no module's or class's

Functions = dict[str, list[FunctionType]]
Change = tuple[CodeType, CodeType]


def _own(code: CodeType) -> tuple[object, ...]:
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, constants, names, code.co_exceptiontable)


def _changes(old: CodeType, new: CodeType) -> Iterator[Change]:
    """The code that differs, with all around it."""
    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new)]
    if [c.co_name for c in inner[0]] != [c.co_name for c in inner[1]]:
        yield old, new
        return
    within = [change for pair in zip(*inner, strict=True) for change in _changes(*pair)]
    if within or _own(old) != _own(new):
        yield from (*within, (old, new))


def changed_functions(path: str, before: str, after: str) -> list[Change] | None:
    """The code of functions before and after a change of a module; None if more than functions change."""
    old, new = (compile(text, path, "exec", dont_inherit=True) for text in (before, after))
    functions = []
    for was, becomes in _changes(old, new):
        if was.co_flags & OPTIMIZED:
            if was.co_freevars != becomes.co_freevars:
                return None
            functions.append((was, becomes))
        elif _own(was) != _own(becomes):
            return None
    return functions


def functions_by_file() -> Functions:
    """Every function of the process."""
    found: Functions = defaultdict(list)
    for thing in gc.get_objects():
        if type(thing) is FunctionType:
            found[thing.__code__.co_filename].append(thing)
    return found


def put_into(functions: Functions, path: str, changes: list[Change]) -> None:
    """Give functions of the process their changed code."""
    codes = {(was.co_qualname, was.co_firstlineno): becomes for was, becomes in changes}
    for function in functions[path]:
        code = function.__code__
        if (code.co_qualname, code.co_firstlineno) in codes:
            function.__code__ = codes[code.co_qualname, code.co_firstlineno]


def put_on_import() -> None:
    """Import the module that the variable's file names with the text that stands there."""
    path, text = json.loads(Path(os.environ[FAULT]).read_text(encoding="utf-8"))
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        if self.path == path:
            return compile(text, path, "exec", dont_inherit=True)
        return usual(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
