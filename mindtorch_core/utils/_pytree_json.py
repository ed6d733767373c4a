"""Structures of trees as JSON, in the format of PyTorch's exported programs."""

from __future__ import annotations

import json
from enum import Enum
from pkgutil import resolve_name
from typing import Any, Final

from ._pytree_nodes import CLASSES_BY_NAME, SUPPORTED_SERIALIZED_TYPES, SerializedKind
from ._pytree_specs import LEAF, TreeSpec

__all__ = ["treespec_dumps", "treespec_loads"]

_PROTOCOL: Final = 1  # there is no other


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as text, which ``treespec_loads`` reads, also in another process or in PyTorch.

    Args:
        treespec: the structure.
        protocol: the format; 1 is the only one.

    Raises:
        TypeError: if it is no structure, or a context is nothing that JSON holds.
        ValueError: if there is no such format.
        NotImplementedError: if a class of containers was registered without a name for it.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}."
        )
    protocol = _PROTOCOL if protocol is None else protocol
    _check(protocol)
    return json.dumps((protocol, _as_text(treespec)), default=_of_enum)


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that ``treespec_dumps`` has written.

    Raises:
        ValueError: if it is of another format.
        NotImplementedError: if a class of containers with such a name was not registered.
    """
    protocol, found = json.loads(serialized)
    _check(protocol)
    return _of_text(found)


def _check(protocol: int) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")


def _as_text(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    kind = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if kind is None:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    if kind.serialized_type_name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    children = [_as_text(child) for child in spec.children()]
    context = _context_as_text(kind, spec.context)
    return {"type": kind.serialized_type_name, "context": context, "children_spec": children}


def _context_as_text(kind: SerializedKind, context: Any) -> Any:
    if kind.to_dumpable_context is not None:
        return kind.to_dumpable_context(context)
    try:
        return json.dumps(context, default=_of_enum)
    except TypeError as e:
        raise TypeError(
            "Unable to serialize context. Please make the context json dump-able, or register a "
            "custom serializer using _register_pytree_node."
        ) from e


def _of_text(found: dict[str, Any]) -> TreeSpec:
    name, context = found["type"], found["context"]
    if name is None:
        return LEAF
    if name not in CLASSES_BY_NAME:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    kind = SUPPORTED_SERIALIZED_TYPES[CLASSES_BY_NAME[name]]
    if kind.from_dumpable_context is not None:
        context = kind.from_dumpable_context(context)
    else:
        context = json.loads(context, object_hook=_as_enum)
    return TreeSpec(kind.type, context, map(_of_text, found["children_spec"]))


def _of_enum(value: Any) -> dict[str, Any]:
    if not isinstance(value, Enum):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    cls = type(value)
    return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": value.name}


def _as_enum(found: dict[str, Any]) -> Any:
    if "__enum__" not in found:
        return found
    return resolve_name(found["fqn"])[found["name"]]
