"""Storages that are counted in elements: ``TypedStorage``, ``FloatStorage`` and the like."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Any, ClassVar, Final, Self

from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.devices import concrete
from ..values.devices import device as device_type
from ..values.dtypes import DTYPES, get_default_dtype
from ..values.dtypes import dtype as dtype_type
from ..values.user_warnings import warn_user
from .creation import tensor
from .device_methods import ACCELERATORS
from .pickling import Typed, elements
from .storages import UntypedStorage

__all__ = ["CLASSES", "TypedStorage", "warn_removal", "wrapped"]

_TAKEN: Final = """TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)
"""
_warned = False


def warn_removal() -> None:
    """Warn once that typed storages go."""
    global _warned
    if not _warned:
        _warned = True
        warn_user(
            "TypedStorage is deprecated, as in PyTorch: tensor.untyped_storage() gives the same memory, "
            "counted in bytes"
        )


class TypedStorage(Typed):
    """A storage that is counted in elements of a dtype.

    Args:
        *args: the number of elements, or the elements; none by default.
        wrap_storage: the bytes, in the place of these.
        dtype: of the elements; the default one unless bytes are wrapped.
        device: where.

    Raises:
        RuntimeError: for other combinations.
        TypeError: for arguments of other types.
    """

    _fixed: ClassVar[dtype_type | None] = None
    _untyped_storage: Storage
    _dtype: dtype_type

    def __init__(
        self,
        *args: Any,
        device: device_type | str | None = None,
        dtype: dtype_type | None = None,
        wrap_storage: Storage | None = None,
        _internal: bool = False,
    ) -> None:
        if not _internal:
            warn_removal()
        if len(args) > 1:
            raise RuntimeError(_TAKEN + "Too many positional arguments")
        if wrap_storage is not None:
            self._wrap(args, device, dtype, wrap_storage)
            return
        self._dtype = get_default_dtype() if dtype is None else dtype
        data = args[0] if args else 0
        if hasattr(data, "__index__") and not hasattr(data, "__len__"):
            self._untyped_storage = UntypedStorage(
                index(data) * self._dtype.itemsize, device=device
            )
        elif isinstance(data, str) or not hasattr(data, "__len__"):
            raise TypeError(_TAKEN + f"Argument type not recognized: {type(data)}")
        else:
            made = tensor(data, dtype=self._dtype, device=device)
            self._untyped_storage = made._settled()._own_storage()

    def _wrap(self, args: Any, device: Any, dtype: dtype_type | None, storage: Any) -> None:
        if args or device is not None:
            raise RuntimeError(_TAKEN + "Only 'dtype' may be given with 'wrap_storage'")
        if dtype is None:
            raise RuntimeError(_TAKEN + "Argument 'dtype' must be specified")
        if not isinstance(storage, Storage):
            raise TypeError(
                f"{_TAKEN}Argument 'wrap_storage' must be UntypedStorage, but got {type(storage)}"
            )
        self._dtype, self._untyped_storage = dtype, storage

    # ---- what it is ----------------------------------------------------------------------------

    @property
    def dtype(self) -> dtype_type:
        """The dtype of its elements."""
        return self._dtype

    @property
    def device(self) -> device_type:
        """Where its memory lies."""
        return self._untyped_storage.device

    @property
    def filename(self) -> str | None:
        """Path of the file that its memory is, if others see what is written to it."""
        return self._bytes.filename  # type: ignore[no-any-return]

    @property
    def _bytes(self) -> Any:
        return self._untyped_storage  # whose methods are attached to its class

    @property
    def is_sparse(self) -> bool:
        """Whether it is sparse, which no storage is."""
        return False

    def untyped(self) -> Storage:
        """The same memory, counted in bytes."""
        warn_removal()
        return self._untyped_storage

    def size(self) -> int:
        """Number of elements."""
        return self._untyped_storage.size_bytes // self._dtype.itemsize

    __len__ = size

    def nbytes(self) -> int:
        """Size in bytes."""
        return self._untyped_storage.size_bytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._dtype.itemsize

    def data_ptr(self) -> int:
        """Address of the memory."""
        return self._untyped_storage.data_ptr()

    def get_device(self) -> int | None:
        """Index of its device; None for one without index."""
        return self._bytes.get_device()  # type: ignore[no-any-return]

    def pickle_storage_type(self) -> str:
        """The name that files have for its class."""
        return f"{self._dtype.label}Storage"

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of its class, or a storage of another class or dtype with the same elements.

        Raises:
            RuntimeError: for a class that there is not.
        """
        if dtype is None:
            kind = "torch" if self.device.type == "cpu" else f"torch.{self.device.type}"
            return f"{kind}.{self.pickle_storage_type()}"
        if isinstance(dtype, str):
            found = CLASSES.get(dtype.removeprefix("torch."))
            if found is None:
                raise RuntimeError(f"there is no class of storages {dtype!r}")
            dtype = found._fixed
        return self._converted(getattr(dtype, "_fixed", dtype))

    # ---- elements ------------------------------------------------------------------------------

    def _flat(self) -> Tensor:
        """The elements as a tensor, which shares memory."""
        return elements(self)

    def __getitem__(self, at: Any) -> Any:
        """An element.

        Raises:
            IndexError: if there is none of that number.
            RuntimeError: for a slice.
        """
        if isinstance(at, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(at, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(at)}")
        if not -len(self) <= at < len(self):
            raise IndexError(f"index {at} out of range for storage of size {len(self)}")
        return self._flat()[at].item()

    def __setitem__(self, at: Any, value: Any) -> None:
        """Write an element, or one value to a part.

        Raises:
            IndexError: if the place is out of bounds.
            RuntimeError: for an index of another type.
        """
        if not isinstance(at, int | slice):
            raise RuntimeError(f"can't index a {type(self)} with {type(at)}")
        self._flat()[at] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypedStorage) or self._dtype is not other._dtype:
            return False
        return self._untyped_storage.shows(other._untyped_storage)

    def __hash__(self) -> int:
        return id(self._untyped_storage.root)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return list(self._flat().tolist())

    def __repr__(self) -> str:
        shown = "..." if self.device.type == "meta" else "\n".join(f" {v}" for v in self.tolist())
        return (
            f"{shown or ' '}\n[torch.storage.TypedStorage(dtype={self._dtype}, device={self.device}) "
            f"of size {len(self)}]"
        )

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> Self:
        """Copy the bytes of a storage of as many bytes.

        Raises:
            RuntimeError: if the sizes differ.
            TypeError: if it is no storage.
        """
        if not isinstance(source, TypedStorage | Storage):
            raise TypeError(
                f"copy_(): argument 'src' must be torch.Storage, not {type(source).__name__}"
            )
        self._bytes.copy_(_untyped(source), non_blocking)
        return self

    def fill_(self, value: Any) -> Self:
        """Set all elements to one value."""
        self._flat().fill_(value)
        return self

    def resize_(self, size: int) -> None:
        """Change the number of elements; those that stay keep their values."""
        self._bytes.resize_(size * self._dtype.itemsize)

    def resizable(self) -> bool:
        """Whether `resize_` may be called."""
        return self._bytes.resizable()  # type: ignore[no-any-return]

    # ---- copies --------------------------------------------------------------------------------

    def _wrapping(self, storage: Storage) -> TypedStorage:
        return wrapped(storage, self._dtype)

    def _converted(self, d: dtype_type) -> TypedStorage:
        return wrapped(self._flat().to(d, copy=True)._settled()._own_storage(), d)

    def clone(self) -> TypedStorage:
        """A storage with a copy of the memory."""
        return self._wrapping(self._bytes.clone())

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        import copy

        return self._wrapping(copy.deepcopy(self._untyped_storage, memo))

    def __reduce__(self) -> Any:
        return wrapped, (self._untyped_storage, self._dtype)

    def to(self, *, device: device_type | str, non_blocking: bool = False) -> TypedStorage:
        """The storage, or a copy of it on another device."""
        return self._wrapping(self._bytes.to(device=concrete(device)))

    def cpu(self) -> TypedStorage:
        """The storage, or a copy of it on the CPU."""
        return self.to(device="cpu")

    def is_shared(self) -> bool:
        """Whether other processes see what is written to it."""
        return self._bytes.is_shared()  # type: ignore[no-any-return]

    def share_memory_(self) -> Self:
        """Move it to memory that processes share.

        Raises:
            RuntimeError: on devices other than the CPU.
        """
        self._bytes.share_memory_()
        return self

    def _new_shared(self, size: int, *, device: device_type | str | None = None) -> TypedStorage:
        """A storage of so many elements, which processes share where they are the CPU's."""
        on = self.device if device is None else device
        return self._wrapping(self._bytes._new_shared(size * self._dtype.itemsize, device=on))

    def is_pinned(self, device: device_type | str | None = None) -> bool:
        """Whether the memory is page-locked for an accelerator."""
        return self._bytes.is_pinned(device)  # type: ignore[no-any-return]

    def pin_memory(self, device: device_type | str | None = None) -> TypedStorage:
        """A copy in page-locked memory.

        Raises:
            RuntimeError: if no accelerator is there, or has such memory.
        """
        return self._wrapping(self._bytes.pin_memory(device))

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """A storage whose memory is a file.

        Args:
            filename: its path.
            shared: whether writes change the file.
            size: how many elements from its beginning.

        Raises:
            RuntimeError: if it cannot be opened, or is too short.
        """
        d = cls._fixed or get_default_dtype()
        return cls._around(UntypedStorage.from_file(filename, shared, size * d.itemsize), d)

    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> TypedStorage:
        """A storage with a copy of the elements in a buffer; see ``UntypedStorage.from_buffer``."""
        d = cls._fixed or kwargs.pop("dtype", None) or get_default_dtype()
        return cls._around(UntypedStorage.from_buffer(*args, dtype=d, **kwargs), d)

    @classmethod
    def _around(cls, storage: Storage, d: dtype_type) -> TypedStorage:
        warn_removal()
        return wrapped(storage, d)


def _untyped(storage: Any) -> Storage:
    return storage._untyped_storage if isinstance(storage, TypedStorage) else storage


def wrapped(storage: Storage, d: dtype_type) -> TypedStorage:
    """A typed storage around another one, without a warning."""
    return TypedStorage(wrap_storage=storage, dtype=d, _internal=True)


class _Legacy(type):
    """The type of `FloatStorage` and its like: typed storages belong to them by their dtype."""

    def __instancecheck__(cls, instance: Any) -> bool:
        fixed = vars(cls).get("_fixed")
        return isinstance(instance, TypedStorage) and (fixed is None or instance._dtype is fixed)

    @property
    def dtype(cls) -> dtype_type:
        return cls._fixed  # type: ignore[attr-defined, no-any-return]


class _LegacyStorage(TypedStorage, metaclass=_Legacy):
    """What the classes for one dtype share."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        warn_removal()
        for name in kwargs:
            if name != "wrap_storage":
                raise RuntimeError(
                    f"{cls}.__new__ received an invalid combination of arguments. Expected one of:\n"
                    f" * no arguments\n * (int size)\n * (Sequence data)\n"
                    f" * (*, UntypedStorage wrap_storage)\nKeyword argument {name!r} cannot be specified"
                )
        if args and isinstance(args[0], str):
            raise TypeError(f"new(): invalid data type {type(args[0]).__name__!r}")
        return TypedStorage(*args, dtype=cls._fixed, _internal=True, **kwargs)


def _class(d: dtype_type) -> Any:
    name = f"{d.label}Storage"
    body = {"_fixed": d, "__module__": "mindtorch_core", "__doc__": f"Storages of {d} elements."}
    return _Legacy(name, (_LegacyStorage,), body)


CLASSES: Final[dict[str, type[TypedStorage]]] = {
    f"{d.label}Storage": _class(d)
    for d in DTYPES.values()
    if not d.name.startswith("uint") or d.itemsize == 1
}


def _conversion(d: dtype_type) -> Any:
    def convert(self: TypedStorage) -> TypedStorage:
        return self._converted(d)

    convert.__doc__ = f"A storage with a copy of the elements, as {d}."
    return convert


def _moving(kind: str) -> Any:
    def move(self: TypedStorage, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        return self.to(device=kind if device is None else device)

    move.__doc__ = f"The storage, or a copy of it on a device of type {kind}."
    return move


def _on(kind: str) -> Any:
    return property(lambda self: self.device.type == kind, doc=f"Whether it is on a {kind} device.")


for _d in DTYPES.values():
    _key = {"complex64": "complex_float", "complex128": "complex_double"}.get(
        _d.name, _d.label.lower()
    )
    setattr(TypedStorage, _key, _conversion(_d))
for _kind in ACCELERATORS:
    setattr(TypedStorage, _kind, _moving(_kind))
    setattr(TypedStorage, f"is_{_kind}", _on(_kind))
