"""Activations and gradients of several arrays, or of halves of one, in one pass over memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_core.backend import wrap_dim

from ..arrays import NUMPY_OF, WIDER, converted, quietly, room, wrap
from ..compiled import computed
from ..memory_pool import POOL
from ..native.quick import MANY, exponential, pays
from ..register import kernel, rule_of

__all__: list[str] = []

Compute = Callable[..., Sequence[Any]]


def _write(name: str, compute: Compute, d: Any, arrays: list[Any], out: list[Any]) -> None:
    """Write what a function gives of floating arrays of a dtype, which computes in float32 or wider."""
    wide = NUMPY_OF[WIDER.get(d, d)]

    def trace(tracer: Any, *given: Any) -> list[Any]:
        if few:
            tracer.size = 1
        made = compute(*(a.astype(wide, copy=False) for a in given))
        return [m.astype(out[0].dtype, copy=False) for m in made]

    few = arrays[0].size < MANY
    if arrays[0].size and computed((name, few), trace, arrays, out):
        return
    given = [converted(a, WIDER[d]) for a in arrays] if d in WIDER else arrays
    for target, made in zip(out, quietly(compute, *given), strict=True):
        quietly(np.copyto, target, made, "unsafe")


def _made(spec: Any, d: Any) -> Any:
    """A fresh tensor of the shape and layout that a rule gives."""
    if spec.strides is None:
        return wrap(POOL.empty(spec.shape, d), spec.dtype)
    data = room(spec.shape, spec.strides, d)
    made = wrap(data, spec.dtype)
    if not data.size:  # whose strides NumPy does not keep
        made.raw_layout = spec.strides, 0
    return made


def _exp(a: Any) -> Any:
    return exponential(a) if pays(a) else np.exp(a)


# ---- gates --------------------------------------------------------------------------------------


def _halves(a: Any, dim: int) -> list[Any]:
    """The halves of an array along a dimension."""
    dim = wrap_dim(dim, a.ndim)
    n, before = a.shape[dim] // 2, (slice(None),) * dim
    return [a[(*before, slice(n))], a[(*before, slice(n, None))]]


def _glu(first: Any, second: Any) -> list[Any]:
    return [np.divide(first, np.add(_exp(np.negative(second)), second.dtype.type(1)))]


def _glu_slopes(first: Any, second: Any, g: Any) -> list[Any]:
    one = second.dtype.type(1)
    s = np.reciprocal(np.add(_exp(np.negative(second)), one))
    passed = np.multiply(g, s)
    return [passed, np.multiply(np.multiply(passed, np.subtract(one, s)), first)]


@kernel("glu")
def glu(self: Any, dim: int = -1) -> Any:
    """The first half times the sigmoid of the second."""
    made = _made(rule_of("glu")(self, dim), self.raw_data.dtype)
    _write("glu", _glu, made.raw_dtype, _halves(self.raw_data, dim), [made.raw_data])
    return made


@kernel("glu_backward")
def glu_backward(grad_output: Any, self: Any, dim: int) -> Any:
    """Gradients of the halves, beside each other."""
    made = _made(rule_of("glu_backward")(grad_output, self, dim), self.raw_data.dtype)
    arrays = [*_halves(self.raw_data, dim), grad_output.raw_data]
    _write("glu_backward", _glu_slopes, made.raw_dtype, arrays, _halves(made.raw_data, dim))
    return made


# ---- slopes that are learnt ---------------------------------------------------------------------


def _prelu(a: Any, w: Any) -> list[Any]:
    return [np.where(np.greater(a, a.dtype.type(0)), a, np.multiply(a, w))]


def _prelu_slopes(a: Any, w: Any, g: Any) -> list[Any]:
    zero = a.dtype.type(0)
    positive = np.greater(a, zero)
    return [
        np.where(positive, g, np.multiply(g, w)),
        np.where(positive, zero, np.multiply(g, a)),
    ]


@kernel("_prelu_kernel")
def prelu_kernel(self: Any, weight: Any) -> Any:
    """Negative elements times the weight at their place."""
    arrays = [self.raw_data, weight.raw_data]
    made = _made(rule_of("_prelu_kernel")(self, weight), arrays[0].dtype)
    _write("_prelu_kernel", _prelu, made.raw_dtype, arrays, [made.raw_data])
    return made


@kernel("_prelu_kernel_backward")
def prelu_kernel_backward(grad_output: Any, self: Any, weight: Any) -> tuple[Any, Any]:
    """Gradients of input and weight, of their common shape."""
    arrays = [t.raw_data for t in (self, weight, grad_output)]
    specs = rule_of("_prelu_kernel_backward")(grad_output, self, weight)
    first, second = (_made(spec, arrays[0].dtype) for spec in specs)
    out = [first.raw_data, second.raw_data]
    _write("_prelu_kernel_backward", _prelu_slopes, specs[0].dtype, arrays, out)
    return first, second
