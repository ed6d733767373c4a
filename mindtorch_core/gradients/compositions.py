"""Ops that are made of other ops but have a gradient formula of their own: the parts are not recorded."""

from __future__ import annotations

from typing import Any

from ..dispatch.choice import choose
from ..dispatch.entry import Kernel, OpEntry
from ..dispatch.keys import BACKENDS, DispatchKey, without_gradients

__all__ = ["is_decomposed", "unrecorded"]


def is_decomposed(entry: OpEntry, mask: int) -> bool:
    """Whether the strongest backend of a mask runs the op's decomposition."""
    backends = mask & BACKENDS
    if not backends or entry.definition is None or entry.definition.decomposition is None:
        return False
    record = choose(entry, DispatchKey(1 << (backends.bit_length() - 1))).record
    return record is not None and record.fn is entry.definition.decomposition


def unrecorded(kernel: Kernel) -> Kernel:
    """A composition whose parts are not recorded, because the op has a formula of its own."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return without_gradients(kernel, *args, **kwargs)

    return run
