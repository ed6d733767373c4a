"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

from ...dtypes import FLOATING
from ...shapes import wrap_dim
from ...tensor import Tensor
from ..define import TensorSpec, fn, op

_SOFTMAX = "Tensor self, int dim, ScalarType? dtype=None"


def _softmax_rule(self: Tensor, dim: int, dtype: Any = None) -> TensorSpec:
    wrap_dim(dim, len(self._shape))
    d = dtype or self._dtype
    if d.category != FLOATING:
        raise NotImplementedError(
            f"\"softmax_lastdim_kernel_impl\" not implemented for '{d.label}'"
        )
    return TensorSpec(self._shape, d)


def _shifted(self: Tensor, dim: int, dtype: Any) -> Tensor:
    _softmax_rule(self, dim, dtype)
    x = self if dtype is None else self.to(dtype)
    if 0 in x._shape:
        return x
    return x - x.amax(dim, True)


def _softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    e: Any = _shifted(self, dim, dtype).exp()
    return e / e.sum(dim, True)  # type: ignore[no-any-return]


def _log_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    x: Any = _shifted(self, dim, dtype)
    return x - x.exp().sum(dim, True).log()  # type: ignore[no-any-return]


op(
    f"softmax({_SOFTMAX}) -> Tensor",
    overloads=("int",),
    doc="Exponentials along a dimension, scaled to sum 1.",
    rule=_softmax_rule,
    grad={
        "self": lambda g, result, dim, self_dtype: _cast(
            fn.softmax_backward(g, result, dim), self_dtype
        )
    },
    decomposition=_softmax,
)
op(
    f"log_softmax({_SOFTMAX}) -> Tensor",
    overloads=("int",),
    doc="Logarithm of `softmax`, computed without overflow.",
    rule=_softmax_rule,
    grad={
        "self": lambda g, result, dim, self_dtype: _cast(
            fn.log_softmax_backward(g, result, dim), self_dtype
        )
    },
    decomposition=_log_softmax,
)


for _name, _formula in (
    ("softmax", lambda grad, output, dim: (grad - (grad * output).sum(dim, True)) * output),
    ("log_softmax", lambda grad, output, dim: grad - output.exp() * grad.sum(dim, True)),
):
    op(
        f"{_name}_backward(Tensor grad, Tensor output, int dim) -> Tensor",
        doc=f"Gradient of `{_name}` from its output.",
        rule=lambda grad, output, dim: TensorSpec(output._shape, output._dtype),
        decomposition=_formula,
        namespaces=("torch",),
    )


def _cast(g: Any, d: Any) -> Any:
    return g if g._dtype is d else g.to(d)


def _nn_softmax(name: str) -> Any:
    def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
        if dim is None:  # PyTorch's implicit choice: 0 for 0, 1 and 3 dimensions, else 1
            dim = 0 if len(input._shape) in (0, 1, 3) else 1
        return getattr(fn, name)(input, dim, dtype)  # type: ignore[no-any-return]

    return softmax


for _name in ("softmax", "log_softmax"):
    op(
        f"nn_{_name}(Tensor input, int? dim=None, ScalarType? dtype=None) -> Tensor",
        doc=f"`{_name}` along ``dim``.",
        decomposition=_nn_softmax(_name),
        namespaces=(f"nn:{_name}",),
    )
