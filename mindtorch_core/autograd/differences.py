"""What `mindtorch_core.autograd.gradient_checks` computes with: elements, directions, disagreements."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..dispatch.keys import AUTOGRAD
from ..gradients.grad_mode import no_grad
from ..tensors.tensor import Tensor, from_values
from ..values.dtypes import FLOATING, INTEGER
from ..values.shapes import numel

__all__ = [
    "GradcheckError",
    "Mismatch",
    "Options",
    "differentiable",
    "direction",
    "dot",
    "flat",
    "part",
    "tensors_among",
    "within",
    "written",
]


class GradcheckError(RuntimeError):
    """A gradient is wrong, or backward does not do what it should."""


class Options(NamedTuple):
    """The options of a check, as `gradcheck` documents them."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    fast_mode: bool


def tensors_among(result: Any, whole: bool = False) -> list[Tensor]:
    """The outputs that are floating-point or complex tensors, or of whole numbers."""
    least = INTEGER if whole else FLOATING
    outs = list(result) if isinstance(result, tuple | list) else [result]
    return [t for t in outs if isinstance(t, Tensor) and t._dtype.category >= least]


def differentiable(result: Any) -> list[Tensor]:
    """The outputs that require grad."""
    return [t for t in tensors_among(result) if t._keys & AUTOGRAD]


def flat(t: Tensor) -> list[Any]:
    """The elements as Python numbers."""
    return t.detach().reshape(-1).tolist()


class Mismatch:
    """The worst disagreement of one output and one input."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.size = -1.0
        self.text = ""

    def see(self, numeric: Any, analytic: Any, at: tuple[int, int, bool], o: Options) -> None:
        """Compare two derivatives."""
        self.total += 1
        if numeric == analytic:
            return
        size = abs(numeric - analytic)
        pairs = ((part(numeric, i), part(analytic, i)) for i in (False, True))
        if all(abs(n - a) <= o.atol + o.rtol * abs(n) for n, a in pairs):
            return
        self.count += 1
        if not size <= self.size:
            self.size = size
            e, out, imaginary = at
            whose = "the imaginary part of " if imaginary else ""
            self.text = (
                f"at {whose}input element {e} and output element {out}: numerical {numeric}, analytical "
                f"{analytic}"
            )

    def refuse(self, k: int, i: int) -> None:
        """Raise if something differed."""
        if self.count:
            raise GradcheckError(
                f"Jacobian mismatch for output {k} with respect to input {i}, {self.text} ("
                f"{self.count} of {self.total} entries differ, this one most)"
            )


@contextmanager
def written(t: Tensor) -> Iterator[Any]:
    """A tensor's memory, to be changed without anybody noticing, and as it was afterwards."""
    with no_grad():
        before = t.detach().clone()
    try:
        yield t.data
    finally:
        with no_grad():
            t.data.copy_(before)


def part(value: Any, imaginary: bool) -> float:
    """The real or the imaginary part of a number."""
    return float(value.imag if imaginary else value.real)


def dot(a: Sequence[Any], b: Sequence[Any]) -> float:
    """``Re(sum(conj(a) * b))``: how a change ``b`` of a vector moves along ``a``."""
    return float(sum(x.real * y.real + x.imag * y.imag for x, y in zip(a, b, strict=True)))


def within(a: Sequence[Any], b: Sequence[Any], tolerance: float) -> bool:
    """Whether no two elements differ by more than a tolerance."""
    return all(x == y or abs(x - y) <= tolerance for x, y in zip(a, b, strict=True))


def direction(t: Tensor, draw: random.Random) -> Tensor:
    """A random tensor of length one, shaped as ``t``."""
    values: list[Any] = [draw.uniform(-1, 1) for _ in range(numel(t._shape))]
    if t._dtype.is_complex:
        values = [complex(x, draw.uniform(-1, 1)) for x in values]
    length = sum(abs(x) ** 2 for x in values) ** 0.5 or 1.0
    return from_values([x / length for x in values], t._shape, t._dtype, t._device)
