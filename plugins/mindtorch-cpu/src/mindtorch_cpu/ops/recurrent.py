"""A step of LSTM after its matrix products, and its gradient: few passes over small blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import NUMPY_OF, QUIET, WIDER, wrap
from ..register import composition_of, kernel, rule_of

_cell: Any = composition_of("_thnn_fused_lstm_cell")
_cell_backward: Any = composition_of("_thnn_fused_lstm_cell_backward_impl")


def _served(*tensors: Any) -> bool:
    """Whether tensors are of float32 or float64, all the same."""
    d = tensors[0].raw_dtype
    same = all(t is None or t.raw_dtype is d for t in tensors)
    return same and d not in WIDER and NUMPY_OF[d].kind == "f"


def _sigmoid(x: Any) -> None:
    np.multiply(x, -1, x)  # NumPy 2.4's negative skips elements of outputs with some strides
    np.exp(x, x)
    np.add(x, 1, x)
    np.reciprocal(x, x)


def _activate(gates: Any, cell: Any) -> tuple[Any, Any]:
    """Activate gates in place; output and cell state."""
    width = cell.shape[1]
    _sigmoid(gates[:, : 2 * width])
    _sigmoid(gates[:, 3 * width :])
    fresh = gates[:, 2 * width : 3 * width]
    np.tanh(fresh, fresh)
    after = gates[:, width : 2 * width] * cell
    out = gates[:, :width] * fresh
    np.add(after, out, after)
    np.tanh(after, out)
    np.multiply(out, gates[:, 3 * width :], out)
    return out, after


@kernel("_thnn_fused_lstm_cell")
def lstm_cell(
    input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> Any:
    """Sums of the gates, activated where they are."""
    tensors = (input_gates, hidden_gates, cx, input_bias, hidden_bias)
    rule_of("_thnn_fused_lstm_cell")(*tensors)
    if not _served(*tensors):
        return _cell(*tensors)
    gates = np.empty(input_gates.raw_shape, NUMPY_OF[cx.raw_dtype])
    np.add(input_gates.raw_data, hidden_gates.raw_data, gates)
    for bias in (input_bias, hidden_bias):
        if bias is not None:
            np.add(gates, bias.raw_data, gates)
    made = (*QUIET.run(_activate, gates, cx.raw_data), gates)
    return tuple(wrap(np.ascontiguousarray(a), cx.raw_dtype) for a in made)


def _gradient(of_output: Any, of_cell: Any, cx: Any, cy: Any, work: Any) -> tuple[Any, Any]:
    """Gradients of the gates and of the cell state before; either gradient may be None."""
    width = cx.shape[1]
    i, f, g, o = (work[:, at : at + width] for at in range(0, 4 * width, width))
    found = np.subtract(1, work, dtype=work.dtype, order="C")
    np.multiply(found, work, found)  # of sigmoids: s * (1 - s)
    by_i, by_f, by_g, by_o = (found[:, at : at + width] for at in range(0, 4 * width, width))
    if of_output is None:
        by_o.fill(0)
        total = np.array(of_cell)
    else:
        seen = np.tanh(cy)
        np.multiply(by_o, seen, by_o)
        np.multiply(by_o, of_output, by_o)
        np.multiply(seen, seen, seen)
        np.subtract(1, seen, seen)
        np.multiply(seen, o, seen)
        total = np.multiply(seen, of_output, seen)
        if of_cell is not None:
            np.add(total, of_cell, total)
    np.multiply(g, g, by_g)
    np.subtract(1, by_g, by_g)
    for gate, factor in ((by_i, g), (by_f, cx), (by_g, i)):
        np.multiply(gate, factor, gate)
        np.multiply(gate, total, gate)
    return found, np.multiply(total, f, total)


@kernel("_thnn_fused_lstm_cell_backward_impl")
def lstm_cell_backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool
) -> Any:
    """From the gates as they were used."""
    tensors = (cx, cy, workspace, grad_hy, grad_cy)
    if not _served(*tensors) or (grad_hy is None and grad_cy is None):
        return _cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias)
    of_output, of_cell = (None if t is None else t.raw_data for t in (grad_hy, grad_cy))
    states = cx.raw_data, cy.raw_data, workspace.raw_data
    gates, cell = QUIET.run(_gradient, of_output, of_cell, *states)
    d = cx.raw_dtype
    return (
        wrap(gates, d),
        wrap(np.ascontiguousarray(cell), d),
        wrap(gates.sum(0), d) if has_bias else None,
    )
