"""What recurrent layers are tested with; only the testing kit reads it."""

from __future__ import annotations

from typing import Any, Final

from ..family_samples import sample as s
from ..recipes import tensor as t

__all__ = ["HOST_LENGTHS", "RECURRENT_CALLS"]

_GATES: Final = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def _small(*shape: int) -> Any:
    return t(*shape, low=-1.0, high=1.0)


def _layer(name: str, features: int, hidden: int) -> list[Any]:
    rows = _GATES[name] * hidden
    return [_small(rows, features), _small(rows, hidden), _small(rows), _small(rows)]


def _states(name: str, *shape: int) -> Any:
    return [_small(*shape), _small(*shape)] if name == "lstm" else _small(*shape)


def _layers(name: str) -> tuple[Any, ...]:
    one, two = _layer(name, 3, 2), [*_layer(name, 3, 2), *_layer(name, 3, 2)]
    no_biases = one[:2]
    rest = (1, 0.0, False)
    return (
        s("one", _small(4, 2, 3), _states(name, 1, 2, 2), one, True, *rest, False, False),
        s(
            "no biases",
            _small(2, 4, 3),
            _states(name, 1, 2, 2),
            no_biases,
            False,
            *rest,
            False,
            True,
        ),
        s("both ways", _small(3, 2, 3), _states(name, 2, 2, 2), two, True, *rest, True, False),
    )


def _cells(name: str) -> tuple[Any, ...]:
    w_ih, w_hh, b_ih, b_hh = _layer(name, 3, 2)
    x, h = _small(2, 3), _states(name, 2, 2)
    return s("biases", x, h, w_ih, w_hh, b_ih, b_hh), s("no biases", x, h, w_ih, w_hh)


def _steps(mode: int, *, sizes: tuple[int, ...] = (2, 2, 1), reverse: bool = False) -> Any:
    """Steps of a layer of 3 features."""
    name = ("rnn_relu", "rnn_tanh", "lstm", "gru")[mode]
    columns = 3 * _GATES[name]
    cell = _small(2, 3) if name == "lstm" else None
    bias = _small(columns) if name == "gru" else None
    operands = (_small(sum(sizes), columns), _small(2, 3), cell, _small(columns, 3), bias)
    return s(name, *operands, sizes, reverse, mode, True)


def _steps_backward(mode: int, *, reverse: bool = False) -> Any:
    gates, kept, past = ((1, 1, 1), (1, 1, 1), (4, 4, 3), (3, 4, 1))[mode]
    work, before = (t(*n, low=0.1, high=0.9) for n in ((5, 3 * kept), (past, 5, 3)))
    return s(
        f"mode {mode}", _small(5, 3), _small(2, 3) if reverse else None,
        _small(2, 3) if mode == 2 else None, _small(3 * gates, 3), work, before,
        (2, 2, 1), reverse, mode, mode == 3,
    )  # fmt: skip


RECURRENT_CALLS: Final[dict[str, tuple[Any, ...]]] = {
    "_recurrent_steps": (
        *map(_steps, range(4)),
        _steps(2, reverse=True),
        _steps(3, sizes=(2,), reverse=True),
    ),
    "_recurrent_steps_backward": (
        *map(_steps_backward, range(4)),
        _steps_backward(2, reverse=True),
    ),
    **{f"{name}.input": _layers(name) for name in _GATES},
    **{f"{name}_cell": _cells(name) for name in _GATES},
    "_weight_norm": (s("rows", t(3, 2), t(3, 1)), s("columns", t(3, 2), t(1, 2), 1)),
    "norm_except_dim": (
        s("rows", t(2, 3)),
        s("columns", t(2, 3, 2), 2, 1),
        s("all", t(2, 3), 2, -1),
    ),
}

# Untested ops, with the reason.
HOST_LENGTHS: Final[dict[str, str]] = dict.fromkeys(
    (
        "_pack_padded_sequence",
        "_pad_packed_sequence",
        *(f"{name}.data" for name in _GATES),
    ),
    "lengths of sequences are read in host memory, wherever the sequences are",
)
