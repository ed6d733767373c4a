"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ...values.dtypes import int32
from ..family_samples import FamilySamples, call, ints
from ..family_samples import sample as s
from ..recipes import DEVICE
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

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
_BOTH: Final = ([t(2, 3), t(1, 3)],)
_JOINED: Final = (
    s("rows", *_BOTH),
    s("columns", [t(2, 3), t(2, 1)], 1),
    s("last", [t(2, 3), t(2, 3)], -1),
    s("one", [t(2, 3)]),
    s("mixed", [t(2, dtype="int64"), t(3)]),
    s("empty_vector", [t(0), t(2, 3)]),
    s("empty", [t(0, 3), t(0, 3)]),
)


SAMPLES: Final = FamilySamples(
    calls={
        # diagonals
        "diag_embed": (s("rows", t(2, 3)), s("above", t(2, 3), 1, 0, 2), s("empty", t(2, 0), -1)),
        "diag": (s("vector", t(3), 1), s("matrix", t(2, 3), -1)),
        "diagflat": (s("vector", t(3), -1), s("matrix", t(2, 2))),
        "fill_diagonal_": (s("square", t(3, 3), 2.5), s("wrapped", t(7, 3), 1, True)),
        **dict.fromkeys(("tril", "triu"), _TRIANGLE),
        **dict.fromkeys(("tril_indices", "triu_indices"), _POSITIONS),
        # joining
        "cat": _JOINED,
        "concat": _JOINED,
        "concatenate": _JOINED,
        "stack": (
            s("first", [t(2, 3), t(2, 3)]),
            s("last", [t(2), t(2)], -1),
            s("0d", [t(), t(), t()]),
        ),
        # rearranging
        "flip": (
            s("both", t(2, 3), (0, -1)),
            s("one", t(5, dtype="int64"), (0,)),
            s("0d", t(), ()),
        ),
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
        # stacking
        "meshgrid": (s("three", *_VECTORS),),
        "meshgrid.indexing": (s("ij", *_VECTORS, indexing="ij"), s("xy", *_VECTORS, indexing="xy")),
        "combinations": (
            s("pairs", t(4)),
            s("triples", t(3, dtype="int64"), 3, True),
            s("none", t(3), 0),
        ),
        **dict.fromkeys(("hstack", "vstack", "row_stack", "dstack", "column_stack"), _STACKED),
        "_chunk_cat": (s("padded", [t(3, 2), t(2, 2)], 0, 2),),
    },
    functions={
        # stacking
        "torch.meshgrid": call(t(2), t(3), indexing="ij"),
    },
    edges={"cat": (s("with_empty", [t(0, 3), t(2, 3), t(1, 3)], -2),)},
    few=("cat",),
)
