"""Resizing and padding: gradients, which the core's compositions add up element by element.

Resizing along a dimension is a product with a matrix that is zero nearly everywhere. Up to some size
BLAS multiplies by those zeros faster than anything picks the other elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.operators.nn.resampling import taps
from mindtorch_core.operators.nn.upsampling import RESIZING

from ..arrays import NUMPY_OF, QUIET, WIDER, wrap
from ..register import register, rule_of

# Sizes up to which products with matrices of zeros were faster than gathering and adding.
_DENSE = 512


def _decomposition(name: str) -> Any:
    return registry.entry(name).definition.decomposition  # type: ignore[union-attr]


def _matrix(mode: str, size: int, count: int, align: bool, scale: float | None, d: Any) -> Any:
    """The weights (count, size) of old elements in new ones."""
    like = wrap(np.zeros((), NUMPY_OF[d]), d)
    out = np.zeros((count, size), NUMPY_OF[d])
    rows = np.arange(count)
    for at, weight in taps(mode, size, count, align, scale, like):
        np.add.at(out, (rows, at._data), 1 if weight is None else weight._data)
    return out


def _multiplied(a: Any, matrices: Any) -> Any:
    """Products along the last dimensions, with one matrix (new, old) each; the last first."""
    for i, matrix in enumerate(reversed(matrices)):
        lead, old = a.shape[: a.ndim - 1 - i], a.shape[a.ndim - 1 - i]
        behind = a.shape[a.ndim - i :]
        new = matrix.shape[0]
        if not i:
            a = (a.reshape(-1, old) @ matrix.T).reshape(*lead, new)
        else:
            a = np.matmul(matrix, a.reshape(-1, old, int(np.prod(behind))))
            a = a.reshape(*lead, new, *behind)
    return a


def _options(n: int, aligns: bool, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    values = [*given, *named.values()]
    align = values.pop(0) if aligns else False
    return align, values + [None] * (n - len(values))


def _resize(name: str, mode: str, n: int, aligns: bool) -> Any:
    decomposed = _decomposition(name)
    check = rule_of(name)

    def run(self: Any, output_size: Any, *given: Any, **named: Any) -> Any:
        check(self, output_size, *given, **named)
        d, a = self._dtype, self._data
        sizes = self._shape[2:]
        if not _fits(a, (*sizes, *output_size)):
            return decomposed(self, output_size, *given, **named)
        align, scales = _options(n, aligns, given, named)
        wide = WIDER.get(d, d)
        matrices = [
            _matrix(mode, size, count, align, scale, wide)
            for size, count, scale in zip(sizes, output_size, scales, strict=True)
        ]
        made = QUIET.run(_multiplied, a.astype(NUMPY_OF[wide], copy=False), matrices)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


def _resize_backward(name: str, mode: str, n: int, aligns: bool) -> Any:
    decomposed = _decomposition(f"{name}_backward")

    def run(grad_output: Any, output_size: Any, input_size: Any, *given: Any, **named: Any) -> Any:
        d, g = grad_output._dtype, grad_output._data
        sizes = tuple(input_size[2:])
        if grad_output._shape != (*input_size[:2], *output_size) or not _fits(
            g, (*sizes, *output_size)
        ):
            return decomposed(grad_output, output_size, input_size, *given, **named)
        align, scales = _options(n, aligns, given, named)
        wide = WIDER.get(d, d)
        matrices = [
            _matrix(mode, size, count, align, scale, wide).T
            for size, count, scale in zip(sizes, output_size, scales, strict=True)
        ]
        made = QUIET.run(_multiplied, g.astype(NUMPY_OF[wide], copy=False), matrices)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


def _fits(a: Any, sizes: Any) -> bool:
    """Whether products are faster, and exact: infinities times zero are not."""
    return bool(a.dtype.kind in "fV" and max(sizes) <= _DENSE and a.size and np.isfinite(a).all())


for _name, (_mode, _n, _aligns) in RESIZING.items():
    if not _mode.startswith("nearest"):
        register(_name, _resize(_name, _mode, _n, _aligns))
    register(f"{_name}_backward", _resize_backward(_name, _mode, _n, _aligns))


# ---- padding ------------------------------------------------------------------------------------


def _source(kind: str, at: int, size: int) -> int:
    """The element that a padded position repeats."""
    if kind == "replication":
        return min(max(at, 0), size - 1)
    return (size - 1) - abs((size - 1) - abs(at))


def _folded(g: Any, axis: int, size: int, before: int, after: int, kind: str) -> Any:
    """Gradients of a padded dimension added where their elements came from."""
    shape = (*g.shape[:axis], size, *g.shape[axis + 1 :])
    out = np.zeros(shape, g.dtype)
    lead = (slice(None),) * axis
    first, last = max(-before, 0), min(size + after, size)
    if last > first:
        kept = slice(first + before, last + before)
        out[(*lead, slice(first, last))] = g[(*lead, kept)]
    for at in (*range(-before, min(0, size + after)), *range(max(size, -before), size + after)):
        place = _source(kind, at, size)
        target = out[(*lead, slice(place, place + 1))]
        np.add(target, g[(*lead, slice(at + before, at + before + 1))], out=target)
    return out


def _pad_backward(kind: str, n: int) -> Any:
    name = f"{kind}_pad{n}d"
    padded, decomposed = rule_of(name), _decomposition(f"{name}_backward")

    def run(grad_output: Any, self: Any, padding: Any) -> Any:
        d = grad_output._dtype
        if grad_output._shape != padded(self, padding).shape or not grad_output._data.size:
            return decomposed(grad_output, self, padding)
        g = grad_output._data
        for i in range(n):
            before, after = padding[2 * i], padding[2 * i + 1]
            axis = g.ndim - 1 - i
            g = QUIET.run(_folded, g, axis, self._shape[axis], before, after, kind)
        return wrap(g, d)

    return run


for _kind in ("reflection", "replication"):
    for _n in (1, 2, 3):
        register(f"{_kind}_pad{_n}d_backward", _pad_backward(_kind, _n))
