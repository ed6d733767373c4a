"""The functions of CANN's runtime and operator-base libraries, bound when they are first used."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ..acl_loader import load
from .errors import ACLError, MissingSymbolError
from .prototypes import PROTOTYPES

__all__ = ["acl", "check", "raw", "recent_message"]

_POINTER: Final[Any] = type(ctypes.POINTER(ctypes.c_int64))


class _Functions:
    """Functions as attributes: ``acl.aclrtMalloc(byref(pointer), size, policy)``.

    Reading one loads the toolkit if that has not been done, and binds the symbol with the types of
    its prototype.
    """

    def __init__(self, *, typed: bool) -> None:
        self._typed = typed

    def __getattr__(self, name: str) -> Any:
        prototype = PROTOTYPES.get(name)
        if prototype is None:
            raise AttributeError(f"{name!r} is not in the table of CANN's functions")
        libraries = load()
        function = libraries.function(name, quick=prototype.quick)
        if function is None:
            toolkit = libraries.toolkit
            raise MissingSymbolError(
                f"CANN {toolkit.version} in {toolkit.root} has no function {name}.\n"
                f"  fix: install a newer toolkit and driver, or avoid what needs it."
            )
        function.argtypes = prototype.argtypes if self._typed else _untyped(prototype.argtypes)
        function.restype = prototype.restype
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return sorted(PROTOTYPES)


def _untyped(argtypes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(ctypes.c_void_p if isinstance(t, _POINTER) else t for t in argtypes)


acl: Final = _Functions(typed=True)
# The same functions with addresses as plain numbers, which are cheaper than typed pointers.
raw: Final = _Functions(typed=False)


def recent_message() -> str:
    """What CANN says of this thread's last failure; asking for it clears it."""
    message: bytes | None = acl.aclGetRecentErrMsg()
    return " ".join(message.decode("utf-8", "replace").split()) if message else ""


def check(code: int, call: str) -> None:
    """Raise if a function returned a code other than 0.

    Args:
        code: what it returned.
        call: the function, for the error's text.

    Raises:
        ACLError: with the code, its name and the library's own text.
    """
    if code:
        raise ACLError(call, code, recent_message())
