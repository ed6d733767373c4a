"""Reductions and normalisations of elements that a mask selects: ``torch.masked``.

A mask is true where an element counts. Without a mask all do. The other arguments are those of the
functions without mask; ``dtype`` is the result's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .frontend.masked_tensors import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor
from .opdefs.namespaces import serve
from .tensors.tensor import Tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]

# The functions whose results have fewer elements than the mask.
_REDUCTIONS = frozenset(
    (
        "sum", "prod", "amax", "amin", "argmax", "argmin",
        "mean", "median", "norm", "var", "std", "logsumexp",
    )
)  # fmt: skip


def _input_mask(input: Tensor, *args: Any, mask: Tensor | None = None, **kwargs: Any) -> Tensor:
    """The mask of an input in its shape; all true if there is none."""
    from .operators.reductions.masked import full_mask

    return full_mask(input, mask)


def _output_mask(op: Callable[..., Any], input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Where the result of a function of this module is defined, for the same arguments."""
    mask = _input_mask(input, mask=kwargs.get("mask"))
    name = op.__name__
    if name not in _REDUCTIONS:
        return mask
    given = args[1:] if name == "norm" else args
    dim = given[0] if given else kwargs.get("dim", -1 if name == "median" else None)
    return mask.any(None if dim == () else dim, bool(kwargs.get("keepdim", False)))


if TYPE_CHECKING:
    from .stubs.masked import *  # noqa: F403
else:
    __getattr__, __dir__ = serve("masked", globals())
