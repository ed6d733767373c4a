"""The page of environment variables names all that the code reads, and no others."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "environment.md"
SOURCES = [
    *sorted((ROOT / "mindtorch_core").rglob("*.py")),
    *sorted(ROOT.glob("p*/*/src/**/*.py")),
    *(ROOT / name for name in ("mindtorch_pytest.py", "conftest.py", "noxfile.py")),
    *sorted((ROOT / "tests" / "opinfo").glob("*.py")),
    *sorted((ROOT / "tests" / "moduleinfo").glob("*.py")),
]
# A text of one of these forms is the name of a variable, however the code comes to read it.
KNOWN = re.compile(
    r"(MINDTORCH|NPU_SIMULATOR|ASCEND|SLURM|OMPI|PMI|MPI|TORCHELASTIC|TORCH)_[A-Z0-9_]*[A-Z0-9]"
    r"|ACL_LAUNCH_[A-Z]+|MASTER_[A-Z]+"
)
MAPPINGS = {"environ", "env", "environment"}  # how the code calls what it looks names up in
OF_INTEREST = re.compile(rf"{KNOWN.pattern}|getenv|\b({'|'.join(MAPPINGS)})\b")
# Written for what is started, but read by other libraries; or of the tables of a build backend.
NOT_READ = {
    "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_MAX_RESTARTS",
}  # fmt: skip


def is_environment(node):
    """Whether an expression is the process's environment, or a mapping that stands for it."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    return name in MAPPINGS


def looked_up(tree):
    """The expressions by which a module looks variables up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and is_environment(node.value):
            yield node.slice
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            if is_environment(node.comparators[0]):
                yield node.left
        elif isinstance(node, ast.Call):
            call = node.func
            name = getattr(call, "attr", getattr(call, "id", ""))
            by_method = name in ("get", "pop", "setdefault") and is_environment(
                getattr(call, "value", None)
            )
            if node.args and (by_method or name == "getenv"):
                yield node.args[0]


def constants(tree):
    """What a module calls texts: its names in capitals."""
    found = {}
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {t.id: value.value for t in targets if isinstance(t, ast.Name)}
    return found


def read_by(tree):
    """Names that a module reads, as patterns, and expressions in capitals that have no text here."""
    names, unknown = set(), set()
    here = constants(tree)
    for node in looked_up(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else "[A-Z_]+" for p in node.values]
            names.add("".join(parts))
        elif isinstance(node, ast.Name) and node.id.isupper():
            names.add(here[node.id]) if node.id in here else unknown.add(node.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= {node.value} if KNOWN.fullmatch(node.value) else set()
    return names, unknown


@functools.cache
def read_by_the_code():
    """Where each variable is read, Python and C++."""
    found = {}
    for path in SOURCES:
        text = path.read_text("utf-8")
        if not OF_INTEREST.search(text):
            continue
        names, unknown = read_by(ast.parse(text))
        assert not unknown, f"{path}: {unknown} is defined elsewhere: this test cannot follow it"
        for name in names - NOT_READ:
            found.setdefault(name, path.relative_to(ROOT).as_posix())
    for path in ROOT.glob("plugins/*/src/**/*.cpp"):
        text = path.read_text("utf-8")
        for name in re.findall(r'(?:getenv|text_of|number_of)\(\s*"([A-Z0-9_]+)"', text):
            found.setdefault(name, path.relative_to(ROOT).as_posix())
    return found


def listed():
    """Names in the first column of the page's tables."""
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text("utf-8"), re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_variable_that_the_code_reads_is_on_the_page():
    found = read_by_the_code()
    assert len(found) > 30
    names = listed()
    missing = {
        name: place
        for name, place in found.items()
        if not any(re.fullmatch(name, known) for known in names)
    }
    assert not missing, f"docs/environment.md lacks {missing}"


def test_the_page_lists_none_that_nobody_reads():
    patterns = "|".join(read_by_the_code())
    stale = {name for name in listed() if not re.fullmatch(patterns, name)}
    assert not stale, f"docs/environment.md lists what no code reads: {stale}"


def test_a_variable_is_found_however_it_is_read():
    text = """
import os
from os import environ, getenv
PLACE = "A_PLACE"
table = ("MINDTORCH_IN_A_TABLE",)
os.environ.get("A_GET", ""), os.environ["AN_INDEX"], "A_QUESTION" in environ, getenv("A_GETENV")
os.environ.get(PLACE), os.environ.get(f"A_{kind}_FORM"), env.pop("A_POP", None), env.get(OTHER)
"""
    assert read_by(ast.parse(text)) == (
        {"MINDTORCH_IN_A_TABLE", "A_GET", "AN_INDEX", "A_QUESTION", "A_GETENV", "A_PLACE"}
        | {"A_[A-Z_]+_FORM", "A_POP"},
        {"OTHER"},
    )
