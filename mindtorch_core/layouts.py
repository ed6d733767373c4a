"""How the elements of a tensor lie in memory: here always strided."""

from __future__ import annotations

from typing import Final

__all__ = ["layout", "strided"]


class layout:
    """A kind of memory layout; ``torch.strided`` is the only one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided: Final = layout("strided")
