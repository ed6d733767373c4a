"""Samples of what moves, repeats and joins elements: flips, grids, diagonals, indexed writes."""

from __future__ import annotations

from typing import Any, Final

from ..dtypes import float64, int32
from .recipes import DEVICE, Sample, TensorRecipe
from .recipes import tensor as t

__all__ = ["ARRANGING"]


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


def ints(*values: int, shape: tuple[int, ...] = ()) -> TensorRecipe:
    """Given whole numbers."""
    return t(*(shape or (len(values),)), dtype="int64", values=values)


_CUBE: Final = t(2, 3, 4)
_VECTORS: Final = ([t(2), t(), t(3)],)
_TRIANGLE: Final = (
    s("square", t(3, 3)),
    s("above", t(2, 3, 4), 1),
    s("below", t(4, 2, dtype="int64"), -1),
    s("bool", t(3, 3, dtype="bool")),
    s("empty", t(0, 3)),
)
_POSITIONS: Final = (
    s("wide", 2, 4, device=DEVICE),
    s("below", 4, 3, -1, device=DEVICE),
    s("int32", 3, 3, dtype=int32, device=DEVICE),
    s("none", 0, 3, device=DEVICE),
)
_STACKED: Final = (s("vectors", [t(2), t(2)]), s("matrices", [t(2, 3), t(2, 3)]))
_AT: Final = ints(1, 0)
_ENDS: Final[dict[str, tuple[Any, Any]]] = {
    "Tensor_Tensor": (t(), t()),
    "Tensor_Scalar": (t(), 2.5),
    "Scalar_Tensor": (-1, t()),
}
_REDUCTIONS: Final = ("sum", "prod", "mean", "amax", "amin")
_INDEX: Final = ints(0, 1, 1, 0, 1, 2, shape=(2, 3))

ARRANGING: Final[dict[str, tuple[Sample, ...]]] = {
    "flip": (s("both", t(2, 3), (0, -1)), s("one", t(5, dtype="int64"), (0,)), s("0d", t(), ())),
    "flipud": (s("rows", t(3, 2)), s("vector", t(4, dtype="bool"))),
    "fliplr": (s("columns", t(2, 3)), s("cube", _CUBE)),
    "roll": (
        s("row", t(2, 3), 2),
        s("dims", t(2, 3), (1, -2), (0, 1)),
        s("0d", t(), 1),
        s("empty", t(0, 3), 1, 0),
    ),
    "rot90": (s("quarter", t(2, 3)), s("half", t(2, 3), 2), s("back", _CUBE, -1, (1, 2))),
    "repeat": (s("tiles", t(2, 3), (2, 1)), s("new", t(2), (2, 3)), s("none", t(2), (0,))),
    "tile": (s("tiles", t(2, 3), (2, 2)), s("last", t(2, 3), (2,))),
    "repeat_interleave.Tensor": (
        s("counts", ints(2, 0, 3)),
        s("int32", t(3, dtype="int32", values=(1, 2, 0)), output_size=3),
    ),
    "repeat_interleave.self_Tensor": (
        s("columns", t(2, 3), ints(2, 0, 1), 1),
        s("all", t(2, 2), ints(1, 2, 1, 0)),
    ),
    "repeat_interleave.self_int": (s("columns", t(2, 3), 2, 1), s("all", t(2, 3), 3)),
    "meshgrid": (s("three", *_VECTORS),),
    "meshgrid.indexing": (s("ij", *_VECTORS, indexing="ij"), s("xy", *_VECTORS, indexing="xy")),
    "combinations": (
        s("pairs", t(4)),
        s("triples", t(3, dtype="int64"), 3, True),
        s("none", t(3), 0),
    ),
    **dict.fromkeys(("hstack", "vstack", "row_stack", "dstack", "column_stack"), _STACKED),
    "_chunk_cat": (s("padded", [t(3, 2), t(2, 2)], 0, 2),),
    "diag_embed": (s("rows", t(2, 3)), s("above", t(2, 3), 1, 0, 2), s("empty", t(2, 0), -1)),
    "diag": (s("vector", t(3), 1), s("matrix", t(2, 3), -1)),
    "diagflat": (s("vector", t(3), -1), s("matrix", t(2, 2))),
    "fill_diagonal_": (s("square", t(3, 3), 2.5), s("wrapped", t(7, 3), 1, True)),
    **dict.fromkeys(("tril", "triu"), _TRIANGLE),
    **dict.fromkeys(("tril_indices", "triu_indices"), _POSITIONS),
    "index_fill.int_Scalar": (s("rows", t(3, 2), 0, ints(2, 0), 1.5),),
    "index_fill.int_Tensor": (s("columns", t(3, 2), 1, ints(-1), t()),),
    "index_copy": (
        s("rows", t(3, 2), 0, ints(2, 0), t(2, 2)),
        s("columns", t(2, 3), -1, ints(1), t(2, 1)),
    ),
    "index_reduce": tuple(
        s(how, t(3, 2), 0, ints(2, 0, 2), t(3, 2), how, include_self=how != "mean")
        for how in _REDUCTIONS[1:]
    ),
    "scatter_reduce.two": tuple(
        s(how, t(3, 3), 0, _INDEX, t(2, 3), how, include_self=how != "mean") for how in _REDUCTIONS
    ),
    "scatter.reduce": tuple(
        s(how, t(3, 3), 0, _INDEX, t(2, 3), reduce=how) for how in ("add", "multiply")
    ),
    "scatter.value_reduce": tuple(
        s(how, t(3, 3), 1, _INDEX, 2.0, reduce=how) for how in ("add", "multiply")
    ),
    "put": (
        s("written", t(2, 3), ints(5, 0), t(2)),
        s("accumulated", t(2, 3), ints(1, 1, -1), t(3), True),
    ),
    "take_along_dim": (
        s("rows", t(3, 4), ints(2, 0, shape=(1, 2)), 1),
        s("all", t(2, 3), ints(5, 0)),
    ),
    "masked_scatter": (
        s("same", t(2, 3), t(2, 3, dtype="bool"), t(6)),
        s("row", t(2, 3), t(3, dtype="bool"), t(7)),
    ),
    **{
        f"{name}.{form}": (
            s("five", *ends, 5, device=DEVICE),
            s("one", *ends, 1, dtype=float64, device=DEVICE),
        )
        for name in ("linspace", "logspace")
        for form, ends in _ENDS.items()
    },
    "_unsafe_masked_index": (
        s("rows", t(3, 2), t(3, dtype="bool"), [ints(0, 7, 1), ints(1, 0, 0)], 2.5),
    ),
    "_unsafe_masked_index_put_accumulate": (
        s("rows", t(3, 2), t(3, dtype="bool"), [ints(0, 7, 1), ints(1, 0, 0)], t(3)),
    ),
    "_unsafe_index.Tensor": (s("rows", t(3, 2), [ints(2, 0)]), s("apart", _CUBE, [_AT, None, _AT])),
    **dict.fromkeys(
        ("_unsafe_index_put", "_index_put_impl_"),
        (
            s("rows", t(3, 2), [ints(2, 0)], t(2, 2)),
            s("accumulated", t(3, 2), [ints(1, 1)], t(2, 2), True),
        ),
    ),
    "logspace": (
        s("ten", 0.0, 2.0, 5, device=DEVICE),
        s("two", 0, 3, 4, 2.0, dtype=float64, device=DEVICE),
    ),
    "scalar_tensor": (
        s("float", 2.5, device=DEVICE),
        s("float64", 2, dtype=float64, device=DEVICE),
    ),
    "sum_to_size": (s("rows", t(2, 3), (1, 3)), s("same", t(2, 3), (2, 3))),
}
