"""What `load` makes of a file's structure: tensors over storages, on the devices asked for."""

from __future__ import annotations

import io
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import IO, Any, Final, NamedTuple

from ..devices import concrete, device
from ..dtypes import DTYPES, dtype
from ..errors import BackendUnavailableError
from ..layouts import layout, strided
from ..pickling import rebuild_storage, rebuild_tensor
from ..shapes import Shape, Size, storage_extent
from ..storage import Storage
from ..tensor import Tensor
from . import MapLocation, Path, safetensors
from .archive import Archive, is_archive, opened
from .names import STORAGE_NAMES, UNTYPED, StorageType
from .reader import Function, Reader, checked_elements, set_attributes

__all__ = ["read"]

_LARGEST: Final = 1 << 62  # elements, and every number in a layout


def read(f: Path | IO[bytes], map_location: MapLocation) -> Any:
    """Read a file of any of the formats."""
    with opened(f, "rb") as file:
        if not (hasattr(file, "seek") and file.seekable()):
            file = io.BytesIO(file.read())
        start = file.read(16)
        if is_archive(start):
            return _read_archive(Archive(file), Placement(map_location))
        if safetensors.is_safetensors(start):
            file.seek(-len(start), io.SEEK_CUR)
            return safetensors.load_file(file, Placement(map_location).device())
    if not start:
        raise EOFError("Ran out of input: the file is empty")
    if start[:1] == b"\x80":
        raise RuntimeError(
            "the file is a bare pickle, as PyTorch wrote before version 1.6, and pickles run code: "
            "load it with what wrote it, and save it again with torch.save"
        )
    raise RuntimeError(
        f"the file is none that torch.save or safetensors writes: it starts with {start[:8]!r}"
    )


# ---- places -------------------------------------------------------------------------------------


class Placement:
    """Where storages go, as ``map_location`` says."""

    def __init__(self, wanted: MapLocation) -> None:
        if not (wanted is None or isinstance(wanted, str | device | Mapping) or callable(wanted)):
            raise TypeError(
                f"map_location must be a device, a dict or a function, got a {type(wanted).__name__}"
            )
        self._wanted = wanted

    def restore(self, data: bytes, nbytes: int, location: str) -> Storage:
        """A storage with the bytes, on the device that the location leads to."""
        wanted = self._wanted
        if isinstance(wanted, str | device):
            return rebuild_storage(data, nbytes, str(wanted))
        if isinstance(wanted, Mapping):
            return _on(data, nbytes, str(wanted.get(location, location)))
        if wanted is not None:
            made = wanted(rebuild_storage(data, nbytes, "cpu"), location)
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


def _on(data: bytes, nbytes: int, location: str) -> Storage:
    """A storage on the device a file names."""
    try:
        concrete(location)
    except (RuntimeError, BackendUnavailableError) as error:
        raise RuntimeError(
            f"the file holds tensors of device {location!r}, which cannot be used here: pass "
            f"map_location, such as map_location='cpu' ({error})"
        ) from error
    return rebuild_storage(data, nbytes, location)


# ---- the structure ------------------------------------------------------------------------------


class _Loaded(NamedTuple):
    """A storage of the file that is counted in elements of a dtype."""

    storage: Storage
    dtype: dtype


def _read_archive(archive: Archive, placement: Placement) -> Any:
    loaded: dict[str, Storage] = {}

    def storage(kind: StorageType, key: str, location: str, count: int) -> _Loaded | Storage:
        found = loaded.get(key)
        if found is None:
            data = _bytes_of(archive, key, count * kind.itemsize)
            found = loaded[key] = placement.restore(data, len(data), location)
        return found if kind.dtype is None else _Loaded(found, kind.dtype)

    def meta_tensor(d: dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
        shape, strides, _ = _checked_layout(size, stride, 0)
        extent = storage_extent(shape, strides, 0) * d.itemsize
        return rebuild_tensor(
            Tensor, rebuild_storage(b"", extent, "meta"), shape, strides, 0, d, requires_grad
        )

    names = {**_NAMES, "torch._utils _rebuild_meta_tensor_no_storage": Function(meta_tensor)}
    return Reader(archive.structure, names, storage).load()


def _bytes_of(archive: Archive, key: str, nbytes: int) -> bytes:
    data = archive.read(f"data/{key}")
    if len(data) != nbytes:
        raise RuntimeError(
            f"the file is damaged: storage {key} should have {nbytes} bytes, and has {len(data)}"
        )
    return data


def _checked_layout(size: Any, stride: Any, offset: Any) -> tuple[Shape, Shape, int]:
    """Shape, strides and offset that the file gives.

    Raises:
        ValueError: if they are none.
    """
    shape, strides = tuple(size), tuple(stride)
    numbers = (*shape, *strides, offset)
    if len(shape) != len(strides) or not all(type(n) is int and 0 <= n < _LARGEST for n in numbers):
        raise ValueError(f"no layout of a tensor: {size}, {stride}, {offset}")
    count = 1
    for n in shape:
        count *= n
        if count >= _LARGEST:
            raise ValueError(f"a tensor of shape {list(shape)} is too large")
    return shape, strides, offset


def _tensor(
    storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, d: Any
) -> Tensor:
    if not isinstance(storage, Storage) or not isinstance(d, dtype):
        raise TypeError("a tensor without storage or dtype")
    shape, strides, offset = _checked_layout(size, stride, offset)
    needed = storage_extent(shape, strides, offset) * d.itemsize if 0 not in shape else 0
    if needed > storage.size_bytes:
        raise ValueError(
            f"a tensor reaches to byte {needed} of a storage of {storage.size_bytes} bytes"
        )
    return rebuild_tensor(Tensor, storage, shape, strides, offset, d, bool(requires_grad))


def _tensor_v1(stored: Any, offset: Any, size: Any, stride: Any) -> Tensor:
    return _tensor(stored.storage, offset, size, stride, False, stored.dtype)


def _tensor_v2(
    stored: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    made = _tensor(stored.storage, offset, size, stride, False, stored.dtype)
    return _lazily_changed(made, metadata).requires_grad_(bool(requires_grad))


def _tensor_v3(
    stored: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, d: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    storage = stored.storage if isinstance(stored, _Loaded) else stored
    made = _tensor(storage, offset, size, stride, False, d)
    return _lazily_changed(made, metadata).requires_grad_(bool(requires_grad))


def _lazily_changed(t: Tensor, metadata: Any) -> Tensor:
    """PyTorch notes conjugation and negation in a tensor instead of computing them."""
    for what in metadata or ():
        if metadata[what]:
            t = {"conj": Tensor.conj, "neg": Tensor.neg}[what](t).clone()
    return t


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


def _with_attributes(function: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    if kind is not Tensor or not isinstance(function, Function):
        raise TypeError("attributes of something that is no tensor")
    made = function.call(*arguments)
    set_attributes(made, state)
    return made  # type: ignore[no-any-return]


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
    return Size(_checked_layout(sizes, sizes, 0)[0])


def _device(text: str, index: int | None = None) -> device:
    return device(text) if index is None else device(text, index)


def _layout(name: str) -> layout:
    if name != "torch.strided":
        raise ValueError(f"there are no tensors of layout {name}")
    return strided


def _builtin(name: str, call: Callable[..., Any]) -> dict[str, Function]:
    return {f"{m} {name}": Function(call, copies=True) for m in ("__builtin__", "builtins")}


_NAMES: Final[dict[str, Any]] = {
    **{f"torch {name}": d for name, d in DTYPES.items()},
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
