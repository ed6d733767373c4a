"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ..family_samples import (
    EDGES,
    HOLEY,
    LIMITS,
    NUMBERS,
    TIES,
    FamilySamples,
    call,
    distinct,
    ints,
    special_rows,
)
from ..family_samples import sample as s
from ..recipes import tensor as t

__all__ = ["SAMPLES"]


_ORDERED: Final = (
    s("last", distinct(2, 5)),
    s("rows", distinct(3, 4), 0),
    s("descending", distinct(6), -1, True),
    s("int64", NUMBERS),
    s("0d", t()),
)
_STABLE: Final = (
    s("last", distinct(2, 5), stable=True),
    s("descending", distinct(4, 3), stable=True, dim=0, descending=True),
    s("ties", NUMBERS, stable=True),
)
_CHOICES: Final = (s("rows", distinct(3, 4), 0), s("keepdim", distinct(2, 5), -1, True))
_UNIQUE: Final = (s("numbers", NUMBERS), s("all", NUMBERS, True, True, True), s("empty", t(0)))
_ROWS: Final = t(4, 2, dtype="int64", values=(1, 0, 0, 1, 1, 0, 0, 0))


SAMPLES: Final = FamilySamples(
    calls={
        # searching
        "searchsorted.Tensor": (
            s("one", EDGES, t(2, 3)),
            s("right", EDGES, EDGES, right=True),
            s("rows", t(2, 3, values=(0.0, 1.0, 2.0, 1.0, 2.0, 3.0)), t(2, 2), out_int32=True),
        ),
        "searchsorted.Scalar": (s("number", EDGES, 0.5),),
        "bucketize.Tensor": (s("2d", t(2, 3), EDGES), s("right", EDGES, EDGES, right=True)),
        "bucketize.Scalar": (s("number", 0.5, EDGES),),
        "bincount": (
            s("numbers", NUMBERS),
            s("weights", NUMBERS, t(6)),
            s("long", NUMBERS, None, 8),
        ),
        "histc": (s("data", t(2, 5), 4), s("range", t(9), 3, -1, 2)),
        "histogram.bins_tensor": (
            s("edges", t(7), EDGES),
            s("weights", t(7), EDGES, weight=t(7)),
        ),
        "histogram.bin_ct": (
            s("data", t(2, 5), 4),
            s("range", t(9), 3, range=(-1.0, 2.0), density=True),
        ),
        "histogramdd": (s("plane", t(5, 2), (2, 3)),),
        "histogramdd.int_bins": (s("plane", t(5, 2), 3),),
        "histogramdd.TensorList_bins": (s("plane", t(5, 2), [EDGES, EDGES]),),
        "argwhere": (s("2d", _ROWS), s("0d", t())),
        "nonzero_static": (s("more", _ROWS, size=9), s("fewer", _ROWS, size=1)),
        # sorting
        "sort": _ORDERED,
        "sort.stable": _STABLE,
        "msort": (s("2d", distinct(4, 2)),),
        "argsort": _ORDERED,
        "argsort.stable": _STABLE,
        "topk": (s("two", distinct(2, 5), 2), s("smallest", distinct(5, 2), 3, 0, False)),
        "kthvalue": (s("second", distinct(2, 5), 2), s("keepdim", distinct(5, 2), 3, 0, True)),
        "median": (s("odd", distinct(5)), s("even", distinct(2, 3))),
        "nanmedian": (s("odd", distinct(5)), s("nan", HOLEY)),
        "median.dim": _CHOICES,
        "nanmedian.dim": (*_CHOICES, s("nan", HOLEY, 1)),
        "mode": (s("numbers", NUMBERS), s("rows", distinct(3, 4), 0, True)),
        "isin.Tensor_Tensor": (s("numbers", NUMBERS, t(2, dtype="int64", values=(0, 3))),),
        "isin.Tensor_Scalar": (s("number", NUMBERS, 3), s("inverted", NUMBERS, 3, invert=True)),
        "isin.Scalar_Tensor": (s("number", 3, NUMBERS),),
        # uniqueness
        "_unique2": _UNIQUE,
        "_unique": (s("numbers", NUMBERS), s("inverse", NUMBERS, True, True)),
        "unique_dim": (s("rows", _ROWS, 0, True, True, True), s("columns", _ROWS, 1)),
        "unique_dim_consecutive": (s("rows", _ROWS, 0, True, True),),
        "unique_consecutive": (s("numbers", NUMBERS), s("rows", _ROWS, True, True, 0)),
        "_lexicographic_order": (s("numbers", _ROWS),),
    },
    functions={
        # uniqueness
        "torch.unique": call(ints(3, 1, 3, 2, 1), return_inverse=True, return_counts=True),
        "torch.unique_consecutive": call(ints(1, 1, 2, 2, 2, 1), return_counts=True),
    },
    edges={
        "sort.stable": (
            s("float32_edges", special_rows(), stable=True, dim=1),
            s("ties", t(96, dtype="int64", values=TIES), stable=True, dim=0),
            s(
                "ties_descending",
                t(96, dtype="int32", values=TIES),
                stable=True,
                dim=-1,
                descending=True,
            ),
            s(
                "int64_edges",
                t(len(LIMITS["int64"]), dtype="int64", values=LIMITS["int64"]),
                stable=True,
            ),
        )
    },
    unlike_pytorch={"unique_dim": "results that were not asked for have any shape"},
    few=("sort.stable",),
)
