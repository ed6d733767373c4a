"""Sample calls made of others: over all dtypes, and on values at the edges of their range."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from ...dispatch.schema import parse_schema
from ...dtypes import DTYPES, FLOATING
from ...operators.define import OpDef
from ..recipes import Sample, TensorRecipe, tensor
from ..samples import samples

__all__ = ["CLOSELY", "SWEPT", "dtype_samples", "edge_samples"]

# The dtypes that every op is called with.
SWEPT: Final = (
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
_NAN: Final = float("nan")
_INF: Final = float("inf")
# Beside nan and infinities: both zeros, the largest and the smallest normal float32, and halves,
# which round differently.
FLOATS: Final = (
    *(_NAN, _INF, -_INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5),
    *(3.4028234663852886e38, -3.4028234663852886e38, 1.1754943508222875e-38),
)
LIMITS: Final = {
    "uint8": (0, 1, 2, 127, 128, 254, 255),
    "int32": (0, 1, -1, 2, 65536, 2147483647, -2147483648),
    "int64": (0, 1, -1, 3, 1 << 33, (1 << 63) - 1, -(1 << 63)),
    "bool": (False, True, True, False, True),
}
# Element-wise ops whose edges the level core looks at; full looks at all.
CLOSELY: Final = frozenset(
    {
        *("add", "sub", "mul", "div", "neg", "abs", "sign", "square", "reciprocal", "maximum"),
        *("minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_not", "isnan"),
        *("isinf", "isfinite", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "tanh", "sigmoid"),
        *("floor", "ceil", "round", "trunc", "relu", "bitwise_and", "bitwise_or", "bitwise_xor"),
        *("bitwise_not", "fmax", "fmin", "signbit", "copysign", "where.self", "nan_to_num"),
    }
)
# Undefined at the limits of integers: division by zero, shifts by more bits than there are.
_NO_LIMITS: Final = frozenset(
    {
        *("div", "divide", "true_divide", "floor_divide", "remainder", "fmod", "pow", "ldexp"),
        *("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__", "gcd", "lcm"),
        *("_rdiv", "_rfloordiv", "_rmod", "_rpow", "_rlshift", "_rrshift", "float_power"),
    }
)


def dtype_samples(d: OpDef) -> Iterator[Sample]:
    """A public op's first sample with its main dtype replaced by each of the others."""
    base = next(iter(samples(d)), None)
    recipes = [] if base is None else base.recipes()
    if base is None or not recipes or d.name.startswith("_"):
        return
    main = recipes[0].dtype
    for name in SWEPT:
        if name == main:
            continue

        def changed(recipe: TensorRecipe, name: str = name) -> TensorRecipe:
            return replace(recipe, dtype=name) if recipe.dtype == main else recipe

        made = base.changed(changed)
        if all(_can_be_drawn(recipe) for recipe in made.recipes()):
            yield replace(made, name=name)


def _can_be_drawn(recipe: TensorRecipe) -> bool:
    """Whether a recipe's range holds an element of its dtype."""
    d = DTYPES[recipe.dtype]
    if recipe.values is not None:
        return False
    if d.category >= FLOATING or d.name == "bool":
        return True
    low = recipe.low if d.is_signed else max(recipe.low, 0)
    return math.ceil(low) <= math.floor(recipe.high)


def edge_samples(d: OpDef) -> Iterator[Sample]:
    """Calls on nan, infinities, zeros of both signs, limits of integers, ties, and many halves."""
    if d.base_name in _BY_NAME:
        yield from _BY_NAME[d.base_name] if "." not in d.name or d.name in _WITH_OVERLOAD else ()
    elif "reduction" in d.tags:
        yield from _of_reduction(d)
    elif "pointwise" in d.tags:
        yield from _of_pointwise(d)


def _of_pointwise(d: OpDef) -> Iterator[Sample]:
    required = [a for a in parse_schema(d.schema).arguments if not a.has_default]
    if any(a.type != "Tensor" or a.is_list for a in required) or not required:
        return
    if "polynomial" in d.name:  # one operand is a degree, which takes as many steps
        return
    for name, values in {"float32": FLOATS, **LIMITS}.items():
        integers = name not in ("float32", "bool")
        if not (integers and d.base_name in _NO_LIMITS):
            yield Sample(f"{name}_edges", _crossed(len(required), name, values, d))


def _crossed(count: int, dtype: str, values: tuple[Any, ...], d: OpDef) -> tuple[Any, ...]:
    """Operands in which every value meets every other one; the first of ``where`` is a condition."""
    n = len(values)
    rows = tuple(value for value in values for _ in range(n))
    columns = values * n
    made = [tensor(n * n, dtype=dtype, values=rows if i % 2 else columns) for i in range(count)]
    if d.base_name == "where":
        made[0] = tensor(n * n, dtype="bool", values=tuple(i % 3 == 0 for i in range(n * n)))
    return tuple(made)


# ---- ops that look at several elements ----------------------------------------------------------

_TIES: Final = tuple(i * 7 % 5 % 3 for i in range(96))


def _rows(dtype: str, rows: list[tuple[Any, ...]]) -> TensorRecipe:
    flat = tuple(value for row in rows for value in row)
    return tensor(len(rows), len(rows[0]), dtype=dtype, values=flat)


def _special_rows() -> TensorRecipe:
    """Rows with a nan at the start, at the end, with infinities, with zeros of both signs."""
    return _rows(
        "float32",
        [
            (_NAN, 1.0, _INF, 2.0),
            (1.0, -_INF, 3.0, _NAN),
            (_INF, _INF, -1.0, 0.0),
            (0.0, -0.0, -0.0, 0.0),
            (-_INF, 5.0, -5.0, 5.0),
        ],
    )


def _along(label: str, t: TensorRecipe, *options: Any) -> Sample:
    return Sample(label, (t, *options))


def _of_reduction(d: OpDef) -> Iterator[Sample]:
    arguments = parse_schema(d.schema).arguments
    names = [a.name for a in arguments]
    if "dim" not in names or names.index("dim") != 1:
        if all(a.has_default for a in arguments[1:]):
            yield _along("float32_ties", _rows("float32", [_TIES[:8]]))
        return
    yield _along("float32_edges", _special_rows(), 1)
    yield _along("float32_ties", _rows("float32", [_TIES[i : i + 8] for i in range(0, 96, 8)]), 1)
    yield _along("negative_dim", tensor(2, 3, 4), -2)
    yield _along("float16_long", tensor(3000, dtype="float16", low=0.5, high=1.5), 0)
    yield _along("bfloat16_long", tensor(2, 700, dtype="bfloat16", low=0.5, high=1.5), 1)
    yield _along("one", tensor(3, 1, 2), 1)
    for name in ("uint8", "int32", "int64"):
        yield _along(f"{name}_edges", _rows(name, [LIMITS[name], LIMITS[name][::-1]]), 1)
    yield _along("bool_edges", _rows("bool", [(True, True), (False, False), (False, True)]), 1)


_SORTED: Final = (
    Sample("float32_edges", (_special_rows(),), {"stable": True, "dim": 1}),
    Sample("ties", (tensor(96, dtype="int64", values=_TIES),), {"stable": True, "dim": 0}),
    Sample(
        "ties_descending",
        (tensor(96, dtype="int32", values=_TIES),),
        {"stable": True, "dim": -1, "descending": True},
    ),
    Sample("int64_edges", (tensor(7, dtype="int64", values=LIMITS["int64"]),), {"stable": True}),
)
_WITH_OVERLOAD: Final = frozenset({"sort.stable"})
_LONG: Final = ("float16", "bfloat16")
# Edges of ops that are neither element-wise nor reductions, by name without overload.
_BY_NAME: Final[dict[str, tuple[Sample, ...]]] = {
    "sort": _SORTED,
    "cumsum": (
        Sample("float32_edges", (_special_rows(), 1)),
        Sample("int32_edges", (tensor(7, dtype="int32", values=LIMITS["int32"]), 0)),
        Sample("negative_dim", (tensor(2, 3, 4), -2)),
        *(Sample(f"{d}_long", (tensor(600, dtype=d, low=0.5, high=1.5), 0)) for d in _LONG),
    ),
    "mm": (
        Sample("zero_inner", (tensor(2, 0), tensor(0, 3))),
        Sample("wide", (tensor(3, 257), tensor(257, 2))),
        *(Sample(f"{d}_long", (tensor(2, 900, dtype=d), tensor(900, 3, dtype=d))) for d in _LONG),
    ),
    "bmm": (
        Sample("no_batch", (tensor(0, 2, 3), tensor(0, 3, 2))),
        Sample("zero_inner", (tensor(2, 2, 0), tensor(2, 0, 3))),
        *(
            Sample(f"{d}_long", (tensor(2, 2, 600, dtype=d), tensor(2, 600, 2, dtype=d)))
            for d in _LONG
        ),
    ),
    "nonzero": (
        Sample("float32_edges", (tensor(4, values=(_NAN, -0.0, 0.0, _INF)),)),
        Sample("none", (tensor(2, 2, dtype="int64", values=(0, 0, 0, 0)),)),
        Sample("bool_0d", (tensor(dtype="bool", values=(True,)),)),
    ),
    "softmax": (Sample("large", (tensor(2, 3, low=200.0, high=900.0), 1)),),
    "log_softmax": (Sample("large", (tensor(2, 3, low=200.0, high=900.0), 1)),),
    "cat": (Sample("with_empty", ([tensor(0, 3), tensor(2, 3), tensor(1, 3)], -2)),),
}
