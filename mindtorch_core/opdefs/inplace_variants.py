"""In-place forms that are derived from an op: compute, then copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.keys import ADINPLACE, AUTOGRAD, MASKS, is_grad_enabled, with_masks
from ..dispatch.registry import qualified, registry
from ..tensors.tensor import Tensor
from ..values.promotion import check_inplace_result
from .packets import front

__all__ = ["inplace_fallback"]


def inplace_fallback(name: str, *, recorded: bool) -> Callable[..., Any]:
    """The in-place form of an op for backends without a kernel of its own: compute, then copy.

    Args:
        name: the functional op.
        recorded: autograd records the computation and the copy, rather than the in-place op.
    """
    functional = qualified(name)  # such names are found at once

    def inplace(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        source = self
        if recorded and is_grad_enabled():  # what formulas save must not change
            operands = (self, *args, *kwargs.values())
            if any(getattr(a, "_keys", 0) & AUTOGRAD for a in operands):
                source = self.clone()
        result = front(registry.entry(functional))(source, *args, **kwargs)
        check_inplace_result(self, result._shape, result._dtype)
        copied: Tensor = front(registry.entry("aten::copy_"))(self, result)
        return copied

    def below(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        keep = MASKS.keep & ~(AUTOGRAD | ADINPLACE)
        return with_masks(MASKS.include, keep, inplace, self, *args, **kwargs)

    return inplace if recorded else below
