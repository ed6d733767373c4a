"""The structure of what is saved, in the pickle format's words.

Only what the reader takes is written, so whatever could be saved can be loaded. Names stand for
PyTorch's functions and types, which need not be installed.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Any, Final

from ..devices import device, row_of
from ..dispatch.binding import python_number
from ..dtypes import dtype
from ..layouts import layout
from ..shapes import Size
from ..storage import Storage
from ..tensor import Tensor
from .names import STORAGE_NAMES, UNTYPED, is_key

__all__ = ["Writer"]

_TENSOR_V2: Final = "torch._utils _rebuild_tensor_v2"
_TENSOR_V3: Final = "torch._utils _rebuild_tensor_v3"
_META: Final = "torch._utils _rebuild_meta_tensor_no_storage"
_WITH_ATTRIBUTES: Final = "torch._tensor _rebuild_from_type_v2"
_ORDERED: Final = "collections OrderedDict"

_HINTS: Final = {
    "ndarray": "make a tensor of it with torch.from_numpy(array)",
    "Generator": "save its position, generator.get_state()",
    "Module": "save module.state_dict()",
}


class Writer:
    """Writes one object.

    Attributes:
        out: the bytes so far.
        storages: the storages of the tensors written, by their number in the file.
    """

    def __init__(self) -> None:
        self.out = bytearray(b"\x80\x02")
        self.storages: list[Storage] = []
        self._memo: dict[Any, int] = {}
        self._numbers: dict[int, tuple[int, str, dtype | None]] = {}
        self._alive: list[Any] = []  # what stands in the memo by its id

    def dump(self, obj: Any) -> bytes:
        """Write the object and return all bytes.

        Raises:
            TypeError: if it holds what cannot be saved.
        """
        try:
            self._save(obj, "obj")
        except RecursionError:
            raise TypeError("cannot save obj: its containers are nested too deeply") from None
        self.out += b"."
        return bytes(self.out)

    # ---- the memo ------------------------------------------------------------------------------

    def _known(self, key: Any) -> bool:
        """Write a reference to what was written before, if it was."""
        index = self._memo.get(key)
        if index is None:
            return False
        self.out += b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)
        return True

    def _remember(self, key: Any) -> None:
        index = self._memo[key] = len(self._memo)
        self.out += b"q" + bytes([index]) if index < 256 else b"r" + struct.pack("<I", index)

    # ---- by type -------------------------------------------------------------------------------

    def _save(self, obj: Any, at: str) -> None:
        kind = type(obj)
        if obj is None:
            self.out += b"N"
        elif kind is bool:
            self.out += b"\x88" if obj else b"\x89"
        elif isinstance(obj, int):
            self._integer(int(obj))
        elif isinstance(obj, float):
            self.out += b"G" + struct.pack(">d", obj)
        elif isinstance(obj, str):
            self._text(str(obj))
        elif isinstance(obj, Tensor):
            self._tensor(obj, at)
        elif kind in _CONTAINERS:
            if not self._known(id(obj)):
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
        if not self._known(value):
            raw = value.encode("utf-8", "surrogatepass")
            self.out += b"X" + struct.pack("<I", len(raw)) + raw
            self._remember(value)

    def _list(self, obj: list[Any], at: str) -> None:
        self.out += b"]"
        self._remember(id(obj))
        self.out += b"("
        for i, element in enumerate(obj):
            self._save(element, f"{at}[{i}]")
        self.out += b"e"

    def _tuple(self, obj: tuple[Any, ...], at: str) -> None:
        self.out += b"("
        for i, element in enumerate(obj):
            self._save(element, f"{at}[{i}]")
        if id(obj) in self._memo:  # it holds a list that holds it
            self.out += b"1"
            self._known(id(obj))
            return
        self.out += b"t"
        self._remember(id(obj))

    def _dict(self, obj: dict[Any, Any], at: str) -> None:
        self.out += b"}"
        self._remember(id(obj))
        self._items(obj, at)

    def _ordered(self, obj: OrderedDict[Any, Any], at: str) -> None:
        self._name(_ORDERED)
        self.out += b")R"
        self._remember(id(obj))
        self._items(obj, at)
        if obj.__dict__:  # such as the _metadata of a state dict
            self._save(obj.__dict__, f"{at}.__dict__")
            self.out += b"b"

    def _items(self, obj: dict[Any, Any], at: str) -> None:
        self.out += b"("
        for key, value in obj.items():
            self._key(key, at)
            self._save(key, at)
            self._save(value, f"{at}[{key!r}]")
        self.out += b"u"

    @staticmethod
    def _key(key: Any, at: str) -> None:
        if not is_key(key):
            raise TypeError(
                f"cannot save {at}: a key or set element is a {type(key).__qualname__}, and files hold "
                f"numbers, strings, bytes, None, dtypes, devices and short tuples of them there"
            )

    def _counter(self, obj: Counter[Any], at: str) -> None:
        self._call("collections Counter", [dict(obj)], at)
        self._remember(id(obj))

    def _set(self, obj: set[Any] | frozenset[Any], at: str) -> None:
        for element in obj:
            self._key(element, at)
        self._call(f"__builtin__ {type(obj).__name__}", [list(obj)], at)
        self._remember(id(obj))

    def _bytes(self, obj: bytes, at: str) -> None:
        self._call("_codecs encode", [obj.decode("latin1"), "latin1"], at)
        self._remember(id(obj))

    def _bytearray(self, obj: bytearray, at: str) -> None:
        self._call("__builtin__ bytearray", [bytes(obj)], at)
        self._remember(id(obj))

    def _other(self, obj: Any, at: str) -> None:
        number = python_number(obj)
        if isinstance(obj, complex):
            self._call("__builtin__ complex", [obj.real, obj.imag], at)
        elif number is not None:  # NumPy's
            self._save(number, at)
        elif isinstance(obj, dtype):
            self._name(f"torch {obj.name}")
        elif isinstance(obj, device):
            self._call("torch device", [str(obj)], at)
        elif isinstance(obj, layout):
            self._call("torch.serialization _get_layout", [repr(obj)], at)
        elif isinstance(obj, Size):
            self._call("torch Size", [tuple(obj)], at)
        elif isinstance(obj, Storage):
            self._storage(obj, None)
        else:
            raise self._refusal(obj, at)

    @staticmethod
    def _refusal(obj: Any, at: str) -> TypeError:
        hint = next((_HINTS[c.__name__] for c in type(obj).__mro__ if c.__name__ in _HINTS), None)
        if hint is None and isinstance(obj, tuple | list | dict):
            hint = f"convert it to a {next(k.__name__ for k in _PLAIN if isinstance(obj, k))}"
        return TypeError(
            f"cannot save {at}: it is a {type(obj).__qualname__}, and files hold tensors, numbers, "
            f"strings, bytes, None, dtypes, devices and shapes, in dicts, lists, tuples and sets"
            + (f"; {hint}" if hint else "")
        )

    # ---- names and calls -----------------------------------------------------------------------

    def _name(self, dotted: str) -> None:
        """Write a global's name: module, space, name."""
        if not self._known(("name", dotted)):
            module, _, name = dotted.partition(" ")
            self.out += b"c" + f"{module}\n{name}\n".encode()
            self._remember(("name", dotted))

    def _call(self, dotted: str, arguments: Iterable[Any], at: str) -> None:
        self._name(dotted)
        self.out += b"("
        for argument in arguments:
            self._fresh(argument, at)
        self.out += b"tR"

    # ---- tensors -------------------------------------------------------------------------------

    def _tensor(self, t: Tensor, at: str) -> None:
        if self._known(id(t)):
            return
        self._alive.append(t)
        storage = t._settled()._own_storage()
        attributes = dict(t.__dict__)
        if attributes:
            self._name(_WITH_ATTRIBUTES)
            self.out += b"("
        if not row_of(t.device.type).runtime.executes:
            self._name(_META)
            arguments = self._meta_arguments
        elif self._numbered(storage, t.dtype)[2] is t.dtype:
            self._name(_TENSOR_V2)
            arguments = self._arguments
        else:
            self._name(_TENSOR_V3)
            arguments = self._arguments_with_dtype
        if attributes:
            self._name("torch Tensor")
        self.out += b"("
        arguments(t, storage, at)
        self.out += b"t"
        if attributes:
            self._save(attributes, f"{at}.__dict__")
            self.out += b"t"
        self.out += b"R"
        self._remember(id(t))

    def _arguments(self, t: Tensor, storage: Storage, at: str) -> None:
        strides, offset = t._geometry()
        self._storage(storage, t.dtype)
        for value in (offset, tuple(t._shape), tuple(strides), t.requires_grad):
            self._fresh(value, at)
        self._name(_ORDERED)  # where PyTorch has hooks
        self.out += b")R"

    def _arguments_with_dtype(self, t: Tensor, storage: Storage, at: str) -> None:
        self._arguments(t, storage, at)
        self._name(f"torch {t.dtype.name}")

    def _meta_arguments(self, t: Tensor, storage: Storage, at: str) -> None:
        self._name(f"torch {t.dtype.name}")
        for value in (tuple(t._shape), tuple(t.stride()), t.requires_grad):
            self._fresh(value, at)

    def _fresh(self, value: Any, at: str) -> None:
        """Write a value made for the purpose, whose id must stay taken."""
        self._alive.append(value)
        self._save(value, at)

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
        self.out += b"("
        self._text("storage")
        self._name(name)
        self._text(str(number))
        self._text(str(storage.device))
        self._integer(storage.size_bytes // (1 if counted is None else counted.itemsize))
        self.out += b"tQ"


_PLAIN: Final = (dict, list, tuple)
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
