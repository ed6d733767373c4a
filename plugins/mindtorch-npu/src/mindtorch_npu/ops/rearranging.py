"""Elements in another order: flipped, rolled, repeated, padded; triangles."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import numel, wrap_dims

from .copying import copied
from .operands import element, made, packed, takes
from .steps import STEPS, Call, Work, rule_of, steps

__all__: list[str] = []

# How many dimensions the operator repeats at most.
_MOST_REPEATED = 4


@steps("aten::flip")
def flip(self: Any, dims: Any) -> Work | None:
    """Dimensions in reverse order."""
    spec = rule_of("flip")(self, dims)
    d = self.raw_dtype
    if not takes("Flip", d):
        return None
    out = made(spec, self.raw_device)
    none = not isinstance(dims, int) and not len(dims)
    at = [] if none else list(wrap_dims(dims, len(self.raw_shape)))
    if not at:
        return out, copied(out, self)
    return out, [("Flip", (self, at, out))] if numel(spec.shape) else []


@steps("aten::roll")
def roll(self: Any, shifts: Any, dims: Any = ()) -> Work | None:
    """Elements moved along dimensions, from the end to the beginning."""
    spec = rule_of("roll")(self, shifts, dims)
    d = self.raw_dtype
    steps_, along = ([v] if isinstance(v, int) else list(v) for v in (shifts, dims))
    if not takes("Roll", d) or not along or not self.raw_shape:
        return None
    out, calls = made(spec, self.raw_device), list[Call]()
    if numel(spec.shape):
        at = [dim % len(self.raw_shape) for dim in along]
        calls.append(("Roll", (self, steps_, at, out)))
    return out, calls


@steps("aten::repeat")
def repeat(self: Any, repeats: Any) -> Work | None:
    """A tensor repeated along its dimensions, and along new ones before them."""
    spec = rule_of("repeat")(self, repeats)
    d = self.raw_dtype
    times = [repeats] if isinstance(repeats, int) else list(repeats)
    if not takes("Repeat", d) or sum(n != 1 for n in times) > _MOST_REPEATED:
        return None
    out = made(spec, self.raw_device)
    return out, [("Repeat", (self, times, out))] if numel(spec.shape) else []


def _triangle(name: str, operator: str) -> None:
    rule = rule_of(name)

    def run(self: Any, diagonal: int = 0) -> Work | None:
        spec = rule(self, diagonal)
        d = self.raw_dtype
        if not takes(operator, d):
            return None
        out, calls = made(spec, self.raw_device), list[Call]()
        if numel(spec.shape):
            calls.append((operator, (packed(operator, "self", self, calls), diagonal, out)))
        return out, calls

    STEPS[f"aten::{name}"] = run


_triangle("tril", "Tril")
_triangle("triu", "Triu")


@steps("aten::constant_pad_nd")
def constant_pad_nd(self: Any, pad: Any, value: Any = 0) -> Work | None:
    """A tensor with a number around it."""
    spec = rule_of("constant_pad_nd")(self, pad, value)
    d = self.raw_dtype
    if not takes("ConstantPadNd", d) or any(n < 0 for n in pad) or not self.raw_shape:
        return None
    if not numel(self.raw_shape):
        return None
    out = made(spec, self.raw_device)
    return out, [("ConstantPadNd", (self, list(pad), element(value, d), out))]
