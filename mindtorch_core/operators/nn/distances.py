"""Distances and similarities of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ...values.promotion import result_type
from ...values.shapes import broadcast_all, numel
from ..elementwise.composed import by_name

_INF = float("inf")
# Differences of all pairs are made in blocks of about this many elements.
_BLOCK = 1 << 22


def _check_order(name: str, p: float) -> None:
    if not p >= 0:
        raise RuntimeError(f"{name} only supports non-negative p values, but got {p}")


op(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    doc="The ``p``-norm of the difference.",
    decomposition=lambda self, other, p=2: fn_linalg.vector_norm(self - other, p),
)


# ---- all pairs ----------------------------------------------------------------------------------


def _cdist_rule(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None = None) -> TensorSpec:
    for which, x in (("X1", x1), ("X2", x2)):
        if len(x._shape) < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {which} got: {len(x._shape)}D"
            )
        if x._dtype.category != FLOATING:
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {which} got: {x._dtype.label}"
            )
    if x1._shape[-1] != x2._shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._shape[-1]} X2: {x2._shape[-1]}"
        )
    _check_order("cdist", p)
    if compute_mode not in (None, 0, 1, 2):
        raise RuntimeError(f"possible modes: 0, 1, 2, but was: {compute_mode}")
    batch = broadcast_all((x1._shape[:-2], x2._shape[:-2]))
    return TensorSpec((*batch, x1._shape[-2], x2._shape[-2]), result_type(x1, x2))


def _blocks(x1: Any, x2: Any) -> list[tuple[int, int]]:
    """Ranges of rows of ``x1`` whose differences to all of ``x2`` are of a moderate number."""
    batch = numel(broadcast_all((x1._shape[:-2], x2._shape[:-2])))
    each = max(batch * numel(x2._shape[-2:]), 1)
    step = max(_BLOCK // each, 1)
    rows = x1._shape[-2]
    return [(at, min(step, rows - at)) for at in range(0, rows, step)] or [(0, 0)]


def _cdist_forward(x1: Any, x2: Any, p: float, compute_mode: int | None = None) -> Tensor:
    spec = _cdist_rule(x1, x2, p, compute_mode)
    if not x1._shape[-1]:
        return x1.new_zeros(spec.shape)  # type: ignore[no-any-return]
    others = x2.unsqueeze(-3)
    parts = [
        fn_linalg.vector_norm(x1.narrow(-2, at, n).unsqueeze(-2) - others, p, -1)
        for at, n in _blocks(x1, x2)
    ]
    return parts[0] if len(parts) == 1 else fn.cat(parts, -2)


def _cdist_backward(grad: Any, x1: Any, x2: Any, p: float, cdist: Any) -> Tensor:
    """Gradient of all distances for ``x1``; where a distance is zero it is zero."""
    shape = (*grad._shape[:-1], x1._shape[-1])
    if p == 0 or not numel(grad._shape) or not x1._shape[-1]:
        return grad.new_zeros(shape)  # type: ignore[no-any-return]
    others = x2.unsqueeze(-3)
    parts = []
    for at, n in _blocks(x1, x2):
        gap = x1.narrow(-2, at, n).unsqueeze(-2) - others
        g, d = (t.narrow(-2, at, n).unsqueeze(-1) for t in (grad, cdist))
        parts.append(_pulled(g, gap, p, d).sum(-2))
    return parts[0] if len(parts) == 1 else fn.cat(parts, -2)


def _pulled(g: Any, gap: Any, p: float, distance: Any) -> Any:
    """Gradient of the ``p``-norm of ``gap``; of a norm that is zero there is none, whatever ``g`` is."""
    if p == 1:
        return gap.sgn() * g
    size = gap.abs()
    if p == _INF:
        return gap.sgn() * (size == distance) * g
    zero = distance == 0
    safe = fn.where(zero, 1, distance)
    if p == 2:
        return fn.where(zero, 0, gap / safe * g)
    nothing = size == 0
    size = fn.where(nothing, 1, size)
    slope = gap.sgn() * (size / safe) ** (p - 1)
    return fn.where(nothing | zero if p < 1 else zero, 0, slope * g)


def _pair_grad(g: Any, x1: Any, x2: Any, p: float, result: Any, which: int) -> Any:
    if which == 0:
        return sum_to(fn._cdist_backward(g, x1, x2, p, result), x1._shape)
    turned = fn._cdist_backward(g.transpose(-1, -2), x2, x1, p, result.transpose(-1, -2))
    return sum_to(turned, x2._shape)


op(
    "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
    doc="`cdist` with the number of its mode.",
    rule=_cdist_rule,
    grad={
        "x1": lambda g, x1, x2, p, result: _pair_grad(g, x1, x2, p, result, 0),
        "x2": lambda g, x1, x2, p, result: _pair_grad(g, x1, x2, p, result, 1),
    },
    decomposition=_cdist_forward,
    namespaces=("torch",),
)
op(
    "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    doc="Gradient of `cdist` for its first argument.",
    rule=lambda grad, x1, x2, p, cdist: TensorSpec((*grad._shape[:-1], x1._shape[-1]), grad._dtype),
    decomposition=_cdist_backward,
    namespaces=("torch",),
)
op(
    "cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor",
    doc="Distances by the ``p``-norm between all rows of ``x1`` and all rows of ``x2``.",
    decomposition=lambda x1, x2, p=2.0, compute_mode=None: fn._cdist_forward(
        x1, x2, p, compute_mode
    ),
    namespaces=(),
)
_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


@public("torch")
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Distances by the ``p``-norm between all rows of ``x1`` and all rows of ``x2``.

    Args:
        x1: rows, (..., P, M).
        x2: rows, (..., R, M).
        p: which norm.
        compute_mode: whether a matrix product may give the 2-norm's distances
            (``use_mm_for_euclid_dist``, ``donot_use_mm_for_euclid_dist``, or the default); here
            differences are taken exactly, whatever it says.

    Raises:
        ValueError: for an unknown mode.

    Example:
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        raise ValueError(
            f"{compute_mode} is not a valid value for compute_mode: one of {', '.join(_MODES)}"
        )
    return by_name("cdist")(x1, x2, p, _MODES[compute_mode])  # type: ignore[no-any-return]


def _pdist_rule(self: Tensor, p: float = 2.0) -> TensorSpec:
    if len(self._shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(self._shape)}D")
    if self._dtype.category != FLOATING:
        raise RuntimeError(f"pdist only supports floating-point dtypes, got: {self._dtype.label}")
    _check_order("pdist", p)
    n = self._shape[0]
    return TensorSpec((n * (n - 1) // 2,), self._dtype)


def _pdist(self: Any, p: float = 2.0) -> Tensor:
    _pdist_rule(self, p)
    n = self._shape[0]
    every = fn._cdist_forward(self, self, float(p), None).reshape(n * n)
    if n < 2:
        return every.narrow(0, 0, 0)
    above = [fn.arange(i * n + i + 1, i * n + n, device=self._device) for i in range(n)]
    return every.index_select(0, fn.cat(above))


op(
    "pdist(Tensor self, float p=2.) -> Tensor",
    doc="Distances by the ``p``-norm between all pairs of different rows of a matrix.",
    decomposition=_pdist,
    namespaces=("torch", "nn"),
)

# ---- row by row ---------------------------------------------------------------------------------

op(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=1e-06, bool keepdim=False) -> Tensor",
    doc="The ``p``-norm of ``x1 - x2 + eps`` along the last dimension.",
    decomposition=lambda x1, x2, p=2.0, eps=1e-6, keepdim=False: fn_linalg.vector_norm(
        x1 - x2 + eps, p, -1, keepdim
    ),
    namespaces=("torch", "nn"),
)


def _cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Tensor:
    common = result_type(x1, x2)
    if common.category < FLOATING:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {common.label}"
        )
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps}")
    x1, x2 = (x if x._dtype is common else x.to(common) for x in (x1, x2))
    x1, x2 = fn.broadcast_tensors(x1, x2)
    return (_directed(x1, dim, eps) * _directed(x2, dim, eps)).sum(dim)  # type: ignore[no-any-return]


def _directed(x: Any, dim: int, eps: float) -> Any:
    """Vectors scaled to length 1; short ones are divided by ``eps``, with the norm's slope."""
    norm: Any = fn_linalg.vector_norm(x, 2, dim, True)
    lifted = (norm.detach().clamp(min=eps) - norm.detach()) + norm
    return x / lifted


op(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    doc="Cosine of the angle between vectors along a dimension; norms count as at least ``eps``.",
    decomposition=_cosine_similarity,
    namespaces=("torch", "nn"),
)


@public("nn")
def normalize(
    input: Tensor,
    p: float = 2.0,
    dim: int | Sequence[int] = 1,
    eps: float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Vectors along a dimension, divided by their norm.

    Args:
        input: of any shape.
        p: which norm.
        dim: the dimension, or several that hold a vector together.
        eps: smaller norms count as it.
        out: where to write the result.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0], [0.0, 2.0]]))
        tensor([[0.6000, 0.8000],
                [0.0000, 1.0000]])
    """
    norm: Any = fn_linalg.vector_norm(input, p, dim, True)
    return fn.div(input, norm.clamp(min=eps), out=out)
