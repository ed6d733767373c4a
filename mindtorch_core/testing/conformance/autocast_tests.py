"""Autocast: which dtype ops compute in, and that it ends with its block."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_core as torch

from ...values.dtypes import bfloat16, float16
from .base import ConformanceBase
from .checks import has_dtype, made, require

__all__ = ["AutocastTests"]


class AutocastTests(ConformanceBase):
    """`torch.autocast` on the device."""

    def test_autocast(self) -> None:
        """Products are computed in the low dtype, inside the block only; gradients fit the weights."""
        served = [d for d in self.runtime().autocast_dtypes if d in (bfloat16, float16)]
        served = [d for d in served if has_dtype(self.device, d.name)]
        if not served:
            pytest.skip(f"autocast has no dtype on {self.device}")
        for low in served:
            self._check(low)

    def _check(self, low: Any) -> None:
        x = made([0.5, 1.5, -2.0, 3.0], self.device).view(2, 2)
        w: Any = made([1.0, 2.0, 3.0, 4.0], self.device).view(2, 2).requires_grad_()
        with torch.autocast(self.device, dtype=low):
            product = x @ w
            require(product.dtype is low, f"under autocast to {low} a product is {product.dtype}")
            with torch.autocast(self.device, enabled=False):
                require((x @ w).dtype is torch.float32, "a nested block does not switch it off")
        require((x @ w).dtype is torch.float32, "autocast does not end with its block")
        (product.float() * 2).sum().backward()
        require(
            w.grad.dtype is torch.float32, f"the gradient of a float32 weight is {w.grad.dtype}"
        )
        require(w.grad.tolist() == [[-3, -3], [9, 9]], f"the gradient is {w.grad.tolist()}")
