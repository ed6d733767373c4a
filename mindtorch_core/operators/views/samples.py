"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ...values.dtypes import int32
from ..family_samples import FamilySamples, call, ints
from ..family_samples import sample as s
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_SPLIT: Final = (t(5, 2), (1, 3, 1))
_COMPLEX_SINGLE: Final = (
    s("complex64", t(2, 3, dtype="complex64")),
    s("complex128", t(3, dtype="complex128")),
    s("0d", t(dtype="complex64")),
    s("empty", t(0, 2, dtype="complex64")),
)
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
_PARTS: Final = (s("rows", t(5, 2), 2), s("columns", t(2, 5), 3, 1))
_SIZES: Final = (s("rows", t(5, 2), (1, 4)), s("columns", t(2, 5), (2, 0, 3), 1))
_READS: Final = "reads numbers that a tensor holds, which a device without data has not"

SAMPLES: Final = FamilySamples(
    calls={
        # conjugates
        "_neg_view": (s("2d", t(2, 3)), s("0d", t(dtype="float64")), s("whole", ints(1, -2, 0))),
        # complex_pairs
        "view_as_real": (s("2d", _COMPLEX), s("0d", t(dtype="complex128"))),
        "view_as_complex": (s("pairs", _PAIRS), s("float64", t(2, dtype="float64"))),
        # copies
        "unfold_copy": _WINDOWS,
        "view_as_real_copy": (s("2d", _COMPLEX),),
        "view_as_complex_copy": (s("pairs", _PAIRS),),
        "split_copy.Tensor": _PARTS,
        "split_with_sizes_copy": _SIZES,
        "unbind_copy.int": (s("rows", t(2, 3)), s("columns", t(2, 3), 1)),
        "as_strided_copy": _STRIDED,
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
        # dimensions
        "adjoint": (
            s("matrix", t(2, 3)),
            s("batch", t(2, 3, 4)),
            s("complex", _COMPLEX),
            s("0d", t()),
        ),
        **{f"atleast_{n}d.spread": (s("ranks", t(), t(2), t(2, 3)),) for n in (1, 2, 3)},
        # inplace
        "as_strided_": _STRIDED,
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
        # parts
        "_real": _COMPLEX_SINGLE,
        "_imag": _COMPLEX_SINGLE,
        "select": (s("row", t(3, 4), 0, 1), s("last", t(3, 4), -1, -1), s("to_0d", t(3), 0, 2)),
        "slice": (
            s("rows", t(4, 3), 0, 1, 3),
            s("stepped", t(2, 7), 1, 1, None, 2),
            s("negative", t(5), 0, -3, -1),
            s("empty", t(4, 3), 0, 3, 2),
        ),
        "narrow": (s("rows", t(4, 3), 0, 1, 2), s("empty", t(4), 0, 4, 0)),
        "unbind": (s("rows", t(3, 2)), s("columns", t(3, 2), 1), s("empty", t(0, 3))),
        "split": (s("even", t(4, 2), 2), s("rest", t(2, 5), 2, 1), s("empty", t(0, 2), 2)),
        "split.sizes": (s("rows", *_SPLIT),),
        "split_with_sizes": (s("rows", *_SPLIT),),
        "chunk": (s("even", t(4, 2), 2), s("fewer", t(5), 4), s("columns", t(2, 3), 2, 1)),
        "as_strided": (s("overlapping", t(6), (2, 3), (1, 1)), s("offset", t(6), (2,), (2,), 1)),
        "detach": (s("2d", t(2, 3)), s("0d", t())),
        "diagonal": (
            s("main", t(3, 4)),
            s("above", t(3, 4), 1),
            s("below", t(3, 4), -1),
            s("dims", t(2, 3, 3), 0, 1, 2),
            s("empty", t(2, 2), 5),
        ),
        # reshaping
        "broadcast_tensors": (s("two", tensors=[t(2, 1), t(3)]), s("one", tensors=[t(2, 3)])),
        "view": (
            s("flat", t(2, 3), (6,)),
            s("inferred", t(2, 6), (2, -1, 3)),
            s("0d", t(), (1, 1)),
            s("empty", t(0, 3), (3, 0)),
        ),
        "view.dtype": (s("bits", t(2, 3), int32),),
        "reshape": (s("flat", t(2, 3), (-1,)), s("0d", t(1), ()), s("empty", t(0, 3), (0, 2))),
        "view_as": (s("flat", t(2, 3), t(6)),),
        "reshape_as": (s("flat", t(2, 3), t(3, 2)),),
        "flatten": (
            s("all", t(2, 3, 2)),
            s("last", t(2, 3, 2), 1),
            s("0d", t()),
            s("vector", t(3)),
        ),
        "unflatten": (s("inferred", t(2, 6), 1, (3, -1)),),
        "transpose": (s("2d", t(2, 3), 0, 1), s("outer", t(2, 3, 4), 0, -1), s("0d", t(), 0, 0)),
        "permute": (s("3d", t(2, 3, 4), (2, 0, -2)), s("0d", t(), ())),
        "t": (s("2d", t(2, 3)), s("1d", t(3)), s("0d", t())),
        "expand": (s("row", t(3), (2, 3)), s("kept", t(2, 1), (-1, 3)), s("0d", t(), (2,))),
        "expand_as": (s("row", t(3), t(2, 3)),),
        "broadcast_to": (s("row", t(3), (2, 3)),),
        "squeeze": (s("ones", t(1, 3, 1)), s("none", t(2, 3)), s("0d", t())),
        "squeeze.dim": (s("one", t(2, 1, 3), 1), s("kept", t(2, 3), 0)),
        "squeeze.dims": (s("two", t(1, 3, 1), (0, -1)),),
        "unsqueeze": (s("first", t(2, 3), 0), s("last", t(2, 3), -1), s("0d", t(), 0)),
        "contiguous": (s("2d", t(2, 3)), s("0d", t())),
        "movedim": _MOVED,
        "moveaxis": _MOVED,
        "movedim.intlist": _SEVERAL_MOVED,
        "moveaxis.intlist": _SEVERAL_MOVED,
        # splitting
        "tensor_split.sections": (s("uneven", t(7), 3), s("columns", t(2, 5), 2, 1)),
        "tensor_split.indices": (s("past", t(7), (1, 3, 9)), s("columns", t(2, 5), (2,), -1)),
        "hsplit.int": (s("row", t(6), 3), s("matrix", t(2, 6), 2)),
        "hsplit.array": (s("row", t(6), (1, 4)), s("matrix", t(2, 6), (2,))),
        "vsplit.int": (s("matrix", t(6, 2), 3),),
        "vsplit.array": (s("matrix", t(6, 2), (1, 4)),),
        "dsplit.int": (s("cube", t(2, 3, 4), 2),),
        "dsplit.array": (s("cube", t(2, 3, 4), (1,)),),
        "unsafe_chunk": _PARTS,
        "unsafe_split.Tensor": _PARTS,
        "unsafe_split_with_sizes": _SIZES,
        "_unsafe_view": (s("flat", t(2, 3), (6,)), s("rest", t(2, 3, 4), (2, -1))),
        # windows
        "unfold": _WINDOWS,
    },
    functions={"torch.split": call(t(5, 2), [2, 3])},
    untested={
        **dict.fromkeys(
            ("set_.source_Storage", "set_.source_Storage_storage_offset"),
            "takes a storage, as which no operand is described",
        ),
        **dict.fromkeys(
            ("is_conj", "is_neg", "size", "size.int", "stride", "stride.int", "numel", "dim"),
            "answers without a look at the tensor",
        ),
        **dict.fromkeys(("storage_offset", "is_same_size"), "answers without a look at the tensor"),
        **dict.fromkeys(("item", "_local_scalar_dense"), _READS),
        "_pin_memory": "is for the host's memory, beside an accelerator",
        **dict.fromkeys(("narrow.Tensor", "tensor_split.tensor_indices_or_sections"), _READS),
    },
    needs_layout=(
        *("as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter"),
        *("_unsafe_view", "view_as", "unflatten", "view_as_complex", "view_as_complex_copy"),
        "set_.source_Tensor_storage_offset",
    ),
    needs_dtype=("view.dtype", "view_copy.dtype"),
    few=("view", "transpose", "select"),
)
