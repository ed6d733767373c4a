"""What becomes of the tensors of a backend that is unloaded: they refuse everything, and say why.

Their dispatch key may be given to another backend, whose kernels must never get their memory.
They are found by the collector, so that a tensor costs nothing until then: ``docs/architecture.md`` says
what other ways cost.
"""

from __future__ import annotations

import gc
from typing import Any, NoReturn

from ..deferred.blocks import flush_current
from ..deferred.programs import PROGRAMS
from ..deferred.replay.sites import forget_sites
from ..deferred.unseen import LOOKING
from ..gradients.roots import forget_ones
from ..random import forget_generators
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.errors import BackendUnavailableError

__all__ = ["retire"]


def _refuse(on: Any) -> NoReturn:
    raise BackendUnavailableError(
        f"this tensor was made on {on}, whose backend was unloaded: make it anew", device=on.type
    )


class _RetiredTensor(Tensor):
    """A tensor of a backend that was unloaded."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        _refuse(object.__getattribute__(self, "_device"))

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<tensor on {object.__getattribute__(self, '_device')}, whose backend was unloaded>"


class _RetiredStorage(Storage):
    """A storage of a backend that was unloaded."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        _refuse(object.__getattribute__(self, "device"))

    def __repr__(self) -> str:
        return f"<Storage on {object.__getattribute__(self, 'device')}, whose backend was unloaded>"


def retire(device: str) -> None:
    """Make the tensors of a device type unusable, and forget what is kept for it."""
    flush_current()
    forget_generators(device)
    forget_ones(device)
    PROGRAMS.forget(device)
    forget_sites()
    gc.collect()
    LOOKING[0] += 1
    try:
        _retire_all(device)
    finally:
        LOOKING[1] += 1


def _retire_all(device: str) -> None:
    for found in _instances(Tensor, Storage):
        kind = type(found)  # what was retired before tells nothing else of itself
        if issubclass(kind, Tensor):
            if kind is not _RetiredTensor and _lies_on(found, "_device", device):
                found.__class__ = _RetiredTensor
        elif kind is Storage and _lies_on(found, "device", device):
            found.__class__ = _RetiredStorage


def _instances(*kinds: type[Any]) -> list[Any]:
    """Every object of these types and their subclasses.

    Objects refer to their types. The collector is not asked for all objects: a tuple that a thread is just
    making may not be held by anybody else when that thread goes on.
    """
    types = [*kinds]
    for kind in types:
        types += kind.__subclasses__()
    return [o for o in gc.get_referrers(*types) if issubclass(type(o), kinds)]


def _lies_on(found: Any, slot: str, device: str) -> bool:
    """Whether an object lies there; one that another thread is just making lies nowhere yet."""
    try:
        where = object.__getattribute__(found, slot)
    except AttributeError:
        return False
    return bool(where.type == device)
