"""How the elements of a tensor lie in memory: here always strided."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["check_memory", "layout", "strided"]


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


def check_memory(wanted: Any, pinned: Any) -> None:
    """Refuse memory of a kind that is not served.

    Raises:
        TypeError: if another layout than `strided` is wanted.
        RuntimeError: if the memory is to be pinned.
    """
    if wanted is not None and wanted is not strided:
        raise TypeError(f"tensors are torch.strided here; a layout of {wanted!r} is not served")
    if pinned:
        raise RuntimeError(
            "pin_memory=True requires an accelerator whose driver pins host memory, and none is "
            "available; leave pin_memory away"
        )
