"""Objects in files: `save` and `load`, what files may hold, and safetensors.

Unless it is told to, reading a file never runs code that the file holds. See ``docs/serialization.md``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, Final, TypedDict, Unpack

from ..dispatch.asked_wrongly import guarded
from ..dispatch.nearest import suggestion
from ..tensors.storage import Storage
from ..values.devices import device
from ..values.own_frames import refusing
from ..values.user_warnings import warn_user
from .options import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from .safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals

if TYPE_CHECKING:
    from . import safetensors

__all__ = [
    "DEFAULT_PROTOCOL",
    "FILE_LIKE",
    "MAP_LOCATION",
    "FileLike",
    "LoadEndianness",
    "MapLocation",
    "Path",
    "SourceChangeWarning",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "safe_globals",
    "safetensors",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]

Path = str | os.PathLike[str]
FileLike = FILE_LIKE = Path | IO[bytes]
DEFAULT_PROTOCOL: Final = 2
MapLocation = (
    str | device | Mapping[str, str | device] | Callable[[Storage, str], Storage | None] | None
)
MAP_LOCATION = MapLocation  # as PyTorch calls it


class SourceChangeWarning(Warning):
    """What PyTorch's format of old warned of: a module's source that has changed since."""


@guarded
def save(
    obj: Any,
    f: Path | IO[bytes],
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object to a file that `load` and PyTorch read.

    Args:
        obj: tensors, numbers, strings, None, containers of them, and any object that ``pickle`` takes.
            Tensors that share memory still do when they are loaded; the whole memory is written, so
            `clone` a small part of a large tensor first.
        f: path, or file open for writing bytes.
        pickle_module: writes the structure in the place of ``pickle``, as ``dill`` can; PyTorch does
            not read such files.
        pickle_protocol: that module's; without one, what is written every pickle reader reads.
        _use_new_zipfile_serialization: False writes as PyTorch did before version 1.6, what ``pickle`` can.

    Raises:
        TypeError: for an object that cannot be taken apart; the text says where in ``obj`` it is.
            Nothing is written then.
        pickle.PicklingError: for a class or function that cannot be imported by its name.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save({"weight": torch.ones(2)}, file)
        >>> file.seek(0)
        0
        >>> torch.load(file)
        {'weight': tensor([1., 1.])}
    """
    from .archive import write
    from .writer import Writer

    if not _use_new_zipfile_serialization:
        from .legacy import write as write_legacy

        writer = Writer(legacy=True)
        write_legacy(writer.dump(obj), writer.counted(), f)
    elif pickle_module is None or pickle_module.__name__ == "pickle":
        writer = Writer()
        write(writer.dump(obj), writer.storages, f)
    else:
        from .unpickling import pickled

        write(*pickled(obj, pickle_module, pickle_protocol), f)


class PickleArguments(TypedDict, total=False):
    """What ``pickle.Unpickler`` takes besides a file."""

    fix_imports: bool
    encoding: str
    errors: str
    buffers: Any


@guarded
def load(
    f: Path | IO[bytes],
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Unpack[PickleArguments],
) -> Any:
    """Read what `save`, PyTorch's ``torch.save`` or safetensors wrote.

    Unless told otherwise, it makes tensors, numbers, strings, plain containers and what was declared
    safe by `add_safe_globals`, and refuses everything else: nothing in the file can make it run code.

    Args:
        f: path, or file open for reading bytes.
        map_location: where tensors go: a device for all; a dict from the device in the file to
            another; a function of (storage in host memory, device in the file) that returns a storage
            or None. Whatever these leave open goes to the device it was saved from.
        pickle_module: with ``weights_only=False``, what reads the structure; ``pickle`` by default.
        weights_only: False lifts the restriction. Such a file can run any code: do that only for files
            whose source you trust. None means True, without a ``pickle_module``.
        mmap: whether bytes of tensors are mapped instead of read: they are read when they are looked
            at. The file must be given by its path.
        **pickle_load_args: of that module's ``Unpickler``, such as ``encoding``.

    Returns:
        The object.

    Raises:
        RuntimeError: if the file is damaged or of another format, or there is a ``pickle_module``
            with ``weights_only=True``.
        pickle.UnpicklingError: if it holds objects of other types, which the text names.
        TypeError: if it is of safetensors and has elements of which there is no dtype here; or for an
            argument that neither this function nor an ``Unpickler`` takes.
        ValueError: if a file that is open is to be mapped.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> torch.save([torch.ones(2), 1], file)
        >>> file.seek(0)
        0
        >>> torch.load(file)
        [tensor([1., 1.]), 1]
    """
    from .loading import read as read_file

    read = refusing(read_file)
    for name in pickle_load_args.keys() - PickleArguments.__annotations__:
        near = suggestion(name, ("map_location", "pickle_module", "weights_only", "mmap"))
        raise TypeError(f"load() got an unexpected keyword argument {name!r}.{near}")
    weights_only = _restricted(weights_only, pickle_module)
    if mmap and not isinstance(f, str | os.PathLike):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if weights_only:
        if pickle_module is not None:
            raise RuntimeError(
                "Can not safely load weights when explicit pickle_module is specified: pass "
                "weights_only=False too if you trust the file"
            )
        if pickle_load_args:
            warn_user("pickle_load_args only works if `weights_only=False`.")
        return read(f, map_location, mapped=bool(mmap))
    import pickle

    from .unpickling import loader

    objects = loader(pickle_module or pickle, {"encoding": "utf-8", **pickle_load_args})
    return read(f, map_location, objects, mapped=bool(mmap))


def get_unsafe_globals_in_checkpoint(f: Path | IO[bytes]) -> list[str]:
    """Full names of what a file asks for and `load` refuses with ``weights_only=True``.

    Raises:
        RuntimeError: if the file is damaged or of another format.
    """
    from .loading import unsafe_globals

    return unsafe_globals(f)


def location_tag(storage: Storage) -> str:
    """What files say of where a storage lies, such as ``cpu`` or ``npu:0``."""
    return str(storage.device)


def default_restore_location(storage: Storage, location: str) -> Storage:
    """A storage where a file says that it lay: what `load` does unless ``map_location`` says more.

    Raises:
        RuntimeError: if there is no such device here.
    """
    from .loading import usable

    usable(location)
    return storage.to(device=location)  # type: ignore[no-any-return]


_TRUE = ("1", "y", "yes", "true")


def _restricted(wanted: bool | None, module: Any) -> bool:
    """Whether only what is safe is read, by argument and environment."""
    only, free = (
        os.environ.get(f"TORCH_FORCE_{name}_LOAD", "0").lower() in _TRUE
        for name in ("WEIGHTS_ONLY", "NO_WEIGHTS_ONLY")
    )
    if only and free:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should "
            "be set, but both were set."
        )
    if only:
        return True
    if wanted is None and free:
        warn_user(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the `weights_only` "
            "argument was not explicitly passed to `torch.load`, forcing weights_only=False.",
        )
        return False
    return module is None if wanted is None else wanted


def _late(name: str) -> Any:
    if name == "safetensors":  # imported when it is first used
        return importlib.import_module(f"{__name__}.{name}")
    if name == "_get_layout":  # which pickles of PyTorch's sparse tensors call
        from .loading import NAMES

        return NAMES["torch.serialization _get_layout"].call
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late
