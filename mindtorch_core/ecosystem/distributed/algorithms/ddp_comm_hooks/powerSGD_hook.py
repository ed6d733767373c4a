"""PowerSGD: a hook of `DistributedDataParallel` that sends matrices of low rank in place of gradients.

After "PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization" (Vogels et al., 2019).
A matrix M is sent as P Q^T: P is the sum of all ranks' M Q, orthogonalized, and Q the mean of their M^T P.
What is lost is added to the next gradients.
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Sequence
from typing import Any

from .....communication.collectives import all_reduce
from .....communication.futures import Future
from .....communication.groups import ProcessGroup, chosen, default_group
from .....communication.hooks import GradBucket, mean
from .....dispatch.functions import fn, fn_linalg
from .....gradients.grad_mode import no_grad
from .....random import Generator
from .....tensors.tensor import Tensor
from .....values.dtypes import bfloat16, float16

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]

_LOG = logging.getLogger(__name__)


class PowerSGDState:
    """What the hooks keep from one step to the next, and their options.

    Args:
        process_group: the processes; None for all.
        matrix_approximation_rank: of the matrices that are sent; the more, the more is sent.
        start_powerSGD_iter: how many steps send the gradients as they are.
        min_compression_rate: what is not made smaller by this is sent as it is.
        use_error_feedback: whether what a step loses is added to the next gradients.
        warm_start: whether a step begins with the matrices of the last one.
        orthogonalization_epsilon: added to norms, against columns of zeros.
        random_seed: of the first matrices, alike on all ranks.
        compression_stats_logging_frequency: in steps.
        batch_tensors_with_same_shape: whether gradients of one shape are multiplied at once.

    Raises:
        ValueError: to begin before the third step with what is kept between steps.
    """

    __slots__ = (
        "batch_tensors_with_same_shape", "compression_stats_logging_frequency", "error_dict", "iter",
        "matrix_approximation_rank", "min_compression_rate", "next_stats_report",
        "orthogonalization_epsilon", "p_memory_dict", "process_group", "q_memory_dict", "rng",
        "start_powerSGD_iter", "total_numel_after_compression", "total_numel_before_compression",
        "use_error_feedback", "warm_start",
    )  # fmt: skip

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                "because PowerSGD can only be applied after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback = use_error_feedback
        self.warm_start = warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = importlib.import_module("numpy").random.RandomState(random_seed)
        self.error_dict: dict[int, Tensor] = {}
        self.p_memory_dict: dict[int, Tensor] = {}
        self.q_memory_dict: dict[int, Tensor] = {}
        self.iter = 0
        self.total_numel_before_compression = 0
        self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)
        self.next_stats_report = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def __getstate__(self) -> dict[str, Any]:
        """All but the group, which cannot be saved."""
        _LOG.warning("NOTE: Process group is not serializable and excluded from a saved state.")
        return {name: getattr(self, name) for name in self.__slots__ if name != "process_group"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a state over; the group is that of all processes."""
        self.process_group = default_group()
        _LOG.warning(
            "NOTE: Process group will be set to a default group (i.e. the world size). If a different "
            "group is desired, please set `self.process_group` after PowerSGD state is loaded."
        )
        for name, value in state.items():
            setattr(self, name, value)

    def maybe_increase_iter(self, bucket: GradBucket) -> None:
        """Count a step where the bucket is its last."""
        if bucket.is_last():
            self.iter += 1
        if self.iter == self.start_powerSGD_iter:
            _LOG.info("Start to apply PowerSGD after %s iterations.", self.iter)

    def compression_stats(self) -> tuple[float, int, int]:
        """How many times fewer numbers were sent, how many there were, and how many were sent."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after > 0 else 0), before, after


# ---- what both hooks do ----------------------------------------------------------------------------


def _report(state: PowerSGDState, bucket: GradBucket) -> None:
    if bucket.is_last() and state.iter >= state.next_stats_report:
        _LOG.info(
            "Compression stats: iter %s, total before compression %s, total after compression %s, "
            "rate %s",
            state.iter, *state.compression_stats()[1:], state.compression_stats()[0],
        )  # fmt: skip
        state.next_stats_report = state.iter + state.compression_stats_logging_frequency


def _with_error(state: PowerSGDState, index: int, gradients: Tensor) -> Tensor | None:
    """Add what the last step has lost; a copy of the sum, where the next loss is wanted."""
    if not state.use_error_feedback:
        return None
    if index in state.error_dict:
        gradients.add_(state.error_dict[index])
    else:
        state.error_dict[index] = fn.zeros_like(gradients)
    return gradients.clone()


def _orthogonalize(matrices: Tensor, epsilon: float = 0) -> None:
    """Make the columns of each matrix of a batch orthonormal, in place."""
    if matrices.shape[2] > 2 and matrices.dtype not in (float16, bfloat16):
        matrices.copy_(fn_linalg.qr(matrices)[0])
        return
    for i in range(matrices.shape[2]):
        column = matrices[:, :, i : i + 1]
        column.div_(fn.norm(column, dim=1, keepdim=True) + epsilon)
        others = matrices[:, :, i + 1 :]
        if others.shape[2]:
            others.sub_(fn.sum(column * others, dim=1, keepdim=True) * column)


def _draw(state: PowerSGDState, matrices: Sequence[Tensor]) -> None:
    """Fill matrices with the same random numbers on all ranks, others at each call."""
    generator = Generator().manual_seed(int(state.rng.randint(1_000_000_000)))
    for each in matrices:
        each.copy_(fn.randn(each.shape, generator=generator, dtype=each.dtype))


def _approximate(
    state: PowerSGDState,
    group: ProcessGroup,
    index: int,
    matrices: Sequence[Tensor],
    ps: Sequence[Tensor],
    qs: Sequence[Tensor],
) -> None:
    """Have matrices be the means of all ranks', nearly, where the sum of the P is there."""
    q_memory = state.q_memory_dict[index]
    for p, q, each in zip(ps, qs, matrices, strict=True):
        _orthogonalize(p, state.orthogonalization_epsilon)
        q.copy_(fn.bmm(each.transpose(1, 2), p))
    all_reduce(q_memory, group=group)
    q_memory.div_(group.size())
    for p, q, each in zip(ps, qs, matrices, strict=True):
        each.copy_(fn.bmm(p, q.transpose(1, 2)))


def _keep(state: PowerSGDState, index: int, before: Tensor | None, after: Tensor) -> None:
    """Keep for the next step what it needs of this one."""
    if before is not None:
        state.error_dict[index] = before - after
    if not state.warm_start:
        state.p_memory_dict.pop(index, None)
        state.q_memory_dict.pop(index, None)


def _begun(tensor: Tensor, group: ProcessGroup) -> Any:
    return all_reduce(tensor, group=group, async_op=True)


# ---- one matrix for each parameter -----------------------------------------------------------------


def _divided(
    state: PowerSGDState, gradients: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """Gradients as matrices that are made smaller, and the others."""
    small, others = [], []
    for each in gradients:
        matrix = each.view(each.shape[0], -1) if each.ndim else each.view(1, 1)
        rows, columns = matrix.shape
        sent = (rows + columns) * min(rows, columns, state.matrix_approximation_rank)
        state.total_numel_before_compression += rows * columns
        if sent * state.min_compression_rate < rows * columns:
            small.append(matrix)
            state.total_numel_after_compression += sent
        else:
            others.append(each)
            state.total_numel_after_compression += rows * columns
    return small, others


def _batches(state: PowerSGDState, matrices: Sequence[Tensor]) -> list[list[Tensor]]:
    """Matrices that are multiplied at once: those of one shape, or each alone."""
    if not state.batch_tensors_with_same_shape:
        return [[each] for each in matrices]
    by_shape: dict[tuple[int, ...], list[Tensor]] = {}
    for each in matrices:
        by_shape.setdefault(tuple(each.shape), []).append(each)
    return [*by_shape.values()]


def _factors(
    state: PowerSGDState, index: int, stacked: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor]]:
    """P and Q of each batch, as views of two pieces of memory; Q is orthonormal."""
    ranks = [min(*each.shape[1:], state.matrix_approximation_rank) for each in stacked]
    found: list[list[Tensor]] = []
    anew = not state.warm_start or index not in state.p_memory_dict
    for memory, dim in ((state.p_memory_dict, 1), (state.q_memory_dict, 2)):
        shapes = [
            (each.shape[0], each.shape[dim], rank)
            for each, rank in zip(stacked, ranks, strict=True)
        ]
        sizes = [math.prod(shape) for shape in shapes]
        if anew:
            memory[index] = stacked[0].new_empty([sum(sizes)])
        parts = memory[index].split(sizes)
        found.append([part.view(shape) for part, shape in zip(parts, shapes, strict=True)])
    ps, qs = found
    if anew:
        _draw(state, qs)
    for q in qs:
        _orthogonalize(q, state.orthogonalization_epsilon)
    return ps, qs


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients, nearly: each is sent as two matrices of low rank."""
    group, whole, index = chosen(state.process_group), bucket.buffer(), bucket.index()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(group, whole)
    with no_grad():
        before = _with_error(state, index, whole)
        small, others = _divided(state, bucket.gradients())
        _report(state, bucket)
        flat = fn.cat([each.reshape(-1) for each in others]) if others else whole.new_empty([0])
        batches = _batches(state, small)
        stacked = [b[0].unsqueeze(0) if len(b) == 1 else fn.stack(b) for b in batches]
        ps, qs = _factors(state, index, stacked) if stacked else ([], [])
        for each, p, q in zip(stacked, ps, qs, strict=True):
            p.copy_(fn.bmm(each, q))
    as_they_are = _begun(flat, group)
    last = _begun(state.p_memory_dict[index], group) if stacked else as_they_are

    @no_grad()
    def finish(_: Any) -> Tensor:
        as_they_are.wait()
        flat.div_(group.size())
        for each, part in zip(others, flat.split([each.numel() for each in others]), strict=True):
            each.copy_(part.view(each.shape))
        if stacked:
            _approximate(state, group, index, stacked, ps, qs)
        for batch, found in zip(batches, stacked, strict=True):
            for i, matrix in enumerate(batch if len(batch) > 1 else []):
                matrix.copy_(found[i])
        _keep(state, index, before, whole)
        state.maybe_increase_iter(bucket)
        return whole

    future: Future[Tensor] = last.get_future().then(finish)
    return future


# ---- one matrix for all parameters -----------------------------------------------------------------


def batched_powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients, less nearly: all are sent as two matrices of low rank."""
    group, whole, index = chosen(state.process_group), bucket.buffer(), bucket.index()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return mean(group, whole)
    count = whole.numel()
    side = math.isqrt(count - 1) + 1 if count else 0
    with no_grad():
        padded = fn.cat([whole, whole.new_zeros([side * side - count])])
        state.total_numel_before_compression += count
        state.total_numel_after_compression += side * state.matrix_approximation_rank * 2
        _report(state, bucket)
        before = _with_error(state, index, padded)
        matrix = padded.view(1, side, side)
        (p,), (q,) = _factors(state, index, [matrix])
        p.copy_(fn.bmm(matrix, q))
    work = _begun(state.p_memory_dict[index], group)

    @no_grad()
    def finish(_: Any) -> Tensor:
        _approximate(state, group, index, [matrix], [p], [q])
        _keep(state, index, before, padded)
        state.maybe_increase_iter(bucket)
        whole.copy_(padded[:count])
        return whole

    future: Future[Tensor] = work.get_future().then(finish)
    return future
