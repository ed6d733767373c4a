"""How the elements of a tensor lie in memory: strided, or sparse."""

from __future__ import annotations

from typing import Any, Final

__all__ = [
    "check_memory",
    "check_same",
    "jagged",
    "layout",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
]


class layout:
    """A kind of memory layout."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided: Final = layout("strided")
sparse_coo: Final = layout("sparse_coo")
sparse_csr: Final = layout("sparse_csr")
sparse_csc: Final = layout("sparse_csc")
sparse_bsr: Final = layout("sparse_bsr")
sparse_bsc: Final = layout("sparse_bsc")
# For programs that compare with them: no tensor has one.
jagged: Final = layout("jagged")
_mkldnn: Final = layout("_mkldnn")


def check_same(mine: layout, others: layout) -> None:
    """Refuse to let a tensor of one layout take over the data of another.

    Raises:
        RuntimeError: naming both.
    """
    if mine is not others:
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
            f"tensor type: {mine} and {others}"
        )


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
