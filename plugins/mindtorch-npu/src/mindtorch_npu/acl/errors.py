"""Errors of CANN's functions.

RuntimeError
    ACLError            a function returned a code other than 0
    MissingSymbolError  a function that the installed toolkit does not have
"""

from __future__ import annotations

from .codes import HINTS, code_name

__all__ = ["ACLError", "MissingSymbolError"]


class ACLError(RuntimeError):
    """A function of CANN returned a code other than 0.

    Attributes:
        code: the code; 0 for a function that gives an object instead and gave none.
        name: its name in CANN's headers.
        call: the function, or the operator with its arguments.
        message: what the library says of it; empty if nothing.
    """

    def __init__(self, call: str, code: int, message: str = "") -> None:
        self.call = call
        self.code = code
        self.name = code_name(code)
        self.message = message
        super().__init__(call, code, message)

    def __str__(self) -> str:
        what = f"with code {self.code} ({self.name})" if self.code else "and gave nothing (NULL)"
        lines = [f"{self.call} failed {what}."]
        if self.message:
            lines.append(f"  why: {self.message}")
        hint = HINTS.get(self.code)
        if hint:
            lines.append(f"  fix: {hint}.")
        return "\n".join(lines)


class MissingSymbolError(RuntimeError, AttributeError):
    """A function that the installed toolkit does not have.

    It is an AttributeError too, so that ``hasattr(acl, name)`` tells.
    """
