"""Files and functions stay short enough to be read at once."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("mindtorch_core", "plugins", "packages", "examples", "benchmarks", "docs", "tests")
LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60  # from `def` to its end, without the docstring


def sources():
    """Every Python file that somebody writes by hand."""
    yield ROOT / "noxfile.py"
    for place in PLACES:
        for path in (ROOT / place).rglob("*.py"):
            if not {"build", ".venv", ".nox"} & set(path.parts):
                yield path


def length(function):
    """Lines of a function without its docstring."""
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        lines -= first.end_lineno - first.lineno + 1
    return lines


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT)): count
        for path in sources()
        if (count := path.read_text("utf-8").count("\n")) > LINES_OF_A_FILE
    }
    assert not long, f"more than {LINES_OF_A_FILE} lines; divide by concept: {long}"


def test_functions_are_short():
    long = {}
    for path in sources():
        if "tests" in path.parts:  # a table of cases may be as long as it is
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and length(node) > LINES_OF_A_FUNCTION:
                long[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = length(node)
    assert not long, f"more than {LINES_OF_A_FUNCTION} lines without the docstring: {long}"
