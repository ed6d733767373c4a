"""Reductions: sums, means, extremes and their positions, truth."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import (
    FLOATING,
    Tensor,
    bool_,
    degrees_of_freedom,
    int32,
    int64,
    numel,
    reduced_shape,
    wrap_dim,
    wrap_dims,
)

from ..creation import fill
from .operands import cast, computed_in, contiguous, empty, made, ranked, reshaped, takes, written
from .steps import STEPS, Call, Work, accepts, outputs, rule_of, steps

__all__ = ["found_along"]


def _dims(self: Tensor, dim: Any) -> list[int]:
    return list(wrap_dims(dim, len(self.raw_shape)))


# ---- sums ----------------------------------------------------------------------------------------


@steps("aten::sum")
def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Work | None:
    """Sum; whole numbers as int64."""
    spec = rule_of("sum")(self, dim, keepdim, dtype=dtype)
    return _totalled("ReduceSum", self, spec, _dims(self, dim), keepdim)


@steps("aten::mean")
def mean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Work | None:
    """Mean."""
    spec = rule_of("mean")(self, dim, keepdim, dtype=dtype)
    if not numel(self.raw_shape):
        return None
    return _totalled("Mean", self, spec, _dims(self, dim), keepdim)


def _totalled(operator: str, self: Any, spec: Any, dims: list[int], keepdim: bool) -> Work | None:
    d = spec.dtype
    if not takes(operator, d):
        return None
    out, calls = made(spec, self.raw_device), list[Call]()
    if not numel(spec.shape):
        return out, calls
    if not numel(self.raw_shape):
        return out, fill(out, 0)
    whole = self.raw_dtype.category < FLOATING and takes(operator, self.raw_dtype)
    source = self if whole and d is int64 else cast(self, d, calls)  # the operator widens itself
    if not dims:
        return written(out, source, calls), calls
    calls.append((operator, (source, dims, keepdim, d, out)))
    return out, calls


@steps("aten::prod")
def prod(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Work | None:
    """Product; whole numbers as int64."""
    spec = rule_of("prod")(self, dim, keepdim, dtype=dtype)
    d = spec.dtype
    if not takes("Prod", d):
        return None
    out, calls = made(spec, self.raw_device), list[Call]()
    if not numel(spec.shape):
        return out, calls
    if not numel(self.raw_shape):
        return out, fill(out, 1)
    source = cast(self, d, calls)
    if dim is None or not self.raw_shape:
        calls.append(("Prod", (source, d, reshaped(out, (1,)))))
    else:
        calls.append(("ProdDim", (source, wrap_dim(dim, len(self.raw_shape)), keepdim, d, out)))
    return out, calls


def _spread(name: str, operator: str) -> None:
    rule = rule_of(f"{name}.correction")

    def run(
        self: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False
    ) -> Work | None:
        spec = rule(self, dim, correction=correction, keepdim=keepdim)
        d, whole = spec.dtype, 1 if correction is None else correction
        free = degrees_of_freedom(self.raw_shape, dim, correction)
        if not self.raw_shape or int(whole) != whole or free <= 0 or not numel(self.raw_shape):
            return None
        if d is not self.raw_dtype or not takes(operator, d):
            return None
        out = made(spec, self.raw_device)
        return out, [(operator, (self, _dims(self, dim), int(whole), keepdim, out))]

    STEPS[f"aten::{name}.correction"] = run


_spread("var", "VarCorrection")
_spread("std", "Std")

# ---- extremes ------------------------------------------------------------------------------------


def _extreme(name: str, operator: str) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: Any = (), keepdim: bool = False) -> Work | None:
        spec = rule(self, dim, keepdim)
        d = self.raw_dtype
        if not takes(operator, d):
            return None
        out = made(spec, self.raw_device)
        if not numel(spec.shape):
            return out, []
        dims = _dims(self, dim)
        if not dims:
            return out, [("InplaceCopy", (out, self))]
        return out, [(operator, (self, dims, keepdim, out))]

    STEPS[f"aten::{name}"] = run


_extreme("amax", "Amax")
_extreme("amin", "Amin")


def _position(name: str, operator: str) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: Any = None, keepdim: bool = False) -> Work | None:
        spec = rule(self, dim, keepdim)
        wide = computed_in(operator, self.raw_dtype)
        if wide is None:
            return None
        out, calls = made(spec, self.raw_device), list[Call]()
        if not numel(spec.shape):
            return out, calls
        source = ranked(cast(self, wide, calls))
        if dim is None:
            source = contiguous(source, calls)
            source = reshaped(source, (numel(source.raw_shape),))
            calls.append((operator, (source, 0, False, reshaped(out, ()))))
        else:
            at = wrap_dim(dim, len(source.raw_shape))
            target = out if self.raw_shape else reshaped(out, (1,))
            calls.append((operator, (source, at, keepdim or not self.raw_shape, target)))
        return out, calls

    STEPS[f"aten::{name}"] = run


_position("argmax", "ArgMax")
_position("argmin", "ArgMin")


def found_along(operator: str, self: Tensor, specs: Any, middle: tuple[Any, ...]) -> Work | None:
    """The steps that find some elements along a dimension, and where they are.

    Args:
        operator: what finds them; its results are the elements and their positions.
        self: the tensor.
        specs: of both results.
        middle: what the operator takes between the tensor and its results.
    """
    d, on = self.raw_dtype, self.raw_device
    wide = computed_in(operator, d)
    if wide is None:
        return None
    values, indices = (made(spec, on) for spec in specs)
    calls: list[Call] = []
    if not numel(values.raw_shape):
        return (values, indices), calls
    if not self.raw_shape:
        return (written(values, self, calls), indices), [*calls, *fill(indices, 0)]
    counted = int64 if accepts(operator, outputs(operator)[1], int64) else int32
    found = values if wide is d else empty(values.raw_shape, wide, on)
    at = indices if counted is int64 else empty(indices.raw_shape, counted, on)
    calls.append((operator, (cast(self, wide, calls), *middle, found, at)))
    return (written(values, found, calls), written(indices, at, calls)), calls


def _extreme_along(name: str, operator: str) -> None:
    """``max`` and ``min`` along a dimension, with positions."""
    rule = rule_of(f"{name}.dim")

    def run(self: Any, dim: int, keepdim: bool = False) -> Work | None:
        specs = rule(self, dim, keepdim)
        at = wrap_dim(dim, len(self.raw_shape))
        return found_along(operator, self, specs, (at, keepdim))

    STEPS[f"aten::{name}.dim"] = run


_extreme_along("max", "MaxDim")
_extreme_along("min", "MinDim")

# ---- truth ---------------------------------------------------------------------------------------


def _truth(name: str, operator: str, empty_gives: int) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: Any = None, keepdim: bool = False) -> Work | None:
        spec = rule(self, dim, keepdim)
        none = dim is not None and not isinstance(dim, int) and not len(dim)
        dims = [] if none else _dims(self, dim)
        if not takes(operator, self.raw_dtype):
            return None
        out, calls = made(spec, self.raw_device), list[Call]()
        if not numel(spec.shape):
            return out, calls
        if not numel(self.raw_shape):
            return out, fill(out, empty_gives)
        target = out if spec.dtype is bool_ else empty(spec.shape, bool_, self.raw_device)
        if dims:
            calls.append((operator, (self, dims, keepdim, target)))
        else:
            calls.append(("NeScalar", (self, 0, target)))
        return written(out, target, calls), calls

    STEPS[f"aten::{name}"] = run


_truth("any", "Any", 0)
_truth("all", "All", 1)


@steps("aten::logsumexp")
def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Work | None:
    """Logarithm of the sum of exponentials."""
    d, dims = self.raw_dtype, _dims(self, dim)
    if d.category != FLOATING or not takes("LogSumExp", d) or not dims or not numel(self.raw_shape):
        return None
    out = empty(reduced_shape(self.raw_shape, tuple(dims), keepdim), d, self.raw_device)
    return out, [("LogSumExp", (self, dims, keepdim, out))]
