"""Gradients of many parameters in few pieces of memory, which processes add up one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["FIRST_BYTES", "Bucket", "SparseBucket", "divided"]

# The first bucket is small, so that the first sum starts early.
FIRST_BYTES: Final = 1 << 20


class Bucket:
    """Parameters whose gradients lie in one piece of memory.

    Args:
        parameters: of one dtype on one device.
        numbers: their places among all parameters of the module.
        dtype: in which gradients are summed; that of the parameters by default.
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
        # One multiplication of memory that is in the processor's cache takes less than one for each gradient.
        one_dtype = all(p.dtype is self.dtype for p in parameters)
        self._shares_late = one_dtype and sum(self.sizes) * self.dtype.itemsize <= FIRST_BYTES

    def begin(self, *, anew: bool) -> None:
        """Have no gradient yet.

        Args:
            anew: whether to take new memory, as users may hold on to the gradients in the old.
        """
        self.waiting = set(self.numbers)
        self._is_new = self.memory is None or anew
        if self._is_new:
            first = self.parameters[0]
            self.memory = torch.empty(sum(self.sizes), dtype=self.dtype, device=first.device)
            parts = self.memory.split(self.sizes)
            self.views = [_view(part, p) for part, p in zip(parts, self.parameters, strict=True)]

    def take(self, number: int, share: float) -> None:
        """Put a parameter's gradient, times its share in the mean, where it is summed; 0 for none."""
        place = self.numbers.index(number)
        grad, view = self.parameters[place].grad, self.views[place]
        if grad is None:
            view.zero_()
        else:
            self._put(grad.to_dense() if grad.is_sparse else grad, view, share)
        self.waiting.discard(number)
        if self._shares_late and not self.waiting and share != 1:
            assert self.memory is not None, "begin makes it"
            self.memory.mul_(share)

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
        self.waiting.clear()

    def give(self, used: Iterable[bool]) -> None:
        """Let the parameters have the sums as their gradients; those that nobody used keep what they have."""
        for parameter, view, was_used in zip(self.parameters, self.views, used, strict=True):
            if was_used:
                parameter.grad = view if self.dtype is parameter.dtype else view.to(parameter.dtype)


class SparseBucket(Bucket):
    """A parameter whose gradients have values for some of its rows alone, and are summed as such."""

    def begin(self, *, anew: bool) -> None:
        """Have no gradient yet."""
        self.waiting = set(self.numbers)
        first = self.parameters[0]
        nowhere = torch.empty(1, 0, dtype=torch.int64, device=first.device)
        nothing = torch.empty(0, *first.shape[1:], dtype=first.dtype, device=first.device)
        self.memory = torch.sparse_coo_tensor(nowhere, nothing, first.shape)

    def take(self, number: int, share: float) -> None:
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
