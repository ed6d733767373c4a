"""What a storage can do for programs: read, write, copy, resize, share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..tensors.replacing import replace_memory
from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.devices import concrete, device, is_retired
from ..values.dtypes import DTYPES, dtype
from .device_methods import ACCELERATORS
from .pickling import rebuild_storage
from .pinning import is_pinned, pinned
from .storages import flat, part, share

if TYPE_CHECKING:
    from .typed_storage import TypedStorage

__all__ = ["typed"]


def tolist(self: Storage) -> list[int]:
    """The bytes as numbers."""
    return list(bytes(self.host_bytes()))


def element_size(self: Storage) -> int:
    """Bytes of an element, which is a byte."""
    return 1


def _place(self: Storage, at: Any) -> int:
    if not -len(self) <= at < len(self):
        raise IndexError(f"index {at} out of range for storage of size {len(self)}")
    return int(at) % len(self)


def _range(self: Storage, at: slice) -> tuple[int, int]:
    start, stop, step = at.indices(len(self))
    if step != 1:
        raise RuntimeError(
            f"Trying to slice with a step of {step}, but only a step of 1 is supported"
        )
    return start, max(start, stop)


def __getitem__(self: Storage, at: Any) -> Any:
    """A byte, or a storage over a part of this one's memory.

    Raises:
        IndexError: if there is no such byte.
        RuntimeError: for a slice with a step.
        TypeError: for an index of another type.
    """
    if isinstance(at, slice):
        return part(self, *_range(self, at))
    if not isinstance(at, int):
        raise TypeError(f"can't index a torch.UntypedStorage with {type(at).__name__}")
    return flat(self)[_place(self, at)].item()


def __setitem__(self: Storage, at: Any, value: int) -> None:
    """Write a byte, or the same one to a part.

    Raises:
        RuntimeError: if the place is out of bounds or no place, or the value is no integer.
    """
    if not isinstance(value, int):
        raise RuntimeError(
            f"can only set storage content with a int types, but got {_name(value)} instead"
        )
    if isinstance(at, slice):
        start, stop = _range(self, at)
    elif isinstance(at, int):
        if not -len(self) <= at < len(self):
            raise RuntimeError("out of bounds")
        start = at % len(self)
        stop = start + 1
    else:
        raise RuntimeError(f"can't index a torch.UntypedStorage with {type(at).__name__}")
    flat(self)[start:stop].fill_(value & 255)


def _name(value: Any) -> str:
    kind = type(value)
    return "torch.storage.UntypedStorage" if isinstance(value, Storage) else str(kind.__name__)


def __iter__(self: Storage) -> Iterator[int]:
    return iter(tolist(self))


def __bytes__(self: Storage) -> bytes:
    return bytes(self.host_bytes())


def __sizeof__(self: Storage) -> int:
    return object.__sizeof__(self) + self.size_bytes


def __repr__(self: Storage) -> str:
    if is_retired(self.device):
        return f"<Storage on {self.device}, whose backend was unloaded>"
    if self.device.type == "meta":
        shown = "..."
    else:
        shown = "\n".join(f" {value}" for value in tolist(self)) or " "
    return f"{shown}\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


def __copy__(self: Storage) -> Storage:
    return clone(self)


def clone(self: Storage) -> Storage:
    """A storage with a copy of the memory."""
    return _owned(flat(self).clone())


def _owned(t: Tensor) -> Storage:
    return t._settled()._own_storage()


def copy_(self: Storage, src: Storage, non_blocking: bool | None = None) -> Storage:
    """Copy the bytes of a storage of the same size, from any device.

    Raises:
        RuntimeError: if the sizes differ.
        TypeError: if it is no storage.
    """
    if not isinstance(src, Storage):
        raise TypeError(f"copy_(): argument 'src' must be torch.UntypedStorage, not {_name(src)}")
    if len(src) != len(self):
        raise RuntimeError(
            f"size does not match, self was {len(self)} bytes but src was {len(src)} bytes"
        )
    flat(self).copy_(flat(src), bool(non_blocking))
    return self


def fill_(self: Storage, value: int) -> Storage:
    """Set all bytes to one value.

    Raises:
        RuntimeError: if it is no integer.
    """
    if not isinstance(value, int):
        raise RuntimeError(f"fill_ expects int, but got {type(value).__name__}")
    flat(self).fill_(value & 255)
    return self


def new(self: Storage) -> Storage:
    """An empty storage on the same device."""
    return rebuild_storage(b"", 0, str(self.device))


def resizable(self: Storage) -> bool:
    """Whether `resize_` may be called: not where a file, another process or NumPy has the memory."""
    return self.replaceable


def resize_(self: Storage, size: int) -> Storage:
    """Change the number of bytes; those that stay keep their values.

    Tensors over the storage show its new memory, but for those that it has become too small for: they
    keep what they show.

    Raises:
        RuntimeError: if a file, another process or NumPy has the memory, or the size is negative.
    """
    if size < 0:
        raise RuntimeError(f"a storage cannot have {size} bytes")
    if not resizable(self):
        raise RuntimeError("Trying to resize storage that is not resizable")
    made = rebuild_storage(None, size, str(self.device))
    kept = min(size, len(self))
    if kept:
        flat(made)[:kept].copy_(flat(self)[:kept])
    replace_memory(self, made)
    return self


def byteswap(self: Storage, dtype: dtype) -> None:
    """Turn round the order of bytes in each element, in place.

    Raises:
        RuntimeError: if the bytes are no whole number of elements, or that is no dtype.
    """
    if not hasattr(dtype, "itemsize"):
        raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
    width = dtype.itemsize // (2 if dtype.is_complex else 1)
    if len(self) % width:
        raise RuntimeError(f"the length of data is not a multiple of {width}")
    rows: Any = flat(self).view(-1, width)
    rows.copy_(rows.flip(1))


def type_(self: Storage, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the class; with one, a storage of that class with the same elements."""
    if dtype is None:
        return "torch.storage.UntypedStorage"
    return typed(self).type(dtype, non_blocking)


def typed(storage: Storage, d: dtype | None = None) -> TypedStorage:
    """A storage counted in elements, of bytes by default."""
    from .typed_storage import wrapped

    return wrapped(storage, DTYPES["uint8"] if d is None else d)


def untyped(self: Storage) -> Storage:
    """The storage itself."""
    return self


def to(self: Storage, *, device: device | str, non_blocking: bool = False) -> Storage:
    """The storage, or a copy of it on another device."""
    where = concrete(device)
    return self if where == self.device else _owned(flat(self).to(where))


def cpu(self: Storage) -> Storage:
    """The storage, or a copy of it on the CPU."""
    return to(self, device="cpu")


def get_device(self: Storage) -> int | None:
    """Index of its device; None for one without index."""
    return self.device.index


def is_shared(self: Storage) -> bool:
    """Whether other processes see what is written to it."""
    return self.mapping is not None and self.mapping.shared


def share_memory_(self: Storage) -> Storage:
    """Move it to memory that processes share.

    Raises:
        RuntimeError: on devices other than the CPU.
    """
    share(self)
    return self


def _new_shared(cls: Any, size: int, *, device: device | str = "cpu") -> Storage:
    """A storage of so many bytes, which processes share where they are the CPU's."""
    on = concrete(device)
    made = rebuild_storage(None, int(size), str(on))
    if on.type == "cpu":
        share(made)
    return made


def pin_memory(self: Storage, device: device | str | None = None) -> Storage:
    """A copy in page-locked memory, from which an accelerator copies faster.

    Raises:
        RuntimeError: if no accelerator is there, or has such memory.
    """
    return pinned(self, device)


def _is_pinned(self: Storage, device: device | str | None = None) -> bool:
    """Whether the memory is page-locked for an accelerator."""
    return is_pinned(self, device)


def _elements(d: dtype) -> Callable[[Storage], TypedStorage]:
    def converted(self: Storage) -> TypedStorage:
        return typed(self)._converted(d)

    converted.__doc__ = f"The bytes as {d} elements, one each."
    return converted


def _moved(kind: str) -> Callable[..., Storage]:
    def move(self: Storage, device: Any = None, non_blocking: bool = False) -> Storage:
        return to(self, device=kind if device is None else device, non_blocking=non_blocking)

    move.__doc__ = f"The storage, or a copy of it on a device of type {kind}."
    return move


def _is_on(kind: str) -> Callable[[Storage], bool]:
    def is_on(self: Storage) -> bool:
        return self.device.type == kind

    is_on.__doc__ = f"Whether it is on a device of type {kind}."
    return is_on


def _filename(self: Storage) -> str | None:
    """Path of the file that the memory is, if others see what is written to it."""
    return self.mapping.filename if self.mapping else None


def _is_never(self: Storage) -> bool:
    """Whether it is sparse, which no storage is."""
    return False


def _address(self: Storage) -> int:
    return id(self.root)


_METHODS: dict[str, Any] = {
    **{
        f.__name__: f
        for f in (
            __bytes__, __copy__, __getitem__, __iter__, __repr__, __setitem__, __sizeof__,
            byteswap, clone, copy_, cpu, element_size, fill_, get_device, is_shared, new, pin_memory,
            resizable, resize_, share_memory_, to, tolist, untyped,
        )
    },
    "_new_shared": classmethod(_new_shared),
    "type": type_,
    "is_pinned": _is_pinned,
    "filename": property(_filename),
    "_cdata": property(_address),
    "is_sparse": property(_is_never),
    "is_sparse_csr": property(_is_never),
    **{f"is_{kind}": property(_is_on(kind)) for kind in ACCELERATORS},
    **{k: _moved(k) for k in ACCELERATORS},
    **{d.label.lower(): _elements(d) for d in DTYPES.values() if not d.is_complex},
    "complex_float": _elements(DTYPES["complex64"]),
    "complex_double": _elements(DTYPES["complex128"]),
}  # fmt: skip
for _key, _method in _METHODS.items():
    setattr(Storage, _key, _method)
