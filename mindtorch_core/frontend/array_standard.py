"""What the array API standard asks of tensors themselves and PyTorch's do not have."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Final

from ..tensors.attached import attach
from ..tensors.tensor import Tensor
from ..values.devices import device

__all__ = ["VERSIONS"]

# Of the standard. Each holds what those before it do; the last is the one that is implemented.
VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12")


def __array_namespace__(self: Tensor, *, api_version: str | None = None) -> ModuleType:
    """The functions of the array API standard: `mindtorch_core.array_api`, imported when it is asked for.

    Args:
        self: any tensor.
        api_version: of the standard, such as ``"2024.12"``.

    Raises:
        ValueError: for a version that is not supported.
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"version {api_version!r} of the array API standard is not supported; "
            f"there are {', '.join(VERSIONS)}"
        )
    return importlib.import_module("mindtorch_core.array_api")


def to_device(self: Tensor, device: device | str, /, *, stream: Any = None) -> Tensor:
    """The tensor on a device, as the array API standard spells ``to(device)``.

    Args:
        self: the tensor.
        device: where to put it.
        stream: None: copies are ordered with the current stream of the device.

    Raises:
        ValueError: for a stream: set the current one instead.
    """
    if stream is not None:
        raise ValueError(
            "to_device takes no stream: make it the device's current one around the call"
        )
    return self.to(device)


attach(__name__, {"__array_namespace__": __array_namespace__, "to_device": to_device})
