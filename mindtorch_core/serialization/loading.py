"""What `load` makes of a file's structure: tensors over storages, on the devices asked for."""

from __future__ import annotations

import io
import mmap
import os
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, Final

from ..frontend.pickling import rebuild_storage, rebuild_tensor, rebuild_wrapper
from ..frontend.storages import mapped_bytes, storage_over
from ..frontend.typed_storage import TypedStorage, wrapped
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..tensors.unresolved import MARKS
from ..values.devices import concrete, device, place_meant, place_named
from ..values.dtypes import DTYPES, FLOAT8, dtype
from ..values.errors import BackendUnavailableError
from ..values.layouts import (
    layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ..values.shapes import Shape, Size, storage_extent
from . import legacy, safetensors
from .archive import Archive, is_archive, opened
from .damage import FormatError
from .homes import current
from .legacy import is_legacy
from .names import STORAGE_NAMES, UNTYPED, StorageType
from .options import OPTIONS
from .reader import Function, Reader, checked_elements, set_attributes, set_state
from .safe_globals import allowed, globals_in

if TYPE_CHECKING:
    from . import MapLocation, Path

__all__ = ["NAMES", "read", "unsafe_globals", "usable", "with_state"]

_LARGEST: Final = 1 << 63  # bytes: of all elements, and of each number of a layout
Data = bytes | memoryview | None  # memoryview: of a mapped file; None: undefined


def read(
    f: Path | IO[bytes],
    map_location: MapLocation,
    objects: Callable[..., Any] | None = None,
    mapped: bool = False,
) -> Any:
    """Read a file of any of the formats.

    Args:
        f: path or file.
        map_location: where tensors go.
        objects: makes of a structure, names and storages what it holds, whatever that is, and says
            how long it is; None for the reader of what is safe.
        mapped: whether the file's bytes become the memory of tensors, without being read.
    """
    with opened(f, "rb") as file:
        if not (hasattr(file, "seek") and getattr(file, "seekable", bool)()):
            file = io.BytesIO(file.read())
        start = file.read(16)
        if not isinstance(start, bytes):
            raise TypeError(
                "the file must be open for reading bytes, such as by mode 'rb', not text"
            )
        if is_archive(start):
            mapping = map_file(os.fspath(f)) if mapped else None  # type: ignore[arg-type]  # `load` checks it
            return _read_archive(Archive(file, mapping), Placement(map_location), objects)
        if safetensors.is_safetensors(start):
            file.seek(-len(start), io.SEEK_CUR)
            return safetensors.load_file(file, Placement(map_location).device())
        if is_legacy(start):
            file.seek(-len(start), io.SEEK_CUR)
            return _read_legacy(file.read(), Placement(map_location), objects, mapped)
    if not start:
        raise EOFError("Ran out of input: the file is empty")
    failed = "Weights only load failed: " if objects is None else ""
    if start[:1] == b"\x80":
        raise FormatError(
            f"{failed}the file is a bare pickle, which is none of PyTorch's formats, and pickles run code: "
            "load it with what wrote it, and save it again with torch.save"
        )
    raise FormatError(
        f"{failed}the file is none that torch.save or safetensors writes: it starts with {start[:8]!r}"
    )


def map_file(path: str | os.PathLike[str]) -> memoryview:
    """The bytes of a file, read when they are looked at, as `set_default_mmap_options` says."""
    shared = OPTIONS.mmap_flags == mmap.MAP_SHARED
    return mapped_bytes(path, shared, os.path.getsize(path))


def unsafe_globals(f: Path | IO[bytes]) -> list[str]:
    """Full names of what a file asks for and `read` would refuse."""
    with opened(f, "rb") as file:
        known = {".".join(current(*name.split(" "))) for name in NAMES} | {*allowed()}
        known |= {"torch._utils._rebuild_meta_tensor_no_storage"}
        return sorted(globals_in(Archive(file).structure) - known)


# ---- places -------------------------------------------------------------------------------------


class Placement:
    """Where storages go, as ``map_location`` says."""

    def __init__(self, wanted: MapLocation) -> None:
        if not (wanted is None or isinstance(wanted, str | device | Mapping) or callable(wanted)):
            raise TypeError(
                f"map_location must be a device, a dict or a function, got a {type(wanted).__name__}"
            )
        self._wanted = wanted

    def restore(self, data: Data, nbytes: int, location: str) -> Storage:
        """A storage with the bytes, or undefined ones, on the device that the location leads to."""
        wanted = self._wanted
        if isinstance(wanted, str | device):
            return _made(data, nbytes, str(wanted))
        if isinstance(wanted, Mapping):
            return _on(data, nbytes, _looked_up(wanted, location))
        if wanted is not None:
            made = wanted(_made(data, nbytes, "cpu"), place_named(location))
            if made is not None:
                if not isinstance(made, Storage):
                    raise TypeError(
                        f"map_location must return a storage or None, not a {type(made).__name__}"
                    )
                return made
        return _on(data, nbytes, location)

    def device(self, location: str = "cpu") -> device:
        """The device that what lies on another one goes to."""
        return self.restore(b"", 0, location).device


def _looked_up(wanted: Mapping[Any, Any], location: str) -> str:
    """What a dict has for a location, whichever name of its type the dict and the file use."""
    for name in (location, place_named(location), place_meant(location)):
        if name in wanted:
            return str(wanted[name])
    return location


def _on(data: Data, nbytes: int, location: str) -> Storage:
    """A storage on the device a file names."""
    usable(location)
    return _made(data, nbytes, location)


def usable(location: str) -> None:
    """Refuse a device that a file names and that is not there.

    Raises:
        RuntimeError: if it is not.
    """
    try:
        concrete(location)
    except (RuntimeError, BackendUnavailableError) as error:
        raise RuntimeError(
            f"the file holds tensors of device {location!r}, which cannot be used here: pass "
            f"map_location, such as map_location='cpu' ({error})"
        ) from error


def _made(data: Data, nbytes: int, on: str) -> Storage:
    """A storage with a copy of the bytes; over them, if they are those of a mapped file."""
    if isinstance(data, memoryview) and concrete(on).type == "cpu" and nbytes:
        return storage_over(data)
    return rebuild_storage(data, nbytes, on)


# ---- the structure ------------------------------------------------------------------------------


def _read_legacy(
    data: bytes, placement: Placement, objects: Callable[..., Any] | None, mapped: bool
) -> Any:
    if mapped:
        raise RuntimeError(
            "mmap can only be used with files of the zip format, which torch.save writes since version "
            "1.6: save the file again"
        )

    def typed(storage: Storage, kind: StorageType) -> TypedStorage | Storage:
        return storage if kind.dtype is None else wrapped(storage, kind.dtype)

    def safely(structure: bytes, names: Any, storage: Any) -> tuple[Any, int]:
        reader = Reader(structure, names, storage, allowed())
        return reader.load(), reader.used

    return legacy.load(data, NAMES, objects or safely, placement.restore, typed)


def _read_archive(
    archive: Archive, placement: Placement, objects: Callable[..., Any] | None
) -> Any:
    loaded: dict[str, Storage] = {}

    def storage(
        kind: StorageType, key: str, location: str, count: int, *views: object
    ) -> TypedStorage | Storage:
        if views:
            raise RuntimeError("the file is damaged: archives have no views of storages")
        found = loaded.get(key)
        if found is None:
            nbytes = count * kind.itemsize
            data = None if OPTIONS.skips else _bytes_of(archive, key, nbytes, kind)
            found = loaded[key] = placement.restore(data, nbytes, location)
        return found if kind.dtype is None else wrapped(found, kind.dtype)

    names = {**NAMES, "torch._utils _rebuild_meta_tensor_no_storage": Function(_meta_tensor)}
    if objects is not None:
        return objects(archive.structure, names, storage)[0]
    return Reader(archive.structure, names, storage, allowed()).load()


def _bytes_of(archive: Archive, key: str, nbytes: int, kind: StorageType) -> bytes | memoryview:
    data = archive.data(f"data/{key}")
    if len(data) != nbytes:
        raise RuntimeError(
            f"the file is damaged: storage {key} should have {nbytes} bytes, and has {len(data)}"
        )
    return swapped(data, kind) if archive.byteorder != sys.byteorder else data


def swapped(data: bytes | memoryview, kind: StorageType) -> bytes:
    """The bytes of elements in the other order."""
    size = kind.itemsize
    if kind.dtype is None:
        raise RuntimeError(
            "the file was written on a machine with another order of bytes, and has a storage without "
            "dtype, whose elements cannot be turned round"
        )
    if kind.dtype.is_complex:
        size //= 2
    made = bytearray(len(data))
    for i in range(size):
        made[i::size] = data[size - 1 - i :: size]
    return bytes(made)


def _checked_layout(size: Any, stride: Any, offset: Any, d: dtype) -> tuple[Shape, Shape, int]:
    """Shape, strides and offset that the file gives for elements of a dtype.

    Raises:
        ValueError: if they are none.
    """
    shape, strides = tuple(size), tuple(stride)
    numbers, most = (*shape, *strides, offset), _LARGEST // d.itemsize
    if len(shape) != len(strides) or not all(type(n) is int and 0 <= n < most for n in numbers):
        raise ValueError(f"no layout of a tensor: {size}, {stride}, {offset}")
    count = 1
    for n in shape:
        count *= n or 1  # as NumPy counts
        if count >= most:
            raise ValueError(f"a tensor of shape {list(shape)} is too large")
    return shape, strides, offset


def _tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, d: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    if not isinstance(storage, Storage) or not isinstance(d, dtype):
        raise TypeError("a tensor without storage or dtype")
    shape, strides, offset = _checked_layout(size, stride, offset, d)
    needed = storage_extent(shape, strides, offset) * d.itemsize if 0 not in shape else 0
    if needed > storage.size_bytes:
        raise ValueError(
            f"a tensor reaches to byte {needed} of a storage of {storage.size_bytes} bytes"
        )
    marks = [name for name in MARKS if metadata and metadata.get(name)]
    if "conj" in marks and not d.is_complex:
        raise ValueError(f"a conjugate view of {d}, which is not complex")
    return rebuild_tensor(Tensor, storage, shape, strides, offset, d, bool(requires_grad), *marks)


def _meta_tensor(d: dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    shape, strides, _ = _checked_layout(size, stride, 0, d)
    extent = storage_extent(shape, strides, 0) * d.itemsize
    return rebuild_tensor(
        Tensor, rebuild_storage(b"", extent, "meta"), shape, strides, 0, d, requires_grad
    )


def rebuilding(name: str) -> Callable[..., Any]:
    """A function of ``torch._utils`` that pickles of tensors call."""
    if name == "_rebuild_meta_tensor_no_storage":
        return _meta_tensor
    found: Callable[..., Any] = NAMES[f"torch._utils {name}"].call
    return found


def _tensor_v1(stored: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    return _tensor(stored._untyped_storage, offset, size, stride, False, stored.dtype)


def _tensor_v2(
    stored: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    return _tensor(
        stored._untyped_storage, offset, size, stride, requires_grad, stored.dtype, metadata
    )


def _tensor_v3(
    stored: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, d: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    storage = stored._untyped_storage if isinstance(stored, TypedStorage) else stored
    return _tensor(storage, offset, size, stride, requires_grad, d, metadata)


def _parameter(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Tensor:
    from .. import nn

    kind = getattr(nn, "Parameter", None)
    if kind is None:
        made: Tensor = data.detach().requires_grad_(bool(requires_grad))
    else:
        made = kind(data, bool(requires_grad))
    if state:
        set_attributes(made, state)
    return made


def _wrapper(
    kind: Any, d: Any, size: Any, stride: Any, offset: Any, layout: Any, on: Any, requires_grad: Any
) -> Tensor:  # fmt: skip
    """A tensor of a class whose instances have no elements of their own."""
    if not (isinstance(kind, type) and issubclass(kind, Tensor)) or not isinstance(d, dtype):
        raise TypeError("a wrapper of tensors without a class or dtype")
    described = _checked_layout(size, stride, offset, d)
    return rebuild_wrapper(kind, on, *described, d, bool(requires_grad))


def _with_attributes(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    if kind is not Tensor or not isinstance(function, Function):
        if not (isinstance(kind, type) and issubclass(kind, Tensor)):
            raise TypeError("attributes of something that is no tensor")
        return with_state(function, kind, arguments, state)  # of a class that is trusted
    made = function.call(*arguments)
    set_attributes(made, state)
    return made  # type: ignore[no-any-return]


def with_state(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    """A tensor of any class, with its attributes."""
    made: Tensor = getattr(function, "call", function)(*arguments)
    if type(made) is not kind:
        made = made.as_subclass(kind)
    if state:
        set_state(made, state)
    return made


def _encoded(text: str, encoding: str = "latin1") -> bytes:
    if encoding != "latin1":
        raise ValueError(f"bytes are written in latin1, not {encoding}")
    return text.encode("latin1")


def _counted(counts: dict[Any, Any]) -> Counter[Any]:
    made: Counter[Any] = Counter()
    made.update(counts)
    return made


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    checked_elements(pair[0] for pair in pairs)
    return OrderedDict(pairs)


def _byte_array(data: Any = b"", encoding: str = "latin1") -> bytearray:
    return bytearray(data if isinstance(data, bytes) else _encoded(data, encoding))


def _shape(sizes: Any = ()) -> Size:
    return Size(_checked_layout(sizes, sizes, 0, DTYPES["uint8"])[0])


def _device(text: str, index: int | None = None) -> device:
    return device(text) if index is None else device(text, index)


_COMPRESSED = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)


def _layout(name: str) -> layout:
    known = {repr(each): each for each in (strided, sparse_coo, *_COMPRESSED)}
    if name not in known:
        raise ValueError(f"there are no tensors of layout {name}")
    return known[name]


def _sparse(kind: layout, held: Any) -> Any:
    """A sparse tensor, whose indices are checked whatever the file says."""
    if kind in _COMPRESSED and isinstance(held, tuple) and len(held) == 4:
        from ..frontend.sparse_compressing import sparse_compressed_tensor

        if any(type(each) is not Tensor for each in held[:3]):
            raise ValueError("a sparse tensor whose indices or values are no tensors")
        return sparse_compressed_tensor(*held, layout=kind)
    if kind is not sparse_coo or not isinstance(held, tuple) or len(held) not in (3, 4):
        raise ValueError("a sparse tensor that is not described by indices, values and a size")
    from ..frontend.sparse_creation import sparse_coo_tensor

    indices, values, size = held[:3]
    if type(indices) is not Tensor or type(values) is not Tensor:
        raise ValueError("a sparse tensor whose indices or values are no tensors")
    made: Any = sparse_coo_tensor(indices, values, size)
    return made.coalesce() if len(held) == 4 and held[3] is True else made


def _builtin(name: str, call: Callable[..., Any]) -> dict[str, Function]:
    return {f"{m} {name}": Function(call, copies=True) for m in ("__builtin__", "builtins")}


NAMES: Final[dict[str, Any]] = {
    **{f"torch {name}": d for name, d in (DTYPES | FLOAT8).items()},
    **{name: StorageType(d) for d, name in STORAGE_NAMES.items()},
    UNTYPED: StorageType(None),
    "torch Tensor": Tensor,
    "torch device": Function(_device),
    "torch Size": Function(_shape, copies=True),
    "torch.serialization _get_layout": Function(_layout),
    "torch._utils _rebuild_tensor": Function(_tensor_v1),
    "torch._utils _rebuild_tensor_v2": Function(_tensor_v2),
    "torch._utils _rebuild_tensor_v3": Function(_tensor_v3),
    "torch._utils _rebuild_parameter": Function(_parameter),
    "torch._utils _rebuild_parameter_with_state": Function(_parameter),
    "torch._utils _rebuild_sparse_tensor": Function(_sparse),
    "torch._utils _rebuild_wrapper_subclass": Function(_wrapper),
    "torch._tensor _rebuild_from_type_v2": Function(_with_attributes),
    "collections OrderedDict": Function(_ordered, copies=True),
    "collections Counter": Function(_counted, copies=True),
    "_codecs encode": Function(_encoded, copies=True),
    **_builtin("set", lambda values=(): set(checked_elements(values))),
    **_builtin("frozenset", lambda values=(): frozenset(checked_elements(values))),
    **_builtin("bytearray", _byte_array),
    **_builtin("bytes", lambda: b""),  # how pickle writes empty ones
    "__builtin__ complex": Function(complex),
    "builtins complex": Function(complex),
}
