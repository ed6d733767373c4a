"""Sample calls of every op, derived from its definition: schema, family and name.

Element-wise ops, reductions and factories get their samples from what they are; ops whose
arguments need to fit together are listed in `mindtorch_core.testing.sample_table`. An op that is
defined later, here or by a plugin, gets a plain sample from its schema, or its own by `sampler`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from ..dispatch.schema import Argument, OperatorSchema, parse_schema
from ..dtypes import float64, int64
from ..operators.define import OpDef
from .recipes import DEVICE, Sample, TensorRecipe, tensor
from .sample_pointwise import DOMAINS, SECOND_DOMAINS
from .sample_table import TABLE

__all__ = ["WITHOUT_SAMPLES", "sampler", "samples"]

Sampler = Callable[[OpDef], Iterable[Sample]]

# Ops that no sample exists for, each with the reason.
WITHOUT_SAMPLES: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("narrow.Tensor", "randint_like.Tensor", "tensor_split.tensor_indices_or_sections"),
        "reads numbers that a tensor holds, which a device without data has not",
    ),
    **dict.fromkeys(("is_conj", "is_neg"), "answers without a look at the tensor"),
}

_CHOSEN: Final[dict[str, Sampler]] = {}

# Where a function or an operator is defined: the range its operands are drawn from.
_FIRST: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "pow"), (0.25, 4.0)),
    **dict.fromkeys(("_rdiv", "_rfloordiv", "_rmod", "_rpow"), (1.0, 4.0)),
    **dict.fromkeys(("asin", "acos"), (-1.0, 1.0)),
    "log1p": (-0.75, 4.0),
    **DOMAINS,
}
_SECOND: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("div", "divide", "true_divide"), (1.0, 4.0)),
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), (1.0, 4.0)),
    **dict.fromkeys(("pow", "_rpow"), (0.0, 3.0)),
    **SECOND_DOMAINS,
}
# Compositions that serve fewer kinds of dtypes than they say (see `OpDef.kinds`).
_KINDS: Final[dict[str, str]] = {
    "positive": "ifc",
    "_rpow": "ifc",
    "_rfloordiv": "if",
    "_rmod": "if",
    **dict.fromkeys(("_rlshift", "_rrshift"), "i"),
}
_NAN: Final = float("nan")
_INF: Final = float("inf")


def sampler(name: str) -> Callable[[Sampler], Sampler]:
    """Decorator: give an op its samples, for ops that the rules here do not fit.

    Args:
        name: op name with overload, such as ``acme::fold`` or ``max.dim``.
    """

    def register(make: Sampler) -> Sampler:
        _CHOSEN[name] = make
        return make

    return register


def samples(d: OpDef) -> list[Sample]:
    """Sample calls of an op; an in-place variant has those of the op it is the variant of.

    The list is empty for an op that takes something no rule knows how to make.
    """
    base = d.functional or d
    if base.name in WITHOUT_SAMPLES:
        return []
    chosen = _CHOSEN.get(base.name)
    if chosen is not None:
        return list(chosen(base))
    if base.name in TABLE:
        return list(TABLE[base.name])
    return list(_by_schema(base))


def _by_schema(d: OpDef) -> Iterator[Sample]:
    schema = parse_schema(d.schema)
    required = [a for a in schema.arguments if not a.has_default]
    tensors = [a for a in required if a.type == "Tensor" and not a.is_list]
    if "reduction" in d.tags:
        return _reduction(d.base_name, schema)
    if tensors == required and len(tensors) == 1:
        return _unary(d)
    if tensors == required and len(tensors) == 2 and (d.numbers or "pointwise" in d.tags):
        return _binary(d, schema)
    if not tensors and any(a.name == "device" for a in schema.keyword_only):
        return _factory(d, required)
    return _plain(required)


# ---- element-wise -------------------------------------------------------------------------------


def _dtypes(d: OpDef) -> tuple[str, list[str]]:
    """The dtype an op is mostly sampled in, and others that it takes."""
    kinds = _KINDS.get(d.base_name, d.kinds)
    wholes = ["int64"] if "f" in kinds else ["int64", "int32", "uint8"]
    of_kind = {
        "f": ["float32", "float64", "bfloat16"],
        "i": wholes,
        "b": ["bool"],
        "c": ["complex64"],
    }
    found = [name for kind, names in of_kind.items() if kind in kinds for name in names]
    return found[0], found[1:]


def _drawn(name: str, *shape: int, dtype: str, second: bool = False) -> TensorRecipe:
    """A recipe within an op's domain."""
    low, high = (_SECOND if second else _FIRST).get(name, (-3.0, 3.0))
    return tensor(*shape, dtype=dtype, low=low, high=high)


def _unary(d: OpDef) -> Iterator[Sample]:
    name = d.base_name
    main, others = _dtypes(d)
    yield Sample(main, (_drawn(name, 2, 3, dtype=main),))
    for other in others:
        yield Sample(other, (_drawn(name, 5, dtype=other),))
    yield Sample("3d", (_drawn(name, 2, 1, 3, dtype=main),))
    yield Sample("0d", (_drawn(name, dtype=main),))
    yield Sample("empty", (_drawn(name, 0, 3, dtype=main),))
    if main == "float32":
        special = (_NAN, _INF, -_INF, 0.0, -0.0, 1.0)
        yield Sample("special", (tensor(6, values=special),))


def _binary(d: OpDef, schema: OperatorSchema) -> Iterator[Sample]:
    name = d.base_name
    main, others = _dtypes(d)

    def pair(label: str, a: Any, b: Any, *, kinds: tuple[str, str] = (main, main)) -> Sample:
        first = _drawn(name, *a, dtype=kinds[0])
        return Sample(label, (first, _drawn(name, *b, dtype=kinds[1], second=True)))

    yield pair(main, (2, 3), (2, 3))
    for other in others:
        yield pair(other, (5,), (5,), kinds=(other, other))
    yield pair("broadcast", (2, 1, 3), (4, 1))
    yield pair("row", (2, 3), (3,))
    yield pair("0d", (), ())
    yield pair("with_0d", (2, 3), ())
    yield pair("empty", (0, 3), (1, 3))
    if main == "float32":
        yield pair("mixed", (2, 3), (2, 3), kinds=("float32", "float64"))
        if "int64" in others:
            yield pair("int_float", (2, 3), (2, 3), kinds=("int64", "float32"))
            yield pair("float_int", (2, 3), (3,), kinds=("float32", "int32"))
    if d.numbers:
        yield Sample("number", (_drawn(name, 2, 3, dtype=main), 2))
        if main == "float32" and "int64" in others:
            yield Sample("float_number", (_drawn(name, 2, 3, dtype="int64"), 1.5))
    options = {a.name for a in schema.keyword_only}
    if "alpha" in options:
        yield Sample("alpha", (tensor(2, 3), tensor(3)), {"alpha": 2})
    if "rounding_mode" in options:
        for mode in ("floor", "trunc"):
            operands = _drawn(name, 2, 3, dtype=main), _drawn(name, 3, dtype=main, second=True)
            yield Sample(mode, operands, {"rounding_mode": mode})
            whole = _drawn(name, 5, dtype="int64"), _drawn(name, 5, dtype="int64", second=True)
            yield Sample(f"{mode}_int64", whole, {"rounding_mode": mode})


# ---- reductions ---------------------------------------------------------------------------------


def _reduction(name: str, schema: OperatorSchema) -> Iterator[Sample]:
    dim = next(a for a in schema.arguments if a.name == "dim")
    floats_only = name == "mean"
    yield Sample("all", (tensor(2, 3),))
    yield Sample("dim", (tensor(2, 3, 2), 1))
    yield Sample("last_keepdim", (tensor(2, 3), -1, True))
    yield Sample("0d", (tensor(),))
    yield Sample("0d_dim", (tensor(), -1))
    yield Sample("empty_kept", (tensor(0, 3), 1))
    yield Sample("bfloat16", (tensor(4, dtype="bfloat16"),))
    yield Sample("float64", (tensor(3, 2, dtype="float64"), 0))
    if name not in ("amax", "amin", "argmax", "argmin"):
        yield Sample("empty", (tensor(0, 3),))
        yield Sample("empty_dim", (tensor(2, 0, 3), 1))
    if not floats_only:
        yield Sample("int64", (tensor(2, 3, dtype="int64"), 0))
        yield Sample("int32", (tensor(5, dtype="int32"),))
    if not floats_only and not name.startswith("arg"):
        yield Sample("bool", (tensor(2, 3, dtype="bool"), 1))
    if dim.is_list:
        yield Sample("dims", (tensor(2, 3, 2), (0, -1)))
        yield Sample("dims_keepdim", (tensor(2, 3, 2), (1, 2), True))
    if any(a.name == "dtype" for a in schema.keyword_only):
        yield Sample("dtype", (tensor(2, 3), 1), {"dtype": float64})
        yield Sample("from_int", (tensor(2, 3, dtype="int64"),), {"dtype": float64})


# ---- the rest -----------------------------------------------------------------------------------


def _factory(d: OpDef, required: list[Argument]) -> Iterator[Sample]:
    """Ops that make a tensor from sizes and numbers."""
    on = {"device": DEVICE}
    for label, size in (("2d", (2, 3)), ("0d", ()), ("empty", (0, 3))):
        sized = [a for a in required if a.name == "size"]
        args = tuple(size if a.name == "size" else _value(a) for a in required)
        if sized or label == "2d":
            yield Sample(label, args, on)
    args = tuple((3,) if a.name == "size" else _value(a) for a in required)
    yield Sample("float64", args, {**on, "dtype": float64})
    if d.base_name not in ("rand", "randn"):
        yield Sample("int64", args, {**on, "dtype": int64})


def _plain(required: list[Argument]) -> Iterator[Sample]:
    """One call with a value for each required argument."""
    values = {a.name: _value(a) for a in required}
    if None not in values.values():
        options = {a.name: values.pop(a.name) for a in required if a.kwarg_only}
        yield Sample("plain", tuple(values.values()), options)


def _value(a: Argument) -> Any:
    """Some value for an argument, or None if its type is not known here."""
    known: dict[str, Any] = {
        "Tensor": [tensor(2, 3), tensor(2, 3)] if a.is_list else tensor(2, 3),
        "int": (2, 3) if a.is_list else 2,
        "Scalar": 2,
        "float": 0.5,
        "bool": True,
        "ScalarType": float64,
        "Device": DEVICE,
    }
    if a.name.startswith(("dim", "axis")):  # dim, dims, dim0, axis0
        at = 1 if a.name.endswith("1") else 0
        return (at,) if a.is_list else at
    return known.get(a.type)
