"""Recurrent layers: LSTM (Hochreiter and Schmidhuber, 1997), GRU (Cho et al., 2014), Elman's network.

A layer multiplies the inputs of all its steps by its weight at once; steps do what depends on the step
before. Packed sequences have fewer rows at later steps: a layer that walks forward sets finished
rows' states aside, one that walks backward starts with few rows and takes more on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ...dispatch.functions import fn, fn_nn
from ...opdefs.define import op
from ...values.shapes import show
from .fused_cells import cell_step
from .recurrent_steps import all_steps, served

States = tuple[Any, ...]


class _Weights(NamedTuple):
    """What one direction of one layer has."""

    w_ih: Any
    w_hh: Any
    b_ih: Any = None
    b_hh: Any = None
    w_hr: Any = None


# A step takes the input's part of the gates, the states before it and the weights, and gives the
# states after it, the first of which is its output.
Step = Callable[[Any, States, _Weights], States]


def _lstm_step(x: Any, states: States, w: _Weights) -> States:
    gates, cx = fn_nn.linear(states[0], w.w_hh), states[1]
    # Autocast may leave them different.
    fused = x._dtype is gates._dtype is cx._dtype and x._dtype.is_floating_point
    h, c, _ = (fn._thnn_fused_lstm_cell if fused else cell_step)(x, gates, cx)
    return (h if w.w_hr is None else fn_nn.linear(h, w.w_hr)), c


def _gru_step(x: Any, states: States, w: _Weights) -> States:
    (h,) = states
    x_r, x_z, x_n = x.chunk(3, 1)
    h_r, h_z, h_n = fn_nn.linear(h, w.w_hh, w.b_hh).chunk(3, 1)
    n = (x_n + (x_r + h_r).sigmoid() * h_n).tanh()
    return (n + (x_z + h_z).sigmoid() * (h - n),)


def _tanh_step(x: Any, states: States, w: _Weights) -> States:
    return ((x + fn_nn.linear(states[0], w.w_hh)).tanh(),)


def _relu_step(x: Any, states: States, w: _Weights) -> States:
    return ((x + fn_nn.linear(states[0], w.w_hh)).relu(),)


STEPS: Final[dict[str, Step]] = {
    "lstm": _lstm_step, "gru": _gru_step, "rnn_tanh": _tanh_step, "rnn_relu": _relu_step,
}  # fmt: skip
_NAMES: Final = {step: name for name, step in STEPS.items()}


def _input_part(step: Step, x: Any, w: _Weights) -> Any:
    """What all steps add to their gates; also the other bias, unless the step needs it apart."""
    bias = w.b_ih
    if bias is not None and w.b_hh is not None and step is not _gru_step:
        bias = bias + w.b_hh
    return fn_nn.linear(x, w.w_ih, bias)


def _walk(
    step: Step, parts: Sequence[Any], states: States, w: _Weights
) -> tuple[list[Any], States]:
    """The outputs of steps that all have the same rows, and the last states."""
    out = []
    for part in parts:
        states = step(part, states, w)
        out.append(states[0])
    return out, states


def _walk_forward(
    step: Step, parts: Sequence[Any], states: States, w: _Weights
) -> tuple[list[Any], States]:
    """As `_walk`, over steps of falling size."""
    out, done = [], []
    for part in parts:
        rows = part._shape[0]
        if rows < states[0]._shape[0]:
            done.append([s.narrow(0, rows, s._shape[0] - rows) for s in states])
            states = tuple(s.narrow(0, 0, rows) for s in states)
        states = step(part, states, w)
        out.append(states[0])
    ends = [states, *reversed(done)]
    return out, tuple(fn.cat(each) for each in zip(*ends, strict=True))


def _walk_backward(
    step: Step, parts: Sequence[Any], first: States, w: _Weights
) -> tuple[list[Any], States]:
    """As `_walk`, over steps of rising size, given in that order."""
    out: list[Any] = []
    rows = parts[0]._shape[0]
    states = tuple(s.narrow(0, 0, rows) for s in first)
    for part in parts:
        now = part._shape[0]
        if now > rows:
            more = (s.narrow(0, rows, now - rows) for s in first)
            states = tuple(fn.cat(pair) for pair in zip(states, more, strict=True))
            rows = now
        states = step(part, states, w)
        out.append(states[0])
    return out, states


def _one_direction(
    step: Step, x: Any, sizes: list[int] | None, states: States, w: _Weights, *, reverse: bool
) -> tuple[Any, States]:
    """One direction of one layer: outputs in the order of the inputs, and the last states."""
    rows = x if sizes is not None else x.contiguous().flatten(0, 1)
    gates = _input_part(step, rows, w)
    own = w.b_hh if step is _gru_step else None
    if w.w_hr is None and served(gates, states, w.w_hh, own):
        each = [x._shape[1]] * x._shape[0] if sizes is None else sizes
        out, ends = all_steps(_NAMES[step], gates, states, w.w_hh, own, each, reverse=reverse)
        return (out.unflatten(0, x._shape[:2]) if sizes is None else out), ends
    gates = gates if sizes is not None else gates.unflatten(0, x._shape[:2])
    parts = gates.unbind(0) if sizes is None else gates.split(sizes, 0)
    if reverse:
        parts = parts[::-1]
    walk: Any = _walk
    if sizes is not None and sizes[0] != sizes[-1]:
        walk = _walk_backward if reverse else _walk_forward
    out, states = walk(step, parts, states, w)
    if reverse:
        out.reverse()
    return (fn.stack(out) if sizes is None else fn.cat(out)), states


def _weights_of(
    params: Sequence[Any], biases: bool, projected: bool, layers: int
) -> list[_Weights]:
    """The parameters of each direction of each layer, in order."""
    each = 2 + 2 * bool(biases) + projected
    if len(params) != each * layers:
        raise RuntimeError(
            f"got an incorrect number of RNN parameters: {len(params)} where {each * layers} are expected"
        )
    found = []
    for start in range(0, len(params), each):
        w_ih, w_hh, *rest = params[start : start + each]
        b_ih, b_hh = rest[:2] if biases else (None, None)
        found.append(_Weights(w_ih, w_hh, b_ih, b_hh, rest[-1] if projected else None))
    return found


def _run(
    step: Step, x: Any, sizes: list[int] | None, hx: Sequence[Any], params: Sequence[Any],
    has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """All layers; outputs, and each of the states (layers * directions, batch, features)."""
    directions = 2 if bidirectional else 1
    projected = len(hx) == 2 and hx[0]._shape[2] != hx[1]._shape[2]
    weights = _weights_of(params, has_biases, projected, num_layers * directions)
    ends = []
    for layer in range(num_layers):
        made = []
        for direction in range(directions):
            i = layer * directions + direction
            states = tuple(h.select(0, i) for h in hx)
            out, end = _one_direction(step, x, sizes, states, weights[i], reverse=direction == 1)
            made.append(out)
            ends.append(end)
        x = made[0] if len(made) == 1 else fn.cat(made, -1)
        if dropout and train and layer < num_layers - 1:
            x = fn.dropout(x, dropout, True)
    return (x, *(fn.stack(each) for each in zip(*ends, strict=True)))


def _checked(name: str, hx: Sequence[Any], x: Any) -> None:
    if name == "lstm" and len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    for h in hx:
        if h._dtype is not x._dtype:
            raise RuntimeError(
                f"{name}: input is {x._dtype} and a hidden state is {h._dtype}: convert one of them"
            )
        if len(h._shape) != 3:
            raise RuntimeError(
                f"{name}: a hidden state should have 3 dimensions, got {show(h._shape)}"
            )


def _of_input(name: str, step: Step) -> Callable[..., Any]:
    """The op that takes padded sequences."""

    def run(
        input: Any, hx: Any, params: Any, has_biases: bool, num_layers: int, dropout: float,
        train: bool, bidirectional: bool, batch_first: bool,
    ) -> Any:  # fmt: skip
        states = hx if name == "lstm" else (hx,)
        _checked(name, states, input)
        x = input.transpose(0, 1) if batch_first else input
        if not x._shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        out, *ends = _run(
            step, x, None, states, params, has_biases, num_layers, dropout, train, bidirectional
        )
        return (out.transpose(0, 1) if batch_first else out, *ends)

    return run


def _of_data(name: str, step: Step) -> Callable[..., Any]:
    """The op that takes packed sequences."""

    def run(
        data: Any, batch_sizes: Any, hx: Any, params: Any, has_biases: bool, num_layers: int,
        dropout: float, train: bool, bidirectional: bool,
    ) -> Any:  # fmt: skip
        states = hx if name == "lstm" else (hx,)
        _checked(name, states, data)
        return _run(
            step, data, batch_sizes.tolist(), states, params, has_biases, num_layers, dropout,
            train, bidirectional,
        )  # fmt: skip

    return run


_REST: Final = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool"
_WHAT: Final = {
    "lstm": "Layers of LSTM",
    "gru": "Layers of GRU",
    "rnn_tanh": "Layers of Elman's network with tanh",
    "rnn_relu": "Layers of Elman's network with relu",
}
for _name, _step in STEPS.items():
    _hx, _returns = ("Tensor[]", 3) if _name == "lstm" else ("Tensor", 2)
    _result = f"({', '.join(['Tensor'] * _returns)})"
    op(
        f"{_name}.input(Tensor input, {_hx} hx, {_REST} bidirectional, bool batch_first) -> {_result}",
        doc=f"{_WHAT[_name]} over sequences (steps, batch, features): outputs and last states.",
        decomposition=_of_input(_name, _step),
        namespaces=("torch",),
    )
    op(
        f"{_name}.data(Tensor data, Tensor batch_sizes, {_hx} hx, {_REST} bidirectional) -> {_result}",
        doc=f"{_WHAT[_name]} over packed sequences: outputs and last states.",
        decomposition=_of_data(_name, _step),
        namespaces=("torch",),
    )


# ---- single steps -------------------------------------------------------------------------------


def _cell(name: str, step: Step, gates: int) -> Callable[..., Any]:
    def run(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        states = tuple(hx) if name == "lstm" else (hx,)
        _check_cell(input, states, w_ih, w_hh, gates)
        w = _Weights(w_ih, w_hh, b_ih, b_hh)
        made = step(_input_part(step, input, w), states, w)
        return made if name == "lstm" else made[0]

    return run


def _check_cell(input: Any, states: States, w_ih: Any, w_hh: Any, gates: int) -> None:
    for each in (input, *states, w_ih, w_hh):
        if len(each._shape) < 2:
            raise RuntimeError(
                f"input, hidden states and weights of a cell are 2D, got {show(each._shape)}"
            )
    if input._shape[1] != w_ih._shape[1]:
        raise RuntimeError(
            f"input has inconsistent input_size: got {input._shape[1]} expected {w_ih._shape[1]}"
        )
    for i, h in enumerate(states):
        if input._shape[0] != h._shape[0]:
            raise RuntimeError(
                f"Input batch size {input._shape[0]} doesn't match hidden{i} batch size {h._shape[0]}"
            )
        if h._shape[1] != w_hh._shape[1]:
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {h._shape[1]}, expected {w_hh._shape[1]}"
            )
    if w_ih._shape[0] != gates * w_hh._shape[1]:
        raise RuntimeError(
            f"expected weights of {gates * w_hh._shape[1]} rows, got {show(w_ih._shape)} and "
            f"{show(w_hh._shape)}"
        )


for _name, _gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    _hx, _result = ("Tensor[]", "(Tensor, Tensor)") if _name == "lstm" else ("Tensor", "Tensor")
    op(
        f"{_name}_cell(Tensor input, {_hx} hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
        f"b_hh=None) -> {_result}",
        doc=f"One step of `{_name}` for a batch.",
        decomposition=_cell(_name, STEPS[_name], _gates),
        namespaces=("torch",),
    )
