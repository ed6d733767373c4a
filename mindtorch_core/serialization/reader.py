"""A reader of the pickle format that cannot run code.

It is a machine with a stack, as the format wants, but a name in the file is looked up in a table of
known names and among what the program has declared safe, and nowhere else.
"""

from __future__ import annotations

import pickle
import struct
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..tensors.tensor import Tensor
from .damage import FileEndsError
from .homes import current
from .names import StorageType, is_key
from .safe_globals import BLOCKED

__all__ = ["Function", "Reader", "checked_elements", "set_attributes", "set_state"]


class Function:
    """A function that files may call.

    Attributes:
        call: the function.
        copies: whether its result is as large as its first argument.
    """

    __slots__ = ("call", "copies")

    def __init__(self, call: Callable[..., Any], *, copies: bool = False) -> None:
        self.call = call
        self.copies = copies


# What reading bytes that mean nothing raises.
_DAMAGE: Final = (
    AttributeError, IndexError, KeyError, OverflowError, TypeError, UnicodeError, ValueError,
    struct.error,
)  # fmt: skip


class _Mark:
    """Stands on the stack where a sequence begins."""


_MARK: Final = _Mark()


class Reader:
    """Reads one object.

    Args:
        data: the bytes.
        names: what the names in it stand for: values, or instances of `Function`.
        storage: makes the storage that a reference in the file means, from its type, its name in
            the file, its device and its number of elements.
        allowed: classes and functions that the program has declared safe, by full name.
    """

    def __init__(
        self,
        data: bytes,
        names: Mapping[str, Any],
        storage: Callable[[StorageType, str, str, int], Any],
        allowed: Mapping[str, Any] | None = None,
    ) -> None:
        self._data = data
        self._at = 0
        self._names = names
        self._storage = storage
        self._allowed = allowed or {}
        self._trusted = {id(each) for each in self._allowed.values()}
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._outside = False  # errors that arise there are not the file's
        # An argument that is used again and again would be copied each time.
        self._copies_left = 2 * len(data) + 4096

    def load(self) -> Any:
        """The object.

        Raises:
            pickle.UnpicklingError: if the bytes are damaged, or hold what is not allowed.
        """
        try:
            while (code := self._byte()) != _STOP:
                action = _ACTIONS.get(code)
                if action is None:
                    raise pickle.UnpicklingError(
                        f"refused to load: the opcode {bytes([code])!r} at byte {self._at - 1} is not "
                        f"one that tensors and plain containers need"
                    )
                action(self)
            return self._pop()
        except _DAMAGE as error:
            if self._outside:
                raise
            ended = self._at >= len(self._data)
            raise (FileEndsError if ended else pickle.UnpicklingError)(
                f"refused to load: damaged at byte {self._at} ({type(error).__name__}: {error})"
            ) from error

    @property
    def used(self) -> int:
        """How many of the bytes have been read."""
        return self._at

    # ---- bytes ---------------------------------------------------------------------------------

    def _byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def _take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if size < 0 or self._at > len(self._data):
            raise IndexError("the data ends early")
        return self._data[start : self._at]

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self) -> str:
        end = self._data.find(b"\n", self._at)
        if end < 0:
            self._at = len(self._data)
            raise IndexError("the data ends early")
        return self._take(end + 1 - self._at)[:-1].decode()

    # ---- the stack -----------------------------------------------------------------------------

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise IndexError("a value is missing")
        return value

    def _above_mark(self) -> list[Any]:
        stack = self._stack
        at = len(stack) - 1
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise IndexError("a mark is missing")
        taken = stack[at + 1 :]
        del stack[at:]
        return taken

    def _last(self, kind: type) -> Any:
        found = self._stack[-1]
        plain = isinstance(found, dict) if kind is dict else type(found) is kind
        if not (plain or self._trusts(type(found))):
            raise TypeError(f"a {kind.__name__} was expected, not {type(found).__name__}")
        return found

    def _tuple_of(self, count: int) -> None:
        values = [self._pop() for _ in range(count)]
        self._push(tuple(reversed(values)))

    def _set_items(self, pairs: list[Any]) -> None:
        target = self._last(dict)
        if len(pairs) % 2:
            raise ValueError("a key without a value")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            if not (is_key(key) or self._trusts(type(key))):
                raise TypeError(f"a {type(key).__name__} cannot be a key")
            target[key] = value

    def _memoize(self, index: int) -> None:
        value = self._stack[-1]
        if value is _MARK:
            raise IndexError("a value is missing")
        self._memo[index] = value

    # ---- names and calls -----------------------------------------------------------------------

    def _trusts(self, kind: Any) -> bool:
        """Whether the program has declared a class or function safe."""
        return id(kind) in self._trusted

    def _find(self, module: Any, name: Any) -> Any:
        found = self._names.get(f"{module} {name}", self)
        if found is not self:
            return found
        module, name = current(str(module), str(name))
        full = f"{module}.{name}"
        if module in BLOCKED:
            raise pickle.UnpicklingError(
                f"refused to load: the file asks for {full}, and all of {module} is blocked"
            )
        if full in self._allowed:
            return self._allowed[full]
        shown = full.removeprefix("builtins.")
        raise pickle.UnpicklingError(
            f"refused to load: the file asks for {full}. Weights only load failed: files may hold "
            f"tensors, numbers, strings and plain containers, and nothing that runs code. GLOBAL {full} "
            f"was not an allowed global by default. If you trust it, say so with "
            f"`torch.serialization.add_safe_globals([{shown}])` or the context "
            f"`torch.serialization.safe_globals([{shown}])`; if you trust all of the file, load it with "
            f"weights_only=False, which can run any code."
        )

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        if not isinstance(arguments, tuple):
            raise TypeError("a call without a tuple of arguments")
        if self._trusts(function):
            self._push(self._call(function, *arguments))
            return
        if not isinstance(function, Function):
            raise pickle.UnpicklingError(
                f"refused to load: the file calls a {type(function).__name__}, which is no function "
                f"that makes tensors or plain containers"
            )
        if function.copies and arguments:
            self._copies_left -= len(arguments[0])
            if self._copies_left < 0:
                raise pickle.UnpicklingError(
                    "refused to load: the file copies the same data again and again"
                )
        self._push(function.call(*arguments))

    def _call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call what the program trusts; what it raises is its own."""
        self._outside = True
        made = function(*arguments, **named)
        self._outside = False
        return made

    def _new(self, named: Any = None) -> None:
        """An object of a class that the program trusts, before it has its attributes."""
        arguments, kind = self._pop(), self._pop()
        if not self._trusts(kind):
            raise pickle.UnpicklingError(
                f"refused to load: the file makes an object of {kind!r}, which was not allowed by "
                f"torch.serialization.add_safe_globals"
            )
        self._push(self._call(kind.__new__, kind, *arguments, **(named or {})))

    def _build(self) -> None:
        """Attributes: of an OrderedDict, as state dicts have them, of a tensor, of what is trusted."""
        state, target = self._pop(), self._stack[-1]
        if self._trusts(type(target)):
            self._call(set_state, target, state)
            return
        if not isinstance(target, OrderedDict | Tensor) or type(state) is not dict:
            raise pickle.UnpicklingError(
                f"refused to load: the file sets attributes of a {type(target).__name__}"
            )
        set_attributes(target, state)

    def _persistent(self) -> None:
        reference = self._pop()
        kinds = tuple(map(type, reference)) if type(reference) is tuple else ()
        known = kinds[:5] == (str, StorageType, str, str, int) and reference[0] == "storage"
        if not known or len(kinds) > 6:
            raise pickle.UnpicklingError("refused to load: a reference to something unknown")
        self._outside = True
        storage = self._storage(*reference[1:])
        self._outside = False
        self._push(storage)


def set_attributes(target: Any, state: dict[Any, Any]) -> None:
    """Set attributes that do not hide what the class defines.

    Raises:
        ValueError: for any other name.
    """
    for name in state:
        if not isinstance(name, str) or name.startswith("__") or name in _names_of(type(target)):
            raise ValueError(f"{name!r} cannot be an attribute of a {type(target).__name__}")
    target.__dict__.update(state)


def set_state(target: Any, state: Any) -> None:
    """Give an object its state, as pickle does."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _names_of(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base)}


def _integer(reader: Reader, size: int) -> None:
    reader._push(int.from_bytes(reader._take(size), "little", signed=True))


def _text(reader: Reader, form: str) -> None:
    reader._push(reader._take(reader._number(form)).decode("utf-8", "surrogatepass"))


def _add_to_list(reader: Reader, values: list[Any]) -> None:
    reader._last(list).extend(values)


def _add_to_set(reader: Reader, values: list[Any]) -> None:
    reader._last(set).update(checked_elements(values))


def checked_elements(values: Any) -> list[Any]:
    """The elements of a set.

    Raises:
        TypeError: for one that must not be hashed.
    """
    for value in values:
        if not is_key(value):
            raise TypeError(f"a {type(value).__name__} cannot be an element of a set")
    return list(values)


def _stack_global(reader: Reader) -> None:
    name, module = reader._pop(), reader._pop()
    reader._push(reader._find(module, name))


def _set_item(reader: Reader) -> None:
    value, key = reader._pop(), reader._pop()
    reader._set_items([key, value])


def _append(reader: Reader) -> None:
    value = reader._pop()
    _add_to_list(reader, [value])


def _to_dict(reader: Reader) -> None:
    pairs = reader._above_mark()
    reader._push({})
    reader._set_items(pairs)


_STOP: Final = ord(".")
_BY_NAME: Final[dict[str, Callable[[Reader], Any]]] = {
    "PROTO": lambda r: r._byte(),
    "FRAME": lambda r: r._take(8),
    "MARK": lambda r: r._push(_MARK),
    "POP": lambda r: r._stack.pop(),
    "POP_MARK": lambda r: r._above_mark(),
    "NONE": lambda r: r._push(None),
    "NEWTRUE": lambda r: r._push(True),
    "NEWFALSE": lambda r: r._push(False),
    "BININT": lambda r: r._push(r._number("<i")),
    "BININT1": lambda r: r._push(r._byte()),
    "BININT2": lambda r: r._push(r._number("<H")),
    "LONG1": lambda r: _integer(r, r._byte()),
    "LONG4": lambda r: _integer(r, r._number("<i")),
    "BINFLOAT": lambda r: r._push(r._number(">d")),
    "SHORT_BINUNICODE": lambda r: _text(r, "<B"),
    "BINUNICODE": lambda r: _text(r, "<I"),
    "BINUNICODE8": lambda r: _text(r, "<Q"),
    "SHORT_BINBYTES": lambda r: r._push(r._take(r._byte())),
    "BINBYTES": lambda r: r._push(r._take(r._number("<I"))),
    "BINBYTES8": lambda r: r._push(r._take(r._number("<Q"))),
    "BYTEARRAY8": lambda r: r._push(bytearray(r._take(r._number("<Q")))),
    "EMPTY_TUPLE": lambda r: r._push(()),
    "TUPLE1": lambda r: r._tuple_of(1),
    "TUPLE2": lambda r: r._tuple_of(2),
    "TUPLE3": lambda r: r._tuple_of(3),
    "TUPLE": lambda r: r._push(tuple(r._above_mark())),
    "EMPTY_LIST": lambda r: r._push([]),
    "LIST": lambda r: r._push(r._above_mark()),
    "APPEND": _append,
    "APPENDS": lambda r: _add_to_list(r, r._above_mark()),
    "EMPTY_DICT": lambda r: r._push({}),
    "DICT": _to_dict,
    "SETITEM": _set_item,
    "SETITEMS": lambda r: r._set_items(r._above_mark()),
    "EMPTY_SET": lambda r: r._push(set()),
    "ADDITEMS": lambda r: _add_to_set(r, r._above_mark()),
    "FROZENSET": lambda r: r._push(frozenset(checked_elements(r._above_mark()))),
    "BINGET": lambda r: r._push(r._memo[r._byte()]),
    "LONG_BINGET": lambda r: r._push(r._memo[r._number("<I")]),
    "BINPUT": lambda r: r._memoize(r._byte()),
    "LONG_BINPUT": lambda r: r._memoize(r._number("<I")),
    "MEMOIZE": lambda r: r._memoize(len(r._memo)),
    "GLOBAL": lambda r: r._push(r._find(r._line(), r._line())),
    "STACK_GLOBAL": _stack_global,
    "REDUCE": lambda r: r._reduce(),
    "NEWOBJ": lambda r: r._new(),
    "NEWOBJ_EX": lambda r: r._new(r._pop()),
    "BUILD": lambda r: r._build(),
    "BINPERSID": lambda r: r._persistent(),
}
_ACTIONS: Final = {getattr(pickle, name)[0]: action for name, action in _BY_NAME.items()}
