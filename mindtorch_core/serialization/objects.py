"""Whole objects in files, as pickle writes them: what they say themselves of how they are made again."""

from __future__ import annotations

import _compat_pickle
import copyreg
import pickle
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from .homes import find, home

if TYPE_CHECKING:
    from .writer import Writer

__all__ = ["save_object"]

PROTOCOL: Final = 2  # that of the files


class PicklingError(pickle.PicklingError, AttributeError):
    """A class or function that no name leads to; pickle raises the one or the other."""

    __module__ = "pickle"


def save_object(writer: Writer, obj: Any, at: str) -> None:
    """Write an object of any class.

    Raises:
        pickle.PicklingError: for a class or function that cannot be imported by its name.
        TypeError: for an object that cannot be taken apart.
    """
    kind = type(obj)
    if writer.known(id(obj)):
        return
    writer.keep(obj)
    if isinstance(obj, FunctionType) or (isinstance(obj, type) and obj not in _NAMELESS):
        _global(writer, obj, None, at)
        return
    if isinstance(obj, type):
        made: Any = type, (_NAMELESS[obj],)
    else:
        reducer = copyreg.dispatch_table.get(kind)
        try:
            made = obj.__reduce_ex__(PROTOCOL) if reducer is None else reducer(obj)
        except TypeError as error:
            raise TypeError(f"cannot save {at}: {error}") from error
    if isinstance(made, str):
        _global(writer, obj, made, at)
    elif not isinstance(made, tuple) or not 2 <= len(made) <= 6:
        raise pickle.PicklingError(
            f"cannot save {at}: __reduce__ of {kind.__qualname__} must return a string or tuple"
        )
    else:
        _reduced(writer, obj, made, at)


_NAMELESS: Final = {type(value): value for value in (None, NotImplemented, ...)}


def _reduced(writer: Writer, obj: Any, made: tuple[Any, ...], at: str) -> None:
    padded: Any = [*made, *[None] * (6 - len(made))]
    function, arguments, state, elements, items, setter = padded
    name = getattr(function, "__name__", "")
    if name == "__newobj_ex__":
        for part in arguments:
            writer.fresh(part, at)
        writer.out += b"\x92"
    elif name == "__newobj__":
        writer.save(arguments[0], at)
        writer.fresh(tuple(arguments[1:]), at)
        writer.out += b"\x81"
    else:
        writer.save(function, at)
        writer.fresh(tuple(arguments), at)
        writer.out += b"R"
    if writer.holds(id(obj)):  # it was written as a part of its arguments
        writer.out += b"0"
        writer.known(id(obj))
        return
    writer.remember(id(obj))
    if elements is not None:
        writer.out += b"("
        for i, each in enumerate(elements):
            writer.fresh(each, f"{at}[{i}]")
        writer.out += b"e"
    if items is not None:
        writer.out += b"("
        for key, value in items:
            writer.fresh(key, at)
            writer.fresh(value, f"{at}[{key!r}]")
        writer.out += b"u"
    if state is not None:
        _state(writer, obj, state, setter, f"{at}.__dict__")


def _state(writer: Writer, obj: Any, state: Any, setter: Any, at: str) -> None:
    if setter is None:
        writer.fresh(state, at)
        writer.out += b"b"
        return
    writer.save(setter, at)
    writer.known(id(obj))
    writer.fresh(state, at)
    writer.out += b"\x86R0"


def _global(writer: Writer, obj: Any, name: str | None, at: str) -> None:
    """Write the name of a class, a function or a constant."""
    module, qualified = home(obj, name)
    try:
        found = find(module, qualified)
    except (ImportError, AttributeError, KeyError, ValueError):
        found = None
    if found is not obj:
        raise PicklingError(
            f"cannot save {at}: it is or needs {obj!r}, which {module}.{qualified} does not lead to; "
            f"only what can be imported by its name can be loaded again"
        )
    parent, _, last = qualified.rpartition(".")
    if parent:
        writer.name("__builtin__ getattr")
        writer.out += b"("
        writer.save(find(module, parent), at)
        writer.save(last, at)
        writer.out += b"tR"
    else:
        if (module, last) in _compat_pickle.REVERSE_NAME_MAPPING:
            module, last = _compat_pickle.REVERSE_NAME_MAPPING[module, last]
        else:
            module = _compat_pickle.REVERSE_IMPORT_MAPPING.get(module, module)
        writer.name(f"{module} {last}")
    if not writer.holds(id(obj)):
        writer.remember(id(obj))
