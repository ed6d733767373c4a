"""Plans of blocks that come again: what a block does in other runs, and in other threads, is not kept."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import mindtorch_core as torch

from ...deferred import pipeline_context
from ..comparison import outcome
from .base import ConformanceBase
from .checks import made, require
from .thread_tests import in_threads

__all__ = ["KnownPlanTests"]

_TIMES = 6
_OFTEN = 20  # for what is optimized late, and buffers that are used in turns
_OPS = 1_500  # in one block: more than calls of Python may be nested


class KnownPlanTests(ConformanceBase):
    """What a device's plan of a block gives when the block was planned before."""

    def test_plan_errors_again(self) -> None:
        """A position out of range is an error also in a block that was planned for others."""
        x = made([1.0, 2.0, 3.0], self.device)

        def block(positions: list[int]) -> Any:
            at = torch.tensor(positions, device=self.device)
            with pipeline_context():
                y = x[at] * 2
            return y.tolist()

        for _ in range(_TIMES):
            require(block([2, 0]) == [6.0, 2.0], "a block with other positions gave other values")
        far = torch.tensor([7, 0], device=self.device)
        if not isinstance(outcome(lambda: x[far].tolist()), Exception):
            return  # which another test says
        found = outcome(lambda: block([7, 0]))
        require(
            isinstance(found, Exception),
            f"a position out of range in a block that was planned for others gave {found!r:.200}",
        )
        require(
            block([1, 1]) == [4.0, 4.0], "after a position out of range a block gave other values"
        )

    def test_plan_results_stay(self) -> None:
        """What a block gave is not overwritten when it is run again."""
        found = []
        for i in range(_OFTEN):
            x = made([float(i)] * 8, self.device)
            with pipeline_context():
                y = x * 2 + 1
            found.append(y)
        for i, y in enumerate(found):
            require(
                y.tolist() == [i * 2.0 + 1] * 8,
                f"the result of run {i} of a block became {y.tolist()} when the block was run again",
            )

    def test_plan_keeps_nothing_alive(self) -> None:
        """What a block has read and made is gone when nobody refers to it, but for that of the last runs."""
        there: list[weakref.ref[Any]] = []
        for i in range(_OFTEN):
            x = made([float(i)] * 8, self.device)
            there.append(weakref.ref(x))
            with pipeline_context():
                y = x * 2
                z = y + 1
            there.append(weakref.ref(z))
            del x, y, z
        self.runtime().synchronize()
        gc.collect()
        alive = sum(ref() is not None for ref in there)
        require(
            alive <= _OFTEN // 4,
            f"{alive} tensors of {_OFTEN} runs of a block are alive, to which nobody refers any more",
        )

    def test_plan_of_many_ops(self) -> None:
        """A block of more ops than Python calls may be nested, each of which needs the one before."""
        x = made([0.0, 1.0], self.device)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            with pipeline_context():
                y = x
                for _ in range(_OPS):
                    y = y + 1
        wanted = [float(_OPS), _OPS + 1.0]
        require(
            y.tolist() == wanted, f"a block of {_OPS} additions gave {y.tolist()}, not {wanted}"
        )

    def test_plan_in_threads(self) -> None:
        """Threads run one block at once, each with operands of its own."""

        def work(i: int) -> Any:
            x = made([float(i)] * 50, self.device)
            found = []
            for _ in range(_TIMES):
                with pipeline_context():
                    y = (x * 2 + 1) * x
                found.append(y[0].item())
            return found

        for i, found in enumerate(in_threads(work)):
            wanted = [(i * 2.0 + 1) * i] * _TIMES
            require(found == wanted, f"thread {i} got {found!r:.200} of a block, not {wanted}")
