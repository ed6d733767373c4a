"""The method and the property of tensors that are named for the device."""

from __future__ import annotations

from functools import partial
from typing import Any

from mindtorch_core.devices import device as device_of
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.tensor import Tensor

__all__ = ["install", "is_npu", "npu"]


def npu(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """The tensor on an NPU: itself if it is there.

    Args:
        self: the tensor.
        device: the NPU, by index or name; the current one by default.
        non_blocking: accepted as in PyTorch; copies from the host do not wait for the device anyway.

    Raises:
        ValueError: if the device is no NPU.
    """
    target = device_of("npu", device) if isinstance(device, int) else device_of(device or "npu")
    if target.type != "npu":
        raise ValueError(f"Invalid device, must be an npu device, got {target}")
    return self.to(target, non_blocking=non_blocking)


def is_npu(self: Tensor) -> bool:
    """Whether the tensor is on an NPU."""
    return self._device.type == "npu"


def install() -> None:
    """Give tensors both, until the registrations of the plugin are taken back."""
    for name, member in (("npu", npu), ("is_npu", property(is_npu))):
        setattr(Tensor, name, member)
        registry.note(partial(delattr, Tensor, name))
