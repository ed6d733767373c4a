"""Plans of blocks that are large: of elements, of dimensions, of operands and results, of devices."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest

from ...operators.recipes import build, tensor
from ...tensors.tensor import Tensor
from .base import ConformanceBase
from .plan_tests import check_block

__all__ = ["WidePlanTests"]

_MANY: Final = 70  # operands, and results: more than a launch may take at once
_SIZES: Final[tuple[tuple[int, ...], ...]] = (
    (1,), (), (33,), (1031,), (7, 150), (150, 7), (2, 1, 3, 1, 2, 2), (2, 3, 2, 1, 3, 2, 2),
)  # fmt: skip
_LARGE: Final = (257, 259)


class WidePlanTests(ConformanceBase):
    """What a device's plan gives where there is much of something."""

    def test_plan_of_many_elements(self) -> None:
        """A block of few and of many elements, and of many dimensions, in turns."""

        def block(x: Tensor, y: Tensor) -> list[Tensor]:
            z = x * 2 + y
            return [z, z.abs().clamp(max=2.5), (z > y).sum(), z.reshape(-1).amax(0, keepdim=True)]

        for shape in (*_SIZES, _LARGE, *_SIZES):
            x, y = (build(tensor(*shape, seed=seed), self.device) for seed in (1, 2))
            check_block(f"a block on elements of the shape {list(shape)}", block, x, y)

    def test_plan_of_many_operands(self) -> None:
        """A block of more operands and results than a device may take at once."""

        def block(*given: Tensor) -> list[Tensor]:
            total = given[0] * 1
            for x in given[1:]:
                total = total + x
            return [x * (i + 1) + total for i, x in enumerate(given)]

        operands = [build(tensor(5, seed=seed), self.device) for seed in range(_MANY)]
        for given in (operands, operands[::-1], operands):
            check_block(f"a block of {_MANY} operands and results", block, *given)

    def test_plan_on_several_devices(self) -> None:
        """One block on each device in turns, and on two of them with copies between."""
        devices = self.devices()
        if len(devices) < 2:
            pytest.skip(f"there is one {self.device} device")

        def block(x: Tensor, y: Tensor) -> list[Tensor]:
            z = x * 2 + 1
            moved = z.to(y.device) + y
            y.mul_(3)
            back = (moved - y).to(x.device)
            x.copy_(y)
            return [z, moved, back * z, x + 0]

        for a, b in (*product(devices, devices), *product(devices, devices)):
            x, y = build(tensor(3, 4, seed=1), str(a)), build(tensor(3, 4, seed=2), str(b))
            check_block(f"a block on {a} and {b}", block, x, y)
