"""Comparing tangents with finite differences: what `gradcheck` does for forward mode."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ..gradients.grad_mode import no_grad
from ..tensors.tensor import Tensor
from .differences import GradcheckError, Mismatch, direction, dot, flat, tensors_among
from .forward_ad import dual_level, make_dual, unpack_dual

if TYPE_CHECKING:
    from .gradient_checks import _Check

__all__ = ["check_batches", "check_tangents"]

Tangents = Sequence[Tensor | None]


def _pushed(check: _Check, i: int, tangent: Any) -> Tangents:
    """The tangents of the outputs where one input moves."""
    with dual_level():
        dual = make_dual(check.args[i], tangent)
        # A tensor that is given twice moves in both places.
        found = tensors_among(check.func(*[dual if a is check.args[i] else a for a in check.args]))
        return [unpack_dual(found[k]).tangent for k in check.positions]


def _elements(tangent: Tensor | None, like: Tensor) -> list[Any]:
    return [0.0] * like.numel() if tangent is None else flat(tangent)


def check_tangents(check: _Check) -> None:
    """Compare the tangents that each input gives the outputs with central differences.

    Raises:
        GradcheckError: on a mismatch.
    """
    compare = _compare_in_one_direction if check.options.fast_mode else _compare_all
    for i, t in zip(check.checked, check.wanted, strict=True):
        compare(check, i, t)
        for k, tangent in enumerate(_pushed(check, i, t.detach().new_zeros(t._shape))):
            if tangent is not None and any(x != 0 for x in flat(tangent)):
                raise GradcheckError(
                    f"Expected all tangents to be undefined or zero where those of the inputs are: that of "
                    f"output {check.positions[k]} is not, for input {i}"
                )


def _compare_all(check: _Check, i: int, t: Tensor) -> None:
    """Compare every derivative by one input."""
    worst = [Mismatch() for _ in check.outputs]
    numeric = list(check._columns(t, check.positions))
    for e, imaginary, columns in numeric:
        found = _pushed(check, i, _unit(t, e, imaginary))
        for mismatch, out, column, tangent in zip(
            worst, check.outputs, columns, found, strict=True
        ):
            for o, (n, a) in enumerate(zip(column, _elements(tangent, out), strict=True)):
                mismatch.see(n, a, (e, o, imaginary), check.options)
    for k, mismatch in zip(check.positions, worst, strict=True):
        try:
            mismatch.refuse(k, i)
        except GradcheckError as error:
            raise GradcheckError(f"computed with forward mode: {error}") from None


def _unit(t: Tensor, e: int, imaginary: bool) -> Tensor:
    """The direction of one element, or of its imaginary part."""
    unit: Any = t.detach().new_zeros(t._shape)
    at = next(index for n, index in enumerate(product(*map(range, t._shape))) if n == e)
    with no_grad():
        unit[at] = 1j if imaginary else 1
    made: Tensor = unit
    return made


def _compare_in_one_direction(check: _Check, i: int, t: Tensor) -> None:
    """Compare a combination of the outputs along a random direction of one input."""
    draw = random.Random(0)
    along = direction(t, draw)
    seeds = [direction(out, draw) for out in check.outputs]
    found = _pushed(check, i, along)
    analytic = sum(
        dot(flat(v), _elements(tangent, v)) for v, tangent in zip(seeds, found, strict=True)
    )
    numeric = check._directional(t, along, seeds)
    size = sum(abs(x) for v in seeds for x in flat(v)) * sum(map(abs, flat(along)))
    o = check.options
    if not abs(analytic - numeric) <= o.atol * size + o.rtol * abs(numeric):
        _compare_all(check, i, t)  # it says where
        raise GradcheckError(
            f"Jacobian mismatch along a random direction of input {i}, computed with forward mode: "
            f"numerical {numeric}, analytical {analytic}. Element by element, no difference exceeds the "
            f"tolerance."
        )


def check_batches(check: _Check) -> None:
    """Two tangents of each input at once, by ``vmap``, must give what they give one by one.

    Raises:
        GradcheckError: if they do not.
    """
    vmap: Callable[..., Any] = importlib.import_module("mindtorch_core.func").vmap
    stack: Callable[..., Tensor] = importlib.import_module("mindtorch_core").stack
    draw = random.Random(3)
    for i, t in zip(check.checked, check.wanted, strict=True):
        along = [direction(t, draw) for _ in range(2)]

        def at_once(tangent: Tensor, i: int = i) -> tuple[Tensor, ...]:
            found = _pushed(check, i, tangent)
            return tuple(
                out.detach().new_zeros(out._shape) if g is None else g
                for g, out in zip(found, check.outputs, strict=True)
            )

        try:
            batches = vmap(at_once)(stack(along))
        except RuntimeError as error:
            raise GradcheckError(
                f"While computing batched gradients with forward mode, got: {error}"
            ) from error
        for n, tangent in enumerate(along):
            for k, (one, out) in enumerate(
                zip(_pushed(check, i, tangent), check.outputs, strict=True)
            ):
                pairs = zip(flat(batches[k][n]), _elements(one, out), strict=True)
                o = check.options
                if any(not abs(a - b) <= o.atol + o.rtol * abs(b) for a, b in pairs):
                    raise GradcheckError(
                        f"Batched tangents of output {check.positions[k]} for input {i} differ from "
                        f"those that are computed one by one"
                    )
