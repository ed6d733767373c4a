"""``torch.func``: functions of functions: gradients, Jacobians, and many samples at once."""

import sys
from typing import TYPE_CHECKING

from ..dispatch.nearest import lacking
from .batched import debug_unwrap
from .jacobians import hessian, jacfwd, jacrev
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .tangents import jvp, linearize
from .transforms import functionalize, grad, grad_and_value, vjp
from .vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = lacking(sys.modules[__name__])
