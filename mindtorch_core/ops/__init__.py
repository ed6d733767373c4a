"""The ops: one definition each, by family. Importing this package defines them all."""

from . import (
    copying,
    factory,
    functions,
    indexing,
    linalg,
    nn,
    pointwise,
    reduction,
    selection,
    views,
)
from .define import FUNCTIONS, NONDIFF, OpDef, TensorSpec, definitions, function, op

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "OpDef",
    "TensorSpec",
    "copying",
    "definitions",
    "factory",
    "functions",
    "function",
    "indexing",
    "linalg",
    "nn",
    "op",
    "pointwise",
    "reduction",
    "selection",
    "views",
]
