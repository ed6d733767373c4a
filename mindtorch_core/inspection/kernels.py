"""What is known of a registered kernel: its function, its line, and who supplies it."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, Final

from .. import __version__
from ..dispatch.choice import Choice
from ..dispatch.entry import KernelRecord, OpEntry, source_of
from ..dispatch.keys import DispatchKey
from ..dispatch.registry import registry
from .explanation import KernelInfo

__all__ = ["kernel_info", "record_behind", "shadowed_by", "wrapper_info"]

_CORE: Final = f"mindtorch-core {__version__}"
_FOLDER: Final = f"{Path(__file__).parents[1]}{os.sep}"


def kernel_info(record: KernelRecord, registered: DispatchKey) -> KernelInfo:
    """What is known of a registration."""
    supplier = record.distribution or _supplier(record.source)
    return KernelInfo(_name(record.fn), record.source, supplier, registered)


def wrapper_info(key: DispatchKey) -> KernelInfo | None:
    """What is known of a key's wrapper; None where it has none."""
    factory = registry.wrappers.get(key)
    if factory is None:
        return None
    source = source_of(_plain(factory))
    return KernelInfo(_name(factory), source, _supplier(source), key)


def record_behind(entry: OpEntry, choice: Choice) -> KernelRecord | None:
    """The registration that a choice stands for, fallthroughs included."""
    if choice.registered is None:
        return None
    if choice.rule == "fallback":
        return registry.fallbacks.get(choice.registered)
    return entry.record(choice.registered)


def shadowed_by(entry: OpEntry, registered: DispatchKey) -> tuple[KernelInfo, ...]:
    """Earlier registrations of an op at a key that the newest one hides, newest first."""
    older = entry.records.get(registered, ())[:-1]
    return tuple(kernel_info(record, registered) for record in reversed(older))


def _plain(fn: Any) -> Any:
    """The function inside a partial one, or the one that it says it stands for."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__source__", None) or getattr(fn, "__wrapped__", fn)


def _name(fn: Any) -> str:
    fn = _plain(fn)
    name: str = getattr(fn, "__qualname__", type(fn).__name__)
    return name.replace(".<locals>", "")


def _supplier(source: str) -> str:
    """The core, for its own functions; nobody for code outside plugins."""
    return _CORE if source.startswith(_FOLDER) else ""
