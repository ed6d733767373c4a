"""Faults for testing the tests: small changes of a source file, each at one place.

A change swaps an operator, turns a condition round, moves a whole number by one, drops a statement or
turns a default round. Lines of docstrings, types, ``__all__`` and raised texts are left alone: nobody
tests those, or the linters do.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+",
    ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip

KINDS = (
    "comparison", "operator", "connective", "sign", "condition", "choice", "flag", "number", "call",
    "update", "raise",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of a file.

    Attributes:
        kind: what is changed, one of `KINDS`.
        line: where it is, counted from 1.
        start, end: the characters that it replaces.
        text: what stands there instead.
    """

    kind: str
    line: int
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The file with the fault in it."""
        return source[: self.start] + self.text + source[self.end :]


class _Places(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = source.splitlines()
        self.found: list[Fault] = []

    def at(self, line: int, column: int) -> int:
        """A position of the parser, which counts bytes of a line, as one of the text."""
        before = self.lines[line - 1].encode()[:column] if line <= len(self.lines) else b""
        return self.starts[line - 1] + len(before.decode())

    def put(self, kind: str, node: ast.AST, text: str) -> None:
        start = self.at(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        end = self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        self.found.append(Fault(kind, node.lineno, start, end, text))  # type: ignore[attr-defined]

    def between(self, kind: str, left: ast.AST, right: ast.AST, text: str) -> None:
        """Replace the operator between two operands, with the blanks and brackets around it kept."""
        start = self.at(left.end_lineno, left.end_col_offset)  # type: ignore[attr-defined]
        end = self.at(right.lineno, right.col_offset)  # type: ignore[attr-defined]
        gap = self.source[start:end]
        sign = gap.strip("() \n\t")
        if "#" not in gap and sign and gap.count(sign) == 1:
            where = start + gap.index(sign)
            line = left.end_lineno  # type: ignore[attr-defined]
            self.found.append(Fault(kind, line, where, where + len(sign), text))

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            self.between("comparison", left, right, COMPARISONS[type(op)])
            left = right
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in OPERATORS and not isinstance(node.left, ast.Constant | ast.JoinedStr):
            self.between("operator", node.left, node.right, OPERATORS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between("connective", left, right, other)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub) and not isinstance(node.operand, ast.Constant):
            self.put("sign", node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.put("condition", node.test, f"not ({ast.unparse(node.test)})")
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.put("choice", node.test, f"not ({ast.unparse(node.test)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.put("flag", node, str(not node.value))
        elif isinstance(node.value, int) and abs(node.value) < 100:
            self.put("number", node, str(node.value + 1))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.put("call", node, "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.put("update", node, "pass")
        self.generic_visit(node)

    # What nothing but texts, types and lists of names hang on.

    def visit_Raise(self, node: ast.Raise) -> None:
        """An error is not raised."""
        self.put("raise", node, "pass")

    def visit_arg(self, node: ast.arg) -> None: ...

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        if not set(names) & {"__all__", "__slots__"}:
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None: ...

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Not its decorators: whether a class of values is frozen is for those who write it."""
        for part in node.body:
            self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(part)


def faults(source: str) -> list[Fault]:
    """The faults that can be put into a file; what some leave does not parse."""
    places = _Places(source)
    places.visit(ast.parse(source))
    return places.found


def parses(source: str) -> bool:
    """Whether a file with a fault is Python."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True
