"""The ops: one definition each, by family.

Importing this package defines those that most programs use. The modules of the others are imported
when one of their names is first asked for (`homes`, `mindtorch_core.dispatch.on_demand`). All
overloads of one name stand in one module.
"""

from ..dispatch.functions import FUNCTIONS, function
from ..dispatch.opdef import NONDIFF, OpDef, TensorSpec
from ..dispatch.registry import registry
from ..opdefs.define import definitions, op
from ..opdefs.packets import show_method
from . import linalg, nn
from .arranging import joining
from .creation import copying, factory, resizing
from .elementwise import arithmetic, closeness, comparison, functions, selection
from .homes import HOMES
from .indexing import gathering, index
from .linalg import products
from .nn import dropout, losses, softmax
from .random import distributions, factories
from .reductions import reduction
from .views import parts, reshaping

__all__ = [
    "FUNCTIONS",
    "NONDIFF",
    "OpDef",
    "TensorSpec",
    "arithmetic",
    "closeness",
    "comparison",
    "copying",
    "definitions",
    "distributions",
    "dropout",
    "factories",
    "factory",
    "function",
    "functions",
    "gathering",
    "index",
    "joining",
    "linalg",
    "losses",
    "nn",
    "op",
    "parts",
    "products",
    "reduction",
    "reshaping",
    "resizing",
    "selection",
    "softmax",
]

registry.on_demand.listed(__name__, HOMES)
for _name in registry.on_demand.waiting("Tensor"):
    show_method(_name)
