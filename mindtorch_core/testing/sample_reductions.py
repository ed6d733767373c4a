"""Samples of reductions, orders, counts, norms and distances."""

from __future__ import annotations

from typing import Any, Final

from ..dtypes import float64
from .recipes import Sample, TensorRecipe
from .recipes import tensor as t

__all__ = ["REDUCTIONS"]

_NAN, _INF = float("nan"), float("inf")


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


def distinct(*shape: int) -> TensorRecipe:
    """Different elements in no order, so that positions are unique and gradients smooth."""
    count = 1
    for n in shape:
        count *= n
    return t(*shape, values=tuple((7 * i % 24) / 4 - 3 for i in range(count)))


_HOLEY: Final = t(2, 3, values=(1.0, _NAN, -2.0, 0.5, 3.0, _NAN))
_EDGES: Final = t(4, values=(-2.0, -0.5, 0.5, 2.0))
_NUMBERS: Final = t(6, dtype="int64", values=(3, 0, 3, 1, 0, 3))

_ALONG: Final = (
    s("rows", t(3, 4, low=0.5), 0),
    s("last", t(2, 3), -1),
    s("0d", t(), 0),
    s("empty", t(0, 3), 1),
)
_TOTALS: Final = (*_ALONG, s("int32", t(4, dtype="int32"), 0))
_EXTREMES: Final = (s("rows", distinct(3, 4), 0), s("last", distinct(2, 5), -1), s("0d", t(), 0))
_ORDERED: Final = (
    s("last", distinct(2, 5)),
    s("rows", distinct(3, 4), 0),
    s("descending", distinct(6), -1, True),
    s("int64", _NUMBERS),
    s("0d", t()),
)
_STABLE: Final = (
    s("last", distinct(2, 5), stable=True),
    s("descending", distinct(4, 3), stable=True, dim=0, descending=True),
    s("ties", _NUMBERS, stable=True),
)
_CHOICES: Final = (s("rows", distinct(3, 4), 0), s("keepdim", distinct(2, 5), -1, True))
_QUANTILES: Final = (
    s("all", distinct(2, 5), t(3, low=0.0, high=1.0)),
    s("rows", distinct(3, 4), t(low=0.0, high=1.0), 0),
    s("keepdim", distinct(3, 4), t(2, low=0.0, high=1.0), 1, True),
    s("lower", distinct(7), t(2, low=0.0, high=1.0), interpolation="lower"),
)
_QUANTILE: Final = (s("all", distinct(2, 5), 0.3), s("rows", distinct(3, 4), 0.75, 0))
_WITHOUT_NAN: Final = (s("all", _HOLEY), s("rows", _HOLEY, 1), s("keepdim", t(2, 3), 0, True))
_MOMENTS: Final[dict[str, tuple[Sample, ...]]] = {
    "correction": (s("all", t(2, 3)), s("rows", t(4, 3), 0, correction=0, keepdim=True)),
    "dim": (s("biased", t(4, 3), 0, False),),
    "": (s("all", t(2, 3)), s("biased", t(4), False)),
}
_SAMPLED: Final = (
    s("same", t(2, 3), t(2, 3)),
    s("points", t(2, 3), t(3)),
    s("rows", t(3, 2), t(3), dim=0),
)
_STEPS: Final = (s("unit", t(2, 3)), s("rows", t(3, 2), dx=0.5, dim=0))
_VECTOR_NORMS: Final = (
    s("all", t(2, 3)),
    s("one", t(2, 3), 1, 0),
    s("three", t(2, 3), 3, -1, True),
    s("largest", distinct(2, 3), _INF, 1),
    s("complex", t(3, dtype="complex64")),
)
_PAIRS: Final = (t(4, 3), t(2, 3))
_UNIQUE: Final = (s("numbers", _NUMBERS), s("all", _NUMBERS, True, True, True), s("empty", t(0)))
_ROWS: Final = t(4, 2, dtype="int64", values=(1, 0, 0, 1, 1, 0, 0, 0))

_GRADIENT: Final[dict[str, tuple[Sample, ...]]] = {
    "scalarint": (s("all", t(3, 4)), s("second", t(4, 3), spacing=0.5, dim=0, edge_order=2)),
    "scalararray": (s("both", t(3, 4), spacing=2.0, dim=(1, 0)),),
    "array": (s("both", t(3, 4), dim=(0, 1)),),
    "scalarrayint": (s("both", t(3, 4), spacing=(1.0, 2.0)),),
    "scalarrayarray": (s("both", t(3, 4), spacing=(1.0, 2.0), dim=(0, 1)),),
    "tensorarrayint": (s("points", t(4), spacing=[_EDGES]),),
    "tensorarray": (s("points", t(3, 4), spacing=[_EDGES], dim=(1,)),),
}

REDUCTIONS: Final[dict[str, tuple[Sample, ...]]] = {
    "cumsum": _TOTALS,
    "cumprod": _TOTALS,
    "cumprod_backward": (s("rows", t(3, 2), t(3, 2), 0, t(3, 2)),),
    "cummax": _EXTREMES,
    "cummin": _EXTREMES,
    "logcumsumexp": _ALONG,
    "value_selecting_reduction_backward": (
        s("rows", t(2), 1, t(2, dtype="int64", low=0, high=2), (2, 3), False),
    ),
    "sort": _ORDERED,
    "sort.stable": _STABLE,
    "msort": (s("2d", distinct(4, 2)),),
    "argsort": _ORDERED,
    "argsort.stable": _STABLE,
    "topk": (s("two", distinct(2, 5), 2), s("smallest", distinct(5, 2), 3, 0, False)),
    "kthvalue": (s("second", distinct(2, 5), 2), s("keepdim", distinct(5, 2), 3, 0, True)),
    "median": (s("odd", distinct(5)), s("even", distinct(2, 3))),
    "nanmedian": (s("odd", distinct(5)), s("nan", _HOLEY)),
    "median.dim": _CHOICES,
    "nanmedian.dim": (*_CHOICES, s("nan", _HOLEY, 1)),
    "mode": (s("numbers", _NUMBERS), s("rows", distinct(3, 4), 0, True)),
    "isin.Tensor_Tensor": (s("numbers", _NUMBERS, t(2, dtype="int64", values=(0, 3))),),
    "isin.Tensor_Scalar": (s("number", _NUMBERS, 3), s("inverted", _NUMBERS, 3, invert=True)),
    "isin.Scalar_Tensor": (s("number", 3, _NUMBERS),),
    "count_nonzero": (s("all", _NUMBERS), s("rows", _ROWS, 0)),
    "count_nonzero.dim_IntList": (s("both", _ROWS, (0, 1)),),
    "nansum": _WITHOUT_NAN,
    "nanmean": _WITHOUT_NAN,
    "sum_to_size": (s("column", t(2, 3), (2, 1)), s("row", t(2, 3), (3,))),
    "aminmax": (s("all", distinct(2, 3)), s("rows", distinct(2, 3), dim=0, keepdim=True)),
    **{
        f"{name}_mean{dot}{overload}": rows
        for name in ("var", "std")
        for overload, rows in _MOMENTS.items()
        for dot in ("." if overload else "",)
    },
    "quantile": _QUANTILES,
    "quantile.scalar": _QUANTILE,
    "nanquantile": _QUANTILES,
    "nanquantile.scalar": _QUANTILE,
    "cov": (s("rows", t(2, 4)), s("weights", t(2, 4), aweights=t(4, low=0.5)), s("one", t(5))),
    "corrcoef": (s("rows", t(2, 4)),),
    "renorm": (s("rows", t(3, 4), 2, 0, 1.0), s("columns", t(3, 4), 1, -1, 3.0)),
    "diff": (s("last", t(2, 4)), s("twice", t(5), 2), s("joined", t(2, 3), 1, 0, t(1, 3), t(2, 3))),
    **{f"gradient.{overload}": rows for overload, rows in _GRADIENT.items()},
    **{f"{name}.x": _SAMPLED for name in ("trapezoid", "trapz", "cumulative_trapezoid")},
    **{f"{name}.dx": _STEPS for name in ("trapezoid", "trapz", "cumulative_trapezoid")},
    "searchsorted.Tensor": (
        s("one", _EDGES, t(2, 3)),
        s("right", _EDGES, _EDGES, right=True),
        s("rows", t(2, 3, values=(0.0, 1.0, 2.0, 1.0, 2.0, 3.0)), t(2, 2), out_int32=True),
    ),
    "searchsorted.Scalar": (s("number", _EDGES, 0.5),),
    "bucketize.Tensor": (s("2d", t(2, 3), _EDGES), s("right", _EDGES, _EDGES, right=True)),
    "bucketize.Scalar": (s("number", 0.5, _EDGES),),
    "bincount": (
        s("numbers", _NUMBERS),
        s("weights", _NUMBERS, t(6)),
        s("long", _NUMBERS, None, 8),
    ),
    "histc": (s("data", t(2, 5), 4), s("range", t(9), 3, -1, 2)),
    "histogram.bins_tensor": (s("edges", t(7), _EDGES), s("weights", t(7), _EDGES, weight=t(7))),
    "histogram.bin_ct": (
        s("data", t(2, 5), 4),
        s("range", t(9), 3, range=(-1.0, 2.0), density=True),
    ),
    "histogramdd": (s("plane", t(5, 2), (2, 3)),),
    "histogramdd.int_bins": (s("plane", t(5, 2), 3),),
    "histogramdd.TensorList_bins": (s("plane", t(5, 2), [_EDGES, _EDGES]),),
    "argwhere": (s("2d", _ROWS), s("0d", t())),
    "nonzero_static": (s("more", _ROWS, size=9), s("fewer", _ROWS, size=1)),
    "_unique2": _UNIQUE,
    "_unique": (s("numbers", _NUMBERS), s("inverse", _NUMBERS, True, True)),
    "unique_dim": (s("rows", _ROWS, 0, True, True, True), s("columns", _ROWS, 1)),
    "unique_dim_consecutive": (s("rows", _ROWS, 0, True, True),),
    "unique_consecutive": (s("numbers", _NUMBERS), s("rows", _ROWS, True, True, 0)),
    "_lexicographic_order": (s("numbers", _ROWS),),
    "linalg_vector_norm": _VECTOR_NORMS,
    "linalg_matrix_norm": (s("rows", distinct(3, 4), _INF), s("columns", distinct(2, 3, 4), 1)),
    "linalg_matrix_norm.str_ord": (
        s("fro", t(2, 3, 4)),
        s("dims", t(2, 3, 4), "fro", (0, 1), True),
    ),
    "linalg_norm": (s("all", t(2, 3)), s("vector", t(4), 3), s("matrix", distinct(3, 4), 1)),
    "linalg_norm.ord_str": (s("fro", t(2, 3), "fro"),),
    "norm.Scalar": (s("two", t(2, 3)), s("three", t(2, 3), 3)),
    "norm.ScalarOpt_dim": (s("rows", t(2, 3), 2, 1),),
    "norm.ScalarOpt_dim_dtype": (s("rows", t(2, 3), 2, 1, True, dtype=float64),),
    "norm.ScalarOpt_dtype": (s("all", t(2, 3), 2, dtype=float64),),
    "frobenius_norm.dim": (s("rows", t(2, 3), 1),),
    "nuclear_norm": (s("2d", t(2, 3)),),
    "nuclear_norm.dim": (s("batch", t(2, 3, 2), (0, 2)),),
    "dist": (s("two", t(2, 3), t(2, 3)), s("one", t(4), t(4), 1)),
    "cdist": (s("two", *_PAIRS), s("three", t(2, 4, 3), t(5, 3), 3.0)),
    "_cdist_forward": (s("two", *_PAIRS, 2.0, None), s("largest", *_PAIRS, _INF, None)),
    "_cdist_backward": (s("two", t(4, 2), *_PAIRS, 2.0, t(4, 2, low=0.5)),),
    "pdist": (s("two", t(4, 3)), s("one", t(3, 2), 1.0)),
    "pairwise_distance": (s("two", t(4, 3), t(4, 3)), s("one", t(4, 3), t(3), 1.0)),
    "cosine_similarity": (s("rows", t(4, 3), t(4, 3)), s("columns", t(4, 3), t(4, 3), 0)),
    "segment_reduce": tuple(
        s(name, t(5, 2, low=0.5), name, lengths=t(3, dtype="int64", values=(2, 1, 2)))
        for name in ("sum", "mean", "max", "prod")
    ),
    "hash_tensor": (s("all", t(2, 3)), s("rows", t(2, 3), 0), s("numbers", _NUMBERS)),
}
