"""`loss_parallel`: cross entropy of logits that are cut along their classes, which no rank gathers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from ...values.dtypes import float32, int64
from .dtensor import DTensor
from .layouts import DTensorSpec, TensorMeta, laid_out, part_of
from .moving import reduced
from .operands import arguments_of, complete, wrapped
from .placements import Partial, Placement, Replicate, Shard

__all__ = ["loss_parallel", "parallel_rule"]

_MEAN, _SUM = 1, 2  # reductions as ops are given them


class _Blocks(threading.local):
    """How many blocks of `loss_parallel` this thread is in."""

    def __init__(self) -> None:
        self.count = 0


_BLOCKS: Final = _Blocks()


@contextmanager
def loss_parallel() -> Iterator[None]:
    """A context in which cross entropies of logits are computed where these lie, backward included.

    The logits are DTensors of shape (classes,), (batch, classes) or (batch, classes, ...), cut along the
    classes by one dimension of their mesh; along others they are cut elsewhere, or replicated. Three numbers
    for each row are summed over the ranks, and one in backward. Targets are the numbers of classes, plain
    tensors that all ranks have, or DTensors that lie as the logits do without the classes; weights all ranks
    have. The loss of ``reduction="none"`` lies as the targets; a sum or a mean is partial where rows are cut.

    Raises:
        ValueError: by a loss whose logits are not cut so, or whose plain targets would have to be cut.
        RuntimeError: by one whose targets or weights lie otherwise.

    Example:
        >>> from mindtorch.distributed.tensor.parallel import loss_parallel
        >>> with loss_parallel():
        ...     loss = nn.functional.cross_entropy(logits, targets)
        ...     loss.backward()
    """
    _BLOCKS.count += 1
    try:
        yield
    finally:
        _BLOCKS.count -= 1


def parallel_rule(name: str) -> Callable[..., Any] | None:
    """What `loss_parallel` has in place of an op's rule, inside of it."""
    return _RULES.get(name) if _BLOCKS.count else None


def _cut_by(t: DTensor, dim: int) -> int:
    """The dimension of the mesh that cuts a tensor along its classes.

    Raises:
        ValueError: if it is not exactly one, or what others hold is partial.
    """
    found = [i for i, p in enumerate(t.placements) if p.is_shard(dim)]
    if len(found) != 1 or any(isinstance(p, Partial) for p in t.placements):
        raise ValueError(
            f"loss_parallel() requires exactly one mesh dim to shard tensor dimension {dim}, and the others "
            f"to shard another or to replicate, but got placements {t.placements}"
        )
    return found[0]


def _reduced(local: Tensor, op: str, t: DTensor, i: int) -> Tensor:
    """A tensor reduced over the ranks along a dimension of the mesh."""
    return reduced(local, op, t.device_mesh.get_group(i))


# ---- logarithms of probabilities ---------------------------------------------------------------------


def _log_softmax(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = arguments_of(func, args, kwargs)
    t: DTensor = named["self"]
    dim = named["dim"] % max(t.ndim, 1)
    i = _cut_by(t, dim)
    dtype = named.get("dtype") or t.dtype
    x: Any = t._local_tensor.to(float32 if dtype.itemsize < float32.itemsize else dtype)
    if x.shape[dim]:
        largest = fn.amax(x, dim, keepdim=True)
    else:
        largest = x.new_full((*x.shape[:dim], 1, *x.shape[dim + 1 :]), float("-inf"))
    shifted = x - _reduced(largest, "max", t, i)
    total = _reduced(shifted.exp().sum(dim, keepdim=True), "sum", t, i)
    return wrapped((shifted - total.log()).to(dtype), t._spec)


def _log_softmax_backward(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = arguments_of(func, args, kwargs)
    grad, t, dim = named["grad_output"], named["output"], named["dim"] % named["output"].ndim
    i = _cut_by(t, dim)
    g: Any = laid_out(grad._local_tensor, grad._spec, t.placements)
    total = _reduced(g.sum(dim, keepdim=True), "sum", t, i)
    made = g - t._local_tensor.exp() * total
    return wrapped(made.to(named["input_dtype"]), t._spec)


# ---- losses of targets -------------------------------------------------------------------------------


class _Rows:
    """The rows of this rank: where their targets are among its classes, and how much they count.

    Args:
        named: arguments of an op, by their names.

    Attributes:
        logs: the logarithms of probabilities, a DTensor.
        by: the dimension of the mesh that cuts the classes.
        at: the dimension of the classes.
        placed: how targets lie.
        here: whether a row's target is one of this rank's classes and counts.
        index: its place among them, else 0.
        weights: with which the row counts.
    """

    def __init__(self, named: dict[str, Any]) -> None:
        t: DTensor = named["self"]
        self.logs, self.at = t, min(t.ndim - 1, 1)
        self.by = _cut_by(t, self.at)
        self.placed = [self._without_classes(p) for p in t.placements]
        target = self._part(named["target"], self.placed, "target")
        every: list[Placement] = [Replicate()] * t.device_mesh.ndim
        counts: Any = target != named["ignore_index"]
        whole: Any = fn.where(counts, target, 0).to(int64)
        classes = t.shape[self.at]
        wrong = fn.logical_or(whole < 0, whole >= classes)
        if bool(wrong.any()):
            raise IndexError(f"Target {whole[wrong][0].item()} is out of bounds.")
        sizes, starts = part_of(t.shape, t.device_mesh, t.placements)
        self.index = whole - starts[self.at]
        inside = fn.logical_and(self.index >= 0, self.index < sizes[self.at])
        self.here = fn.logical_and(inside, counts)
        self.index = fn.where(self.here, self.index, 0).unsqueeze(self.at)
        if named.get("weight") is None:
            self.weights = counts.to(t.dtype)
        else:
            weight: Any = self._part(named["weight"], every, "weight")
            self.weights = weight[whole] * counts

    def _without_classes(self, p: Placement) -> Placement:
        if p.is_shard(self.at):
            return Replicate()
        return Shard(p.dim - 1) if isinstance(p, Shard) and p.dim > self.at else p

    def _part(self, t: Any, wanted: list[Placement], name: str) -> Any:
        """This rank's part of targets or weights.

        Raises:
            RuntimeError: if they lie in another way.
            ValueError: if a plain tensor would have to be cut.
        """
        if isinstance(t, DTensor):
            if list(t.placements) != wanted:
                raise RuntimeError(
                    f"Expected {tuple(wanted)} but got {t.placements}: the {name}'s."
                )
            return t._local_tensor
        if any(p.is_shard() for p in wanted):
            raise ValueError(
                f"loss_parallel() requires a DTensor as {name} where it is cut: placements {tuple(wanted)}"
            )
        return t

    def placed_loss(self, spec: DTensorSpec, loss: Tensor) -> DTensor:
        """A loss of this rank's rows: of each one, or what is partial where rows are cut."""
        placed = self.placed
        if not loss.ndim:
            placed = [Partial() if p.is_shard() else p for p in placed]
        shape = [n for k, n in enumerate(spec.shape) if k != self.at] if loss.ndim else []
        meta = TensorMeta(tuple(shape), loss.stride(), loss.dtype)
        return DTensor(loss, DTensorSpec(spec.mesh, tuple(placed), meta), requires_grad=False)


def _nll(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = arguments_of(func, args, kwargs)
    rows = _Rows(named)
    t, reduction = rows.logs, named["reduction"]
    x: Any = t._local_tensor
    if x.shape[rows.at]:
        picked = fn.where(rows.here, x.gather(rows.at, rows.index).squeeze(rows.at), 0)
    else:
        picked = fn.zeros_like(rows.weights)
    losses: Any = _reduced(-picked * rows.weights, "sum", t, rows.by)
    total: Any = rows.weights.sum()
    if reduction == _MEAN:  # each rank's share of the mean of all
        for i, p in enumerate(rows.placed):
            if p.is_shard():
                total = _reduced(total, "sum", t, i)
        losses = losses.sum() / total
    elif reduction == _SUM:
        losses = losses.sum()
    return rows.placed_loss(t._spec, losses), total


def _nll_backward(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = arguments_of(func, args, kwargs)
    rows = _Rows(named)
    t, grad = rows.logs, complete(named["grad_output"])
    g: Any = grad._local_tensor
    if grad.ndim:
        g = laid_out(g, grad._spec, rows.placed)
    if named["reduction"] == _MEAN:
        g = g / named["total_weight"]
    share = fn.where(fn.logical_and(rows.here, rows.weights != 0), -rows.weights * g, 0)
    made: Any = fn.zeros_like(t._local_tensor)
    if made.shape[rows.at]:
        made = made.scatter(rows.at, rows.index, share.unsqueeze(rows.at).to(made.dtype))
    return wrapped(made, t._spec)


_RULES: Final = {
    "log_softmax": _log_softmax,
    "_log_softmax": _log_softmax,
    "_log_softmax_backward_data": _log_softmax_backward,
    "nll_loss_forward": _nll,
    "nll_loss_backward": _nll_backward,
}
