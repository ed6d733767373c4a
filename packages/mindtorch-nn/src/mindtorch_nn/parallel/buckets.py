"""Gradients of many parameters in few pieces of memory, which processes add up one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["APART_BYTES", "FIRST_BYTES", "Bucket", "SparseBucket", "divided"]

# The first bucket is small, so that the first sum starts early.
FIRST_BYTES: Final = 1 << 20
# To copy a gradient of so many bytes takes longer than one more sum.
APART_BYTES: Final = 1 << 18


class Bucket:
    """Parameters whose gradients are summed together: in one piece of memory, the large ones where they are.

    Args:
        parameters: of one dtype on one device.
        numbers: their places among all parameters of the module.
        dtype: in which gradients are summed; that of the parameters by default.

    Attributes:
        apart: places of the parameters whose gradients are summed where backward has put them.
        memory: of all other gradients.
        views: where each gradient is summed; empty for one apart that has not come, or has gone.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        numbers: Sequence[int],
        dtype: torch.dtype | None = None,
    ) -> None:
        self.parameters = list(parameters)
        self.numbers = list(numbers)
        self.sizes = [p.numel() for p in parameters]
        self.dtype = parameters[0].dtype if dtype is None else dtype
        self.waiting: set[int] = set()
        self.memory: Tensor | None = None
        self.views: list[Tensor] = []
        self._is_new = False  # whether no gradient can lie in the memory
        self.apart: frozenset[int] = frozenset(
            place
            for place, p in enumerate(parameters)
            if p.dtype is self.dtype and p.nbytes >= APART_BYTES and p.is_contiguous()
        )
        self._shares_late = False
        self._kept: list[Tensor | None] = []  # gradients that the parameters had, and keep

    def put_together(self) -> None:
        """Have all gradients in one piece of memory."""
        self.apart = frozenset()
        if self.memory is not None:
            self.begin(anew=True)

    def begin(self, *, anew: bool, keeps: bool = False) -> None:
        """Have no gradient yet.

        Args:
            anew: whether to take new memory, as users may hold on to the gradients in the old.
            keeps: whether gradients that parameters have already stay theirs, and get the sums' values: later
                calls of a captured function find no others.
        """
        self.waiting = set(self.numbers)
        self._kept = [p.grad if keeps else None for p in self.parameters]
        self._is_new = self.memory is None or anew
        if self._is_new:
            sizes = [0 if n in self.apart else size for n, size in enumerate(self.sizes)]
            first = self.parameters[0]
            self.memory = torch.empty(sum(sizes), dtype=self.dtype, device=first.device)
            self.views = [
                part if place in self.apart else _view(part, self.parameters[place])
                for place, part in enumerate(self.memory.split(sizes))
            ]
            # One multiplication of memory that is in the processor's cache takes less than one for each
            # gradient.
            self._shares_late = self.memory.nbytes <= FIRST_BYTES and all(
                p.dtype is self.dtype for p in self.parameters
            )

    def take(self, number: int, share: float, *, is_used: bool = True) -> None:
        """Put a parameter's gradient, times its share in the mean, where it is summed; 0 for none.

        Args:
            number: of the parameter.
            share: of this process.
            is_used: whether the parameter is sure to get the sum, so that its gradient may be overwritten.
        """
        place = self.numbers.index(number)
        grad, view = self.parameters[place].grad, self.views[place]
        if grad is not None and grad.is_sparse:
            grad = grad.to_dense()
        if place in self.apart:
            if grad is None:
                grad = torch.zeros_like(self.parameters[place])
            in_place = is_used and not grad.requires_grad  # its history may be recorded
            self.views[place] = grad.mul_(share) if in_place else grad.detach() * share
        elif grad is None:
            view.zero_()
        else:
            self._put(grad, view, share)
        self.waiting.discard(number)
        if self._shares_late and not self.waiting and share != 1:
            assert self.memory is not None, "begin makes it"
            self.memory.mul_(share)

    def terms(self) -> list[Tensor]:
        """The pieces of memory that are summed, alike in all processes."""
        assert self.memory is not None, "begin makes it"
        small = [self.memory] if len(self.apart) < len(self.sizes) else []
        return small + [self.views[place] for place in sorted(self.apart)]

    def _put(self, grad: Tensor, view: Tensor, share: float) -> None:
        if not self._shares_late:
            torch.mul(grad, share, out=view)
        elif self._is_new or grad.data_ptr() != view.data_ptr() or grad.shape != view.shape:
            view.copy_(grad)

    def put(self, sums: Tensor) -> None:
        """Have sums that lie in other memory."""
        assert self.memory is not None, "begin makes it"
        if sums.data_ptr() != self.memory.data_ptr():
            self.memory.copy_(sums.reshape(self.memory.shape))

    def clear(self) -> None:
        """Have gradients of zero."""
        assert self.memory is not None, "begin makes it"
        self.memory.zero_()
        for place in self.apart:
            self.views[place] = torch.zeros_like(self.parameters[place])
        self.waiting.clear()

    def give(self, used: Iterable[bool]) -> None:
        """Let the parameters have the sums as their gradients; those that nobody used keep what they have."""
        rows = zip(self.parameters, self.views, self._kept, used, strict=True)
        for parameter, view, kept, was_used in rows:
            if not was_used or parameter.grad is view:
                continue
            if kept is not None and parameter.grad is kept:
                kept.copy_(view)
            else:
                parameter.grad = view if self.dtype is parameter.dtype else view.to(parameter.dtype)
        self._kept = []
        assert self.memory is not None, "begin makes it"
        for place in self.apart:
            self.views[place] = self.memory[:0]  # whoever drops the gradient frees it

    def forget(self) -> None:
        """Have no memory: it is that of a recording."""
        self.memory, self.views = None, []


class SparseBucket(Bucket):
    """A parameter whose gradients have values for some of its rows alone, and are summed as such."""

    def put_together(self) -> None:
        """Be as before: it has one gradient."""

    def terms(self) -> list[Tensor]:
        """The gradient."""
        assert self.memory is not None, "begin makes it"
        return [self.memory]

    def begin(self, *, anew: bool, keeps: bool = False) -> None:
        """Have no gradient yet."""
        self.waiting = set(self.numbers)
        first = self.parameters[0]
        nowhere = torch.empty(1, 0, dtype=torch.int64, device=first.device)
        nothing = torch.empty(0, *first.shape[1:], dtype=first.dtype, device=first.device)
        self.memory = torch.sparse_coo_tensor(nowhere, nothing, first.shape)

    def take(self, number: int, share: float, *, is_used: bool = True) -> None:
        """Have the parameter's gradient, times its share in the mean; nothing for none."""
        grad = self.parameters[0].grad
        if grad is not None:
            self.memory = (grad if grad.is_sparse else grad.to_sparse(1)) * share
        self.waiting.discard(number)

    def put(self, sums: Tensor) -> None:
        """Have sums in place of what they are sums of."""
        self.memory = sums

    def clear(self) -> None:
        """Have no values."""
        self.waiting.clear()

    def give(self, used: Iterable[bool]) -> None:
        """Let the parameter have the sum as its gradient if anybody used it."""
        if all(used):
            self.parameters[0].grad = self.memory


def _view(part: Tensor, parameter: Tensor) -> Tensor:
    """Memory in the shape of a parameter, and in its order if that leaves no holes."""
    if parameter.is_contiguous() or not _is_dense(parameter):
        return part if parameter.ndim == 1 else part.view(parameter.shape)
    return part.as_strided(parameter.shape, parameter.stride(), part.storage_offset())


def _is_dense(parameter: Tensor) -> bool:
    """Whether it has each place of a piece of memory once."""
    below = 1
    for stride, size in sorted(zip(parameter.stride(), parameter.shape, strict=True)):
        if size != 1:
            if stride != below:
                return False
            below *= size
    return True


def divided(
    parameters: Sequence[Tensor],
    limits: Sequence[int],
    sparse: Collection[int] = (),
    dtype: torch.dtype | None = None,
    delayed: Collection[int] = (),
) -> list[Bucket]:
    """Buckets of at most so many bytes, in the order in which backward gives gradients: from the last.

    Args:
        parameters: of the module, in its order.
        limits: of the buckets, the last for all further ones; a single one not for the first.
        sparse: numbers of those whose gradients are sparse, each of which has a bucket of its own.
        dtype: in which gradients of floating point numbers are summed; that of the parameters by default.
        delayed: numbers of those that are summed after all others, whatever their size.
    """
    made: list[Bucket] = []
    sizes = limits if len(limits) > 1 else [min(FIRST_BYTES, limits[0]), limits[0]]
    open_ones: dict[tuple[torch.dtype, torch.device], list[int]] = {}
    filled: dict[tuple[torch.dtype, torch.device], int] = {}

    def close(kind: tuple[torch.dtype, torch.device]) -> None:
        numbers = open_ones.pop(kind)
        wanted = dtype if kind[0].is_floating_point else None
        made.append(Bucket([parameters[n] for n in numbers], numbers, wanted))
        filled[kind] = 0

    for number in range(len(parameters) - 1, -1, -1):
        p = parameters[number]
        if number in delayed:
            continue
        if number in sparse:
            made.append(SparseBucket([p], [number]))
            continue
        kind = p.dtype, p.device
        open_ones.setdefault(kind, []).append(number)
        filled[kind] = filled.get(kind, 0) + p.numel() * p.element_size()
        if filled[kind] >= (sizes[len(made)] if len(made) < len(sizes) else sizes[-1]):
            close(kind)
    for kind in list(open_ones):
        close(kind)
    for number in sorted(delayed, reverse=True):
        kind = parameters[number].dtype, parameters[number].device
        open_ones.setdefault(kind, []).append(number)
    for kind in list(open_ones):
        close(kind)
    return made
