"""All steps of a recurrent layer: the arithmetic of a step in place, weights' gradients in one product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arrays import NUMPY_OF, WIDER, quietly, wrap
from ..compiled import FEWEST, computed
from ..memory_pool import POOL
from ..register import composition_of, kernel, rule_of
from ..summation import down
from ..turned import row_major_copy
from .few_rows import UNPACKED

_NAME: Final = "_recurrent_steps"
_composed: Any = composition_of(_NAME)
_composed_backward: Any = composition_of(f"{_NAME}_backward")
_RELU, _TANH, _LSTM, _GRU = range(4)
Place = tuple[slice, int]


def _places(sizes: Sequence[int], *, reverse: bool) -> list[Place]:
    """The rows of each step and their number, in the order of the steps."""
    made, at = [], 0
    for n in sizes:
        if n:
            made.append((slice(at, at + n), n))
        at += n
    return made[::-1] if reverse else made


def _sigmoid(x: Any) -> None:
    np.multiply(x, -1, x)  # NumPy 2.4's negative skips elements of outputs with some strides
    np.exp(x, x)
    np.add(x, 1, x)
    np.reciprocal(x, x)


class _Forward:
    """Arrays of the steps of a layer.

    Where nothing is kept for a gradient, all steps write what they would keep to the same place.
    """

    def __init__(self, x: Any, w: Any, b: Any, h: Any, c: Any, kept: Any, past: Any) -> None:
        self.x, self.w, self.b, self.h, self.c = x, w.T, b, h, c
        self.keeps = kept is not None
        width, rows = h.shape[1], len(h)
        columns = len(w) if w.shape[0] != 3 * width else 4 * width
        self.kept = kept if kept is not None else np.empty((rows, columns), x.dtype)
        self.past = past
        self.out = POOL.empty((len(x), width), x.dtype)
        self.room = np.empty((rows, len(w)), x.dtype)
        self.spare = np.empty((rows, width), x.dtype)

    def run(self, step: Any, places: list[Place]) -> None:
        """Compute all steps, each from the products of weight and states."""
        w = self.w
        if len(places) > 1 and self.room.size > UNPACKED:  # turned once, not at each step
            w = row_major_copy(w)
        for at, n in places:
            hidden = np.dot(self.h[:n], w, self.room[:n])
            if self.keeps:
                self.past[0, at] = self.h[:n]
            step(self, at, n, hidden, self.kept[at if self.keeps else slice(0, n)])
            self.h[:n] = self.out[at]


def _parts(a: Any, width: int) -> list[Any]:
    return [a[:, k : k + width] for k in range(0, a.shape[1], width)]


def _traced_sigmoid(x: Any) -> Any:
    return np.reciprocal(np.add(np.exp(np.negative(x)), 1))


def _traced_lstm(tracer: Any, *parts: Any) -> list[Any]:
    """What `_lstm` does, of parts of gates and a cell state, which is written."""
    c = parts[8]
    sums = [np.add(x, hidden) for x, hidden in zip(parts[:4], parts[4:8], strict=True)]
    fresh = np.tanh(sums[2])
    i, f, o = (_traced_sigmoid(sums[k]) for k in (0, 1, 3))
    before = c.copy()
    np.add(np.multiply(c, f), np.multiply(fresh, i), c)
    seen = np.tanh(c)
    return [np.multiply(seen, o), i, f, fresh, o, before, seen]


def _lstm_computed(a: _Forward, at: slice, n: int, hidden: Any, gates: Any) -> bool:
    """Whether a compiled kernel did a step."""
    width, c = a.h.shape[1], a.c[:n]
    given = [*_parts(a.x[at], width), *_parts(hidden, width), c]
    if a.keeps:
        out = [a.out[at], *_parts(gates, width), a.past[1, at], a.past[2, at]]
        return computed("lstm step, kept", _traced_lstm, given, out)
    return computed("lstm step", lambda *args: _traced_lstm(*args)[:1], given, [a.out[at]])


def _lstm(a: _Forward, at: slice, n: int, hidden: Any, gates: Any) -> None:
    width = a.h.shape[1]
    spare, c = a.spare[:n], a.c[:n]
    if c.size >= FEWEST and _lstm_computed(a, at, n, hidden, gates):
        return
    np.add(a.x[at], hidden, gates)
    fresh = gates[:, 2 * width : 3 * width]
    np.tanh(fresh, spare)
    _sigmoid(gates)  # of the third part in vain: one pass over all is faster than two
    fresh[...] = spare
    if a.keeps:
        a.past[1, at] = c
    np.multiply(c, gates[:, width : 2 * width], c)
    np.multiply(spare, gates[:, :width], spare)
    np.add(c, spare, c)
    seen = a.past[2, at] if a.keeps else spare
    np.tanh(c, seen)
    np.multiply(seen, gates[:, 3 * width :], a.out[at])


def _traced_gru(tracer: Any, *parts: Any) -> list[Any]:
    """What `_gru` does, of parts of gates, a state and perhaps parts of a bias."""
    x, hidden, h = parts[:3], parts[3:6], parts[6]
    if len(parts) > 7:
        hidden = tuple(np.add(part, b) for part, b in zip(hidden, parts[7:], strict=True))
    r, z = (_traced_sigmoid(np.add(x[k], hidden[k])) for k in (0, 1))
    fresh = np.tanh(np.add(x[2], np.multiply(r, hidden[2])))
    return [np.add(np.multiply(np.subtract(h, fresh), z), fresh), r, z, fresh, hidden[2]]


def _gru_computed(a: _Forward, at: slice, n: int, hidden: Any, gates: Any) -> bool:
    """Whether a compiled kernel did a step."""
    width = a.h.shape[1]
    biases = [] if a.b is None else [a.b[k : k + width] for k in range(0, 3 * width, width)]
    given = [*_parts(a.x[at], width), *_parts(hidden, width), a.h[:n], *biases]
    if a.keeps:
        out = [a.out[at], *_parts(gates, width)]
        return computed(("gru step, kept", len(given)), _traced_gru, given, out)
    key = "gru step", len(given)
    return computed(key, lambda *args: _traced_gru(*args)[:1], given, [a.out[at]])


def _gru(a: _Forward, at: slice, n: int, hidden: Any, gates: Any) -> None:
    width = a.h.shape[1]
    if a.h[:n].size >= FEWEST and _gru_computed(a, at, n, hidden, gates):
        return
    if a.b is not None:
        np.add(hidden, a.b, hidden)
    x, spare, h = a.x[at], a.spare[:n], a.h[:n]
    both, fresh = gates[:, : 2 * width], gates[:, 2 * width : 3 * width]
    np.add(x[:, : 2 * width], hidden[:, : 2 * width], both)
    _sigmoid(both)
    gates[:, 3 * width :] = hidden[:, 2 * width :]
    np.multiply(gates[:, :width], hidden[:, 2 * width :], spare)
    np.add(x[:, 2 * width :], spare, spare)
    np.tanh(spare, spare)
    fresh[...] = spare
    np.subtract(h, spare, h)
    np.multiply(h, gates[:, width : 2 * width], h)
    np.add(h, spare, a.out[at])


def _tanh(a: _Forward, at: slice, n: int, hidden: Any, gates: Any) -> None:
    np.add(a.x[at], hidden, gates)
    np.tanh(gates, gates)
    a.out[at] = gates


def _relu(a: _Forward, at: slice, n: int, hidden: Any, gates: Any) -> None:
    np.add(a.x[at], hidden, gates)
    np.maximum(gates, 0, out=gates)
    a.out[at] = gates


_FORWARD: Final = {_RELU: _relu, _TANH: _tanh, _LSTM: _lstm, _GRU: _gru}


def _served(*tensors: Any) -> bool:
    d = tensors[0].raw_dtype
    return d not in WIDER and all(
        t is None or (t.raw_dtype is d and t.raw_data.size) for t in tensors
    )


@kernel(_NAME)
def recurrent_steps(
    gates: Any, hx: Any, cx: Any, w_hh: Any, b_hh: Any, batch_sizes: Any, reverse: bool, mode: int,
    keep: bool,
) -> Any:  # fmt: skip
    """States are one array each, of which a step changes the first rows."""
    given = (gates, hx, cx, w_hh, b_hh, batch_sizes, reverse, mode, keep)
    specs = rule_of(_NAME)(*given)
    if not _served(gates, hx, cx, w_hh, b_hh):
        return _composed(*given)
    d = gates.raw_dtype
    h, c = (None if t is None else np.array(t.raw_data, order="C") for t in (hx, cx))
    kept, past = (POOL.empty(s.shape, NUMPY_OF[d]) if keep else None for s in specs[3:])
    b = None if b_hh is None else b_hh.raw_data
    x = np.ascontiguousarray(gates.raw_data)
    made = _Forward(x, w_hh.raw_data, b, h, c, kept, past)
    quietly(made.run, _FORWARD[mode], _places(batch_sizes, reverse=reverse))
    nothing = np.empty(0, x.dtype)
    results = (made.out, h, c, kept, past)
    return tuple(wrap(nothing if a is None else a, d) for a in results)


# ---- gradients -----------------------------------------------------------------------------------


class _Backward:
    """Arrays of the gradients of a layer's steps.

    Attributes:
        inputs: gradients of the inputs' part of the gates.
        hidden: of the states' part; the same array, unless the states' part has a factor of its own.
        besides: what a state gets that has not gone through the weight, or None.
    """

    def __init__(self, w: Any, kept: Any, past: Any, h: Any, c: Any, own_hidden: bool) -> None:
        self.w, self.kept, self.past, self.h, self.c = w, kept, past, h, c
        shape = (len(kept), len(w))
        self.inputs = POOL.empty(shape, w.dtype)
        self.hidden = POOL.empty(shape, w.dtype) if own_hidden else self.inputs
        self.spare = np.empty_like(h)
        self.besides: Any = np.empty_like(h) if own_hidden else None

    def run(self, step: Any, places: list[Place], of_out: Any) -> None:
        """Walk back from the last step."""
        for at, n in reversed(places):
            h = self.h[:n]
            if of_out is not None:
                np.add(h, of_out[at], h)
            step(self, at, n, h)
            np.dot(self.hidden[at], self.w, h)
            if self.besides is not None:
                np.add(h, self.besides[:n], h)


def _slopes(s: Any, out: Any) -> None:
    """Derivatives of sigmoids from their values."""
    np.multiply(s, s, out)
    np.subtract(s, out, out)


def _tanh_slopes(t: Any, out: Any) -> None:
    np.multiply(t, t, out)
    np.subtract(1, out, out)


def _traced_lstm_backward(tracer: Any, *parts: Any) -> list[Any]:
    """What `_lstm_backward` does, of parts of gates; of the gradient of a cell state, which is written."""
    i, f, g, o, cell, seen, dh, dc = parts
    slope_i, slope_f, slope_o = (np.subtract(s, np.multiply(s, s)) for s in (i, f, o))
    steep, slope_g = (np.subtract(1, np.multiply(t, t)) for t in (seen, g))
    by_o = np.multiply(slope_o, np.multiply(seen, dh))
    total = np.add(dc, np.multiply(np.multiply(steep, dh), o))
    pairs = (slope_i, g), (slope_f, cell), (slope_g, i)
    made = [np.multiply(slope, np.multiply(total, factor)) for slope, factor in pairs]
    np.multiply(total, f, dc)
    return [*made, by_o]


def _lstm_backward(a: _Backward, at: slice, n: int, dh: Any) -> None:
    width = dh.shape[1]
    found, gates = a.inputs[at], a.kept[at]
    cell, seen, spare, dc = a.past[1, at], a.past[2, at], a.spare[:n], a.c[:n]
    i, f, g, o = _parts(gates, width)
    by_i, by_f, by_g, by_o = _parts(found, width)
    given, made = [i, f, g, o, cell, seen, dh, dc], [by_i, by_f, by_g, by_o]
    if dc.size >= FEWEST and computed("lstm step back", _traced_lstm_backward, given, made):
        return
    _slopes(gates, found)
    np.multiply(seen, dh, spare)
    np.multiply(by_o, spare, by_o)
    _tanh_slopes(seen, spare)
    np.multiply(spare, dh, spare)
    np.multiply(spare, o, spare)
    np.add(dc, spare, dc)
    _tanh_slopes(g, by_g)
    for by, factor in ((by_i, g), (by_f, cell), (by_g, i)):
        np.multiply(dc, factor, spare)
        np.multiply(by, spare, by)
    np.multiply(dc, f, dc)


def _traced_gru_backward(tracer: Any, *parts: Any) -> list[Any]:
    """What `_gru_backward` does, of parts of gates: for the inputs' part, besides it, for the states'."""
    r, z, fresh, h_n, past, dh = parts
    slope_r, slope_z = (np.subtract(s, np.multiply(s, s)) for s in (r, z))
    by_z = np.multiply(slope_z, np.multiply(np.subtract(past, fresh), dh))
    besides = np.multiply(dh, z)
    by_n = np.multiply(np.subtract(1, np.multiply(fresh, fresh)), np.subtract(dh, besides))
    by_r = np.multiply(slope_r, np.multiply(by_n, h_n))
    return [by_r, by_z, by_n, besides, by_r, by_z, np.multiply(by_n, r)]


def _gru_backward(a: _Backward, at: slice, n: int, dh: Any) -> None:
    width = dh.shape[1]
    found, hidden, gates, spare = a.inputs[at], a.hidden[at], a.kept[at], a.spare[:n]
    r, z, fresh, h_n = _parts(gates, width)
    by_r, by_z, by_n = _parts(found, width)
    given = [r, z, fresh, h_n, a.past[0, at], dh]
    made = [by_r, by_z, by_n, a.besides[:n], *_parts(hidden, width)]
    if dh.size >= FEWEST and computed("gru step back", _traced_gru_backward, given, made):
        return
    _slopes(gates[:, : 2 * width], found[:, : 2 * width])
    np.subtract(a.past[0, at], fresh, spare)
    np.multiply(spare, dh, spare)
    np.multiply(by_z, spare, by_z)
    _tanh_slopes(fresh, by_n)
    np.multiply(dh, z, a.besides[:n])
    np.subtract(dh, a.besides[:n], spare)
    np.multiply(by_n, spare, by_n)
    np.multiply(by_n, h_n, spare)
    np.multiply(by_r, spare, by_r)
    hidden[:, : 2 * width] = found[:, : 2 * width]
    np.multiply(by_n, r, hidden[:, 2 * width :])


def _tanh_backward(a: _Backward, at: slice, n: int, dh: Any) -> None:
    _tanh_slopes(a.kept[at], a.inputs[at])
    np.multiply(a.inputs[at], dh, a.inputs[at])


def _relu_backward(a: _Backward, at: slice, n: int, dh: Any) -> None:
    np.multiply(a.kept[at] > 0, dh, a.inputs[at])


_BACKWARD: Final = {
    _RELU: _relu_backward, _TANH: _tanh_backward, _LSTM: _lstm_backward, _GRU: _gru_backward,
}  # fmt: skip


def _state(grad: Any, shape: Any, d: Any) -> Any:
    return np.zeros(shape, d) if grad is None else np.array(grad.raw_data, order="C")


@kernel(f"{_NAME}_backward")
def recurrent_steps_backward(
    grad_output: Any, grad_hy: Any, grad_cy: Any, w_hh: Any, workspace: Any, past: Any,
    batch_sizes: Any, reverse: bool, mode: int, has_bias: bool,
) -> Any:  # fmt: skip
    """Gradients of the states go from step to step in place."""
    tensors = (w_hh, workspace, past, grad_output, grad_hy, grad_cy)
    if not _served(*tensors):
        return _composed_backward(*tensors[3:], *tensors[:3], batch_sizes, reverse, mode, has_bias)
    d, w = w_hh.raw_dtype, np.ascontiguousarray(w_hh.raw_data)
    shape = (max(batch_sizes), w.shape[1])
    h = _state(grad_hy, shape, w.dtype)
    c = _state(grad_cy, shape, w.dtype) if mode == _LSTM else None
    kept, before = (np.ascontiguousarray(t.raw_data) for t in (workspace, past))
    of_out = None if grad_output is None else np.ascontiguousarray(grad_output.raw_data)
    made = _Backward(w, kept, before, h, c, mode == _GRU)
    quietly(made.run, _BACKWARD[mode], _places(batch_sizes, reverse=reverse), of_out)
    weight = quietly(np.dot, made.hidden.T, before[0])
    bias = quietly(down, made.hidden[None])[0] if has_bias else None
    results = (made.inputs, h, c, weight, bias)
    return tuple(None if a is None else wrap(a, d) for a in results)
