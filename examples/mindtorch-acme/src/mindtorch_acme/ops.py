"""An op of Acme's own, ``torch.ops.acme.softclip``: what it is, once, and Acme's kernel for it.

From here on it records gradients, is deferred by pipelines, works on meta tensors, and is in
``mindtorch explain`` and in the conformance kit. The decomposition makes it run on other devices too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.backend import op, pointwise, to_floating
from mindtorch_core.dispatch.registry import registry

from .kernels import empty, queue

__all__ = ["define_ops"]


def define_ops(key: Any) -> None:
    """Define the op; unloading the backend takes it back."""
    defined = op(
        "acme::softclip(Tensor self, float bound=1.0) -> Tensor",
        doc="Elements pressed smoothly into ``(-bound, bound)``.",
        rule=pointwise(to_floating, count=1),
        grad={"self": lambda g, result, bound: g * (1 - (result / bound).square()).conj()},
        decomposition=lambda self, bound=1.0: (self / bound).tanh() * bound,
        namespaces=(),  # in torch.ops.acme only: not a method, and not torch.softclip
    )
    rule: Any = defined.rule

    def softclip(self: Any, bound: float = 1.0) -> Any:
        out = empty(rule(self, bound), self)
        return queue("softclip", out, lambda a: np.tanh(a / bound) * bound, self)

    registry.register_kernel("acme::softclip", key, softclip)
