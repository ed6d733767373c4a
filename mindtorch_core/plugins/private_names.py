"""What a plugin's sources use of the core that is not for plugins, and what to use instead.

Sources are read, not imported, so that a plugin is examined as well whose import fails because a
private name is gone.
"""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ..dispatch.functions import find_packet
from ..frontend import surroundings
from ..frontend.aliases import ALIASES
from ..tensors.tensor import FIELDS
from .checking import package_of
from .moved import moved_to
from .public_modules import CORE, DOOR, is_public, offered, promised

if TYPE_CHECKING:
    from importlib_metadata import EntryPoint

__all__ = ["Finding", "findings", "findings_in", "sources_of"]

ATTRIBUTES: Final = {
    **{private: public for public, private in FIELDS.items()},
    "_geometry": "raw_geometry()",
    "_own_storage": "untyped_storage()",
    "_settled": "settled()",
    "_fill": "settled()",
}
# Methods of tensors that have no public form, or one elsewhere. Other objects may well have such: what a
# file defines itself is not meant.
METHODS: Final = {
    "_from_array": "make_tensor() or from_numpy()",
    "_host": "the to_host() of its device's runtime",
    "_index_put_positions": "index_put()",
    "_index_put_positions_": "index_put_()",
    "_of_matrices": "mT, mH",
    "_refuse_ops": "__torch_function__",
}


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A line of a plugin that uses what is not for plugins, or makes tensors that lack a field.

    Attributes:
        path: the file.
        line: its line, from 1.
        text: what is wrong, and what to do instead.
    """

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def findings(ep: EntryPoint) -> list[Finding]:
    """What the sources of a plugin's distribution should not use, by file and line."""
    return [each for path in sources_of(ep) for each in findings_in(path)]


def sources_of(ep: EntryPoint) -> list[Path]:
    """The Python files of a plugin: of the package that its entry point names, and its distribution."""
    found: set[Path] = set()
    spec = find_spec(package_of(ep))  # imports nothing
    if spec is not None:
        for folder in spec.submodule_search_locations or ():
            found.update(Path(folder).rglob("*.py"))
        if spec.origin is not None:
            found.add(Path(spec.origin))  # a plugin of a single file
    dist: Any = ep.dist
    listed = (dist.files or ()) if dist is not None else ()
    found.update(Path(file.locate()) for file in listed)
    return sorted({path.resolve() for path in found if path.suffix == ".py" and path.is_file()})


def findings_in(path: Path) -> list[Finding]:
    """What a file should not use, by line; nothing if it is no Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of paths that moved
        found = {*_imports(tree), *_fields(tree), *_constructors(tree)}
    return [Finding(path, line, text) for line, text in sorted(found)]


Found = Iterator[tuple[int, str]]

# ---- names -----------------------------------------------------------------------------------------


def _imports(tree: ast.AST) -> Found:
    """What is imported that is private, or reached through a module that is imported."""
    known: dict[str, str] = {}  # what public names of the file stand for
    importers = {"import_module", "__import__", *_importers(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and _of_core(node.module, node.level):
            for each in node.names:
                wrong = list(_judged(node.lineno, node.module, [each.name]))
                if not wrong:
                    known[each.asname or each.name] = f"{node.module}.{each.name}"
                yield from wrong
        elif isinstance(node, ast.Import):
            for each in node.names:
                if _of_core(each.name):
                    wrong = list(_judged(node.lineno, each.name, []))
                    if not (wrong and each.asname):
                        known[each.asname or CORE] = each.name if each.asname else CORE
                    yield from wrong
        elif isinstance(node, ast.Call) and _called(node) in importers:
            for text in map(_text, node.args[:1]):
                if _of_core(text):
                    yield from _judged(node.lineno, text, [])
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            first, *rest = _dotted(node).split(".")
            if first in known:
                module, *names = _as_module(known[first])
                yield from _judged(node.lineno, module, [*names, *rest])


def _importers(tree: ast.AST) -> Iterator[str]:
    """What else a file calls `importlib.import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "importlib":
            for each in node.names:
                if each.name in ("import_module", "__import__") and each.asname:
                    yield each.asname


def _of_core(module: str, level: int = 0) -> bool:
    return not level and f"{module}.".startswith(f"{CORE}.")


def _called(call: ast.Call) -> str:
    """The name of what is called, without what it belongs to."""
    fn = call.func
    return fn.attr if isinstance(fn, ast.Attribute) else fn.id if isinstance(fn, ast.Name) else ""


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` as text; what does not start with a name starts with nothing."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _as_module(dotted: str) -> list[str]:
    """A dotted name as a module and, if it is none, the name in it."""
    module, _, name = dotted.rpartition(".")
    return [dotted] if not module or _leads_to_module(module, name) else [module, name]


def _leads_to_module(module: str, name: str) -> bool:
    """Whether a module's name is a module, and not what hides one: ``torch.tensor`` is a function."""
    module = moved_to(module) or module
    try:
        inside = vars(importlib.import_module(module))
        if name in inside.get("__all__", ()) and not isinstance(inside.get(name), ModuleType):
            return False
        return find_spec(f"{module}.{name}") is not None
    except (ImportError, ValueError):
        return False


def _judged(line: int, module: str, names: list[str]) -> Found:
    """The line, with what to do instead, if a name in a module is private to the core."""
    while names and _leads_to_module(module, names[0]):
        module, names = f"{module}.{names[0]}", names[1:]
    new = moved_to(module)
    if new and is_public(new):
        names, instead = names[:1], ".".join((new, *names[:1]))
    elif not is_public(module):
        names = names[:1]
        shown = [path for path, source in ALIASES.items() if source == module]
        if shown:
            instead = ".".join((shown[0], *names))
        else:
            instead = offered(module, names[0]) if names else DOOR
    elif names == ["*"]:  # what a public module shows is promised
        return
    else:
        hidden = next((i for i, n in enumerate(names) if _is_private(n)), None)
        if names and not promised(module, names[0]):
            hidden = 0
        if hidden is None or (module == CORE and _is_pytorchs(names[0])):
            return
        if hidden and names[hidden] in ATTRIBUTES | METHODS:
            return  # said where fields of tensors are
        names = names[: hidden + 1]
        instead = "" if hidden else offered(module, names[0])
    fix = f"use {instead}" if instead else f"nothing public does that, see {DOOR}"
    yield line, f"{'.'.join((module, *names))} is private: {fix}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_pytorchs(name: str) -> bool:
    """Whether ``torch`` has such a name, which may start with an underscore: ops, ``torch._check``."""
    return find_packet("torch", name) is not None or surroundings.has(name)


# ---- tensors ---------------------------------------------------------------------------------------


def _fields(tree: ast.AST) -> Found:
    """Where private fields of tensors are used, outside of classes that have such a field themselves."""
    everywhere = {
        name
        for kind in ast.walk(tree)
        if isinstance(kind, ast.ClassDef)
        for name in _defined_by(kind)
    }
    for node, owned in _with_owned(tree, frozenset()):
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Call) and _called(node) in ("getattr", "hasattr", "setattr"):
            name = "".join(map(_text, node.args[1:2]))
        else:
            continue
        if name in ATTRIBUTES and name not in owned:
            yield node.lineno, f"Tensor.{name} is private: use Tensor.{ATTRIBUTES[name]}"
        elif name in METHODS and name not in everywhere:
            yield node.lineno, f"Tensor.{name} is private: use {METHODS[name]}"


def _with_owned(node: ast.AST, owned: frozenset[str]) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """All nodes, each with the names of the attributes that the classes around it define."""
    for child in ast.iter_child_nodes(node):
        inner = owned | _defined_by(child) if isinstance(child, ast.ClassDef) else owned
        yield child, inner
        yield from _with_owned(child, inner)


def _defined_by(kind: ast.ClassDef) -> set[str]:
    """Attributes that a class defines: methods, annotations, slots, what methods set on ``self``."""
    found: set[str] = set()
    for node in ast.walk(kind):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif _dotted(node.value) in ("self", "cls"):
                found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # in __slots__
    return found


def _constructors(tree: ast.AST) -> Found:
    """Where tensors are made by `mindtorch_core.backend.fresh` and not given every field."""
    for fn in ast.walk(tree):
        if not isinstance(fn, ast.FunctionDef):
            continue
        given: dict[str, set[str]] = {}
        made: dict[str, int] = {}
        for node in ast.walk(fn):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                given.setdefault(_dotted(node.value), set()).add(node.attr)
            elif (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and (_called(node.value), node.value.args) == ("fresh", [])
            ):
                made.update((_dotted(target), node.lineno) for target in node.targets)
        for name, line in made.items():
            missing = FIELDS.keys() - given.get(name, set())
            if missing:
                yield line, f"the fresh tensor {name} is not given {', '.join(sorted(missing))}"
