"""Kernels of neural-network ops that are worth more than their decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindtorch_core.ops.define import definitions

from ..arrays import NUMPY_OF, WIDER, cast, quietly, wrap
from ..register import kernel

_RULES = {d.name: d.rule for d in definitions() if d.rule is not None}


def _prepared(name: str, self: Any, dim: int, dtype: Any) -> tuple[Any, Any]:
    """The input minus its maximum along the dimension, and the result's dtype."""
    rule = _RULES[name]
    spec = rule(self, dim, dtype) if rule is not None else None
    d = self._dtype if spec is None else spec.dtype
    a = cast(self, d)
    if d in WIDER:
        a = a.astype(np.float32)
    if not a.size or not a.ndim:
        return a - a, d
    return quietly(np.subtract, a, np.maximum.reduce(a, dim, keepdims=True)), d


def _finished(data: Any, d: Any) -> Any:
    return wrap(data.astype(NUMPY_OF[d]) if d in WIDER else data, d)


@kernel("softmax")
def softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Exponentials scaled to sum 1."""
    x, d = _prepared("softmax", self, dim, dtype)
    if not x.ndim:
        return wrap(np.ones((), NUMPY_OF[d]), d)
    quietly(np.exp, x, x)
    quietly(np.divide, x, np.add.reduce(x, dim, keepdims=True), x)
    return _finished(x, d)


@kernel("log_softmax")
def log_softmax(self: Any, dim: int, dtype: Any = None) -> Any:
    """Logarithm of the softmax."""
    x, d = _prepared("log_softmax", self, dim, dtype)
    if not x.ndim:
        return wrap(np.zeros((), NUMPY_OF[d]), d)
    total = np.add.reduce(quietly(np.exp, x), dim, keepdims=True)
    quietly(np.subtract, x, quietly(np.log, total), x)
    return _finished(x, d)
