"""Sorting, the largest elements, running sums and extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_core.backend import int32, numel, wrap_dim

from ..aclnn import Scalar
from .operands import cast, made, ranked, takes
from .reduction import found_along
from .steps import STEPS, Call, Work, rule_of, steps

__all__: list[str] = []


def _running_total(name: str, operator: str, position: Callable[[int], Any]) -> None:
    """Define the steps of running sums or products.

    Args:
        name: the op.
        operator: what computes it.
        position: a dimension as the operator takes it.
    """
    rule = rule_of(name)

    def run(self: Any, dim: int, *, dtype: Any = None) -> Work | None:
        spec = rule(self, dim, dtype=dtype)
        d = spec.dtype
        if not takes(operator, d):
            return None
        out, calls = made(spec, self.raw_device), list[Call]()
        if numel(spec.shape):
            at = position(wrap_dim(dim, len(self.raw_shape)))
            calls.append((operator, (ranked(cast(self, d, calls)), at, d, ranked(out))))
        return out, calls

    STEPS[f"aten::{name}"] = run


_running_total("cumsum", "Cumsum", int)
_running_total("cumprod", "Cumprod", lambda dim: Scalar(dim, int32))


def _running_extreme(name: str, operator: str) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: int) -> Work | None:
        specs = rule(self, dim)
        if not takes(operator, self.raw_dtype):
            return None
        values, indices = (made(spec, self.raw_device) for spec in specs)
        if not numel(self.raw_shape):
            return (values, indices), []
        at = wrap_dim(dim, len(self.raw_shape))
        found = ranked(values), ranked(indices)
        return (values, indices), [(operator, (ranked(self), at, *found))]

    STEPS[f"aten::{name}"] = run


_running_extreme("cummax", "Cummax")
_running_extreme("cummin", "Cummin")


@steps("aten::sort.stable")
def sort(
    self: Any, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> Work | None:
    """Elements in order along a dimension, and where they were."""
    specs = rule_of("sort.stable")(self, stable=stable, dim=dim, descending=descending)
    if not takes("Sort", self.raw_dtype):
        return None
    values, indices = (made(spec, self.raw_device) for spec in specs)
    if not numel(self.raw_shape):
        return (values, indices), []
    at = wrap_dim(dim, len(self.raw_shape))
    found = ranked(values), ranked(indices)
    return (values, indices), [("Sort", (ranked(self), bool(stable), at, descending, *found))]


@steps("aten::topk")
def topk(
    self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Work | None:
    """The k largest or smallest elements along a dimension in order, and where they are."""
    specs = rule_of("topk")(self, k, dim, largest, sorted)
    at = wrap_dim(dim, len(self.raw_shape))
    return found_along("Topk", self, specs, (k, at, largest, True))
