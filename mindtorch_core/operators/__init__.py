"""The ops: one definition each, by family.

Their modules are imported when one of their names is first asked for (`homes`,
`mindtorch_core.dispatch.on_demand`). All overloads of one name stand in one module.
"""

from ..dispatch.functions import FUNCTIONS, function
from ..dispatch.opdef import NONDIFF, OpDef, TensorSpec
from ..dispatch.registry import registry
from ..opdefs.define import definitions, op
from ..opdefs.packets import show_method
from .homes import HOMES

__all__ = ["FUNCTIONS", "NONDIFF", "OpDef", "TensorSpec", "definitions", "function", "op"]

registry.on_demand.listed(__name__, HOMES)
for _name in registry.on_demand.waiting("Tensor"):
    show_method(_name)
