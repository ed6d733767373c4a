"""``mindtorch_core-stubs/stubs/``: what editors and type checkers see of the ops.

Functions and methods of ops are made when they are first used, so their signatures stand nowhere in
the sources. The stubs are written from the ops' schemas.

All stubs of the core lie in a package of stubs beside it, where type checkers look too (PEP 561): so its
folder shows rooms alone. Not some of them: Pyright reads no stub in a package that has such stubs.
"""

from __future__ import annotations

import importlib
import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import mindtorch_core as torch
from mindtorch_core.dispatch.calls.overload_choice import tensors_first
from mindtorch_core.dispatch.calls.parts import python_name
from mindtorch_core.dispatch.functions import FUNCTIONS, names_in
from mindtorch_core.dispatch.registry import OpEntry, registry
from mindtorch_core.dispatch.schema import Argument
from mindtorch_core.tensors.attached import ATTACHED

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = "mindtorch_core-stubs"
FOLDER: Final = f"{PACKAGE}/stubs"
WIDTH: Final = 100

HEADER: Final = '''\
"""{title}

Written by `docs/make.py` from the ops' schemas. Do not edit.
"""

# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from numpy import ndarray  # for type checkers alone: where it is not installed, it is of no type

from mindtorch_core.gradients.handles import RemovableHandle
from mindtorch_core.values.devices import device as _device
from mindtorch_core.values.dtypes import dtype as _dtype
from ..random import Generator
from ..tensors.tensor import Tensor
'''

TYPES: Final = {
    "Tensor": "Tensor",
    "int": "_int",
    "bool": "_bool",
    "float": "_float",
    "complex": "_complex",
    "str": "_str",
    "Scalar": "_float | _complex",
    "ScalarType": "_dtype",
    "Device": "_device | _str | _int",
    "Generator": "Generator",
}

# What annotations of Python functions may speak of here; a method may have the name of a type.
NAMES: Final = {
    **{name: name for name in ("Tensor", "Any", "None", "Callable", "Sequence", "RemovableHandle")},
    **{name: name for name in ("Generator", "tuple", "list", "dict", "object")},
    **{name: name for name in ("Iterator", "memoryview", "ndarray")},
    **{name: f"_{name}" for name in ("bool", "complex", "float", "int", "str", "device", "dtype")},
}

# Methods in Python whose arguments stand for one another, by position or by name.
WRITTEN: Final = {
    "to": '''\
    @overload
    def to(
        self,
        dtype: _dtype,
        non_blocking: _bool = False,
        copy: _bool = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """The tensor in another dtype; itself if nothing changes."""
    @overload
    def to(
        self,
        device: _device | _str | _int | None = None,
        dtype: _dtype | None = None,
        non_blocking: _bool = False,
        copy: _bool = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """The tensor on another device, or in another dtype; itself if nothing changes."""
    @overload
    def to(
        self,
        other: Tensor,
        non_blocking: _bool = False,
        copy: _bool = False,
        *,
        memory_format: Any = None,
    ) -> Tensor:
        """The tensor in the dtype and on the device of another; itself if nothing changes."""
''',
}


# ---- types --------------------------------------------------------------------------------------


def argument_type(a: Argument, *, numbers: bool) -> str:
    """The type of an op's argument."""
    kind = TYPES.get(a.type, "Any")
    if kind == "Tensor" and numbers:
        kind = "Tensor | _float | _complex"
    if a.is_list:
        element = f"{kind} | None" if a.element_optional else kind
        alone = f"{kind} | " if a.size is not None and a.type != "Tensor" else ""
        kind = f"{alone}Sequence[{element}]"
    if a.optional and kind != "Any":
        kind += " | None"
    return kind


def return_type(entry: OpEntry) -> str:
    """The type of an op's result."""
    assert entry.schema is not None
    returns = entry.schema.returns
    kinds = [TYPES.get(r.type, "Any") for r in returns]
    kinds = [f"tuple[{k}, ...]" if r.is_list else k for k, r in zip(kinds, returns, strict=True)]
    if not kinds:
        return "None"
    if len(kinds) == 1:
        return kinds[0]
    if all(r.name for r in returns):
        return f"results.{entry.schema.name}"
    return f"tuple[{', '.join(kinds)}]"


def result_classes(entries: Iterable[OpEntry]) -> Iterator[tuple[str, str]]:
    """A named tuple for each op with several named results."""
    for entry in entries:
        if return_type(entry).startswith("results.") and entry.schema is not None:
            fields = "".join(f"    {r.name}: Tensor\n" for r in entry.schema.returns)
            yield entry.schema.name, f"class {entry.schema.name}(NamedTuple):\n{fields}"


# ---- signatures ---------------------------------------------------------------------------------


def default_of(value: Any) -> str:
    """A default as it stands in a stub."""
    return repr(value) if value is None or isinstance(value, bool | int | float | str) else "..."


def op_parameters(entry: OpEntry, *, method: bool) -> list[list[str]]:
    """The parameters of an op's function: one list for each way to call it."""
    schema, d = entry.schema, entry.definition
    assert schema is not None
    numbers = d is not None and d.operands.numbers
    spread = d.operands.varargs if d is not None else ""
    before: list[str] = []
    options: list[str] = []
    listed: Argument | None = None
    optional = False
    for position, a in enumerate(schema.arguments):
        if method and not position:
            before.append("self")
            continue
        if a.is_out:
            continue
        name = python_name(a)
        if spread and name == spread:
            listed = a
            continue
        free = numbers and (position > 0 or (d is not None and d.operands.number_first))
        text = f"{name}: {argument_type(a, numbers=free)}"
        keyword_only = a.kwarg_only or listed is not None
        optional = optional or (a.has_default and not keyword_only)
        if a.has_default:
            text += f" = {default_of(a.default)}"
        elif optional and not keyword_only:
            text += " = ..."
        (options if keyword_only else before).append(text)
    if not method and d is not None and d.out:
        many = len(schema.returns) > 1
        options.append(f"out: {'tuple[Tensor, ...]' if many else 'Tensor'} | None = None")
    star = ["*", *options] if options else []
    if listed is None:
        return [before + star]
    kind = TYPES.get(listed.type, "Any")
    spread_out = [*before, f"*{spread}: {kind}", *options]
    if listed.type == "Tensor":
        return [spread_out]
    return [spread_out, [*before, f"{spread}: Sequence[{kind}]", *star]]


def python_parameters(shown: Callable[..., Any], *, method: bool) -> tuple[list[str], str]:
    """The parameters and the result's type of a function that is written in Python."""
    signature = inspect.signature(shown)
    out, star = [], False
    for position, p in enumerate(signature.parameters.values()):
        if method and not position:
            out.append("self")
            continue
        if p.kind is p.KEYWORD_ONLY and not star:
            out.append("*")
            star = True
        star = star or p.kind is p.VAR_POSITIONAL
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        text = f"{prefix}{p.name}: {known_annotation(p.annotation)}"
        out.append(text if p.default is p.empty else f"{text} = {default_of(p.default)}")
    return out, known_annotation(signature.return_annotation)


def known_annotation(annotation: Any) -> str:
    """An annotation in the stubs' names; Any if it speaks of something else."""
    text = annotation if isinstance(annotation, str) else "Any"
    words = re.findall(r"[A-Za-z_][\w.]*", text)
    if not all(word in NAMES for word in words):
        return "Any"
    return re.sub(r"[A-Za-z_][\w.]*", lambda found: NAMES[found[0]], text)


def signature(name: str, parameters: list[str], result: str, indent: str, doc: str) -> str:
    """A function of a stub."""
    line = f"{indent}def {name}({', '.join(parameters)}) -> {result}:"
    if len(line) + 4 > WIDTH:
        inner = "".join(f"{indent}    {p},\n" for p in parameters)
        line = f"{indent}def {name}(\n{inner}{indent}) -> {result}:"
    if not doc:
        return line + " ...\n"
    text = textwrap.fill(
        f'"""{doc}"""', WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    "
    )
    return f"{line}\n{text}\n"


def function(
    name: str,
    entries: list[OpEntry],
    shown: Callable[..., Any] | None = None,
    *,
    method: bool = False,
) -> str:
    """All signatures of a function or method."""
    indent = "    " if method else ""
    if method and name in WRITTEN:
        return WRITTEN[name]
    if shown is not None:
        parameters, result = python_parameters(shown, method=method)
        doc = inspect.getdoc(shown) or ""
        return signature(name, parameters, result, indent, first_line(doc))
    found: list[tuple[list[str], str, str]] = []
    for entry in tensors_first(entries):
        doc = entry.definition.doc if entry.definition is not None else ""
        for parameters in op_parameters(entry, method=method):
            if (parameters, return_type(entry)) not in [f[:2] for f in found]:
                found.append((parameters, return_type(entry), first_line(doc)))
    if len(found) == 1:
        return signature(name, *found[0][:2], indent, found[0][2])
    return "".join(f"{indent}@overload\n{signature(name, p, r, indent, d)}" for p, r, d in found)


def first_line(doc: str) -> str:
    """The summary of a docstring, safe to stand in another one."""
    line = doc.strip().split("\n\n")[0].replace("\n", " ")
    return line.replace("\\", "\\\\").replace('"""', "'''").removesuffix('"')


def operator(dunder: str, entry: OpEntry) -> str:
    """The method behind a Python operator."""
    assert entry.schema is not None
    unary = len(entry.schema.positional) == 1
    numbers = entry.definition is not None and entry.definition.operands.numbers
    other = "other: Tensor | _float | _complex" if numbers else "other: Tensor"
    ignored = ""
    if dunder in ("__eq__", "__ne__"):
        other, ignored = "other: object", "  # type: ignore[override]"
    parameters = "self" if unary else f"self, {other}"
    return f"    def {dunder}({parameters}) -> Tensor: ...{ignored}\n"


# ---- files --------------------------------------------------------------------------------------


def packets_shown(namespace: str, shown: str) -> dict[str, Any]:
    """A module's functions that come from ops, by name."""
    place = importlib.import_module(shown)
    written = {*getattr(place, "__all__", ())}  # in Python, where type checkers find them
    packets = {n: FUNCTIONS[namespace][n] for n in names_in(namespace)}
    if namespace != "torch":  # what the module shares with torch
        for n in {*dir(place)} & {*FUNCTIONS["torch"]}:
            packets.setdefault(n, FUNCTIONS["torch"][n])
    names = [n for n in sorted(packets) if n not in written and usable(n)]
    return {n: packets[n] for n in names}


def module(namespace: str, shown: str) -> str:
    """The stub of a module's functions."""
    title = f"Functions of ``{shown.replace('mindtorch_core', 'torch')}``."
    packets = packets_shown(namespace, shown)
    names = [*packets]
    parts = [HEADER.format(title=title), "from . import results\n"]
    parts.append("\n__all__: list[str] = [\n" + "".join(f'    "{n}",\n' for n in names) + "]\n")
    parts += ["\n" + function(n, packets[n].entries, packets[n].python) for n in names]
    return "".join(parts)


def usable(name: str) -> bool:
    """Whether a name can be written after ``def``."""
    return name.isidentifier() and not keyword.iskeyword(name)


def methods() -> str:
    """The stub of Tensor's methods that come from ops."""
    static = {*vars(torch.Tensor)} - {*ATTACHED}
    names = names_in("Tensor")
    parts = [HEADER.format(title="Methods of tensors."), "from . import results\n"]
    parts.append("\nclass TensorMethods:\n")
    parts.append('    """What ops and other modules add to `Tensor`."""\n')
    for name in names:
        if name not in static and usable(name):
            packet = FUNCTIONS["Tensor"][name]
            parts.append("\n" + function(name, packet.entries, packet.python, method=True))
    parts += ["\n" + text for text in _attached({*static, *names})]
    dunders: dict[str, OpEntry] = {}
    for entry in torch_entries():
        for dunder in entry.definition.exposure.operators if entry.definition is not None else ():
            dunders[dunder] = entry
    parts += ["\n" + operator(dunder, dunders[dunder]) for dunder in sorted({*dunders} - static)]
    return "".join(parts)


def _attached(known: set[str]) -> Iterator[str]:
    """Methods and properties that modules attach to Tensor."""
    for name, value in sorted(vars(torch.Tensor).items()):
        if name in known or name in ("__new__", "__delitem__"):  # which refuses
            continue
        if isinstance(value, staticmethod):
            given = inspect.signature(value.__func__).parameters
            result = "Tensor" if len(given) == 1 else "Any"
            names = "value: Any" if len(given) == 1 else "*args: Any, **kwargs: Any"
            yield f"    @staticmethod\n    def {name}({names}) -> {result}: ...\n"
        elif isinstance(value, property) and value.fget is not None:
            result = known_annotation(inspect.signature(value.fget).return_annotation)
            doc = first_line(inspect.getdoc(value) or "")
            yield "    @property\n" + signature(name, ["self"], result, "    ", doc)
            if value.fset is not None:
                yield f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...\n"
        elif inspect.isfunction(value) and value.__module__ != "mindtorch_core":
            yield function(name, [], value, method=True)


def torch_entries() -> list[OpEntry]:
    """Every op's entry, once."""
    registry.on_demand.define_all()
    return sorted((e for e in registry if e.definition is not None), key=lambda e: e.name)


def results() -> str:
    """The stub of the named results."""
    classes = dict(result_classes(torch_entries()))
    parts = [HEADER.format(title="What ops with several results return.")]
    parts += ["\n" + classes[name] for name in sorted(classes)]
    return "".join(parts)


def files() -> dict[str, str | None]:
    """The stubs; those of namespaces that are gone go too."""
    made = {
        "__init__": '"""What editors and type checkers see of the ops."""\n',
        "functions": module("torch", "mindtorch_core"),
        "methods": methods(),
        "results": results(),
    }
    for namespace in sorted({*FUNCTIONS} - {"torch", "Tensor"}):
        shown = {"nn": "nn.functional"}.get(namespace, namespace)
        if names_in(namespace):
            made[namespace] = module(namespace, f"mindtorch_core.{shown}")
    there = [path.stem for path in (ROOT / FOLDER).glob("*.pyi") if path.stem != "late"]
    return {f"{FOLDER}/{name}.pyi": made.get(name) for name in dict.fromkeys([*made, *there])}
