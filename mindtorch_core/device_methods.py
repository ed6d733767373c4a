"""Methods and properties of tensors that are named for types of devices and layouts of PyTorch's.

A third party's device has none, so that loading a backend changes no class: ``x.to("acme")``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .devices import device
from .devices import device as device_of
from .memory_formats import memory_format, preserve_format
from .operators.creation.copying import to
from .tensor import Tensor

__all__ = ["ACCELERATORS"]

# Types of devices to which PyTorch's tensors, or those of its plugins, have a method.
ACCELERATORS: Final = ("cuda", "hpu", "ipu", "mtia", "npu", "xpu")


def _move(type: str) -> Callable[..., Tensor]:
    def move(
        self: Tensor,
        device: device | str | int | None = None,
        non_blocking: bool = False,
        memory_format: memory_format = preserve_format,
    ) -> Tensor:
        on = device_of(type, device) if isinstance(device, int) else device_of(device or type)
        if on.type != type:
            raise RuntimeError(f"Invalid device, must be {type} device, got {on}")
        return to(self, on, non_blocking=non_blocking, memory_format=memory_format)

    move.__name__ = move.__qualname__ = type
    move.__doc__ = f"""The tensor on a device of type {type}, the current one by default.

    Raises:
        BackendUnavailableError: if no installed backend provides such devices.
        RuntimeError: if another type of device is named.
    """
    return move


def _is_on(type: str) -> Callable[[Tensor], bool]:
    def is_on(self: Tensor) -> bool:
        return self._device.type == type

    is_on.__doc__ = f"Whether the tensor is on a device of type {type}."
    return is_on


def _is_not(what: str) -> Callable[[Tensor], bool]:
    def is_never(self: Tensor) -> bool:
        return False

    is_never.__doc__ = f"Whether the tensor is {what}; none is, all are dense and strided."
    return is_never


for _type in ACCELERATORS:
    setattr(Tensor, _type, _move(_type))
for _type in (*ACCELERATORS, "maia", "mps", "vulkan", "xla"):
    setattr(Tensor, f"is_{_type}", property(_is_on(_type)))
for _name, _what in {
    "mkldnn": "in MKL-DNN's layout",
    "nested": "a nested one",
    "quantized": "quantized",
    "sparse": "sparse, as a list of coordinates",
    "sparse_csr": "sparse, in compressed rows",
}.items():
    setattr(Tensor, f"is_{_name}", property(_is_not(_what)))
