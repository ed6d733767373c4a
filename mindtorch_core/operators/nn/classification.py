"""Losses of classes: margins, several labels, embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn, fn_nn
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import dtype
from ...values.promotion import check_cast, result_type, to_floating
from ...values.shapes import show
from ..elementwise.composed import by_name, widened
from .reducing import MEAN, check_whole, loss, reduced, reduction_of, weighted

_PAIR = "Tensor self, Tensor target, int reduction=1"


def _accept_exponentials(input: Tensor, target: Tensor) -> dtype:
    """PyTorch computes the loss in the memory of ``-input``."""
    check_cast(to_floating(result_type(input, target)), input._dtype)
    return input._dtype


def _soft_margin(input: Any, target: Any, reduction: int = MEAN) -> Tensor:
    return reduced((-input * target).exp().log1p(), reduction)


def _hinge_embedding(input: Any, target: Any, margin: float = 1.0, reduction: int = MEAN) -> Tensor:
    apart = fn.where(target == 1, 0, (margin - input).clamp(min=0).to(input._dtype))
    return reduced(apart + fn.where(target == -1, 0, input), reduction)


def _margin_ranking(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = MEAN
) -> Tensor:
    return reduced((-target * (input1 - input2) + float(margin)).clamp(min=0), reduction)


def _above_zero(margins: Any) -> Any:
    """Margins that are missed; NaN is none, and one that is just kept has no gradient."""
    return fn.where(margins > 0, margins, 0)


def _multi_margin(
    input: Any, target: Any, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = MEAN
) -> Tensor:
    if p not in (1, 2):
        raise RuntimeError("multi_margin_loss: only p == 1 and p == 2 are supported")
    rows = input if len(input._shape) == 2 else input.reshape(1, -1)
    if len(input._shape) > 2 or not rows._shape[1]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{show(input._shape)}"
        )
    labels = target.reshape(-1, 1)
    if labels._shape[0] != rows._shape[0] or len(target._shape) > 1:
        raise RuntimeError(
            f"inconsistent target size, expected {rows._shape[0]} but got {show(target._shape)}"
        )
    if weight is not None and weight._shape != (rows._shape[1],):
        raise RuntimeError(
            f"inconsistent weight size, expected {rows._shape[1]} but got {show(weight._shape)}"
        )
    d = check_whole(input._dtype, "multi_margin_loss_cpu_kernel")
    terms = _above_zero(rows - rows.gather(1, labels) + margin)
    terms = terms * terms if p == 2 else terms
    if weight is not None:
        terms = terms * weight.index_select(0, labels.reshape(-1)).unsqueeze(1)
    others = fn.arange(rows._shape[1], device=rows._device) != labels
    losses = fn.where(others, terms, 0).sum(1) / rows._shape[1]
    return reduced(losses.reshape(()) if len(input._shape) < 2 else losses, reduction).to(d)


def _is_target(rows: Any, labels: Any) -> tuple[Any, Any]:
    """Which slots of ``labels`` count (those before the first -1), and which classes they name."""
    counts = (labels < 0).cumsum(1) == 0
    named = fn.zeros_like(labels).scatter_add(1, labels.clamp(min=0), counts.to(labels._dtype))
    return counts, named > 0


def _multilabel_margin(input: Any, target: Any, reduction: int) -> tuple[Tensor, Tensor]:
    if len(input._shape) > 2 or (len(input._shape) and not input._shape[-1]):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{show(input._shape)}"
        )
    if target._shape != input._shape:
        raise RuntimeError(
            f"inconsistent target size: {show(target._shape)} for input of size: "
            f"{show(input._shape)}"
        )
    d = check_whole(input._dtype, "multilabel_margin_loss_forward_out_frame")
    rows = input if len(input._shape) == 2 else input.reshape(1, -1)
    labels = target.reshape(rows._shape)
    counts, named = _is_target(rows, labels)
    # Other negative numbers than -1 are refused, as the indices that they would be.
    chosen = rows.gather(1, fn.where(labels == -1, 0, labels))
    terms = _above_zero(1 - chosen.unsqueeze(2) + rows.unsqueeze(1))
    kept = counts.unsqueeze(2) & ~named.unsqueeze(1)
    losses = fn.where(kept, terms, 0).sum((1, 2)) / rows._shape[1]
    losses = losses.reshape(()) if len(input._shape) < 2 else losses
    return reduced(losses, reduction), named.to(d).reshape(target._shape)


def _cosine_embedding(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = MEAN
) -> Tensor:
    ranks = len(input1._shape), len(input2._shape)
    if len(target._shape) not in (0, 1):
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported: {show(target._shape)}"
        )
    wanted = len(target._shape) + 1
    if ranks != (wanted, wanted):
        raise RuntimeError(
            f"{len(target._shape)}D target tensor expects {wanted}D input tensors, but found inputs "
            f"with sizes {show(input1._shape)} and {show(input2._shape)}."
        )
    product = (input1 * input2).sum(-1)
    squares = (input1 * input1).sum(-1) + 1e-12, (input2 * input2).sum(-1) + 1e-12
    cosine = product / (squares[0] * squares[1]).sqrt()
    near = fn.where(target == 1, 1 - cosine, 0)
    far = fn.where(target == -1, (cosine - margin).clamp(min=0), 0)
    return reduced(near + far, reduction)


def _triplet_margin(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> Tensor:
    ranks = [len(t._shape) for t in (anchor, positive, negative)]
    if len({*ranks}) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative "
            f"{ranks[2]}D inputs"
        )
    near = fn.pairwise_distance(anchor, positive, p, eps)
    far = fn.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = fn.minimum(far, fn.pairwise_distance(positive, negative, p, eps))
    return reduced((near - far + margin).clamp(min=0), reduction)


loss(
    "soft_margin_loss",
    _PAIR,
    "``log(1 + exp(-target * input))``.",
    _soft_margin,
    accept=_accept_exponentials,
)
loss(
    "hinge_embedding_loss",
    "Tensor self, Tensor target, float margin=1., int reduction=1",
    "The input where the target is 1, ``max(0, margin - input)`` where it is -1.",
    _hinge_embedding,
    out=False,
    namespaces=("torch",),
)
loss(
    "margin_ranking_loss",
    "Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1",
    "``max(0, -target * (input1 - input2) + margin)``.",
    _margin_ranking,
    out=False,
    namespaces=("torch",),
)
loss(
    "multi_margin_loss",
    "Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1",
    "How far other classes come within a margin of the target's score, to the power ``p``.",
    _multi_margin,
)
op(
    "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> "
    "(Tensor output, Tensor is_target)",
    doc="`multilabel_margin_loss`, and which classes are targets.",
    decomposition=_multilabel_margin,
    namespaces=(),
)
op(
    "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    doc="How far other classes come within 1 of each target class's score; targets end at -1.",
    decomposition=lambda self, target, reduction=MEAN: _multilabel_margin(self, target, reduction)[
        0
    ],
    out=True,
    namespaces=(),
)
loss(
    "cosine_embedding_loss",
    "Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1",
    "``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.",
    _cosine_embedding,
    out=False,
    namespaces=("torch",),
)
loss(
    "triplet_margin_loss",
    "Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=1e-06, "
    "bool swap=False, int reduction=1",
    "``max(0, distance to positive - distance to negative + margin)`` (Balntas et al., 2016).",
    _triplet_margin,
    out=False,
    namespaces=("torch",),
)


# ---- as users call them -------------------------------------------------------------------------


@public("nn")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))``; targets are 1 or -1."""
    code = reduction_of(reduction, size_average, reduce)
    return by_name("soft_margin_loss")(input, target, code)  # type: ignore[no-any-return]


@public("nn")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1.

    Args:
        input: distances, of any shape.
        target: 1 or -1 for each.
        margin: distances below it count where the target is -1.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Example:
        >>> x, target = torch.tensor([0.2, 0.2]), torch.tensor([1, -1])
        >>> torch.nn.functional.hinge_embedding_loss(x, target, reduction="none")
        tensor([0.2000, 0.8000])
    """
    code = reduction_of(reduction, size_average, reduce)
    return fn.hinge_embedding_loss(input, target, margin, code)


@public("nn")
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``; targets are 1 or -1.

    Args:
        input1: a tensor of any shape.
        input2: one that is compared with it, of the same shape.
        target: 1 where the first shall be larger, -1 where the second shall be.
        margin: by how much.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        RuntimeError: if the tensors differ in their number of dimensions.

    Example:
        >>> x, y = torch.tensor([3.0, 1.0]), torch.tensor([1.0, 3.0])
        >>> torch.nn.functional.margin_ranking_loss(x, y, torch.ones(2), reduction="none")
        tensor([0., 2.])
    """
    code = reduction_of(reduction, size_average, reduce)
    if not len(input1._shape) == len(input2._shape) == len(target._shape):
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return fn.margin_ranking_loss(input1, input2, target, margin, code)


@public("nn")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes come within a margin of the target's score, to the power ``p``.

    Raises:
        ValueError: if ``p`` is neither 1 nor 2, or the weights are no vector.
    """
    code = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and len(weight._shape) != 1:
        raise ValueError("weight must be one-dimensional")
    return by_name("multi_margin_loss")(input, target, p, margin, weight, code)  # type: ignore[no-any-return]


@public("nn")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes come within 1 of each target class's score.

    Args:
        input: scores, (N, C) or (C).
        target: class indices of the same shape; those after the first -1 do not count.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.
    """
    code = reduction_of(reduction, size_average, reduce)
    return by_name("multilabel_margin_loss")(input, target, code)  # type: ignore[no-any-return]


@public("nn")
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over classes of `binary_cross_entropy_with_logits`."""
    code = reduction_of(reduction, size_average, reduce)
    d = result_type(input, target)
    x, t = widened(input), widened(target)
    logs: Any = t * fn_nn.logsigmoid(x) + (1 - t) * fn_nn.logsigmoid(-x)
    return reduced(-weighted(logs, weight).mean(-1), code).to(d)


@public("nn")
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Args:
        input1: vectors (N, D), or one (D).
        input2: vectors that they are compared with.
        target: 1 or -1 for each pair, (N) or ().
        margin: cosines below it count nothing where the target is -1.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the target's shape.

    Raises:
        RuntimeError: if numbers of dimensions do not fit.

    Example:
        >>> x, y = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> torch.nn.functional.cosine_embedding_loss(x, y, torch.tensor([1, -1]), reduction="none")
        tensor([1., 1.])
    """
    code = reduction_of(reduction, size_average, reduce)
    return fn.cosine_embedding_loss(input1, input2, target, margin, code)


@public("nn")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, distance to positive - distance to negative + margin)`` (Balntas et al., 2016).

    Args:
        anchor: vectors (N, D), or one (D).
        positive: vectors that shall be near.
        negative: vectors that shall be far.
        margin: how much farther.
        p: which norm gives the distance.
        eps: added to differences.
        swap: take the distance from positive to negative if it is smaller.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of shape (N) or ().

    Raises:
        ValueError: if ``margin`` is not positive.

    Example:
        >>> anchor, near, far = torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]])
        >>> torch.nn.functional.triplet_margin_loss(anchor, near, far)
        tensor(0.5000)
    """
    code = reduction_of(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return fn.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, code)


@public("nn")
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of the caller's; Euclidean if none is given.

    Raises:
        ValueError: if ``margin`` is not positive.
        RuntimeError: if the tensors differ in their number of dimensions.
    """
    code = reduction_of(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ranks = [len(t._shape) for t in (anchor, positive, negative)]
    if len({*ranks}) > 1:
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative "
            f"{ranks[2]}D inputs"
        )
    distance: Any = fn.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = fn.minimum(far, distance(positive, negative))
    return reduced((near - far + margin).clamp(min=0), code)
