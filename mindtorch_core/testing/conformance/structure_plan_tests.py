"""Plans of blocks that look the same: one that is kept is not for blocks of other ops, or in another order.

And what may not be left out, put together or changed in order, though the result looks the same: casts that
lose something, sums that round, whole numbers that go round, draws.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

import mindtorch_core as torch

from ...operators.recipes import build, tensor
from ...tensors.tensor import Tensor
from ...values.dtypes import float16, int64, uint8
from .base import ConformanceBase
from .checks import has_dtype, made
from .plan_tests import Block, check_block

__all__ = ["StructurePlanTests"]

_LONG: Final = 40  # ops
_TIMES: Final = 3


def _written(onto: Callable[[Tensor], Tensor]) -> Block:
    def block(x: Tensor, y: Tensor) -> list[Tensor]:
        z = x * 2
        return [onto(z), z * y]

    return block


def _at(part: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Block:
    def block(x: Tensor, y: Tensor) -> list[Tensor]:
        i, j = y[0].argsort(), y[1].argsort()
        return [i - j, part(x, i, j) * 2]

    return block


def _long(at: int, op: Callable[[Tensor], Tensor]) -> Block:
    """A block of many ops, of which one is another."""

    def block(x: Tensor, y: Tensor) -> Tensor:
        for i in range(_LONG):
            x = op(x) if i == at else (x * 0.5).sub(y)
        return x

    return block


# Blocks that only a plan that looks at everything tells apart.
_ALIKE: Final[dict[str, tuple[Block, ...]]] = {
    "operands in another order": (
        lambda x, y: [x * y, x - y],
        lambda x, y: [x * y, y - x],
    ),
    "a list in another order": (
        lambda x, y: [x * y, torch.cat([x, y])],
        lambda x, y: [x * y, torch.cat([y, x])],
        lambda x, y: [x * y, torch.cat([x, x])],
    ),
    "a write instead of a result": (
        _written(lambda z: z.add(1)),
        _written(lambda z: z.add_(1)),
        _written(lambda z: z.sub_(1)),
    ),
    "positions in another dimension": (
        lambda x, y: x[y[0].argsort()] * 2,
        lambda x, y: x[:, y[0].argsort()] * 2,
    ),
    "positions in another order": (
        _at(lambda x, i, j: x[i, j]),
        _at(lambda x, i, j: x[j, i]),
    ),
    "another keyword": (
        lambda x, y: x.clamp(min=0.25) + y,
        lambda x, y: x.clamp(max=0.25) + y,
    ),
    "another op in the midst of many": tuple([
        _long(at, op) for at in (0, _LONG // 2, _LONG - 1) for op in (torch.neg, torch.abs)
    ]),
    "an op less": (
        lambda x, y: (x + y).exp(),
        lambda x, y: (x + y),
    ),
}  # fmt: skip


def _through_bytes(x: Tensor) -> list[Tensor]:
    """Elements that go round, as a byte does, before something else is done with them."""
    small = (x * 0).to(uint8) + 200
    return [(small + 100) // 2, small * 2 > 200]


def _zeros(x: Tensor) -> list[Tensor]:
    """Quotients by zeros, which tell their signs."""
    zero = x * 0
    return [
        1 / (zero + 0),
        1 / (zero - 0),
        1 / (0 - zero),
        1 / -zero,
        1 / (zero * -1),
        1 / (zero + zero),
    ]


def _no_numbers(x: Tensor) -> list[Tensor]:
    """What is done with elements that are no numbers."""
    y = x.masked_fill(x > 1, float("nan"))
    lowest = x.masked_fill(x > 1, -float("inf"))
    return [
        *(y.maximum(x), y.minimum(x), y.clamp(-1, 1), y.relu(), y.amax(), y.sort()[0], y * 0),
        *(y == y, y != y, ~(y < x), y.sum(), lowest.exp(), lowest - lowest, y.argmax()),
    ]


def _in_halves(x: Tensor) -> list[Tensor]:
    """Sums and products in halves, each of which rounds."""
    half = x.to(float16)
    large = half + 2048
    return [large - 2048, half * 3000 * 30 / 30, large * 0.5 + large * 0.5]


# What is no less than it looks.
_ROUNDED: Final[dict[str, tuple[tuple[str, ...], Callable[[Tensor], list[Tensor]]]]] = {
    "a cast of a cast": (("int64",), lambda x: [(x * 3).to(int64).to(x.dtype) * 0.5]),
    "a cast through half precision": (
        ("float16",),
        lambda x: [((x + 2049) * 1).to(float16).to(x.dtype) - 2048],
    ),
    "a sum that rounds": ((), lambda x: [(x + 1e8) - 1e8, x.add(1.0).sub(1e8).add(1e8)]),
    "a product that is too large": ((), lambda x: [(x + 2) * 1e30 * 1e30 * 1e-30]),
    "a product that is rounded before it is added": (
        (),
        lambda x: [(x * x + x.square() * -1) * 2.0**24, (x * 1.1 + x * -1.1) * 2.0**24],
    ),
    "an exponential that is too large": ((), lambda x: [((x + 2) * 60).exp().log()]),
    "zeros of both signs": ((), _zeros),
    "elements that are no numbers": ((), _no_numbers),
    "halves": (("float16",), _in_halves),
    "bytes": (("uint8",), _through_bytes),
    "truths": (("int64",), lambda x: [((x < 9) + (x < 8)).to(int64) * 2]),
}


class StructurePlanTests(ConformanceBase):
    """What a device's plan takes for the same."""

    def test_plan_with_other_structure(self) -> None:
        """Blocks alike but for the order of operands, one op, a keyword, a write."""
        x, y = (build(tensor(3, 3, seed=seed), self.device) for seed in (1, 2))
        for name, blocks in _ALIKE.items():
            for block in itertools.chain(*[blocks] * _TIMES):
                check_block(f"a block with {name}", block, x, y)

    def test_plan_rounds_where_ops_do(self) -> None:
        """Ops one after another give what each of them gives, not what would be more exact."""
        x = made([0.3, -1.7, 2.6, 1.2, 0.9, -0.4], self.device)
        for name, (dtypes, block) in _ROUNDED.items():
            if all(has_dtype(self.device, d) for d in dtypes):
                for _ in range(_TIMES):
                    check_block(f"a block with {name}", block, x)

    def test_plan_draws_in_order(self) -> None:
        """Random numbers are drawn in the order of the program."""

        def block() -> list[Tensor]:
            torch.manual_seed(5)
            later = torch.empty(4, device=self.device)
            return [torch.rand(3, device=self.device), later.uniform_(1, 2) * 3]

        for _ in range(_TIMES):
            check_block("a block that draws", block)
