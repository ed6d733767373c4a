"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Final

from ..family_samples import (
    EDGES,
    HOLEY,
    LIMITS,
    NUMBERS,
    FamilySamples,
    call,
    distinct,
    special_rows,
)
from ..family_samples import sample as s
from ..recipes import Sample
from ..recipes import tensor as t

__all__ = ["SAMPLES"]


_ALONG: Final = (
    s("rows", t(3, 4, low=0.5), 0),
    s("last", t(2, 3), -1),
    s("0d", t(), 0),
    s("empty", t(0, 3), 1),
)
_TOTALS: Final = (*_ALONG, s("int32", t(4, dtype="int32"), 0))
_EXTREMES: Final = (s("rows", distinct(3, 4), 0), s("last", distinct(2, 5), -1), s("0d", t(), 0))
_QUANTILES: Final = (
    s("all", distinct(2, 5), t(3, low=0.0, high=1.0)),
    s("rows", distinct(3, 4), t(low=0.0, high=1.0), 0),
    s("keepdim", distinct(3, 4), t(2, low=0.0, high=1.0), 1, True),
    s("lower", distinct(7), t(2, low=0.0, high=1.0), interpolation="lower"),
)
_QUANTILE: Final = (s("all", distinct(2, 5), 0.3), s("rows", distinct(3, 4), 0.75, 0))
_WITHOUT_NAN: Final = (s("all", HOLEY), s("rows", HOLEY, 1), s("keepdim", t(2, 3), 0, True))
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
_ROWS: Final = t(4, 2, dtype="int64", values=(1, 0, 0, 1, 1, 0, 0, 0))
_GRADIENT: Final[dict[str, tuple[Sample, ...]]] = {
    "scalarint": (s("all", t(3, 4)), s("second", t(4, 3), spacing=0.5, dim=0, edge_order=2)),
    "scalararray": (s("both", t(3, 4), spacing=2.0, dim=(1, 0)),),
    "array": (s("both", t(3, 4), dim=(0, 1)),),
    "scalarrayint": (s("both", t(3, 4), spacing=(1.0, 2.0)),),
    "scalarrayarray": (s("both", t(3, 4), spacing=(1.0, 2.0), dim=(0, 1)),),
    "tensorarrayint": (s("points", t(4), spacing=[EDGES]),),
    "tensorarray": (s("points", t(3, 4), spacing=[EDGES], dim=(1,)),),
}
_EXTREME_DIM: Final = (
    s("rows", t(3, 4), 0),
    s("keepdim", t(3, 4), -1, True),
    s("int64", t(3, 4, dtype="int64"), 1),
    s("ties", t(4, values=(1.0, 2.0, 2.0, 1.0)), 0),
    s("nan", t(4, values=(1.0, float("nan"), 2.0, 1.0)), 0),
    s("0d", t(), 0),
    s("empty", t(0, 3), 1),
)
_SPREAD: Final[dict[str, tuple[Sample, ...]]] = {
    "correction": (
        s("all", t(2, 3)),
        s("dims", t(2, 3, 2), (0, 2), keepdim=True),
        s("none", t(4, 3), 0, correction=0),
        s("float64", t(4, dtype="float64"), correction=2),
    ),
    "dim": (s("biased", t(4, 3), 0, False), s("keepdim", t(2, 3), (-1,), True, True)),
    "": (s("float32", t(2, 3)), s("biased", t(4), False)),
}
_MASK: Final = t(2, 4, dtype="bool", values=(True, False, True, True, True, True, False, True))
_LONG: Final = ("float16", "bfloat16")

SAMPLES: Final = FamilySamples(
    calls={
        # cumulative
        "cumsum": _TOTALS,
        "cumprod": _TOTALS,
        "cumprod_backward": (s("rows", t(3, 2), t(3, 2), 0, t(3, 2)),),
        "cummax": _EXTREMES,
        "cummin": _EXTREMES,
        "logcumsumexp": _ALONG,
        # differences
        "diff": (
            s("last", t(2, 4)),
            s("twice", t(5), 2),
            s("joined", t(2, 3), 1, 0, t(1, 3), t(2, 3)),
        ),
        **{f"gradient.{overload}": rows for overload, rows in _GRADIENT.items()},
        **{f"{name}.x": _SAMPLED for name in ("trapezoid", "trapz", "cumulative_trapezoid")},
        **{f"{name}.dx": _STEPS for name in ("trapezoid", "trapz", "cumulative_trapezoid")},
        # reduction
        "value_selecting_reduction_backward": (
            s("rows", t(2), 1, t(2, dtype="int64", low=0, high=2), (2, 3), False),
        ),
        **{name: (s("2d", t(2, 3)), s("int64", t(4, dtype="int64"))) for name in ("max", "min")},
        **dict.fromkeys(("max.dim", "min.dim"), _EXTREME_DIM),
        **{f"{name}.other": (s("broadcast", t(2, 3), t(3)),) for name in ("max", "min")},
        **{
            f"{name}.{overload}".rstrip("."): rows
            for name in ("var", "std")
            for overload, rows in _SPREAD.items()
        },
        "logsumexp": (
            s("dim", t(2, 3), 1),
            s("dims", t(2, 3, 2), (0, 2), True),
            s("infinite", t(3, values=(float("-inf"), 0.0, 1.0)), 0),
        ),
        # segments
        "segment_reduce": tuple(
            s(name, t(5, 2, low=0.5), name, lengths=t(3, dtype="int64", values=(2, 1, 2)))
            for name in ("sum", "mean", "max", "prod")
        ),
        "hash_tensor": (s("all", t(2, 3)), s("rows", t(2, 3), 0), s("numbers", NUMBERS)),
        # statistics
        "count_nonzero": (s("all", NUMBERS), s("rows", _ROWS, 0)),
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
    },
    functions={
        # masked
        **{
            f"masked.{name}": call(t(2, 4), 1, mask=_MASK)
            for name in ("sum", "prod", "amax", "amin", "mean")
        },
        **{
            f"masked.{name}": call(t(2, 4), 1, mask=_MASK)
            for name in ("cumsum", "cumprod", "argmax", "argmin")
        },
        **{
            f"masked.{name}": call(t(2, 4), 1, mask=_MASK)
            for name in ("logsumexp", "softmax", "log_softmax")
        },
        **{
            f"masked.{name}": call(t(2, 4), 1, unbiased=True, mask=_MASK) for name in ("var", "std")
        },
        **{f"masked.{name}": call(t(2, 4), 2.0, 1, mask=_MASK) for name in ("norm", "normalize")},
        "masked.median": call(t(2, 4), 1, mask=_MASK),
        "masked.softmin": call(t(2, 4), 1, mask=_MASK),
        "masked.logaddexp": call(t(2, 4), t(2, 4), input_mask=_MASK, other_mask=_MASK),
    },
    edges={
        "cumsum": (
            s("float32_edges", special_rows(), 1),
            s("int32_edges", t(7, dtype="int32", values=LIMITS["int32"]), 0),
            s("negative_dim", t(2, 3, 4), -2),
            *(s(f"{d}_long", t(600, dtype=d, low=0.5, high=1.5), 0) for d in _LONG),
        )
    },
    unlike_pytorch={"cumprod_backward": "the sample's result is not that of its input"},
    few=("sum", "mean", "amax", "argmax", "max.dim", "cumsum"),
)
