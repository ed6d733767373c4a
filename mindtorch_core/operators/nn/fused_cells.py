"""What a step of LSTM does after its matrix products, as one op with one gradient."""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.keys import is_grad_enabled
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.shapes import show
from ..elementwise.composed import by_name

Three = tuple[Any, Any, Any]
Specs = tuple[TensorSpec, TensorSpec, TensorSpec]

GATES: Final = ("input_gates", "hidden_gates", "cx", "input_bias", "hidden_bias")


def _cell_rule(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Any = None,
    hidden_bias: Any = None,
) -> Specs:
    gates, cell = input_gates._shape, cx._shape
    if len(gates) != 2 or hidden_gates._shape != gates or (gates[0], 4 * cell[-1]) != (
        cell[0], gates[1],
    ) or len(cell) != 2:  # fmt: skip
        raise RuntimeError(
            f"expected gates (batch, 4 * features) and a cell state (batch, features), got "
            f"{show(gates)}, {show(hidden_gates._shape)} and {show(cell)}"
        )
    for bias in (input_bias, hidden_bias):
        if bias is not None and bias._shape != gates[1:]:
            raise RuntimeError(
                f"expected a bias of shape {show(gates[1:])}, got {show(bias._shape)}"
            )
    if any(t._dtype is not input_gates._dtype for t in (hidden_gates, cx)):
        raise RuntimeError(
            f"expected gates and cell state of one dtype, got {input_gates._dtype}, "
            f"{hidden_gates._dtype} and {cx._dtype}"
        )
    d = input_gates._dtype
    return TensorSpec(cell, d), TensorSpec(cell, d), TensorSpec(gates, d)


def _activated(
    input_gates: Any, hidden_gates: Any, input_bias: Any, hidden_bias: Any
) -> tuple[Any, Any, Any, Any]:
    total = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        total = total if bias is None else total + bias
    i, f, g, o = total.chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def cell_step(
    input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> Three:
    """Output, cell state and activated gates, made of other ops."""
    i, f, g, o = _activated(input_gates, hidden_gates, input_bias, hidden_bias)
    cy = (f * cx + i * g).contiguous()
    return (o * cy.tanh()).contiguous(), cy, fn.cat((i, f, g, o), 1)


def _backward_rule(
    grad_hy: Any, grad_cy: Any, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[TensorSpec, TensorSpec, TensorSpec | None]:
    d = workspace._dtype
    bias = TensorSpec(workspace._shape[1:], d) if has_bias else None
    return TensorSpec(workspace._shape, d), TensorSpec(cx._shape, d), bias


def _gradient(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, activated: Any, has_bias: bool
) -> Three:
    i, f, g, o = activated
    seen = cy.tanh()
    of_cell = fn.zeros_like(cy) if grad_cy is None else grad_cy
    of_output = fn.zeros_like(o)
    if grad_hy is not None:
        of_cell = of_cell + grad_hy * o * (1 - seen * seen)
        of_output = grad_hy * seen * o * (1 - o)
    of_input = of_cell * g * i * (1 - i)
    of_forget = of_cell * cx * f * (1 - f)
    gates = fn.cat((of_input, of_forget, of_cell * i * (1 - g * g), of_output), 1)
    return gates, (of_cell * f).contiguous(), gates.sum(0) if has_bias else None


def _backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool
) -> Three:
    return _gradient(grad_hy, grad_cy, cx, cy, workspace.chunk(4, 1), has_bias)


def _grads(
    grads: Any, input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any, hidden_bias: Any,
    result1: Any, result2: Any, wanted: Any,
) -> Any:  # fmt: skip
    """Gradients of all arguments; for second ones the step is computed anew."""
    biased = input_bias is not None
    if is_grad_enabled():
        activated = _activated(input_gates, hidden_gates, input_bias, hidden_bias)
        i, f, g, _ = activated
        made = _gradient(grads[0], grads[1], cx, f * cx + i * g, activated, biased)
    else:
        made = by_name("_thnn_fused_lstm_cell_backward_impl")(
            grads[0], grads[1], cx, result1, result2, biased
        )
    gates, of_cell, bias = made
    return gates, gates, of_cell, bias, bias


op(
    "_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? "
    "input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor)",
    doc="Output and cell state of a step of LSTM, and the four gates as they were used.",
    rule=_cell_rule,
    grad=dict.fromkeys(GATES, _grads),
    output_differentiability=(True, True, False),
    decomposition=cell_step,
    namespaces=("torch",),
)
op(
    "_thnn_fused_lstm_cell_backward_impl(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, "
    "Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor)",
    doc="Gradients of `_thnn_fused_lstm_cell` for gates, cell state and, where there is one, bias.",
    rule=_backward_rule,
    decomposition=_backward,
    namespaces=(),
)
