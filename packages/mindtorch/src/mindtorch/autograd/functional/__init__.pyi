"""`mindtorch_core.autograd.functional` under PyTorch's path. Written by `docs/make.py`; do not edit."""

from mindtorch_core.autograd.functional import (
    hessian as hessian,
    hvp as hvp,
    jacobian as jacobian,
    jvp as jvp,
    vhp as vhp,
    vjp as vjp,
)
