"""``torch.autograd.Variable``: what tensors that require grad were called of old."""

from __future__ import annotations

from typing import Any

from ..gradients.within import collecting, queue_callback
from ..tensors.tensor import Tensor

__all__ = ["Variable"]


class _Kind(type):
    """All tensors are variables."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class _Engine:
    """The engine, as far as programs ask it for something."""

    queue_callback = staticmethod(queue_callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether the pass that calls, if there is one, walks back to all leaves: then it may walk again."""
        return not collecting()


class Variable(metaclass=_Kind):
    """A tensor: a call gives one that shares the memory of another, without its history.

    Args:
        data: a tensor.
        requires_grad: whether what is computed from it is recorded.
    """

    _execution_engine = _Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, **options: Any) -> Any:
        """The tensor."""
        if data is None:
            from ..frontend.creation import tensor

            return tensor([])
        return data.detach().requires_grad_(requires_grad)
