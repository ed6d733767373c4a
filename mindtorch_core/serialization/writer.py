"""The structure of what is saved, in the pickle format's words.

Names stand for PyTorch's functions and types, which need not be installed. Tensors and plain containers
are written as what the reader takes in any case, all else as pickle writes it.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Any, Final

from ..frontend.pickling import state_of
from ..frontend.typed_storage import TypedStorage
from ..gradients.handles import warn_if_has_hooks
from ..random import Generator
from ..tensors.storage import Storage
from ..tensors.subclasses import hollow
from ..tensors.tensor import Tensor
from ..tensors.unresolved import unresolved
from ..values.devices import device, row_of
from ..values.dtypes import dtype
from ..values.layouts import layout, strided
from ..values.shapes import Size
from .names import STORAGE_NAMES, UNTYPED
from .objects import save_object

__all__ = ["Writer"]

_TENSOR_V2: Final = "torch._utils _rebuild_tensor_v2"
_TENSOR_V3: Final = "torch._utils _rebuild_tensor_v3"
_SPARSE: Final = "torch._utils _rebuild_sparse_tensor"
_META: Final = "torch._utils _rebuild_meta_tensor_no_storage"
_WRAPPER: Final = "torch._utils _rebuild_wrapper_subclass"
_WITH_ATTRIBUTES: Final = "torch._tensor _rebuild_from_type_v2"
_ORDERED: Final = "collections OrderedDict"


class Writer:
    """Writes one object.

    Args:
        legacy: whether references to storages are those of PyTorch before version 1.6.

    Attributes:
        out: the bytes so far.
        storages: the storages of the tensors written, by their number in the file.
    """

    def __init__(self, legacy: bool = False) -> None:
        self._legacy = legacy
        self.out = bytearray(b"\x80\x02")
        self.storages: list[Storage] = []
        self._memo: dict[Any, int] = {}
        self._numbers: dict[int, tuple[int, str, dtype | None]] = {}
        self._alive: list[Any] = []  # what stands in the memo by its id

    def dump(self, obj: Any) -> bytes:
        """Write the object and return all bytes.

        Raises:
            TypeError: if it holds what cannot be taken apart.
            pickle.PicklingError: if it holds what cannot be imported by its name.
        """
        try:
            self.save(obj, "obj")
        except RecursionError:
            raise TypeError("cannot save obj: its containers are nested too deeply") from None
        self.out += b"."
        return bytes(self.out)

    def counted(self) -> list[tuple[Storage, int]]:
        """The storages, each with the size of the elements it is counted in."""
        sizes = [1 if d is None else d.itemsize for _, _, d in self._numbers.values()]
        return list(zip(self.storages, sizes, strict=True))

    # ---- the memo ------------------------------------------------------------------------------

    def keep(self, obj: Any) -> None:
        """Keep an object alive, so that its id stays its own."""
        self._alive.append(obj)

    def holds(self, key: Any) -> bool:
        """Whether something was written before."""
        return key in self._memo

    def known(self, key: Any) -> bool:
        """Write a reference to what was written before, if it was."""
        index = self._memo.get(key)
        if index is None:
            return False
        self.out += b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)
        return True

    def remember(self, key: Any) -> None:
        """Let what was just written be referred to later."""
        index = self._memo[key] = len(self._memo)
        self.out += b"q" + bytes([index]) if index < 256 else b"r" + struct.pack("<I", index)

    # ---- by type -------------------------------------------------------------------------------

    def save(self, obj: Any, at: str) -> None:
        """Write a value that lives on; ``at`` says in errors where it is."""
        kind = type(obj)
        if obj is None:
            self.out += b"N"
        elif kind is bool:
            self.out += b"\x88" if obj else b"\x89"
        elif kind is int:
            self._integer(obj)
        elif kind is float:
            self.out += b"G" + struct.pack(">d", obj)
        elif kind is str:
            self._text(obj)
        elif isinstance(obj, Tensor) and (
            obj.layout is not strided or not _takes_itself_apart(kind)
        ):
            self._tensor(obj, at)
        elif kind in _CONTAINERS:
            if not self.known(id(obj)):
                self._alive.append(obj)
                _CONTAINERS[kind](self, obj, at)
        else:
            self._other(obj, at)

    def _integer(self, value: int) -> None:
        if 0 <= value < 256:
            self.out += b"K" + bytes([value])
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            size = len(raw)
            self.out += b"\x8a" + bytes([size]) if size < 256 else b"\x8b" + struct.pack("<i", size)
            self.out += raw

    def _text(self, value: str) -> None:
        if not self.known(value):
            raw = value.encode("utf-8", "surrogatepass")
            self.out += b"X" + struct.pack("<I", len(raw)) + raw
            self.remember(value)

    def _list(self, obj: list[Any], at: str) -> None:
        self.out += b"]"
        self.remember(id(obj))
        self.out += b"("
        for i, element in enumerate(obj):
            self.save(element, f"{at}[{i}]")
        self.out += b"e"

    def _tuple(self, obj: tuple[Any, ...], at: str) -> None:
        self.out += b"("
        for i, element in enumerate(obj):
            self.save(element, f"{at}[{i}]")
        if id(obj) in self._memo:  # it holds a list that holds it
            self.out += b"1"
            self.known(id(obj))
            return
        self.out += b"t"
        self.remember(id(obj))

    def _dict(self, obj: dict[Any, Any], at: str) -> None:
        self.out += b"}"
        self.remember(id(obj))
        self._items(obj, at)

    def _ordered(self, obj: OrderedDict[Any, Any], at: str) -> None:
        self.name(_ORDERED)
        self.out += b")R"
        self.remember(id(obj))
        self._items(obj, at)
        if obj.__dict__:  # such as the _metadata of a state dict
            self.save(obj.__dict__, f"{at}.__dict__")
            self.out += b"b"

    def _items(self, obj: dict[Any, Any], at: str) -> None:
        self.out += b"("
        for key, value in obj.items():
            self.save(key, at)
            self.save(value, f"{at}[{key!r}]")
        self.out += b"u"

    def _counter(self, obj: Counter[Any], at: str) -> None:
        self._call("collections Counter", [dict(obj)], at)
        self.remember(id(obj))

    def _set(self, obj: set[Any] | frozenset[Any], at: str) -> None:
        self._call(f"__builtin__ {type(obj).__name__}", [list(obj)], at)
        self.remember(id(obj))

    def _bytes(self, obj: bytes, at: str) -> None:
        self._call("_codecs encode", [obj.decode("latin1"), "latin1"], at)
        self.remember(id(obj))

    def _bytearray(self, obj: bytearray, at: str) -> None:
        self._call("__builtin__ bytearray", [bytes(obj)], at)
        self.remember(id(obj))

    def _other(self, obj: Any, at: str) -> None:
        kind = type(obj)
        if kind is complex:
            self._call("__builtin__ complex", [obj.real, obj.imag], at)
        elif isinstance(obj, dtype):
            self.name(f"torch {obj.name}")
        elif isinstance(obj, device):
            self._call("torch device", [str(obj)], at)
        elif isinstance(obj, layout):
            self._call("torch.serialization _get_layout", [repr(obj)], at)
        elif kind is Size:
            self._call("torch Size", [tuple(obj)], at)
        elif isinstance(obj, Storage):
            self._storage(obj, None)
        elif isinstance(obj, TypedStorage):
            if self._numbered(obj._untyped_storage, obj.dtype)[2] is not obj.dtype:
                raise RuntimeError(
                    f"Cannot save multiple tensors or storages that view the same data as different "
                    f"types: {at} is the second"
                )
            self._storage(obj._untyped_storage, obj.dtype)
        elif kind is Generator:
            raise TypeError(f"cannot save {at}: it is a Generator; save generator.get_state()")
        else:
            save_object(self, obj, at)

    # ---- names and calls -----------------------------------------------------------------------

    def name(self, dotted: str) -> None:
        """Write a global's name: module, space, name."""
        if not self.known(("name", dotted)):
            module, _, name = dotted.partition(" ")
            self.out += b"c" + f"{module}\n{name}\n".encode()
            self.remember(("name", dotted))

    def _call(self, dotted: str, arguments: Iterable[Any], at: str) -> None:
        self.name(dotted)
        self.out += b"("
        for argument in arguments:
            self.fresh(argument, at)
        self.out += b"tR"

    # ---- tensors -------------------------------------------------------------------------------

    def _tensor(self, t: Tensor, at: str) -> None:
        if self.known(id(t)):
            return
        warn_if_has_hooks(t)
        self._alive.append(t)
        if t.layout is not strided:
            s: Any = t
            if t.is_sparse:
                held = s._indices(), s._values(), s.shape, s.is_coalesced()
            else:
                held = *(getattr(s, name)() for name in s._how.names), s.values(), s.shape
            self._call(_SPARSE, [t.layout, held], at)
            self.remember(id(t))
            return
        rebuilt_by = getattr(type(t), "_rebuilt_by", None)
        if rebuilt_by is not None:
            self._subclass(t, rebuilt_by, at)
            return
        if hollow(t):
            self._wrapper(t, at)
            return
        storage = t._settled()._own_storage()
        state = state_of(t)
        kind = Tensor if getattr(t, "_kept_as_tensor", False) else type(t)
        if state or kind is not Tensor:
            self.name(_WITH_ATTRIBUTES)
            self.out += b"("
        if not row_of(t.device.type).runtime.executes:
            self.name(_META)
            arguments = self._meta_arguments
        elif self._numbered(storage, t.dtype)[2] is t.dtype:
            self.name(_TENSOR_V2)
            arguments = self._arguments
        else:
            self.name(_TENSOR_V3)
            arguments = self._arguments_with_dtype
        if state or kind is not Tensor:
            self.save(kind, at)
        self.out += b"("
        arguments(t, storage, at)
        marks = unresolved(t)
        if marks and arguments != self._meta_arguments:  # there is no place for them
            self.fresh(dict.fromkeys(marks, True), at)
        self.out += b"t"
        if state or kind is not Tensor:
            self.fresh(state or {}, f"{at}.__dict__")
            self.out += b"t"
        self.out += b"R"
        self.remember(id(t))

    def _subclass(self, t: Tensor, rebuilt_by: str, at: str) -> None:
        """A tensor of a subclass that names the function by which PyTorch makes one of its data."""
        state = state_of(t)
        arguments = [t.data, t.requires_grad, OrderedDict(), *([state] if state else [])]
        self._call(rebuilt_by + ("_with_state" if state else ""), arguments, at)
        self.remember(id(t))

    def _wrapper(self, t: Tensor, at: str) -> None:
        """A tensor of a class whose instances have no elements but hold what has them."""
        kind = type(t)
        size, (strides, offset) = tuple(t._shape), t._geometry()
        described = kind, t.dtype, size, tuple(strides), offset, strided, t.device, t.requires_grad
        self.name(_WITH_ATTRIBUTES)
        self.out += b"("
        self.name(_WRAPPER)
        self.save(kind, at)
        self.fresh(described, at)
        self.fresh(state_of(t) or {}, f"{at}.__dict__")
        self.out += b"tR"
        self.remember(id(t))

    def _arguments(self, t: Tensor, storage: Storage, at: str) -> None:
        strides, offset = t._geometry()
        self._storage(storage, t.dtype)
        for value in (offset, tuple(t._shape), tuple(strides), t.requires_grad):
            self.fresh(value, at)
        self.name(_ORDERED)  # where PyTorch has hooks
        self.out += b")R"

    def _arguments_with_dtype(self, t: Tensor, storage: Storage, at: str) -> None:
        self._arguments(t, storage, at)
        self.name(f"torch {t.dtype.name}")

    def _meta_arguments(self, t: Tensor, storage: Storage, at: str) -> None:
        self.name(f"torch {t.dtype.name}")
        for value in (tuple(t._shape), tuple(t.stride()), t.requires_grad):
            self.fresh(value, at)

    def fresh(self, value: Any, at: str) -> None:
        """Write a value that was made for the purpose, and whose id must stay taken."""
        self._alive.append(value)
        self.save(value, at)

    def _numbered(self, storage: Storage, d: dtype | None) -> tuple[int, str, dtype | None]:
        """A storage's number in the file, its type's name, and the dtype it is counted in."""
        memory = storage if storage.memory is None else storage.memory  # what `x.data` shares
        found = self._numbers.get(id(memory))
        if found is None:
            name = UNTYPED if d is None else STORAGE_NAMES.get(d, UNTYPED)
            if name == UNTYPED or d is None or storage.size_bytes % d.itemsize:
                name, d = UNTYPED, None
            found = self._numbers[id(memory)] = (len(self.storages), name, d)
            self.storages.append(storage)
            self._alive.append(memory)
        return found

    def _storage(self, storage: Storage, d: dtype | None) -> None:
        """Write a reference to a storage, whose bytes stand elsewhere in the file."""
        storage.settle()
        number, name, counted = self._numbered(storage, d)
        if d is None:
            name, counted = UNTYPED, None
        if self._legacy and name == UNTYPED:
            raise RuntimeError(
                "the format before version 1.6 of PyTorch has no storages without a type: save without "
                "_use_new_zipfile_serialization=False"
            )
        self.out += b"("
        self._text("storage")
        self.name(name)
        self._text(str(number))
        self._text(str(storage.device))
        self._integer(storage.size_bytes // (1 if counted is None else counted.itemsize))
        self.out += b"NtQ" if self._legacy else b"tQ"  # None: not a part of another storage


def _takes_itself_apart(kind: Any) -> bool:
    """Whether a class of tensors says itself how it is pickled."""
    own: Any = Tensor
    return any(getattr(kind, n) is not getattr(own, n) for n in ("__reduce__", "__reduce_ex__"))


_CONTAINERS: Final[dict[type, Any]] = {
    list: Writer._list,
    tuple: Writer._tuple,
    dict: Writer._dict,
    OrderedDict: Writer._ordered,
    Counter: Writer._counter,
    set: Writer._set,
    frozenset: Writer._set,
    bytes: Writer._bytes,
    bytearray: Writer._bytearray,
}
