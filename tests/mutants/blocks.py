"""Blocks of sources: statements of which all run if the first does, and what notes that one has run.

A block begins with a function, a lambda, an arm of a statement, and after each statement that has arms.
`Noting` gives modules that are imported a mark for each block: an assignment to an array that processes
which tests start, and forks, share through a file. What is imported once runs once: such blocks have run
before the first test.
"""

from __future__ import annotations

import ast
import builtins
import json
import marshal
import mmap
import os
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

FOLDER = "MUTANTS_BLOCKS"  # the variable that names where tables are
RAN = "MUTANTS_RAN"  # the one that names the file of the array, which other runs must not share
ARRAY = "__blocks_that_ran__"  # its name among the built-in ones, so that no module has another

Span = tuple[int, int, int, int]  # the first line and column, and the last


class _Marks(ast.NodeTransformer):
    """Puts marks into a module, and lists the spans of its blocks."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.spans: list[Span] = []

    def _number(self, start: ast.AST, end: ast.AST) -> int:
        self.spans.append(
            (start.lineno, start.col_offset, end.end_lineno, end.end_col_offset)  # type: ignore[attr-defined]
        )
        return self.first + len(self.spans) - 1

    def _marked(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A list of statements with the marks of its blocks."""
        docstring = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        found: list[ast.stmt] = body[:docstring]
        rest = body[docstring:]
        while rest:
            size = next((n for n, s in enumerate(rest, 1) if hasattr(s, "body")), len(rest))
            number = self._number(rest[0], rest[size - 1])
            (mark,) = ast.parse(f"{ARRAY}[{number}] = 1").body
            for node in ast.walk(mark):
                ast.copy_location(node, rest[0])
            found += [mark, *(self.visit(statement) for statement in rest[:size])]
            rest = rest[size:]
        return found

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A lambda has one block."""
        number = self._number(node.body, node.body)
        self.generic_visit(node)
        mark = ast.parse(f"({ARRAY}.__setitem__({number}, 1), 0)[1]", mode="eval").body
        for part in ast.walk(mark):
            ast.copy_location(part, node.body)
        mark.value.elts[1] = node.body  # type: ignore[attr-defined]
        node.body = mark
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Everything else: its lists of statements, those of modules and classes without marks."""
        arms = (
            () if isinstance(node, ast.Module | ast.ClassDef) else ("body", "orelse", "finalbody")
        )
        lists = {arm: getattr(node, arm, None) for arm in arms}
        lists = {arm: body for arm, body in lists.items() if isinstance(body, list) and body}
        for arm in lists:
            setattr(node, arm, [])
        super().generic_visit(node)
        for arm, body in lists.items():
            setattr(node, arm, self._marked(body))
        return node


def marked(source: str, path: str, first: int) -> tuple[CodeType, list[Span]]:
    """A module with marks, numbered from the first, and the spans of its blocks."""
    marks = _Marks(first)
    tree = marks.visit(ast.parse(source))
    return compile(tree, path, "exec", dont_inherit=True), marks.spans


def tabulate(files: list[Path], folder: Path) -> dict[str, list[Span]]:
    """Compile files with marks into a folder; gives their blocks, by path."""
    table, spans, number = {}, {}, 0
    for file in files:
        code, spans[str(file)] = marked(file.read_text(encoding="utf-8"), str(file), number)
        place = folder / f"{len(table)}.code"
        place.write_bytes(marshal.dumps(code))
        table[str(file)] = [str(place), number]
        number += len(spans[str(file)])
    (folder / "table.json").write_text(json.dumps(table))
    (folder / "spans.json").write_text(json.dumps(spans))
    return spans


def note(folder: Path) -> tuple[mmap.mmap, dict[str, list]]:
    """Import modules with their marks from now on; gives the array, and each file's code and first number."""
    table = json.loads((folder / "table.json").read_text())
    with open(os.environ[RAN], "r+b") as file:
        array = mmap.mmap(file.fileno(), 0)
    setattr(builtins, ARRAY, array)
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        if self.path in table:
            return marshal.loads(Path(table[self.path][0]).read_bytes())
        return usual(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    return array, table


def around(spans: list[Span], line: int, column: int) -> int | None:
    """The number, within its file, of the innermost block around a place."""
    inside = [
        (end - start, last - first if start == end else 0, -number)
        for number, (start, first, end, last) in enumerate(spans)
        if (start, first) <= (line, column) <= (end, last)
    ]
    return -min(inside)[2] if inside else None


def kept_at(folder: Path, file: str) -> Path:
    """Where it is kept what the tests of a file run."""
    return folder / f"{file.replace('/', '+')}.json"
