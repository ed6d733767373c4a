"""Tensors in files: `save` and `load` of nested containers, and safetensors.

Reading a file never runs code that the file holds. See ``docs/serialization.md``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

from ..devices import device
from ..storage import Storage

if TYPE_CHECKING:
    from . import safetensors

__all__ = ["MapLocation", "Path", "load", "safetensors", "save"]

Path = str | os.PathLike[str]
MapLocation = (
    str | device | Mapping[str, str | device] | Callable[[Storage, str], Storage | None] | None
)


def save(
    obj: Any, f: Path | IO[bytes], pickle_module: None = None, pickle_protocol: int = 2
) -> None:
    """Write tensors, and containers of them, to a file that `load` and PyTorch read.

    Args:
        obj: tensors, numbers, strings, bytes, None, dtypes, devices and shapes in dicts, lists, tuples
            and sets, at any depth. Tensors that share memory still do when they are loaded; the whole
            memory is written, so `clone` a small part of a large tensor first.
        f: path, or file open for writing bytes.
        pickle_module: must be None: the structure is written without pickling objects.
        pickle_protocol: accepted for compatibility; every pickle reader reads what is written.

    Raises:
        ValueError: if there is a ``pickle_module``.
        TypeError: for anything else; the text says where in ``obj`` it is. Nothing is written then.
    """
    from .archive import write

    _refuse_pickle(pickle_module)
    write(obj, f)


def load(
    f: Path | IO[bytes],
    map_location: MapLocation = None,
    pickle_module: None = None,
    *,
    weights_only: bool | None = True,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Read what `save`, PyTorch's ``torch.save`` or safetensors wrote.

    Nothing in the file can make this function run code: it makes tensors, numbers, strings and plain
    containers, and refuses everything else.

    Args:
        f: path, or file open for reading bytes.
        map_location: where tensors go: a device for all; a dict from the device in the file to
            another; a function of (storage in host memory, device in the file) that returns a storage
            or None. Whatever these leave open goes to the device it was saved from.
        pickle_module: must be None: no object is unpickled.
        weights_only: accepted for compatibility; False does not lift any restriction.
        mmap: accepted for compatibility; the bytes of tensors are read, never mapped.
        encoding: accepted for compatibility; it concerns texts that Python 2 wrote.

    Raises:
        ValueError: if there is a ``pickle_module``.
        RuntimeError: if the file is damaged or of another format.
        pickle.UnpicklingError: if it holds objects of other types.
    """
    from .loading import read

    _refuse_pickle(pickle_module)
    return read(f, map_location)


def _refuse_pickle(module: object) -> None:
    if module is not None:
        raise ValueError(
            "pickle_module must be None: torch.save and torch.load run no code of a pickle module. "
            "To pickle other objects, call that module itself; tensors can be pickled."
        )


def __getattr__(name: str) -> Any:
    if name == "safetensors":  # imported when it is first used
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
