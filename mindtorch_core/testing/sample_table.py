"""Samples of ops whose arguments must fit together, one row each."""

from __future__ import annotations

from typing import Any, Final

from ..dtypes import bool_, float32, float64, int32, int64
from ..memory_formats import channels_last, contiguous_format
from .recipes import DEVICE, Sample, TensorRecipe
from .recipes import tensor as t
from .sample_arranging import ARRANGING
from .sample_linalg import LINALG
from .sample_nn import NN
from .sample_pointwise import POINTWISE
from .sample_random import RANDOM
from .sample_reductions import REDUCTIONS
from .sample_views import MORE_VIEWS
from .sample_windows import WINDOWS

__all__ = ["TABLE"]


def s(name: str, *args: Any, **kwargs: Any) -> Sample:
    """A row's sample."""
    return Sample(name, args, kwargs)


def at(*shape: int, below: int) -> TensorRecipe:
    """Positions from 0 to ``below - 1``."""
    return t(*shape, dtype="int64", low=0, high=below - 1)


def mask(*shape: int) -> TensorRecipe:
    """Booleans."""
    return t(*shape, dtype="bool")


def order(*positions: int) -> TensorRecipe:
    """Given positions."""
    return t(len(positions), dtype="int64", values=positions)


_SPLIT: Final = (t(5, 2), (1, 3, 1))
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
_SOFTMAX: Final = (
    s("last", t(2, 3), 1),
    s("first", t(2, 3, 2), 0),
    s("large", t(2, 3, low=200.0, high=400.0), -1),
    s("dtype", t(2, 3), 1, float64),
    s("bfloat16", t(4, dtype="bfloat16"), 0),
    s("0d", t(), 0),
    s("empty", t(0, 3), 1),
)
_COMPLEX: Final = (
    s("complex64", t(2, 3, dtype="complex64")),
    s("complex128", t(3, dtype="complex128")),
    s("0d", t(dtype="complex64")),
    s("empty", t(0, 2, dtype="complex64")),
)
_LOSS: Final = (
    s("mean", t(4, 3), at(4, below=3)),
    s("sum", t(4, 3), at(4, below=3), reduction=2),
    s("none", t(4, 3), at(4, below=3), reduction=0),
    s("weight", t(4, 3), at(4, below=3), t(3, low=0.5)),
    s("ignored", t(4, 3), order(0, 1, -100, 2)),
    s("one", t(3), at(below=3)),
    s("pixels", t(2, 3, 4), at(2, 4, below=3)),
)
_SCATTER_INDEX: Final = t(2, 3, dtype="int64", values=(0, 1, 2, 2, 0, 1))
_CLAMP: Final = (
    s("both", t(2, 3), -1.0, 1.5),
    s("low", t(2, 3), 0),
    s("high", t(2, 3), None, 0.5),
    s("int64", t(5, dtype="int64"), -1, 2),
    s("widening", t(5, dtype="int64"), 0.5),
    s("0d", t(), -1.0, 1.0),
    s("empty", t(0, 3), 0.0),
)
_CLAMP_TENSOR: Final = (
    s("both", t(2, 3), t(3, high=0.0), t(2, 1, low=0.0)),
    s("low", t(2, 3), t(2, 3)),
    s("high", t(2, 3), None, t(3)),
    s("widening", t(2, 3, dtype="int64"), t(3)),
)
_LIMIT: Final = (s("float32", t(2, 3), 0.5), s("int64", t(5, dtype="int64"), 1), s("0d", t(), 0))
_LIMIT_TENSOR: Final = (s("same", t(2, 3), t(2, 3)), s("broadcast", t(2, 1), t(3)))
_LIKE: Final = (
    s("float32", t(2, 3)),
    s("dtype", t(2, 3), dtype=float64),
    s("device", t(3), device=DEVICE),
    s("0d", t()),
    s("empty", t(0, 3)),
)


_COMPARED: Final = (
    s("equal", t(3, values=(1.0, 2.0, 0.0)), t(3, values=(1.0, 2.0, 0.0))),
    s("near", t(2, values=(1.0, 2.0)), t(2, values=(1.00000095, 2.0))),
    s("different", t(2, 3), t(2, 3)),
    s("bool", mask(4), mask(4)),
    s("int64", t(4, dtype="int64"), t(4, dtype="int64")),
    s("0d", t(), t()),
    s("empty", t(0, 3), t(0, 3)),
)


def _filled(samples: tuple[Sample, ...], value: float) -> tuple[Sample, ...]:
    """The samples of a ``_like`` or ``new_`` op with a fill value as the last argument."""
    return tuple(Sample(x.name, (*x.args, value), x.kwargs) for x in samples)


_NEW: Final = (
    s("2d", t(2, 3), (4, 2)),
    s("0d", t(3, dtype="float64"), ()),
    s("dtype", t(2), (3,), dtype=int64),
)

_ELEMENTWISE: Final[dict[str, tuple[Sample, ...]]] = {
    "where.self": (
        s("same", mask(2, 3), t(2, 3), t(2, 3)),
        s("broadcast", mask(2, 1), t(3), t(2, 3)),
        s("numbers", mask(2, 3), t(2, 3), 0),
        s("mixed", mask(2, 3), t(2, 3, dtype="int64"), t(2, 3)),
        s("0d", mask(), t(), t()),
        s("empty", mask(0, 3), t(3), t(3)),
    ),
    "where": (s("2d", mask(3, 4)), s("1d", mask(5))),
    **dict.fromkeys(("clamp", "clip"), _CLAMP),
    **dict.fromkeys(("clamp.Tensor", "clip.Tensor"), _CLAMP_TENSOR),
    **dict.fromkeys(("clamp_min", "clamp_max"), _LIMIT),
    **dict.fromkeys(("clamp_min.Tensor", "clamp_max.Tensor"), _LIMIT_TENSOR),
    **dict.fromkeys(("equal", "isclose", "allclose"), _COMPARED),
    "masked_fill": (
        s("number", t(2, 3), mask(2, 3), 1.5),
        s("broadcast", t(2, 3), mask(3), -1),
        s("tensor", t(2, 3), mask(2, 3), t()),
        s("int64", t(4, dtype="int64"), mask(4), 7),
    ),
}
_COPYING: Final[dict[str, tuple[Sample, ...]]] = {
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
    "_real": _COMPLEX,
    "_imag": _COMPLEX,
    "_conj": _COMPLEX,
    "conj": (*_COMPLEX, s("real", t(2, 3))),
}
_FACTORY: Final[dict[str, tuple[Sample, ...]]] = {
    "empty_strided": (
        s("transposed", (2, 3), (1, 2), device=DEVICE),
        s("dtype", (3,), (2,), dtype=int64, device=DEVICE),
    ),
    **{f"{name}_like": _LIKE for name in ("empty", "zeros", "ones", "rand", "randn")},
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
}
_INDEXING: Final[dict[str, tuple[Sample, ...]]] = {
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
        s("negative", t(4, 3), [order(-1, 0, -4)]),
        s("apart", t(4, 3, 2), [at(2, below=4), None, at(2, below=2)]),
        s("0d", t(4, 3), [at(below=4)]),
        s("empty", t(4, 3), [at(0, below=4)]),
    ),
    "_index_put_positions": (
        s("rows", t(4, 3), [order(2, 0)], t(2, 3)),
        s("broadcast", t(4, 3), [order(2, 0)], t()),
        s("accumulated", t(4, 3), [order(2, 0, 2)], t(3, 3), True),
        s("empty", t(4, 3), [at(0, below=4)], t(0, 3)),
    ),
    "index_put_": (s("rows", t(4, 3), [order(2, 0)], t(2, 3)), s("mask", t(4, 3), [mask(4)], t())),
    "index_put": (
        s("rows", t(4, 3), [order(2, 0)], t(2, 3)),
        s("accumulated", t(4, 3), [order(1, 1)], t(2, 3), True),
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
        s("negative", t(3, 4), order(-1, 0, -12)),
        s("0d", t(), at(2, below=1)),
        s("empty", t(0), at(0, below=1)),
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
        s("rows", t(4, 3), 0, order(1, 1, 3), t(3, 3)),
        s("alpha", t(4, 3), 1, order(0, 2), t(4, 2), alpha=2),
        s("empty", t(4, 3), 0, at(0, below=4), t(0, 3)),
    ),
    "embedding": (
        s("2d", t(5, 3), at(2, 4, below=5)),
        s("padding", t(5, 3), order(0, 2, 1), 2),
        s("0d", t(5, 3), at(below=5)),
        s("empty", t(5, 3), at(0, below=5)),
    ),
    "cat": _JOINED,
    "concat": _JOINED,
    "concatenate": _JOINED,
    "stack": (
        s("first", [t(2, 3), t(2, 3)]),
        s("last", [t(2), t(2)], -1),
        s("0d", [t(), t(), t()]),
    ),
}
_LINALG: Final[dict[str, tuple[Sample, ...]]] = {
    "mm": (
        s("float32", t(2, 3), t(3, 4)),
        s("float64", t(2, 3, dtype="float64"), t(3, 4, dtype="float64")),
        s("bfloat16", t(2, 3, dtype="bfloat16"), t(3, 4, dtype="bfloat16")),
        s("int64", t(2, 3, dtype="int64"), t(3, 2, dtype="int64")),
        s("no_rows", t(0, 3), t(3, 2)),
        s("no_terms", t(2, 0), t(0, 3)),
    ),
    "bmm": (s("float32", t(2, 3, 4), t(2, 4, 2)), s("empty", t(0, 3, 4), t(0, 4, 2))),
    "matmul": (
        s("matrices", t(2, 3), t(3, 4)),
        s("vectors", t(3), t(3)),
        s("vector_matrix", t(3), t(3, 2)),
        s("matrix_vector", t(2, 3), t(3)),
        s("batches", t(2, 3, 4), t(2, 4, 2)),
        s("broadcast", t(2, 1, 3, 4), t(5, 4, 2)),
        s("shared_right", t(2, 3, 4), t(4, 2)),
        s("batched_vector", t(2, 3, 4), t(4)),
        s("empty", t(2, 0), t(0, 3)),
    ),
    "_rmatmul": (s("matrices", t(3, 4), t(2, 3)),),
    "addmm": (
        s("row", t(4), t(2, 3), t(3, 4)),
        s("full", t(2, 4), t(2, 3), t(3, 4)),
        s("scaled", t(4), t(2, 3), t(3, 4), beta=0.5, alpha=2),
        s("product_only", t(4), t(2, 3), t(3, 4), beta=0),
    ),
    "dot": (s("float32", t(4), t(4)), s("empty", t(0), t(0))),
    "mv": (s("float32", t(2, 3), t(3)),),
    "linear": (
        s("bias", t(2, 3), t(4, 3), t(4)),
        s("no_bias", t(2, 3), t(4, 3)),
        s("batches", t(2, 5, 3), t(4, 3), t(4)),
        s("vector", t(3), t(4, 3)),
    ),
}
_NN: Final[dict[str, tuple[Sample, ...]]] = {
    "softmax": _SOFTMAX,
    "log_softmax": _SOFTMAX,
    "nll_loss": _LOSS,
    "nll_loss_forward": (
        s("mean", t(4, 3), at(4, below=3), None, 1, -100),
        s("weight", t(4, 3), order(0, 1, -100, 2), t(3, low=0.5), 2, -100),
    ),
    "nll_loss_backward": (
        s("mean", t(), t(4, 3), at(4, below=3), None, 1, -100, t(values=(4.0,))),
        s("none", t(4), t(4, 3), at(4, below=3), t(3, low=0.5), 0, -100, t()),
    ),
    "mse_loss": tuple(
        s(how, t(2, 3), t(2, 3), reduction=i) for i, how in enumerate(("none", "mean", "sum"))
    ),
}
_REDUCING: Final[dict[str, tuple[Sample, ...]]] = {
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
}
_VIEWS: Final[dict[str, tuple[Sample, ...]]] = {
    "resize_": (
        s("smaller", t(2, 3), (2, 2)),
        s("same", t(2, 3), (2, 3)),
        s("0d", t(3), ()),
        s("empty", t(2, 3), (0, 3)),
    ),
    "resize_as_": (s("smaller", t(2, 3), t(3)),),
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
    "flatten": (s("all", t(2, 3, 2)), s("last", t(2, 3, 2), 1), s("0d", t()), s("vector", t(3))),
    "unflatten": (s("inferred", t(2, 6), 1, (3, -1)),),
    "transpose": (s("2d", t(2, 3), 0, 1), s("outer", t(2, 3, 4), 0, -1), s("0d", t(), 0, 0)),
    "permute": (s("3d", t(2, 3, 4), (2, 0, -2)), s("0d", t(), ())),
    "t": (s("2d", t(2, 3)), s("1d", t(3)), s("0d", t())),
    "movedim": (s("3d", t(2, 3, 4), 0, -1),),
    "expand": (s("row", t(3), (2, 3)), s("kept", t(2, 1), (-1, 3)), s("0d", t(), (2,))),
    "expand_as": (s("row", t(3), t(2, 3)),),
    "broadcast_to": (s("row", t(3), (2, 3)),),
    "squeeze": (s("ones", t(1, 3, 1)), s("none", t(2, 3)), s("0d", t())),
    "squeeze.dim": (s("one", t(2, 1, 3), 1), s("kept", t(2, 3), 0)),
    "squeeze.dims": (s("two", t(1, 3, 1), (0, -1)),),
    "unsqueeze": (s("first", t(2, 3), 0), s("last", t(2, 3), -1), s("0d", t(), 0)),
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
    "contiguous": (s("2d", t(2, 3)), s("0d", t())),
}

TABLE: Final[dict[str, tuple[Sample, ...]]] = {
    **_ELEMENTWISE,
    **_COPYING,
    **_FACTORY,
    **_INDEXING,
    **_LINALG,
    **_NN,
    **_REDUCING,
    **_VIEWS,
    **MORE_VIEWS,
    **ARRANGING,
    **LINALG,
    **NN,
    **POINTWISE,
    **RANDOM,
    **REDUCTIONS,
    **WINDOWS,
}
