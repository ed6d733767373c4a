"""Differences between neighbours, derivatives and integrals on grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, uint8
from ...values.shapes import show, wrap_dim, wrap_dims


def _neighbours(t: Any, dim: int) -> tuple[Any, Any]:
    """All elements but the last, and all but the first, along a dimension."""
    n = t.size(dim)
    return t.narrow(dim, 0, max(n - 1, 0)), t.narrow(dim, min(1, n), max(n - 1, 0))


def _diff(self: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    rank = len(self._shape)
    if not rank:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    at = wrap_dim(dim, rank)
    for given in (prepend, append):
        if given is not None and len(given._shape) != rank:
            raise RuntimeError(
                f"diff expects prepend or append to be the same dimension as input: "
                f"{len(given._shape)} instead of {rank}"
            )
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return self.clone()  # type: ignore[no-any-return]
    parts = [t for t in (prepend, self, append) if t is not None]
    t = self if len(parts) == 1 else fn.cat(parts, at)
    for _ in range(min(n, t._shape[at])):
        before, after = _neighbours(t, at)
        t = before.logical_xor(after) if t._dtype.category == BOOL else after - before
    return t


op(
    "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    doc="Differences between neighbours along a dimension, taken ``n`` times; of booleans, whether "
    "they differ.",
    decomposition=_diff,
    out=True,
)


# ---- derivatives --------------------------------------------------------------------------------


def _check_gradient(self: Tensor, dims: Sequence[int], edge_order: int) -> None:
    if self._dtype is uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if self._shape and self._shape[d] < edge_order + 1:
            raise RuntimeError(
                f"torch.gradient expected each dimension size to be at least edge_order+1 "
                f"({edge_order + 1}), but dimension {d} of {show(self._shape)} is smaller"
            )


def _gradient(
    self: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    rank = len(self._shape)
    dims = wrap_dims(None if dim is None else dim, rank)
    if isinstance(dim, list | tuple):  # in the order that was asked for
        dims = tuple(wrap_dim(d, rank) for d in dim)
    _check_gradient(self, dims, edge_order)
    if isinstance(spacing, list | tuple):
        if len(spacing) != len(dims):
            raise RuntimeError(
                f"torch.gradient expected spacing to be unspecified, a scalar or a list of length "
                f"{len(dims)}, one for each dimension, but got a list of length {len(spacing)}"
            )
        steps = list(spacing)
    else:
        if isinstance(spacing, Tensor) and not spacing._shape:
            if spacing.requires_grad:
                raise TypeError(
                    "gradient() takes a step that does not require grad: spacing.detach()"
                )
            spacing = spacing.item()
        steps = [1 if spacing is None else spacing] * len(dims)
    return tuple(_derivative(self, h, d, edge_order) for h, d in zip(steps, dims, strict=True))


def _derivative(f: Any, h: Any, dim: int, edge_order: int) -> Tensor:
    """Central differences inside, one-sided ones of a given order at both edges."""
    n = f._shape[dim]

    def at(i: int) -> Any:
        return f.narrow(dim, i % n, 1)

    left, middle, right = (f.narrow(dim, i, n - 2) for i in range(3))
    if not isinstance(h, Tensor):
        inside = (right - left) / (2 * h)
        if edge_order == 1:
            edges = (at(1) - at(0)) / h, (at(-1) - at(-2)) / h
        else:
            edges = (
                (at(0) * -1.5 + at(1) * 2 - at(2) * 0.5) / h,
                (at(-1) * 1.5 - at(-2) * 2 + at(-3) * 0.5) / h,
            )
        return fn.cat([edges[0], inside, edges[1]], dim)
    if h._device is not f._device:
        raise RuntimeError(
            f"torch.gradient expected each tensor to be on the same device, but got devices "
            f"{f._device} and {h._device}"
        )
    if h._shape != (n,):
        raise RuntimeError(
            f"torch.gradient expected the spacing of dimension {dim} to have the coordinates of its "
            f"{n} points, but got a tensor of shape {show(h._shape)}"
        )
    shape = [1] * len(f._shape)
    shape[dim] = n - 1
    gaps = (h.narrow(0, 1, n - 1) - h.narrow(0, 0, n - 1)).view(shape)
    before, after = gaps.narrow(dim, 0, n - 2), gaps.narrow(dim, 1, n - 2)
    inside = (
        left * (-after / (before * (before + after)))
        + middle * ((after - before) / (before * after))
        + right * (before / (after * (before + after)))
    )
    first, last = gaps.narrow(dim, 0, 1), gaps.narrow(dim, n - 2, 1)
    if edge_order == 1:
        edges = (at(1) - at(0)) / first, (at(-1) - at(-2)) / last
    else:
        edges = (
            _edge(at(0), at(1), at(2), first, gaps.narrow(dim, 1, 1)),
            -_edge(at(-1), at(-2), at(-3), last, gaps.narrow(dim, n - 3, 1)),
        )
    return fn.cat([edges[0], inside, edges[1]], dim)


def _edge(f0: Any, f1: Any, f2: Any, h1: Any, h2: Any) -> Any:
    """Slope of the parabola through three points at the first; ``h1``, ``h2`` are their gaps."""
    return (
        f0 * (-(h1 * 2 + h2) / (h1 * (h1 + h2)))
        + f1 * ((h1 + h2) / (h1 * h2))
        - f2 * (h1 / (h2 * (h1 + h2)))
    )


for _overload, _spacing, _dim in (
    ("scalarint", "Scalar? spacing=None, ", "int? dim=None"),
    ("scalararray", "Scalar spacing, ", "int[] dim"),
    ("array", "", "int[] dim"),
    ("scalarrayint", "Scalar[] spacing, ", "int? dim=None"),
    ("scalarrayarray", "Scalar[] spacing, ", "int[] dim"),
    ("tensorarrayint", "Tensor[] spacing, ", "int? dim=None"),
    ("tensorarray", "Tensor[] spacing, ", "int[] dim"),
):
    op(
        f"gradient.{_overload}(Tensor self, *, {_spacing}{_dim}, int edge_order=1) -> Tensor[]",
        doc="Derivatives of a function known on a grid, along each dimension, by second-order central "
        "differences; ``spacing`` holds a step or the coordinates of each dimension.",
        decomposition=_gradient,
        namespaces=("torch",),
    )


# ---- integrals ----------------------------------------------------------------------------------


def _check_sampled(name: str, y: Tensor, x: Any) -> None:
    if y._dtype.category == BOOL or (isinstance(x, Tensor) and x._dtype.category == BOOL):
        raise RuntimeError(
            f"{name}: received a bool input for `x` or `y`, but bool is not supported"
        )
    if isinstance(x, complex | bool):
        raise RuntimeError(f"{name}: currently, we only support dx as a real number")


def _widths(name: str, y: Any, x: Any, dim: int) -> Any:
    """Distances between neighbouring points, in a shape that fits the samples."""
    if not isinstance(x, Tensor):
        return x
    at = wrap_dim(dim, len(y._shape))
    if len(x._shape) == 1:
        if x._shape[0] != y._shape[at]:
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point, got {x._shape[0]} for "
                f"{y._shape[at]} points"
            )
        shape = [1] * len(y._shape)
        shape[at] = x._shape[0]
        x = x.view(shape)
    elif len(x._shape) < len(y._shape):
        x = x.view((1,) * (len(y._shape) - len(x._shape)) + x._shape)
    before, after = _neighbours(x, dim)
    return after - before


def _areas(name: str, y: Any, x: Any, dim: int) -> Any:
    """Twice the areas between neighbouring samples; None without samples."""
    _check_sampled(name, y, x)
    before, after = _neighbours(y, dim)
    return (before + after) * _widths(name, y, x, dim)


def _trapezoid(y: Any, x: Any = 1, dim: int = -1) -> Tensor:
    _check_sampled("trapezoid", y, x)
    at = wrap_dim(dim, len(y._shape))
    if not y.size(dim):
        return y.new_zeros(y._shape[:at] + y._shape[at + 1 :])  # type: ignore[no-any-return]
    if isinstance(x, Tensor):
        return _areas("trapezoid", y, x, dim).sum(dim) / 2  # type: ignore[no-any-return]
    ends = y.select(dim, 0) + y.select(dim, -1)
    return (y.sum(dim) - ends * 0.5) * x  # type: ignore[no-any-return]


def _cumulative_trapezoid(y: Any, x: Any = 1, dim: int = -1) -> Tensor:
    if isinstance(x, Tensor):
        return _areas("cumulative_trapezoid", y, x, dim).cumsum(dim) / 2  # type: ignore[no-any-return]
    _check_sampled("cumulative_trapezoid", y, x)
    before, after = _neighbours(y, dim)
    return ((before + after) * (x / 2)).cumsum(dim)  # type: ignore[no-any-return]


for _name, _doc, _integral, _number in (
    ("trapezoid", "Integral along a dimension by the trapezoidal rule", _trapezoid, "Scalar dx=1"),
    ("trapz", "Alias of `trapezoid`", _trapezoid, "float dx=1.0"),
    (
        "cumulative_trapezoid",
        "Integrals up to each sample but the first by the trapezoidal rule",
        _cumulative_trapezoid,
        "Scalar dx=1",
    ),
):
    op(
        f"{_name}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
        doc=f"{_doc}: ``y`` sampled at ``x``.",
        decomposition=lambda y, x, *, dim=-1, _integral=_integral: _integral(y, x, dim),
        namespaces=("torch",),
    )
    op(
        f"{_name}.dx(Tensor y, *, {_number}, int dim=-1) -> Tensor",
        doc=f"{_doc}: ``y`` sampled at steps of ``dx``.",
        decomposition=lambda y, *, dx=1, dim=-1, _integral=_integral: _integral(y, dx, dim),
        namespaces=("torch",),
    )
