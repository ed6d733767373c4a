"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _on_one_device(parameters: Iterable[Tensor]) -> list[Tensor]:
    found = list(parameters)
    if len({p.device for p in found}) > 1:
        raise TypeError(
            "Found two parameters on different devices, this is currently not supported."
        )
    return found


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of parameters, one after another.

    Raises:
        TypeError: if they are on different devices.
    """
    return torch.cat([p.reshape(-1) for p in _on_one_device(parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give parameters the elements of a vector, whose memory they then show.

    Raises:
        TypeError: if they are on different devices, or ``vec`` is no tensor.
    """
    given: Any = vec
    if not isinstance(given, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {torch.typename(given)}")
    at = 0
    for p in _on_one_device(parameters):
        end = at + p.numel()
        p.data = vec[at:end].view_as(p).data
        at = end
