"""Hooks of `DistributedDataParallel`: functions that sum a bucket of gradients in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from ..tensors.tensor import Tensor
from ..values.dtypes import bfloat16, dtype, float16
from .collectives import all_reduce
from .futures import Future
from .groups import chosen

__all__ = [
    "BuiltinCommHookType",
    "GradBucket",
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
    "mean",
    "noop_hook",
]

Hook = Callable[[Any, "GradBucket"], Future[Tensor]]


class GradBucket:
    """Gradients of one process that are summed at once, as a hook sees them.

    Args:
        index: which bucket it is, in the order in which they are filled.
        buffer: the gradients, one after the other; what the hook gives is as large.
        parameters: whose they are.
        is_last: whether it is the last of a backward pass.
    """

    def __init__(
        self, index: int, buffer: Tensor, parameters: Sequence[Tensor], *, is_last: bool
    ) -> None:
        self._index = index
        self._buffer = buffer
        self._parameters = list(parameters)
        self._is_last = is_last

    def index(self) -> int:
        """Which bucket it is."""
        return self._index

    def buffer(self) -> Tensor:
        """The gradients, one after the other."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Have another tensor of this size in its place.

        Raises:
            ValueError: if it has another number of elements.
        """
        if buffer.numel() != self._buffer.numel():
            raise ValueError(
                f"the bucket has {self._buffer.numel()} elements, and the new buffer {buffer.numel()}"
            )
        self._buffer = buffer

    def gradients(self) -> list[Tensor]:
        """The gradients: views of the buffer, by parameter."""
        parts = self._buffer.split([p.numel() for p in self._parameters])
        return [part.view(p.shape) for part, p in zip(parts, self._parameters, strict=True)]

    def parameters(self) -> list[Tensor]:
        """The parameters."""
        return list(self._parameters)

    def is_last(self) -> bool:
        """Whether it is the last of a backward pass."""
        return self._is_last


class BuiltinCommHookType(Enum):
    """Hooks that `DistributedDataParallel._register_builtin_comm_hook` knows."""

    ALLREDUCE = 1
    FP16_COMPRESS = 2

    @property
    def hook(self) -> Hook:
        """The function."""
        return allreduce_hook if self is self.ALLREDUCE else fp16_compress_hook


def mean(group: Any, buffer: Tensor) -> Future[Tensor]:
    """The mean of all ranks' buffers, in the buffer's memory."""
    buffer.div_(chosen(group).size())
    work = all_reduce(buffer, group=group, async_op=True)
    assert work is not None, "the ranks of DistributedDataParallel are in its group"
    return work.get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients: what is done without a hook."""
    return mean(process_group, bucket.buffer())


def noop_hook(_: Any, bucket: GradBucket) -> Future[Tensor]:
    """This process's own gradients: nothing is sent, to see what sending costs."""
    future: Future[Tensor] = Future()
    future.set_result(bucket.buffer())
    return future


def _narrow(process_group: Any, bucket: GradBucket, kind: dtype) -> Future[Tensor]:
    whole = bucket.buffer()

    def widen(future: Future[Tensor]) -> Tensor:
        whole.copy_(future.value())
        return whole

    return mean(process_group, whole.to(kind)).then(widen)


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients, which are sent as float16."""
    return _narrow(process_group, bucket, float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The mean of all processes' gradients, which are sent as bfloat16."""
    return _narrow(process_group, bucket, bfloat16)


def _wrapped(hook: Hook, kind: dtype) -> Hook:
    def wrapper(state: Any, bucket: GradBucket) -> Future[Tensor]:
        whole = bucket.buffer()
        bucket.set_buffer(whole.to(kind))

        def widen(future: Future[Tensor]) -> Tensor:
            whole.copy_(future.value())
            return whole

        return hook(state, bucket).then(widen)

    return wrapper


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that is given float16, and whose result becomes what the gradients were."""
    return _wrapped(hook, float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """A hook that is given bfloat16, and whose result becomes what the gradients were."""
    return _wrapped(hook, bfloat16)
