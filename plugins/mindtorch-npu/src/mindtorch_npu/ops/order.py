"""Sorting, the largest elements, running sums and extremes."""

from __future__ import annotations

from typing import Any

from mindtorch_core.dtypes import int32
from mindtorch_core.shapes import numel, wrap_dim

from ..aclnn import Scalar
from ..creation import fill
from .operands import cast, computed_in, empty, made, ranked, takes, written
from .steps import STEPS, Call, Work, rule_of, steps

__all__: list[str] = []


@steps("aten::cumsum")
def cumsum(self: Any, dim: int, *, dtype: Any = None) -> Work | None:
    """Running sums."""
    spec = rule_of("cumsum")(self, dim, dtype=dtype)
    d = spec.dtype
    if not takes("Cumsum", d):
        return None
    out, calls = made(spec, self._device), list[Call]()
    if numel(spec.shape):
        at = wrap_dim(dim, len(self._shape))
        calls.append(("Cumsum", (ranked(cast(self, d, calls)), at, d, ranked(out))))
    return out, calls


@steps("aten::cumprod")
def cumprod(self: Any, dim: int, *, dtype: Any = None) -> Work | None:
    """Running products."""
    spec = rule_of("cumprod")(self, dim, dtype=dtype)
    d = spec.dtype
    if not takes("Cumprod", d):
        return None
    out, calls = made(spec, self._device), list[Call]()
    if numel(spec.shape):
        at = Scalar(wrap_dim(dim, len(self._shape)), int32)
        calls.append(("Cumprod", (ranked(cast(self, d, calls)), at, d, ranked(out))))
    return out, calls


def _running_extreme(name: str, operator: str) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: int) -> Work | None:
        specs = rule(self, dim)
        if not takes(operator, self._dtype):
            return None
        values, indices = (made(spec, self._device) for spec in specs)
        if not numel(self._shape):
            return (values, indices), []
        at = wrap_dim(dim, len(self._shape))
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
    if not takes("Sort", self._dtype):
        return None
    values, indices = (made(spec, self._device) for spec in specs)
    if not numel(self._shape):
        return (values, indices), []
    at = wrap_dim(dim, len(self._shape))
    found = ranked(values), ranked(indices)
    return (values, indices), [("Sort", (ranked(self), bool(stable), at, descending, *found))]


@steps("aten::topk")
def topk(
    self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Work | None:
    """The k largest or smallest elements along a dimension in order, and where they are."""
    specs = rule_of("topk")(self, k, dim, largest, sorted)
    d = self._dtype
    wide = computed_in("Topk", d)
    if wide is None:
        return None
    values, indices = (made(spec, self._device) for spec in specs)
    calls: list[Call] = []
    if not numel(values._shape):
        return (values, indices), calls
    if not self._shape:
        return (written(values, self, calls), indices), [*calls, *fill(indices, 0)]
    found = values if wide is d else empty(values._shape, wide, self._device)
    at = wrap_dim(dim, len(self._shape))
    calls.append(("Topk", (cast(self, wide, calls), k, at, largest, True, found, indices)))
    return (written(values, found, calls), indices), calls
