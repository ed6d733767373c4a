"""What the ops of this family are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Any, Final

from ...values.dtypes import bool_, float32, float64, int32, int64
from ...values.memory_formats import channels_last, contiguous_format
from ..family_samples import FamilySamples, mask
from ..family_samples import sample as s
from ..recipes import DEVICE, Sample
from ..recipes import tensor as t

__all__ = ["SAMPLES"]

_ENDS: Final[dict[str, tuple[Any, Any]]] = {
    "Tensor_Tensor": (t(), t()),
    "Tensor_Scalar": (t(), 2.5),
    "Scalar_Tensor": (-1, t()),
}
_COMPLEX: Final = (
    s("complex64", t(2, 3, dtype="complex64")),
    s("complex128", t(3, dtype="complex128")),
    s("0d", t(dtype="complex64")),
    s("empty", t(0, 2, dtype="complex64")),
)
_LIKE: Final = (
    s("float32", t(2, 3)),
    s("dtype", t(2, 3), dtype=float64),
    s("device", t(3), device=DEVICE),
    s("0d", t()),
    s("empty", t(0, 3)),
)


def _filled(samples: tuple[Sample, ...], value: float) -> tuple[Sample, ...]:
    """The samples of a ``_like`` or ``new_`` op with a fill value as the last argument."""
    return tuple(Sample(x.name, (*x.args, value), x.kwargs) for x in samples)


_NEW: Final = (
    s("2d", t(2, 3), (4, 2)),
    s("0d", t(3, dtype="float64"), ()),
    s("dtype", t(2), (3,), dtype=int64),
)


SAMPLES: Final = FamilySamples(
    calls={
        # copying
        "fill.Tensor": (s("float32", t(2, 3), t()), s("converted", t(2, 3), t(dtype="int64"))),
        "clone": (
            s("float32", t(2, 3)),
            s("contiguous", t(2, 3), memory_format=contiguous_format),
            s("channels_last", t(2, 3, 2, 2), memory_format=channels_last),
            s("bool", mask(4)),
            s("0d", t()),
            s("empty", t(0, 3)),
        ),
        "copy": (
            s("same", t(2, 3), t(2, 3)),
            s("broadcast", t(2, 3), t(3)),
            s("converted", t(2, 3), t(2, 3, dtype="int64")),
            s("truncated", t(4, dtype="int32"), t(4)),
            s("0d", t(), t()),
            s("empty", t(0, 3), t(3)),
        ),
        "fill.Scalar": (
            s("float32", t(2, 3), 1.5),
            s("int64", t(3, dtype="int64"), 7),
            s("bool", mask(3), True),
            s("0d", t(), 2),
        ),
        "fill_.Tensor": (s("float32", t(2, 3), t()), s("converted", t(2, 3), t(dtype="int64"))),
        "zero": (
            s("float32", t(2, 3)),
            s("int64", t(3, dtype="int64")),
            s("0d", t()),
            s("empty", t(0)),
        ),
        "_to_dtype": (
            s("widened", t(2, 3), float64),
            s("truncated", t(2, 3), int32),
            s("truth", t(2, 3), bool_),
            s("from_bool", mask(3), float32),
            s("0d", t(), int64),
            s("empty", t(0, 3), int64),
        ),
        "_to_device": (s("same", t(2, 3), DEVICE),),
        "_conj": _COMPLEX,
        "conj": (*_COMPLEX, s("real", t(2, 3))),
        # factory
        **{
            f"{name}.{form}": (
                s("five", *ends, 5, device=DEVICE),
                s("one", *ends, 1, dtype=float64, device=DEVICE),
            )
            for name in ("linspace", "logspace")
            for form, ends in _ENDS.items()
        },
        "empty_strided": (
            s("transposed", (2, 3), (1, 2), device=DEVICE),
            s("dtype", (3,), (2,), dtype=int64, device=DEVICE),
        ),
        **{f"{name}_like": _LIKE for name in ("empty", "zeros", "ones")},
        "full_like": _filled(_LIKE, 2),
        **{f"new_{name}": _NEW for name in ("empty", "zeros", "ones")},
        "new_full": _filled(_NEW, 2),
        "arange.start": (
            s("ints", 2, 7, device=DEVICE),
            s("step", 7, 0, -2, device=DEVICE),
            s("floats", 0.0, 1.0, 0.25, device=DEVICE),
            s("dtype", 0, 5, dtype=float64, device=DEVICE),
            s("empty", 3, 3, device=DEVICE),
        ),
        "linspace": (
            s("floats", -1.0, 2.0, 7, device=DEVICE),
            s("one", 3.0, 4.0, 1, device=DEVICE),
            s("empty", 0.0, 1.0, 0, device=DEVICE),
            s("float64", 0, 1, 5, dtype=float64, device=DEVICE),
        ),
        "eye": (
            s("square", 3, device=DEVICE),
            s("wide", 2, 4, device=DEVICE),
            s("int64", 3, dtype=int64, device=DEVICE),
        ),
        "empty_permuted": (s("cube", (2, 3, 4), (2, 0, 1), device=DEVICE),),
        "new_empty_strided": (s("gaps", t(2), (2, 3), (6, 2)),),
        # ranges
        "logspace": (
            s("ten", 0.0, 2.0, 5, device=DEVICE),
            s("two", 0, 3, 4, 2.0, dtype=float64, device=DEVICE),
        ),
        "scalar_tensor": (
            s("float", 2.5, device=DEVICE),
            s("float64", 2, dtype=float64, device=DEVICE),
        ),
        # resizing
        "resize_": (
            s("smaller", t(2, 3), (2, 2)),
            s("same", t(2, 3), (2, 3)),
            s("0d", t(3), ()),
            s("empty", t(2, 3), (0, 3)),
        ),
        "resize_as_": (s("smaller", t(2, 3), t(3)),),
    },
    needs_layout=("resize_", "resize_as_"),
    few=("copy_", "fill_.Scalar", "zeros", "arange.start"),
)
