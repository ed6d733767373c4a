"""`DataParallel`: batches in as many parts as there are devices, all of them on the one of the module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from ..modules.module import Module
from .parts_of_batches import gathered, scattered

__all__ = ["DataParallel", "data_parallel"]


def _check(device_ids: Any) -> None:
    if device_ids is not None and len(device_ids) > 1:
        raise NotImplementedError(
            f"batches are not divided among devices, and device_ids names {len(device_ids)} of them: pass "
            f"one, or a process for each"
        )


def _count(module: Module, device_ids: Any) -> int:
    """How many parts PyTorch would make of a batch: one for each device of the module's kind."""
    first = next(module.parameters(), None)
    accelerator = torch.accelerator.current_accelerator()
    if device_ids is not None or first is None or accelerator is None:
        return 1
    return torch.accelerator.device_count() if first.device.type == accelerator.type else 1


def _played(
    module: Module, arguments: tuple[Any, ...], options: dict[str, Any], count: int, dim: int
) -> Any:
    """What a module makes of a batch, part by part."""
    parts = scattered((arguments, options), count, dim) if count > 1 else []
    if len(parts) < 2:
        return module(*arguments, **options)
    return gathered([module(*some, **named) for some, named in parts], dim)


class DataParallel(Module):
    """Calls a module, whose parameters it shows under ``module.``, on the device it lies on.

    A batch is cut into as many parts as there are devices, since programs count on that: a loss comes as a
    vector, one for each part. The parts are computed one after the other.

    Args:
        module: what is called.
        device_ids: one device at most, and the batch stays whole.
        output_device: kept as an attribute.
        dim: the dimension along which tensors among the arguments are cut.

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
        count = _count(self.module, self.device_ids or None)
        return _played(self.module, inputs, kwargs, count, self.dim)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module on the device it lies on, as `DataParallel` does.

    Raises:
        NotImplementedError: for several devices.
    """
    _check(device_ids)
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    return _played(module, arguments, module_kwargs or {}, _count(module, device_ids), dim)
