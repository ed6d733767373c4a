"""Functions in Python around ops, such as ``F.cross_entropy``: which ops their source calls."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final

from ..dispatch.entry import source_of
from ..dispatch.functions import FUNCTIONS, find_packet
from ..dispatch.registry import registry
from .naming import place_of
from .text import function_text

__all__ = ["FunctionInfo", "find_function", "ops_called_by"]

# The modules that show namespaces of functions.
_MODULES: Final = {"torch": "mindtorch_core", "nn": "mindtorch_core.nn.functional"}
_CALLS: Final = "fn"  # how the sources of mindtorch call an op: fn.add(...), fn_linalg.inv(...)
_BY_NAME: Final = frozenset({"by_name", "fused_backward"})
# What containers have as well: a call of such a method is hardly one of a tensor.
_OF_OTHERS: Final = frozenset(name for kind in (str, list, dict, set) for name in dir(kind))


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """A function in Python that users call as they call an op.

    Attributes:
        name: as it was asked for.
        signature: its parameters.
        source: ``file:line``.
        calls: names of the ops that its source, and that of its helpers, calls.
        made_of: for each of those that are compositions, the ops that it is made of.
    """

    name: str
    signature: str
    source: str
    calls: tuple[str, ...]
    made_of: tuple[tuple[str, tuple[str, ...]], ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "function": self.name,
            "signature": self.signature,
            "source": self.source,
            "calls": list(self.calls),
            "made_of": {name: list(ops) for name, ops in self.made_of},
        }

    def __str__(self) -> str:
        return function_text(self)

    def _repr_html_(self) -> str:
        from .markup import function_html

        return function_html(self)


def find_function(name: str) -> FunctionInfo | None:
    """A function in Python of that name; None if there is none, or an op has the name.

    Args:
        name: such as ``F.cross_entropy`` or ``torch.nn.functional.dropout``.
    """
    place, own = place_of(name.strip())
    if registry.overloads(f"aten::{own}"):  # the op is what there is to explain
        return None
    for space in (place,) if place else ("torch", "nn"):
        packet: Any = find_packet(space, own)
        if packet is not None and packet.entries:
            return None
        found = None if packet is None else packet.python
        if found is None and space in _MODULES:
            module = importlib.import_module(_MODULES[space])
            found = vars(module).get(own) if own in module.__all__ else None
        found = inspect.unwrap(found) if callable(found) else None
        if isinstance(found, FunctionType):
            calls = ops_called_by(found)
            made_of = [(each, _made_of(each)) for each in calls]
            return FunctionInfo(
                name=name,
                signature=_shown(inspect.signature(found)),
                source=source_of(found),
                calls=calls,
                made_of=tuple((each, ops) for each, ops in made_of if ops),
            )
    return None


def _shown(signature: inspect.Signature) -> str:
    """Parameters with their defaults; the annotations are in the source."""
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(inspect.Signature(plain))


def _made_of(op: str) -> tuple[str, ...]:
    """The ops that the decomposition of an op calls."""
    definition = registry.entry(op).definition
    made = None if definition is None else definition.decomposition
    return ops_called_by(made) if isinstance(made, FunctionType) else ()


def ops_called_by(function: FunctionType) -> tuple[str, ...]:
    """Qualified names of the ops that a function's source calls, itself or by helpers of its package.

    The source is read, nothing is run: which of them a call runs depends on its arguments.
    """
    found: dict[str, None] = {}
    seen = {function}
    todo = [function]
    while todo:
        each = todo.pop(0)
        for called in _called(each):
            if isinstance(called, str):
                found[called] = None
            elif called not in seen and _package(called) == _package(function):
                seen.add(called)
                todo.append(called)
    return tuple(found)


def _package(function: FunctionType) -> str:
    return function.__module__.partition(".")[0]


def _called(function: FunctionType) -> Iterator[str | FunctionType]:
    """The ops and the functions that are called in a function's source, in its order."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):  # no source, or a part of a line: a lambda in a table
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute):
            base = called.value.id if isinstance(called.value, ast.Name) else ""
            op = _method(base, called.attr)
        elif not isinstance(called, ast.Name):
            continue
        elif called.id in _BY_NAME:
            given = node.args[0] if node.args else None
            name = str(given.value) if isinstance(given, ast.Constant) else ""
            entry = registry.find(f"aten::{name}")
            op = None if entry is None else entry.name
        else:
            helper = function.__globals__.get(called.id)
            if isinstance(helper, FunctionType):
                yield helper
            continue
        if op is not None:
            yield op


def _method(base: str, name: str) -> str | None:
    """The op that ``base.name(...)`` calls: one of a namespace, or a method of tensors."""
    space = "torch" if base == _CALLS else base.removeprefix(f"{_CALLS}_")
    if space == base or space not in FUNCTIONS:
        if name in _OF_OTHERS:
            return None
        space = "Tensor"
    packet: Any = find_packet(space, name)
    return packet.entries[0].name if packet is not None and packet.entries else None
