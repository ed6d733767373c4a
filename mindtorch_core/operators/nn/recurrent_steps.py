"""All steps of one direction of a recurrent layer as one op with one gradient.

The inputs have met their weights before. A step continues as many rows as its sequences are long enough,
the first ones: so states are kept for all, and steps replace the first rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...dispatch.functions import fn, fn_nn
from ...dispatch.keys import BACKENDS, FORWARD, is_grad_enabled
from ...dispatch.opdef import TensorSpec
from ...dispatch.registry import registry
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ...values.memory_formats import contiguous_format
from ...values.promotion import WIDER
from ...values.shapes import show
from ..elementwise.composed import by_name

# By number, as PyTorch numbers them: columns of the weight, of what a step keeps for the gradient, and
# how many arrays of the features' width it keeps beside.
MODES: Final = ("rnn_relu", "rnn_tanh", "lstm", "gru")
GATES: Final = (1, 1, 4, 3)
KEPT: Final = (1, 1, 4, 4)
PAST: Final = (1, 1, 3, 1)
_LSTM: Final = MODES.index("lstm")
_GRU: Final = MODES.index("gru")
_NAME: Final = "_recurrent_steps"


def served(gates: Tensor, states: Sequence[Tensor], w_hh: Tensor, b_hh: Tensor | None) -> bool:
    """Whether the backend computes all steps at once, and operands are of one dtype."""
    d = gates._dtype
    others = (*states, w_hh, *(() if b_hh is None else (b_hh,)))
    return (
        d.category == FLOATING
        and d not in WIDER
        and all(t._dtype is d and t._device is gates._device for t in others)
        and all(0 not in t._shape for t in (gates, *others))
        and any(gates._keys & BACKENDS & at for at in registry.entry(_NAME).kernels)
    )


def all_steps(
    mode: str, gates: Any, states: Sequence[Any], w_hh: Any, b_hh: Any, sizes: Sequence[int], *,
    reverse: bool,
) -> tuple[Any, tuple[Any, ...]]:  # fmt: skip
    """Outputs of all rows, and the last states, by the one op."""
    number = MODES.index(mode)
    hx, cx = states if number == _LSTM else (states[0], None)
    operands = [t for t in (gates, hx, cx, w_hh, b_hh) if t is not None]
    recorded = is_grad_enabled()
    keep = any((recorded and t.requires_grad) or t._keys & FORWARD for t in operands)
    out, hy, cy, _, _ = by_name(_NAME)(gates, hx, cx, w_hh, b_hh, sizes, reverse, number, keep)
    return out, (hy, cy) if number == _LSTM else (hy,)


def _places(sizes: Sequence[int], *, reverse: bool) -> list[tuple[int, int]]:
    """First row and number of rows of the steps, in their order."""
    made, at = [], 0
    for n in sizes:
        made.append((at, n))
        at += n
    return made[::-1] if reverse else made


def _rule(
    gates: Tensor, hx: Tensor, cx: Tensor | None, w_hh: Tensor, b_hh: Tensor | None,
    batch_sizes: Sequence[int], reverse: bool, mode: int, keep: bool,
) -> tuple[TensorSpec, ...]:  # fmt: skip
    if not 0 <= mode < len(MODES):
        raise RuntimeError(f"expected a mode from 0 to {len(MODES) - 1}, got {mode}")
    d, state, columns = gates._dtype, hx._shape, GATES[mode] * hx._shape[-1]
    given: list[tuple[str, Tensor, Any]] = [
        ("w_hh", w_hh, (columns, state[-1])),
        ("gates", gates, (sum(batch_sizes), columns)),
    ]
    given += [("cx", cx, state)] if cx is not None else []
    given += [("b_hh", b_hh, (columns,))] if b_hh is not None else []
    for name, t, shape in given:
        if t._shape != shape or t._dtype is not d or hx._dtype is not d:
            raise RuntimeError(
                f"expected {name} of shape {show(shape)} and states of its dtype, got "
                f"{show(t._shape)} of {t._dtype} and {hx._dtype}"
            )
    if (cx is None) is (mode == _LSTM) or (b_hh is not None and mode != _GRU):
        raise RuntimeError("expected a cell state for LSTM alone, and a bias of its own for GRU")
    if any(n > state[0] or n < 0 for n in batch_sizes) or list(batch_sizes) != sorted(
        batch_sizes, reverse=True
    ):
        raise RuntimeError(f"expected batch sizes from {state[0]} down, got {list(batch_sizes)}")
    rows = gates._shape[0]
    nothing = TensorSpec((0,), d)
    return (
        TensorSpec((rows, state[1]), d),
        TensorSpec(state, d),
        nothing if cx is None else TensorSpec(state, d),
        TensorSpec((rows, KEPT[mode] * state[1]), d) if keep else nothing,
        TensorSpec((PAST[mode], rows, state[1]), d) if keep else nothing,
    )


# ---- made of other ops ---------------------------------------------------------------------------


def _step(mode: int, x: Any, h: Any, c: Any, w: Any, b: Any) -> tuple[tuple[Any, ...], Any, Any]:
    """States after a step; what it keeps for its gradient, and what of the past."""
    hidden = fn_nn.linear(h, w, b)
    if mode == _LSTM:
        i, f, g, o = (x + hidden).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        after = f * c + i * g
        seen = after.tanh()
        return (o * seen, after), (i, f, g, o), (h, c, seen)
    if mode == _GRU:
        h_r, h_z, h_n = hidden.chunk(3, 1)
        x_r, x_z, x_n = x.chunk(3, 1)
        r, z = (x_r + h_r).sigmoid(), (x_z + h_z).sigmoid()
        n = (x_n + r * h_n).tanh()
        return (n + z * (h - n),), (r, z, n, h_n), (h,)
    made = (x + hidden).tanh() if MODES[mode] == "rnn_tanh" else (x + hidden).relu()
    return (made,), (made,), (h,)


def _step_backward(mode: int, dh: Any, dc: Any, kept: Any, past: Any) -> tuple[Any, Any, Any, Any]:
    """Gradients of a step's inputs' and states' parts of the gates, and what states get besides."""
    if mode == _LSTM:
        (i, f, g, o), (_, c, seen) = kept, past
        of_cell = dc + dh * o * (1 - seen * seen)
        of_gates = fn.cat(
            (
                of_cell * g * i * (1 - i), of_cell * c * f * (1 - f), of_cell * i * (1 - g * g),
                dh * seen * o * (1 - o),
            ), 1,
        )  # fmt: skip
        return of_gates, of_gates, None, of_cell * f
    if mode == _GRU:
        (r, z, n, h_n), (h,) = kept, past
        of_n = dh * (1 - z) * (1 - n * n)
        others = (of_n * h_n * r * (1 - r), dh * (h - n) * z * (1 - z))
        return fn.cat((*others, of_n), 1), fn.cat((*others, of_n * r), 1), dh * z, None
    (made,) = kept
    of_gates = dh * (1 - made * made) if MODES[mode] == "rnn_tanh" else dh * (made > 0)
    return of_gates, of_gates, None, None


def _replaced(state: Any, part: Any) -> Any:
    """A state with other first rows."""
    n, rows = part._shape[0], state._shape[0]
    return part if n == rows else fn.cat((part, state.narrow(0, n, rows - n)))


def _in_order(parts: dict[int, Any]) -> list[Any]:
    return [parts[at] for at in sorted(parts)]


def _walked(
    gates: Any, hx: Any, cx: Any, w: Any, b: Any, sizes: Sequence[int], reverse: bool, mode: int
) -> tuple[Any, Any, Any, dict[int, Any], dict[int, Any]]:
    """Output, last states, and what steps keep, by their first rows."""
    out, kept, past = {}, {}, {}
    for at, n in _places(sizes, reverse=reverse):
        if not n:
            continue
        h, c = (None if t is None else t.narrow(0, 0, n) for t in (hx, cx))
        after, kept[at], past[at] = _step(mode, gates.narrow(0, at, n), h, c, w, b)
        out[at] = after[0]
        hx = _replaced(hx, after[0])
        cx = _replaced(cx, after[1]) if mode == _LSTM else cx
    whole = fn.cat(_in_order(out)) if out else gates.narrow(1, 0, hx._shape[1])
    return whole, hx, cx, kept, past


def _composed(
    gates: Any, hx: Any, cx: Any, w_hh: Any, b_hh: Any, batch_sizes: Sequence[int], reverse: bool,
    mode: int, keep: bool,
) -> tuple[Any, ...]:  # fmt: skip
    specs = _rule(gates, hx, cx, w_hh, b_hh, batch_sizes, reverse, mode, keep)
    out, hy, cy, kept, past = _walked(gates, hx, cx, w_hh, b_hh, batch_sizes, reverse, mode)
    cells = gates.new_empty((0,)) if cy is None else _own(cy)
    if keep and kept:
        work = fn.cat([fn.cat(each, 1) for each in _in_order(kept)])
        before = fn.stack([fn.cat(each) for each in zip(*_in_order(past), strict=True)])
    else:
        work, before = (gates.new_empty(spec.shape) for spec in specs[3:])
    return _own(out), _own(hy), cells, work.contiguous(), before.contiguous()


def _own(t: Any) -> Any:
    """A row-major copy."""
    return t.clone(memory_format=contiguous_format)


def _sliced(
    work: Any, past: Any, sizes: Sequence[int], mode: int
) -> Iterator[tuple[int, tuple[Any, ...], tuple[Any, ...]]]:
    """What each step kept."""
    for at, n in _places(sizes, reverse=False):
        before = (past.select(0, i).narrow(0, at, n) for i in range(PAST[mode]))
        yield at, work.narrow(0, at, n).chunk(KEPT[mode], 1), tuple(before)


def _walked_back(
    grads: Sequence[Any], w: Any, kept: dict[int, Any], past: dict[int, Any],
    sizes: Sequence[int], reverse: bool, mode: int, has_bias: bool,
) -> tuple[Any, ...]:  # fmt: skip
    of_out, of_h, of_c = grads
    rows = max(sizes)
    shape = (rows, w._shape[1])
    of_h = w.new_zeros(shape) if of_h is None else of_h
    of_c = w.new_zeros(shape) if of_c is None and mode == _LSTM else of_c
    inputs, hidden = {}, {}
    for at, n in reversed(_places(sizes, reverse=reverse)):
        if not n:
            continue
        dh, dc = (None if t is None else t.narrow(0, 0, n) for t in (of_h, of_c))
        if of_out is not None:
            dh = dh + of_out.narrow(0, at, n)
        inputs[at], hidden[at], besides, of_cell = _step_backward(mode, dh, dc, kept[at], past[at])
        before = hidden[at].matmul(w)
        of_h = _replaced(of_h, before if besides is None else before + besides)
        of_c = _replaced(of_c, of_cell) if mode == _LSTM else None
    gates, upon = fn.cat(_in_order(inputs)), fn.cat(_in_order(hidden))
    weight = upon.transpose(0, 1).matmul(fn.cat([p[0] for p in _in_order(past)]))
    return gates, of_h, of_c, weight, upon.sum(0) if has_bias else None


def _backward_rule(
    grad_output: Any, grad_hy: Any, grad_cy: Any, w_hh: Tensor, workspace: Tensor, past: Tensor,
    batch_sizes: Sequence[int], reverse: bool, mode: int, has_bias: bool,
) -> tuple[TensorSpec | None, ...]:  # fmt: skip
    d, (columns, width) = w_hh._dtype, w_hh._shape
    state = TensorSpec((max(batch_sizes, default=0), width), d)
    return (
        TensorSpec((workspace._shape[0], columns), d),
        state,
        state if mode == _LSTM else None,
        TensorSpec(w_hh._shape, d),
        TensorSpec((columns,), d) if has_bias else None,
    )


def _backward(
    grad_output: Any, grad_hy: Any, grad_cy: Any, w_hh: Any, workspace: Any, past: Any,
    batch_sizes: Sequence[int], reverse: bool, mode: int, has_bias: bool,
) -> tuple[Any, ...]:  # fmt: skip
    kept, before = {}, {}
    for at, own, earlier in _sliced(workspace, past, batch_sizes, mode):
        kept[at], before[at] = own, earlier
    grads = grad_output, grad_hy, grad_cy if mode == _LSTM else None
    made = _walked_back(grads, w_hh, kept, before, batch_sizes, reverse, mode, has_bias)
    return tuple(None if t is None else _own(t) for t in made)


def _grads(
    grads: Any, gates: Any, hx: Any, cx: Any, w_hh: Any, b_hh: Any, batch_sizes: Any,
    reverse: Any, mode: Any, keep: Any, result3: Any, result4: Any, wanted: Any,
) -> Any:  # fmt: skip
    """Gradients of all arguments; for second ones the steps are computed anew."""
    upon = grads[0], grads[1], grads[2] if mode == _LSTM else None
    if not keep or is_grad_enabled():
        *_, kept, past = _walked(gates, hx, cx, w_hh, b_hh, batch_sizes, reverse, mode)
        return _walked_back(upon, w_hh, kept, past, batch_sizes, reverse, mode, b_hh is not None)
    return by_name(f"{_NAME}_backward")(
        *upon, w_hh, result3, result4, batch_sizes, reverse, mode, b_hh is not None
    )


_ARGUMENTS: Final[Iterable[str]] = ("gates", "hx", "cx", "w_hh", "b_hh")
op(
    f"{_NAME}(Tensor gates, Tensor hx, Tensor? cx, Tensor w_hh, Tensor? b_hh, int[] batch_sizes, bool "
    f"reverse, int mode, bool keep) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    doc="Steps of a recurrent layer after the inputs' products: outputs, last states, and what the "
    "gradient needs. The mode is 0 for relu, 1 for tanh, 2 for LSTM, 3 for GRU.",
    rule=_rule,
    grad=dict.fromkeys(_ARGUMENTS, _grads),
    output_differentiability=(True, True, True, False, False),
    decomposition=_composed,
    namespaces=(),
)
op(
    f"{_NAME}_backward(Tensor? grad_output, Tensor? grad_hy, Tensor? grad_cy, Tensor w_hh, Tensor "
    f"workspace, Tensor past, int[] batch_sizes, bool reverse, int mode, bool has_bias) -> (Tensor, "
    f"Tensor, Tensor, Tensor, Tensor)",
    doc="Gradients of `_recurrent_steps` for gates, states, weight and, where there is one, bias.",
    rule=_backward_rule,
    decomposition=_backward,
    namespaces=(),
)
