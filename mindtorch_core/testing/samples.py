"""Sample calls of every op, derived from its definition: schema, tags and name.

Element-wise ops, reductions and factories get their samples from what they are. Where arguments need
to fit together, samples stand beside the rows, in the ``samples`` module of the op's family in
`mindtorch_core.operators`; those modules are loaded here, and by nothing else. An op that is defined
later, here or by a plugin, gets a plain sample from its schema, or its own by `sampler`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from .. import operators
from ..dispatch.opdef import OpDef
from ..dispatch.schema import Argument, OperatorSchema, parse_schema
from ..nn import functional as _functional  # noqa: F401  (defines functions)
from ..operators.family_samples import FamilySamples
from ..operators.recipes import DEVICE, Sample, TensorRecipe, tensor
from ..values.dtypes import float64, int64

__all__ = ["CALLS", "FAMILIES", "WITHOUT_SAMPLES", "merged", "named", "sampler", "samples"]

Sampler = Callable[[OpDef], Iterable[Sample]]

# What each family of ops is tested with, by the family's name.
FAMILIES: Final[Mapping[str, FamilySamples]] = {
    found.name: importlib.import_module(f"{operators.__name__}.{found.name}.samples").SAMPLES
    for found in pkgutil.iter_modules(operators.__path__)
    if found.ispkg
}


def named(part: str) -> frozenset[str]:
    """What all families say in one of the lists of names of `FamilySamples`, such as ``"few"``."""
    return frozenset(name for family in FAMILIES.values() for name in getattr(family, part))


def merged(part: str) -> dict[str, Any]:
    """What all families say in one of the mappings of `FamilySamples`, such as ``"edges"``."""
    return {
        name: said for family in FAMILIES.values() for name, said in getattr(family, part).items()
    }


# Ops and functions that no sample exists for, each with the reason.
WITHOUT_SAMPLES: Final[dict[str, str]] = merged("untested")

# By the name of the op.
CALLS: Final[dict[str, tuple[Sample, ...]]] = merged("calls")
_DOMAINS: Final[dict[str, tuple[tuple[float, float], ...]]] = merged("domains")
_CHOSEN: Final[dict[str, Sampler]] = {}
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
    if base.name in CALLS:
        return list(CALLS[base.name])
    return list(_by_schema(base))


def _by_schema(d: OpDef) -> Iterator[Sample]:
    schema = parse_schema(d.schema)
    required = [a for a in schema.arguments if not a.has_default]
    tensors = [a for a in required if a.type == "Tensor" and not a.is_list]
    if "reduction" in d.tags:
        return _reduction(d.base_name, schema)
    if tensors == required and len(tensors) == 1:
        return _unary(d)
    if tensors == required and len(tensors) == 2 and (d.operands.numbers or "pointwise" in d.tags):
        return _binary(d, schema)
    if not tensors and any(a.name == "device" for a in schema.keyword_only):
        return _factory(d, required)
    return _plain(required)


# ---- element-wise -------------------------------------------------------------------------------


def _dtypes(d: OpDef) -> tuple[str, list[str]]:
    """The dtype an op is mostly sampled in, and others that it takes."""
    wholes = ["int64"] if "f" in d.operands.kinds else ["int64", "int32", "uint8"]
    of_kind = {
        "f": ["float32", "float64", "bfloat16"],
        "i": wholes,
        "b": ["bool"],
        "c": ["complex64"],
    }
    found = [name for kind, names in of_kind.items() if kind in d.operands.kinds for name in names]
    return found[0], found[1:]


def _drawn(name: str, *shape: int, dtype: str, position: int = 0) -> TensorRecipe:
    """A recipe for an operand within an op's domain."""
    domain = _DOMAINS.get(name, ())
    low, high = domain[position] if position < len(domain) else (-3.0, 3.0)
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
        return Sample(label, (first, _drawn(name, *b, dtype=kinds[1], position=1)))

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
    if d.operands.numbers:
        yield Sample("number", (_drawn(name, 2, 3, dtype=main), 2))
        if main == "float32" and "int64" in others:
            yield Sample("float_number", (_drawn(name, 2, 3, dtype="int64"), 1.5))
    options = {a.name for a in schema.keyword_only}
    if "alpha" in options:
        yield Sample("alpha", (tensor(2, 3), tensor(3)), {"alpha": 2})
        number = tensor(2, 3, dtype="int64")
        yield Sample("alpha_int64", (number, number), {"alpha": -3})
    if "rounding_mode" in options:
        for mode in ("floor", "trunc"):
            operands = _drawn(name, 2, 3, dtype=main), _drawn(name, 3, dtype=main, position=1)
            yield Sample(mode, operands, {"rounding_mode": mode})
            whole = _drawn(name, 5, dtype="int64"), _drawn(name, 5, dtype="int64", position=1)
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
