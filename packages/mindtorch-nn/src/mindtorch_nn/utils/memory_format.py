"""Memory formats of modules' weights."""

from __future__ import annotations

from typing import Any, TypeVar

import mindtorch_core as torch

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def _convert(module: Any, kinds: Any, memory_format: torch.memory_format) -> None:
    for each in module.modules():
        if isinstance(each, kinds):
            each.weight.data = each.weight.detach().clone(memory_format=memory_format)


def convert_conv2d_weight_memory_format(module: M, memory_format: torch.memory_format) -> M:
    """Lay out the weights of all convolutions of images in a memory format; returns the module."""
    _convert(module, (Conv2d, ConvTranspose2d), memory_format)
    return module


def convert_conv3d_weight_memory_format(module: M, memory_format: torch.memory_format) -> M:
    """Lay out the weights of all convolutions of volumes in a memory format; returns the module."""
    _convert(module, (Conv3d, ConvTranspose3d), memory_format)
    return module
