"""What stands among the arguments of an instruction for what comes with each call."""

from __future__ import annotations

__all__ = ["Number", "Ref"]


class Ref(int):
    """Stands among an instruction's arguments for a tensor: the number of a `Value`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"%{int(self)}"


class Number(int):
    """Stands among an instruction's arguments for a Python number: its place in the numbers of a call."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"number {int(self)}"
