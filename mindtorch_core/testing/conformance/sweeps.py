"""Sample calls made of others: over all dtypes, and on values at the edges of their range."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from ...dispatch.opdef import OpDef
from ...dispatch.schema import parse_schema
from ...operators.family_samples import LIMITS, TIES, rows, special_rows
from ...operators.recipes import EXPANDED, Sample, TensorRecipe, tensor, values_of
from ...values.dtypes import DTYPES, FLOATING
from ..samples import merged, named, samples

__all__ = ["SIZES", "SWEPT", "dtype_samples", "edge_samples", "with_equal_rows"]

# The dtypes that every op is called with.
SWEPT: Final = (
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
# What element-wise ops are called with besides: elements enough for more than one pass of a loop, and
# for more than one launch of a grid; operands of six dimensions, broadcast against each other.
SIZES: Final = {
    "many": ((1031,),),
    "large": ((257, 259),),
    "dimensions": ((2, 1, 3, 1, 2, 2), (1, 2, 3, 2, 1, 2)),
}
_NAN: Final = float("nan")
_INF: Final = float("inf")
# Beside nan and infinities: both zeros, the largest and the smallest normal float32, and halves,
# which round differently.
FLOATS: Final = (
    *(_NAN, _INF, -_INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5),
    *(3.4028234663852886e38, -3.4028234663852886e38, 1.1754943508222875e-38),
)
_NO_LIMITS: Final = named("no_limits")
_EDGES: Final[dict[str, tuple[Sample, ...]]] = merged("edges")


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
    if d.name in _EDGES:
        yield from _EDGES[d.name]
    elif "reduction" in d.tags:
        yield from _of_reduction(d)
    elif "pointwise" in d.tags:
        yield from _of_pointwise(d)


def with_equal_rows(d: OpDef, sample: Sample) -> tuple[Sample, Sample]:
    """The same call on tensors whose rows, along the first dimension, are all the first.

    Returns:
        On tensors in memory of their own, and on such that are expanded from one row. Rows are expanded
        for element-wise ops only: some others write theirs, as statistics.
    """
    places = itertools.count()

    def has_rows(recipe: TensorRecipe) -> bool:
        return len(recipe.shape) > ("pointwise" not in d.tags)

    def repeated(recipe: TensorRecipe) -> TensorRecipe:
        if not has_rows(recipe):
            return recipe
        drawn = values_of(replace(recipe, seed=recipe.seed + next(places)))
        count = recipe.shape[0]
        return replace(recipe, values=tuple(drawn[: len(drawn) // max(count, 1)]) * count)

    alike = sample.changed(repeated)
    return alike, alike.changed(lambda r: replace(r, layout=EXPANDED) if has_rows(r) else r)


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
    yield from _of_sizes(d)


def _of_sizes(d: OpDef) -> Iterator[Sample]:
    """An op's first sample in other sizes."""
    base = next(iter(samples(d)), None)
    if base is None or any(r.values is not None or not r.shape for r in base.recipes()):
        return
    for name, shapes in SIZES.items():
        turns = itertools.cycle(shapes)
        made = base.changed(lambda recipe: replace(recipe, shape=next(turns)))  # noqa: B023 (called here)
        yield replace(made, name=name)


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


def _along(label: str, t: TensorRecipe, *options: Any) -> Sample:
    return Sample(label, (t, *options))


def _of_reduction(d: OpDef) -> Iterator[Sample]:
    arguments = parse_schema(d.schema).arguments
    names = [a.name for a in arguments]
    if "dim" not in names or names.index("dim") != 1:
        if all(a.has_default for a in arguments[1:]):
            yield _along("float32_ties", rows("float32", [TIES[:8]]))
        return
    yield _along("float32_edges", special_rows(), 1)
    yield _along("float32_ties", rows("float32", [TIES[i : i + 8] for i in range(0, 96, 8)]), 1)
    yield _along("negative_dim", tensor(2, 3, 4), -2)
    yield _along("float16_long", tensor(3000, dtype="float16", low=0.5, high=1.5), 0)
    yield _along("bfloat16_long", tensor(2, 700, dtype="bfloat16", low=0.5, high=1.5), 1)
    yield _along("one", tensor(3, 1, 2), 1)
    yield _along("bool_long", tensor(2, 600, dtype="bool"), 1)
    yield _along("rows_and_columns", tensor(70, 3, 130), 1)
    for name in ("uint8", "int32", "int64"):
        yield _along(f"{name}_edges", rows(name, [LIMITS[name], LIMITS[name][::-1]]), 1)
    yield _along("bool_edges", rows("bool", [(True, True), (False, False), (False, True)]), 1)
