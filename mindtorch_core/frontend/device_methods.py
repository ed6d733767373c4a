"""Methods and properties of tensors that are named for types of devices and layouts of PyTorch's.

Loading a third party's backend changes no class (``x.to("acme")``), unless it asks for such methods.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from ..dispatch.registry import registry
from ..tensors.attached import attach, detach
from ..tensors.tensor import Tensor
from ..values.devices import device, type_meant
from ..values.devices import device as device_of
from ..values.memory_formats import memory_format, preserve_format
from ..values.own_frames import refusing

__all__ = ["ACCELERATORS", "tensor_methods"]

# Types of devices to which PyTorch's tensors, or those of its plugins, have a method.
ACCELERATORS: Final = ("cuda", "hpu", "ipu", "mtia", "npu", "xpu")


def _move(type: str) -> Callable[..., Tensor]:
    @refusing
    def move(
        self: Tensor,
        device: device | str | int | None = None,
        non_blocking: bool = False,
        memory_format: memory_format = preserve_format,
    ) -> Tensor:
        on = device_of(type, device) if isinstance(device, int) else device_of(device or type)
        if on.type != type_meant(type):
            raise RuntimeError(f"Invalid device, must be {type} device, got {on}")
        return self.to(on, non_blocking=non_blocking, memory_format=memory_format)

    move.__name__ = move.__qualname__ = type
    move.__doc__ = f"""The tensor on a device of type {type}, the current one by default.

    Raises:
        BackendUnavailableError: if no installed backend provides such devices.
        RuntimeError: if another type of device is named.
    """
    return move


def _is_on(type: str) -> Callable[[Tensor], bool]:
    def is_on(self: Tensor) -> bool:
        return self._device.type == meant

    meant = type_meant(type)
    is_on.__doc__ = f"Whether the tensor is on a device of type {type}."
    return is_on


def tensor_methods(type: str) -> None:
    """Give tensors the method ``type()`` and the property ``is_type``, for the backend of a device.

    It is called in the hook ``mindtorch_register``, and taken back when the backend is unloaded.

    Args:
        type: the backend's device, such as ``acme``.

    Raises:
        RuntimeError: if tensors have something of that name already.
    """
    members = {type: _move(type), f"is_{type}": property(_is_on(type))}
    for name in members:
        if hasattr(Tensor, name):
            raise RuntimeError(
                f"Tensor.{name} is something else already: the device has no methods"
            )
    for name, member in members.items():
        attach(__name__, {name: member})
        registry.note(functools.partial(detach, name))


def _is_not(what: str) -> Callable[[Tensor], bool]:
    def is_never(self: Tensor) -> bool:
        return False

    is_never.__doc__ = f"Whether the tensor is {what}; none is, all are dense and strided."
    return is_never


_LAYOUTS: Final = {
    "mkldnn": "in MKL-DNN's layout",
    "nested": "a nested one",
    "quantized": "quantized",
    "sparse": "sparse, as a list of coordinates",
    "sparse_csr": "sparse, in compressed rows",
}

attach(
    __name__,
    {
        **{kind: _move(kind) for kind in ACCELERATORS},
        **{
            f"is_{kind}": property(_is_on(kind))
            for kind in (*ACCELERATORS, "maia", "mps", "vulkan", "xla")
        },
        **{f"is_{name}": property(_is_not(what)) for name, what in _LAYOUTS.items()},
    },
)
