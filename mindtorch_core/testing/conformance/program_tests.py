"""Whole programs: the same at once, in a pipeline and on the CPU; errors leave no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

import mindtorch_core as torch

from ...deferred import pipeline_context
from ...operators.recipes import build, tensor
from ..comparison import assert_close
from .base import ConformanceBase
from .checks import has, made, refuses, require

__all__ = ["ProgramTests"]


def _training(device: str) -> list[Any]:
    """A few steps of a small network."""
    x = build(tensor(8, 4, seed=1), device)
    target = build(tensor(8, 2, seed=2), device)
    weights: list[Any] = [build(tensor(*shape, low=-0.5, high=0.5, seed=3), device).requires_grad_()
               for shape in ((4, 6), (6,), (6, 2))]  # fmt: skip
    losses = []
    for _ in range(3):
        hidden = torch.tanh(x @ weights[0] + weights[1])
        loss = ((hidden @ weights[2] - target) ** 2).mean()
        loss.backward()
        losses.append(loss.detach())
        with torch.no_grad():
            for w in weights:
                w.sub_(w.grad, alpha=0.1)
                w.grad = None
    return [*losses, *(w.detach() for w in weights)]


def _attention(device: str) -> list[Any]:
    """Softmax over masked scores, and a normalisation."""
    q, k, v = (build(tensor(2, 4, 3, seed=i), device) for i in (4, 5, 6))
    mask = torch.ones(4, 4, dtype=torch.bool, device=device).tril()
    scores = (q @ k.transpose(1, 2)).masked_fill(~mask, float("-inf"))
    mixed = scores.softmax(-1) @ v
    normed = (mixed - mixed.mean(-1, keepdim=True)) / (mixed.var(-1, keepdim=True) + 1e-5).sqrt()
    return [scores.softmax(-1), mixed, normed, normed.argmax(-1)]


def _writes(device: str) -> list[Any]:
    """Reads and writes of one memory in turns, through views."""
    t = torch.zeros(4, 4, device=device)
    seen = []
    for i in range(4):
        t[i].add_(i + 1)
        seen.append(t.sum(0))
        t[:, i].mul_(2)
        seen.append(t.clone())
        t.copy_(t.clone().t())
    index = torch.tensor([3, 1], device=device)
    seen.append(t[index])
    t[index] = 5
    return [*seen, t]


def _bookkeeping(device: str) -> list[Any]:
    """Integers, booleans, sorting and positions."""
    t = build(tensor(40, dtype="int64", low=-9, high=9, seed=8), device)
    values, order = t.sort(stable=True)
    return [values, order, t.cumsum(0), t[t > 0], (t % 3 == 0).nonzero(), t.argmax(), t.max()]


_PROGRAMS: Final[dict[str, Callable[[str], list[Any]]]] = {
    "training": _training,
    "attention": _attention,
    "writes through views": _writes,
    "bookkeeping": _bookkeeping,
}


class ProgramTests(ConformanceBase):
    """Ops work together."""

    def test_programs_agree_with_cpu(self) -> None:
        """Small programs give what they give on the CPU."""
        if not has("cpu"):
            pytest.skip("there is no CPU backend to compare with")
        for name, program in _PROGRAMS.items():
            assert_close(
                program(self.device), program("cpu"), rtol=1e-4, atol=1e-4, check_device=False,
                msg=f"the program {name!r}",
            )  # fmt: skip

    def test_programs_in_a_pipeline(self) -> None:
        """In a pipeline small programs give what they give outside."""
        for name, program in _PROGRAMS.items():
            wanted = program(self.device)
            with pipeline_context():
                found = program(self.device)
            assert_close(found, wanted, rtol=1e-6, atol=1e-6, msg=f"the program {name!r}, deferred")

    def test_errors_leave_the_device_usable(self) -> None:
        """Refused calls raise what they raise on every device, and the next call works."""
        t = made([1.0, 2.0, 3.0], self.device)
        matrix, beyond = t.view(1, 3), torch.tensor([7], device=self.device)
        two: Any = "two"
        for what, call, kinds in (
            ("shapes that do not broadcast", lambda: t + t[:2], (RuntimeError,)),
            ("a dimension that is not there", lambda: t.sum(3), (IndexError,)),
            ("a product of shapes that do not fit", lambda: matrix @ matrix, (RuntimeError,)),
            ("an index out of range", lambda: t[beyond].tolist(), (IndexError, RuntimeError)),
            ("the largest of nothing", lambda: t[:0].argmax(), (IndexError, RuntimeError)),
            ("a view of a wrong size", lambda: t.view(2, 2), (RuntimeError,)),
            ("an operand that is no tensor", lambda: t.add(two), (TypeError,)),
        ):  # fmt: skip
            refuses(what, call, *kinds)
            require((t + 1).tolist() == [2, 3, 4], f"after {what} the device computes wrongly")

    def test_errors_in_a_pipeline(self) -> None:
        """What is refused in a pipeline leaves what was recorded before it as it was."""
        t = made([1.0, 2.0, 3.0], self.device)
        with pipeline_context():
            before = t + 1
            refuses("shapes that do not broadcast", lambda: t + t[:2], RuntimeError)
            after = before * 2
        require(after.tolist() == [4, 6, 8], "an error in a pipeline loses what was recorded")

    def test_operands_on_two_types_of_device(self) -> None:
        """An operand on the CPU is refused, unless it is a number."""
        if self.device == "cpu" or not has("cpu"):
            pytest.skip("there is no CPU backend beside the device's")
        mine, host = made([1.0, 2.0], self.device), made([1.0, 2.0], "cpu")
        refuses(f"adding tensors on {self.device} and the CPU", lambda: mine + host, RuntimeError)
        number = torch.tensor(2.0, device="cpu")
        require((mine + number).tolist() == [3, 4], "a CPU scalar is not taken for a number")
