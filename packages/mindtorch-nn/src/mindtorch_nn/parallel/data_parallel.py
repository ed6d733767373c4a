"""`DataParallel` on one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_core import Tensor

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


def _check(device_ids: Any) -> None:
    if device_ids is not None and len(device_ids) > 1:
        raise NotImplementedError(
            f"batches are not divided among devices, and device_ids names {len(device_ids)} of them: pass "
            f"one, or a process for each"
        )


class DataParallel(Module):
    """Calls a module, whose parameters it shows under ``module.``, on the device it lies on.

    Args:
        module: what is called.
        device_ids: one device at most.
        output_device: kept as an attribute.
        dim: kept as an attribute.

    Raises:
        NotImplementedError: for several devices.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        _check(device_ids)
        self.module = module
        self.device_ids = [] if device_ids is None else list(device_ids)
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module makes of its arguments."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module on the device it lies on.

    Raises:
        NotImplementedError: for several devices.
    """
    _check(device_ids)
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return module(*arguments, **(module_kwargs or {}))
