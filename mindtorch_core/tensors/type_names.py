"""Names of tensors' types, from before dtypes: ``torch.cuda.FloatTensor``."""

from __future__ import annotations

from ..values.devices import place_named
from .tensor import Tensor

__all__ = ["type_name"]


def type_name(tensor: Tensor) -> str:
    """Name of a tensor's type: of its device, its layout and its dtype; the host's goes without."""
    place = place_named(tensor._device.type)
    on = "" if place == "cpu" else f"{place}."
    layout = "sparse." if tensor.is_sparse else ""
    return f"torch.{on}{layout}{tensor._dtype.label}Tensor"
