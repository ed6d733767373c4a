"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ..family_samples import FamilySamples, at, call, ints, mask
from ..family_samples import sample as s
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_CUBE: Final = t(2, 3, 4)
_AT: Final = ints(1, 0)
_REDUCTIONS: Final = ("sum", "prod", "mean", "amax", "amin")
_INDEX: Final = ints(0, 1, 1, 0, 1, 2, shape=(2, 3))
_SCATTER_INDEX: Final = t(2, 3, dtype="int64", values=(0, 1, 2, 2, 0, 1))
_MASK: Final = t(2, 4, dtype="bool", values=(True, False, True, True, True, True, False, True))


SAMPLES: Final = FamilySamples(
    calls={
        # row_ends
        "_convert_indices_from_coo_to_csr": (
            s("rows", ints(0, 0, 2), 4),
            s("narrow", t(3, dtype="int32", values=(1, 1, 2)), 3, out_int32=True),
            s("none", t(0, dtype="int64"), 2),
        ),
        "_convert_indices_from_csr_to_coo": (
            s("rows", ints(0, 2, 2, 3), ints(4, 5, 6)),
            s("columns first", ints(0, 2, 2, 3), ints(4, 5, 6), out_int32=True, transpose=True),
            s("batch", ints(0, 1, 2, 0, 2, 2, shape=(2, 3)), ints(0, 1, 0, 2, shape=(2, 2))),
        ),
        # gathering
        "scatter.reduce": tuple(
            s(how, t(3, 3), 0, _INDEX, t(2, 3), reduce=how) for how in ("add", "multiply")
        ),
        "scatter.value_reduce": tuple(
            s(how, t(3, 3), 1, _INDEX, 2.0, reduce=how) for how in ("add", "multiply")
        ),
        "gather": (
            s("rows", t(3, 4), 0, at(2, 4, below=3)),
            s("columns", t(3, 4), -1, at(3, 6, below=4)),
            s("0d", t(), 0, at(below=1)),
            s("empty", t(3, 4), 0, at(0, 4, below=3)),
        ),
        "scatter_add": (
            s("rows", t(3, 3), 0, _SCATTER_INDEX, t(2, 3)),
            s("repeated", t(3, 3), 1, at(3, 3, below=2), t(3, 4)),
            s("empty", t(3, 3), 0, at(0, 3, below=3), t(2, 3)),
        ),
        "scatter.src": (
            s("rows", t(3, 3), 0, _SCATTER_INDEX, t(2, 3)),
            s("columns", t(2, 4), 1, _SCATTER_INDEX, t(2, 3)),
        ),
        "scatter.value": (
            s("rows", t(3, 3), 0, _SCATTER_INDEX, 1.5),
            s("int64", t(3, 3, dtype="int64"), 1, _SCATTER_INDEX, 7),
        ),
        "index_select": (
            s("rows", t(4, 3), 0, at(5, below=4)),
            s("columns", t(4, 3), -1, at(2, below=3)),
            s("int32", t(4, 3), 0, t(2, dtype="int32", low=0, high=3)),
            s("0d", t(), 0, at(1, below=1)),
            s("empty", t(4, 3), 0, at(0, below=4)),
        ),
        "index_add": (
            s("rows", t(4, 3), 0, ints(1, 1, 3), t(3, 3)),
            s("alpha", t(4, 3), 1, ints(0, 2), t(4, 2), alpha=2),
            s("empty", t(4, 3), 0, at(0, below=4), t(0, 3)),
        ),
        # index
        "index": (
            s("rows", t(4, 3), [at(5, below=4)]),
            s("columns", t(4, 3), [None, at(2, below=3)]),
            s("both", t(4, 3), [at(5, below=4), at(5, below=3)]),
            s("broadcast", t(4, 3, 2), [at(2, 1, below=4), at(3, below=3)]),
            s("apart", t(4, 3, 2), [at(2, below=4), None, at(2, below=2)]),
            s("mask", t(4, 3), [mask(4)]),
            s("empty", t(4, 3), [at(0, below=4)]),
        ),
        "_index_positions": (
            s("rows", t(4, 3), [at(5, below=4)]),
            s("negative", t(4, 3), [ints(-1, 0, -4)]),
            s("apart", t(4, 3, 2), [at(2, below=4), None, at(2, below=2)]),
            s("0d", t(4, 3), [at(below=4)]),
            s("empty", t(4, 3), [at(0, below=4)]),
        ),
        "_index_put_positions": (
            s("rows", t(4, 3), [ints(2, 0)], t(2, 3)),
            s("broadcast", t(4, 3), [ints(2, 0)], t()),
            s("accumulated", t(4, 3), [ints(2, 0, 2)], t(3, 3), True),
            s("empty", t(4, 3), [at(0, below=4)], t(0, 3)),
        ),
        "index_put_": (
            s("rows", t(4, 3), [ints(2, 0)], t(2, 3)),
            s("mask", t(4, 3), [mask(4)], t()),
        ),
        "index_put": (
            s("rows", t(4, 3), [ints(2, 0)], t(2, 3)),
            s("accumulated", t(4, 3), [ints(1, 1)], t(2, 3), True),
        ),
        "nonzero": (
            s("float32", t(2, 3)),
            s("bool", mask(3, 4)),
            s("0d", t(values=(2.0,))),
            s("empty", t(0, 3)),
        ),
        "masked_select": (s("same", t(3, 4), mask(3, 4)), s("broadcast", t(3, 4), mask(4))),
        "take": (
            s("2d", t(3, 4), at(2, 3, below=12)),
            s("negative", t(3, 4), ints(-1, 0, -12)),
            s("0d", t(), at(2, below=1)),
            s("empty", t(0), at(0, below=1)),
        ),
        # placing
        "index_fill.int_Scalar": (s("rows", t(3, 2), 0, ints(2, 0), 1.5),),
        "index_fill.int_Tensor": (s("columns", t(3, 2), 1, ints(-1), t()),),
        "index_copy": (
            s("rows", t(3, 2), 0, ints(2, 0), t(2, 2)),
            s("columns", t(2, 3), -1, ints(1), t(2, 1)),
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
        "_unsafe_masked_index": (
            s("rows", t(3, 2), t(3, dtype="bool"), [ints(0, 7, 1), ints(1, 0, 0)], 2.5),
        ),
        "_unsafe_masked_index_put_accumulate": (
            s("rows", t(3, 2), t(3, dtype="bool"), [ints(0, 7, 1), ints(1, 0, 0)], t(3)),
        ),
        "_unsafe_index.Tensor": (
            s("rows", t(3, 2), [ints(2, 0)]),
            s("apart", _CUBE, [_AT, None, _AT]),
        ),
        **dict.fromkeys(
            ("_unsafe_index_put", "_index_put_impl_"),
            (
                s("rows", t(3, 2), [ints(2, 0)], t(2, 2)),
                s("accumulated", t(3, 2), [ints(1, 1)], t(2, 2), True),
            ),
        ),
        # scattering
        "index_reduce": tuple(
            s(how, t(3, 2), 0, ints(2, 0, 2), t(3, 2), how, include_self=how != "mean")
            for how in _REDUCTIONS[1:]
        ),
        "scatter_reduce.two": tuple(
            s(how, t(3, 3), 0, _INDEX, t(2, 3), how, include_self=how != "mean")
            for how in _REDUCTIONS
        ),
    },
    functions={
        # index
        "torch.nonzero": call(_MASK, as_tuple=True),
        # placing
        "torch.unravel_index": call(ints(0, 5, 11), (3, 4)),
    },
    edges={
        "nonzero": (
            s("float32_edges", t(4, values=(float("nan"), -0.0, 0.0, float("inf")))),
            s("none", t(2, 2, dtype="int64", values=(0, 0, 0, 0))),
            s("bool_0d", t(dtype="bool", values=(True,))),
        )
    },
    few=("index_select", "gather"),
)
