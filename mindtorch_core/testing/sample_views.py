"""Samples of views that come by other names: windows, parts by number, copies, in place."""

from __future__ import annotations

from typing import Any, Final

from ..dtypes import int32
from .recipes import DEVICE, Sample
from .recipes import tensor as t

__all__ = ["MORE_VIEWS"]


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


_CUBE: Final = t(2, 3, 4)
_COMPLEX: Final = t(2, 3, dtype="complex64")
_PAIRS: Final = t(3, 2)
_SWAP: Final = (s("first", _CUBE, 0, 1), s("last", _CUBE, -1, 0))
_SQUEEZED: Final = t(2, 1, 3, 1)
_MOVED: Final = (s("front", _CUBE, 2, 0), s("same", _CUBE, 1, -2))
_SEVERAL_MOVED: Final = (s("two", _CUBE, (0, 1), (1, 2)), s("none", _CUBE, (), ()))
_STRIDED: Final = (s("square", t(9), (2, 2), (3, 1)), s("offset", t(9), (2,), (2,), 3))
_WINDOWS: Final = (
    s("apart", t(7), 0, 2, 2),
    s("overlapping", t(2, 5), 1, 3, 1),
    s("0d", t(), 0, 1, 1),
)
_DIAGONAL: Final = (s("main", t(3, 4)), s("above", t(2, 3, 4), 1, 1, 2))
_SELECT: Final = (s("first", _CUBE, 0, 1), s("last", _CUBE, -1, -1))
_SLICE: Final = (s("all", _CUBE), s("part", _CUBE, 2, 1, -1, 2))
_NARROW: Final = (s("rows", _CUBE, 0, 1, 1), s("last", _CUBE, -1, 1, 2))
_SPLIT: Final = (s("rows", t(5, 2), 2), s("columns", t(2, 5), 3, 1))
_SIZES: Final = (s("rows", t(5, 2), (1, 4)), s("columns", t(2, 5), (2, 0, 3), 1))

MORE_VIEWS: Final[dict[str, tuple[Sample, ...]]] = {
    "empty_permuted": (s("cube", (2, 3, 4), (2, 0, 1), device=DEVICE),),
    "new_empty_strided": (s("gaps", t(2), (2, 3), (6, 2)),),
    "movedim": _MOVED,
    "moveaxis": _MOVED,
    "movedim.intlist": _SEVERAL_MOVED,
    "moveaxis.intlist": _SEVERAL_MOVED,
    "unfold": _WINDOWS,
    "unfold_copy": _WINDOWS,
    "view_as_real": (s("2d", _COMPLEX), s("0d", t(dtype="complex128"))),
    "view_as_real_copy": (s("2d", _COMPLEX),),
    "view_as_complex": (s("pairs", _PAIRS), s("float64", t(2, dtype="float64"))),
    "view_as_complex_copy": (s("pairs", _PAIRS),),
    "adjoint": (s("matrix", t(2, 3)), s("batch", t(2, 3, 4)), s("complex", _COMPLEX), s("0d", t())),
    "tensor_split.sections": (s("uneven", t(7), 3), s("columns", t(2, 5), 2, 1)),
    "tensor_split.indices": (s("past", t(7), (1, 3, 9)), s("columns", t(2, 5), (2,), -1)),
    "hsplit.int": (s("row", t(6), 3), s("matrix", t(2, 6), 2)),
    "hsplit.array": (s("row", t(6), (1, 4)), s("matrix", t(2, 6), (2,))),
    "vsplit.int": (s("matrix", t(6, 2), 3),),
    "vsplit.array": (s("matrix", t(6, 2), (1, 4)),),
    "dsplit.int": (s("cube", t(2, 3, 4), 2),),
    "dsplit.array": (s("cube", t(2, 3, 4), (1,)),),
    "unsafe_chunk": _SPLIT,
    "unsafe_split.Tensor": _SPLIT,
    "unsafe_split_with_sizes": _SIZES,
    "split_copy.Tensor": _SPLIT,
    "split_with_sizes_copy": _SIZES,
    "unbind_copy.int": (s("rows", t(2, 3)), s("columns", t(2, 3), 1)),
    "as_strided_copy": _STRIDED,
    "as_strided_": _STRIDED,
    "diagonal_copy": _DIAGONAL,
    "expand_copy": (s("rows", t(1, 3), (2, 3)), s("new", t(3), (2, -1))),
    "narrow_copy": _NARROW,
    "permute_copy": (s("cube", _CUBE, (2, 0, 1)),),
    "select_copy.int": _SELECT,
    "slice_copy.Tensor": _SLICE,
    "squeeze_copy": (s("all", _SQUEEZED),),
    "squeeze_copy.dim": (s("one", _SQUEEZED, 1),),
    "squeeze_copy.dims": (s("two", _SQUEEZED, (1, 3)),),
    "transpose_copy.int": _SWAP,
    "t_copy": (s("matrix", t(2, 3)), s("row", t(3))),
    "unsqueeze_copy": (s("last", t(2, 3), -1),),
    "view_copy": (s("line", t(2, 3), (-1,)),),
    "view_copy.dtype": (s("int32", t(2, 3), int32),),
    "as_strided_scatter": (s("diagonal", t(3, 3), t(3), (3,), (4,)),),
    "diagonal_scatter": (s("main", t(3, 4), t(3)), s("above", t(3, 4), t(3), 1)),
    "select_scatter": (s("row", _CUBE, t(3, 4), 0, 1), s("last", _CUBE, t(2, 3), -1, -1)),
    "slice_scatter": (s("rows", t(5, 2), t(2, 2), 0, 1, 3), s("steps", t(5), t(3), 0, 0, 5, 2)),
    **{f"atleast_{n}d.spread": (s("ranks", t(), t(2), t(2, 3)),) for n in (1, 2, 3)},
    "squeeze_": (s("all", _SQUEEZED),),
    "squeeze_.dim": (s("one", _SQUEEZED, 1),),
    "squeeze_.dims": (s("two", _SQUEEZED, (1, 3)),),
    "swapaxes_": _SWAP,
    "swapdims_": _SWAP,
    "transpose_": _SWAP,
    "t_": (s("matrix", t(2, 3)), s("row", t(3))),
    "unsqueeze_": (s("last", t(2, 3), -1),),
    "set_.source_Tensor": (s("other", t(2), t(2, 3)),),
    "set_.source_Tensor_storage_offset": (s("part", t(2), t(6), 2, (2, 2), (2, 1)),),
}
