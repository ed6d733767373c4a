"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Any, Final

from ...values.dtypes import float64, int32
from ...values.memory_formats import channels_last
from ..family_samples import FamilySamples
from ..family_samples import sample as s
from ..recipes import DEVICE
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_SHARE: Final[dict[str, Any]] = {"low": 0.0, "high": 1.0}  # of probabilities
_RATES: Final[dict[str, Any]] = {"low": 0.0, "high": 6.0}
_DOUBLE: Final = t(4, dtype="float64")
_SHAPES: Final = (
    s("rows", t(2, 3, low=0.5, high=6.0)),
    s("float64", t(4, dtype="float64", low=0.5)),
)
_LIKE: Final = (
    s("2d", t(2, 3)),
    s("float64", t(4), dtype=float64),
    s("channels_last", t(2, 3, 2, 2), memory_format=channels_last),
)


SAMPLES: Final = FamilySamples(
    calls={
        # distributions
        "uniform": (s("unit", t(2, 3)), s("range", _DOUBLE, -1.0, 2.0)),
        "normal": (s("standard", t(2, 3)), s("moved", _DOUBLE, 5.0, 0.5)),
        "random": (
            s("int64", t(6, dtype="int64")),
            s("floats", t(6)),
            s("bool", t(4, dtype="bool")),
        ),
        "random.to": (s("int64", t(6, dtype="int64"), 9), s("floats", t(6), 5)),
        "random.from": (
            s("range", t(6, dtype="int64"), 2, 9),
            s("open", t(6, dtype="int32"), 2, None),
            s("floats", t(6), -3, 5),
        ),
        "bernoulli_p": (s("half", t(8)), s("always", t(3), 1.0)),
        "bernoulli": (
            s("shares", t(2, 3, **_SHARE)),
            s("float64", t(4, dtype="float64", **_SHARE)),
        ),
        "bernoulli.p": (s("half", t(8), 0.5), s("int64", t(3, dtype="int64"), 0.25)),
        "bernoulli_.float": (s("half", t(8)), s("always", t(3), 1.0)),
        "bernoulli_.Tensor": (
            s("shares", t(2, 3), t(2, 3, **_SHARE)),
            s("row", t(2, 3), t(3, **_SHARE)),
        ),
        "normal.Tensor_float": (s("means", t(2, 3), 0.5), s("float64", _DOUBLE)),
        "normal.float_Tensor": (s("spreads", 1.5, t(2, 3, **_RATES)),),
        "normal.Tensor_Tensor": (
            s("each", t(2, 3), t(2, 3, **_RATES)),
            s("broadcast", t(2, 3), t(3, **_RATES)),
        ),
        "normal.float_float": (s("size", 1.0, 2.0, (2, 3), device=DEVICE),),
        "rand_like": _LIKE,
        "randn_like": _LIKE,
        "randint": (
            s("2d", 9, (2, 3), device=DEVICE),
            s("dtype", 9, (4,), dtype=int32, device=DEVICE),
        ),
        "randint.low": (s("2d", -3, 9, (2, 3), device=DEVICE),),
        "randint_like": (s("2d", t(2, 3), 9), s("int64", t(4, dtype="int64"), 5)),
        "randint_like.low_dtype": (s("2d", t(2, 3), -3, 9),),
        "randperm": (s("five", 5, device=DEVICE), s("empty", 0, device=DEVICE)),
        # sampling
        "exponential": (s("unit", t(2, 3)), s("rate", _DOUBLE, 2.5)),
        "cauchy": (s("standard", t(2, 3)), s("moved", _DOUBLE, 5.0, 0.5)),
        "log_normal": (s("standard", t(2, 3)), s("moved", _DOUBLE, 0.5, 0.25)),
        "geometric": (s("floats", t(2, 3), 0.5), s("int64", t(4, dtype="int64"), 0.25)),
        "multinomial": (
            s("row", t(5, low=0.5, high=2.0), 3),
            s("rows", t(2, 5, low=0.5, high=2.0), 1),
            s("again", t(2, 3, low=0.5, high=2.0), 6, True),
            s("float64", t(4, dtype="float64", low=0.5, high=2.0), 4),
        ),
        "poisson": (s("rates", t(2, 3, **_RATES)), s("float64", t(4, dtype="float64", **_RATES))),
        "_standard_gamma": _SHAPES,
        "_standard_gamma_grad": (
            s("shapes", t(2, 3, low=0.5, high=4.0), t(2, 3, low=0.5, high=4.0)),
        ),
        "_sample_dirichlet": _SHAPES,
        "_dirichlet_grad": (
            s(
                "shares",
                t(2, 3, low=0.25, high=0.75),
                t(2, 3, low=0.5, high=2.0),
                t(2, 3, low=2.5, high=4.0),
            ),
        ),
        "binomial": (
            s("counts", t(2, 3, values=(1.0, 5.0, 10.0, 0.0, 20.0, 3.0)), t(2, 3, **_SHARE)),
            s("broadcast", t(2, 1, values=(3.0, 7.0)), t(3, **_SHARE)),
        ),
    },
    untested={
        "randint_like.Tensor": "reads a number that a tensor holds, which a device without data has not"
    },
)
