"""A row of `absent_names`: what a module names and does not do."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

__all__ = ["Absent"]


@dataclass(frozen=True)
class Absent:
    """Names of a module that stand for what mindtorch does not do.

    Attributes:
        reason: why, and what to do instead; ends an error's text.
        classes: names of classes that have no objects, so that ``isinstance`` is False.
        functions: names of functions that raise NotImplementedError.
        errors: names of exceptions, which nothing raises.
        enums: members by the name of their enumeration.
        values: constants.
        kind: the module's class, where it is one of its own.
    """

    reason: str = ""
    classes: str = ""
    functions: str = ""
    errors: str = ""
    enums: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    kind: type[ModuleType] = ModuleType
