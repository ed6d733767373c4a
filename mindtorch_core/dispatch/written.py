"""Which arguments of a call an op writes, as its schema says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .adapters import tensors_in
from .schema import OperatorSchema

__all__ = ["Place", "written", "written_places"]

Place = tuple[int, str]


def written_places(schema: OperatorSchema | None) -> tuple[Place, ...]:
    """Where the arguments that an op writes are: position and name; keyword-only ones at -1."""
    arguments = () if schema is None else schema.arguments
    return tuple(
        (-1 if a.kwarg_only else i, a.name)
        for i, a in enumerate(arguments)
        if a.alias is not None and a.alias.is_write
    )


def written(
    places: tuple[Place, ...], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Any]:
    """The tensors among a call's arguments that the op writes, those in lists included."""
    for i, name in places:
        yield from tensors_in((args[i] if 0 <= i < len(args) else kwargs.get(name),))
