"""The ops: one definition each, by family.

Importing this package defines those that most programs use. The others are defined together, when a
name is asked for that is not known yet (`mindtorch_core.dispatch.rest`). All overloads of one name are
defined at the same time.
"""

import importlib

from ..dispatch.registry import registry
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
from .linalg import products
from .nn import dropout, losses, softmax

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "OpDef",
    "TensorSpec",
    "closeness",
    "copying",
    "definitions",
    "dropout",
    "factory",
    "function",
    "functions",
    "indexing",
    "joining",
    "linalg",
    "losses",
    "nn",
    "op",
    "parts",
    "pointwise",
    "products",
    "reduction",
    "resizing",
    "selection",
    "softmax",
    "views",
]

# Modules of this package whose ops are defined on demand.
_REST: tuple[str, ...] = ()


def _define_rest() -> None:
    for name in _REST:
        importlib.import_module(f"{__name__}.{name}")


registry.rest.defined_by(_define_rest)
