"""The ops: one definition each, by family. Importing this package defines them all."""

from . import (
    closeness,
    copying,
    factory,
    functions,
    indexing,
    joining,
    linalg,
    nn,
    parts,
    pointwise,
    reduction,
    resizing,
    selection,
    views,
)
from .define import FUNCTIONS, NONDIFF, OpDef, TensorSpec, definitions, function, op

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "OpDef",
    "TensorSpec",
    "closeness",
    "copying",
    "definitions",
    "factory",
    "function",
    "functions",
    "indexing",
    "joining",
    "linalg",
    "nn",
    "op",
    "parts",
    "pointwise",
    "reduction",
    "resizing",
    "selection",
    "views",
]
