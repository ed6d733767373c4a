"""Plans: a block gives what its ops give one by one, also when one like it was planned before.

A plan that keeps what it compiled has to tell blocks apart by everything that their results depend on:
numbers, shapes, layouts, dtypes, which operands are one, who still looks at a result. Each test runs
blocks that are alike but for one of these, in turns, so that what is kept is asked for again.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest

import mindtorch_core as torch

from ...deferred import pipeline_context
from ...dispatch.opdef import TensorSpec
from ...dispatch.registry import registry
from ...opdefs.define import op as define
from ...opdefs.packets import front
from ...operators.recipes import build, tensor
from ...tensors.tensor import Tensor
from ...values.dtypes import bool_, float32, int64
from ...values.errors import PipelineError
from ...values.shapes import storage_extent
from ..comparison import assert_close, outcome
from .base import ConformanceBase
from .checks import has, made, require

__all__ = ["Block", "PlanTests", "check_block"]

Block = Callable[..., Any]
_SHOWN: Final = 6  # operands in a message


@contextmanager
def _planned() -> Iterator[None]:
    """A pipeline in which a plan that fails is a failure, although its ops are run one by one then."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pipeline_context():
            yield


def _deferred(what: str, block: Block, *args: Any) -> list[Tensor]:
    """The results of a block in a pipeline.

    Raises:
        AssertionError: if it fails there.
    """

    def run() -> Any:
        with _planned():
            return block(*args)

    found = outcome(run)
    if isinstance(found, Exception):
        raise AssertionError(f"{what}, in a pipeline: {found!r}") from found
    return list(found) if isinstance(found, tuple | list) else [found]


def check_block(what: str, block: Block, *args: Any) -> None:
    """A block gives in a pipeline what it gives outside, and leaves its operands the same."""
    outside, inside = _copies(args), _copies(args)
    wanted = block(*outside)
    wanted = list(wanted) if isinstance(wanted, tuple | list) else [wanted]
    found = _deferred(what, block, *inside)
    for name, pairs in (("result", (found, wanted)), ("operand", (inside, outside))):
        for i, (got, right) in enumerate(zip(*pairs, strict=True)):
            if isinstance(right, Tensor):
                assert_close(
                    got, right, rtol=1e-6, atol=1e-6, equal_nan=True,
                    msg=f"{what}: {name} {i}, of operands {_shown(args)}",
                )  # fmt: skip


def _copies(args: Sequence[Any]) -> list[Any]:
    """Operands of the same layout, as far from the start of memory; what was one tensor stays one."""
    known: dict[int, Any] = {}
    for a in args:
        if isinstance(a, Tensor) and id(a) not in known and 0 in a.stride():
            row = tuple(
                slice(0, n if step else 1) for n, step in zip(a.shape, a.stride(), strict=True)
            )
            known[id(a)] = a[row].clone().expand(a.shape)
        elif isinstance(a, Tensor) and id(a) not in known:
            copy = torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device=a.device)
            if start := a.storage_offset():
                needed = storage_extent(a.shape, a.stride(), start)
                room = torch.empty(needed, dtype=a.dtype, device=a.device)
                copy = room.as_strided(a.shape, a.stride(), start)
            known[id(a)] = copy.copy_(a)
    return [known.get(id(a), a) for a in args]


def _described(t: Tensor) -> str:
    """Dtype and shape of an operand, and where its elements lie unless they are in a row."""
    lies = "" if t.is_contiguous() else f" strides {tuple(t.stride())}"
    start = t.storage_offset()
    return f"{t.dtype}{list(t.shape)}{lies}{f' offset {start}' if start else ''}"


def _shown(args: Sequence[Any]) -> str:
    parts = [_described(a) if isinstance(a, Tensor) else repr(a) for a in args]
    return f"({', '.join(parts[:_SHOWN])}{', ...' * (len(parts) > _SHOWN)})"


def _times_nothing(x: Tensor, n: float) -> list[Tensor]:
    y = x.masked_fill(x > 0, n)
    return [y * 0, y - y, y / y]


def _beyond_singles(x: Tensor, n: float) -> Tensor:
    return (((x * 0).to(torch.float64) + n) - 0.5) * 2.0**30


# ---- blocks that take a number -------------------------------------------------------------------

_NUMBERS: Final[dict[str, tuple[Block, tuple[Any, ...]]]] = {
    "x * n + 1": (lambda x, n: x * n + 1, (2.0, 2.0001, 3.0, -0.5, 0.0, 2, True)),
    "x.add(y, alpha=n)": (lambda x, n: x.add(x.abs(), alpha=n) * 2, (1.0, 2.0, -3.0)),
    "n - x": (lambda x, n: (n - x).exp(), (0.5, 0.25, 1)),
    "x ** n": (lambda x, n: x.abs() ** n, (2, 3, 0.5)),
    "x.clamp(-n, n)": (lambda x, n: x.clamp(-n, n) + x, (0.25, 1.0, 0.5)),
    "x.sum(n)": (lambda x, n: (x * 2).sum(n), (0, None, 1, -1, -2)),
    "x[n]": (lambda x, n: x[n] * 2 + x[0], (0, 1, -1)),
    "torch.roll(x, n)": (lambda x, n: torch.roll(x + 1, n), (1, 2, -1)),
    "x.div(2, rounding_mode=n)": (
        lambda x, n: (x * 5).div(2, rounding_mode=n),
        ("floor", "trunc", None),
    ),
    "x.sort(1)[n] * 1.5": (lambda x, n: (x * 2).sort(1)[n] * 1.5, (0, 1)),
    "x.fill_(n)": (lambda x, n: [x.add_(1), x[:2].fill_(n) * 1][1], (4.0, 5.0, -1)),
    "torch.full(n)": (lambda x, n: x + torch.full((3,), n, device=x.device), (1.5, 2.5, 1)),
    "x.copysign(n)": (lambda x, n: x.copysign(n) + 1, (0.0, -0.0, 1.0)),
    "whole numbers * n": (lambda x, n: (x * 4).to(int64) * n, (1, 1.0, True, 2)),
    "large whole numbers + n": (
        lambda x, n: ((x * 4).to(int64) + n) % 8,
        (1, 2**53 + 1, 2**53),
    ),
    "whole numbers and n": (lambda x, n: (x * 4).to(int64) < n, (1, 2**31 + 5, -(2**40))),
    "doubles near n": (_beyond_singles, (0.5, 0.5 + 2**-30, 0.25)),
    "numbers such as n times 0": (_times_nothing, (1.0, float("inf"), float("nan"), -1.0)),
    "x.sum(n), a list": (lambda x, n: (x * 2).sum(n), ([0], [1], [-1])),
    "x.reshape(n) + 1": (lambda x, n: (x[:2] * 2).reshape(n) + 1, ([2, 3], [3, 2])),
    "x.argsort(descending=n)": (lambda x, n: (x * 2).argsort(1, descending=n), (False, True)),
    "where(x > n)": (lambda x, n: torch.where(x > n, x, n), (0.0, 0.5, -0.5)),
    "x.to(n)": (
        lambda x, n: (x * 3).to(n) + 1,
        (float32, int64, bool_, float32),
    ),
}

# ---- blocks that share memory ---------------------------------------------------------------------


def _through_a_view(x: Tensor) -> list[Tensor]:
    before = x * 1
    x.view(-1)[1:4].add_(5)
    return [before, x * 2]


def _onto_a_result(x: Tensor) -> list[Tensor]:
    y = x + 1
    seen = y * 2
    y.mul_(3)
    return [y, seen, y.t() + 0]


def _in_turns(x: Tensor) -> list[Tensor]:
    parts = []
    for i in range(3):
        x[i].mul_(i + 2)
        parts.append(x.sum(0))
        x[:, i].sub_(1)
    return [*parts, x + 0]


def _between_views(x: Tensor) -> list[Tensor]:
    left, right = x[:, :2], x[:, 1:3]
    left.copy_(right.clone())
    return [x.t().contiguous(), left + right]


def _views_kept(x: Tensor) -> list[Tensor]:
    y = x * 2
    view = y[1]
    view.add_(1)
    return [view, y, y.select(1, 0)]


def _equal(x: Tensor) -> list[Tensor]:
    """Results with the elements of the operand, or of each other, each in memory of its own."""
    y = x + 1
    return [x * 1, x * 1, x + 0, x.clone(), y, y * 1]


def _check_apart(x: Tensor) -> None:
    """A write to the operand of a block, or to one of its results, is seen in no other of them."""
    what = "results equal to others"
    tensors = {"its operand": x}
    tensors |= {f"result {i}": t for i, t in enumerate(_deferred(what, _equal, x))}
    for name, t in tensors.items():
        before = {other: o.tolist() for other, o in tensors.items() if o is not t}
        t.add_(1)
        for other, values in before.items():
            found = tensors[other].tolist()
            require(found == values, f"{what}: a write to {name} of a block has changed {other}")


_ALIASES: Final[dict[str, Block]] = {
    "a write through a view of an operand": _through_a_view,
    "a write onto a result": _onto_a_result,
    "reads and writes in turns": _in_turns,
    "a copy between views that overlap": _between_views,
    "a view of a result": _views_kept,
}


_OVERLAPS: Final[dict[str, Block]] = {
    "a write to one": lambda a, b: b * a.add_(1),
    "writes to both": lambda a, b: [a.mul_(2), b.add_(1), a + b][2],
}


def _mixture(x: Tensor) -> list[Any]:
    """Ops of all kinds that a plan may meet: several results, lists, writes, casts, reductions."""
    values, order = x.sort(dim=1)
    joined = torch.cat([values, x], 1)
    first, second = joined.chunk(2, 1)
    total = torch.stack([first.sum(), second.amax()])
    x.add_(1)
    return [values, order, first @ second.t(), total, joined.to(torch.float64), x.argmax(1)]


class PlanTests(ConformanceBase):
    """What a device's plan of a block gives."""

    def _matrix(self, *shape: int, seed: int = 0) -> Tensor:
        return build(tensor(*(shape or (3, 4)), seed=seed + 1), self.device)

    def test_plan_of_all_kinds(self) -> None:
        """A block of ops of all kinds is planned without a warning, twice."""
        for _ in range(2):
            check_block("a block of all kinds of ops", _mixture, self._matrix(4, 6))

    def test_plan_with_other_scalars(self) -> None:
        """Blocks alike but for a number, which a plan that is kept must not hold."""
        for name, (block, numbers) in _NUMBERS.items():
            for n in (*numbers, *numbers):
                check_block(f"{name} with n = {n!r} after others", block, self._matrix(3, 3), n)

    def test_plan_with_other_shapes(self) -> None:
        """Blocks alike but for shapes, layouts and dtypes."""

        def block(a: Tensor, b: Tensor) -> list[Tensor]:
            c = a * 2 + b
            return [c, c.sum(-1), c.t(), c.abs()]

        wide = self._matrix(6, 8)
        operands = [
            (self._matrix(3, 4), self._matrix(3, 4, seed=1)),
            (self._matrix(5, 2), self._matrix(5, 2, seed=1)),
            (self._matrix(4, 3).t(), self._matrix(3, 4, seed=1)),
            (wide[::2, 1:5], wide[1::2, 2:6]),
            (wide[:3, :4], wide[3:, 4:]),
            (wide[1:4, 2:6], wide[2:5, 1:5]),
            (self._matrix(3, 1), self._matrix(1, 4, seed=1)),
            (self._matrix(1, 4), self._matrix(3, 1, seed=1)),
            (self._matrix(3, 4), self._matrix(4, seed=1)),
            (self._matrix(3, 4).to(torch.int64), self._matrix(3, 4, seed=1)),
            (self._matrix(3, 1).expand(3, 4), self._matrix(4, seed=1).expand(3, 4)),
            (self._matrix(0, 4), self._matrix(0, 4)),
            (self._matrix(4, 0), self._matrix(4, 0)),
        ]
        for a, b in (*operands, *operands):
            check_block("a * 2 + b in other shapes and layouts", block, a, b)

    def test_plan_with_other_operands(self) -> None:
        """Blocks alike but for which operands are one tensor, and what the elements are."""

        def block(a: Tensor, b: Tensor, c: Tensor) -> list[Tensor]:
            d = a - b
            return [d * c, d + a]

        x, y, z = (self._matrix(seed=i) for i in range(3))
        for operands in (
            (x, y, z),
            (y, x, z),
            (x, x, y),
            (x, y, y),
            (x, y, x),
            (z, z, z),
            (x, y, z),
        ):
            check_block("(a - b) * c of other operands", block, *operands)

    def test_plan_with_other_elements(self) -> None:
        """Blocks alike but for elements: of masks, of what has no dimensions, of parameters."""

        def block(x: Tensor, mask: Tensor, factor: Tensor, weight: Tensor) -> list[Tensor]:
            return [torch.where(mask, x, x * factor), (x @ weight).detach()]

        for seed in (1, 2, 3):
            x, y = self._matrix(4, 4), self._matrix(4, 4, seed=seed)
            operands = {"a mask": y > 0, "a factor": y[0, 0].clone(), "a parameter": y}
            for name in operands:
                mask, factor, weight = (
                    operands[each] if each == name else right
                    for each, right in (
                        ("a mask", x > 0),
                        ("a factor", x[0, 0].clone()),
                        ("a parameter", x.clone()),
                    )
                )
                check_block(
                    f"a block with other elements of {name}", block, x, mask, factor,
                    weight.requires_grad_(),
                )  # fmt: skip

    def test_plan_aliasing(self) -> None:
        """Views, and writes in place, of operands and of results; what is no view has its own memory."""
        for name, block in _ALIASES.items():
            for _ in range(2):
                check_block(name, block, self._matrix(3, 3))
        for name, overlapping in _OVERLAPS.items():
            for _ in range(2):
                memory, right = self._matrix(4, 3), self._matrix(4, 3)
                wanted = overlapping(right[:3], right[1:])
                what = f"{name} of operands that overlap"
                (found,) = _deferred(what, overlapping, memory[:3], memory[1:])
                for got, expected in ((found, wanted), (memory, right)):
                    assert_close(got, expected, rtol=1e-6, atol=1e-6, msg=what)
        for _ in range(5):  # at one place: what is kept for it may be called in another way
            _check_apart(self._matrix(3, 3))

    def test_plan_donation(self) -> None:
        """Memory of what nobody refers to any more may be used; that of what somebody does, not.

        The same ops are recorded each time, and what is kept alive differs.
        """
        values = self._matrix(16, 16)
        wanted = [(values * 2).tolist(), ((values * 2 + 1) * 3 - values).tolist()]
        for kept in (False, True, False, True):
            x = values.clone()
            with _planned():
                product = x * 2
                result = (product + 1) * 3 - x  # which is read until the last
                if not kept:
                    del x, product
                    gc.collect()
            what = "kept alive after blocks in which it died"
            if kept:
                require(x.tolist() == values.tolist(), f"an operand changed that was {what}")
                assert_close(product.tolist(), wanted[0], msg=f"a result that was {what}")
            assert_close(
                result.tolist(), wanted[1], rtol=1e-6, atol=1e-6,
                msg=f"the result of a block whose operands were {'kept' if kept else 'dying'}",
            )  # fmt: skip

    def test_plan_donation_of_views(self) -> None:
        """A dying tensor whose memory a living view, or a living base, shows is nobody's to use."""
        for _ in range(2):
            base = self._matrix(4, 4)
            before = base.tolist()
            view = base[1:3]
            with _planned():
                result = view * 2 + 1
                del view
                gc.collect()
            require(base.tolist() == before, "the memory of a living base was used for a result")
            assert_close(result, base[1:3] * 2 + 1, msg="a block whose operand was a view")

    def test_plan_on_two_devices(self) -> None:
        """A block with ops on the CPU and on the device, and copies both ways."""
        if self.device == "cpu" or not has("cpu"):
            pytest.skip("there is no CPU backend beside the device's")

        def block(x: Tensor, host: Tensor) -> list[Tensor]:
            started = host * 2  # the first op is the host's
            y = x * host.sum()  # a tensor of the host's that counts as a number
            host.add_(1)
            z = y + started.to(x.device)
            back = (z * 3).cpu() - host
            return [y, z, back, x * back.to(x.device), started]

        for seed in (9, 10, 9):
            host = build(tensor(3, 4, seed=seed), "cpu")
            check_block("a block on two devices", block, self._matrix(), host)

    def test_plan_errors(self) -> None:
        """An op that fails is named, what depends on it has no value, and the rest is computed."""

        def fail(x: Tensor) -> Tensor:
            raise ValueError("this op fails")

        x = self._matrix()
        seen: list[Tensor] = []
        apart: list[Tensor] = []
        with self._op("fails", fail) as op:

            def block() -> None:
                with _planned():
                    seen.append(x + 1)
                    apart.append(x * 4)
                    seen.append(op(seen[0]))
                    seen.append(seen[1] * 2)

            error = outcome(block)
            if isinstance(error, ValueError) and not isinstance(error, PipelineError):
                return  # the device's ops run at once in a block
            require(isinstance(error, PipelineError), f"an op that fails in a block gave {error!r}")
            require("fails" in error.op, f"the error does not name the op that failed: {error}")
            assert_close(seen[0], x + 1, msg="what came before a failure")
            assert_close(apart[0], x * 4, msg="what does not depend on a failure")
            for t in seen[1:]:  # some may be missing, where an op of the block runs at once
                found = outcome(t.tolist)
                require(isinstance(found, PipelineError), "what depends on a failure can be read")

    def test_plan_interrupts(self) -> None:
        """An interrupt in a plan loses nothing: writes happen once, or are said to be unknown."""
        calls = []

        def stop(x: Tensor) -> Tensor:
            calls.append(x)
            if len(calls) == 1:
                raise KeyboardInterrupt
            return x * 1

        with self._op("stops", stop) as op:
            x, counter = self._matrix(), made([0.0, 0.0], self.device)
            one, two = x + 1, (x + 1) * 2
            seen: list[tuple[str, Tensor, Tensor]] = []
            written, interrupted = 0.0, False
            try:
                with pipeline_context():
                    counter.add_(1)
                    written = 1.0
                    before = x + 1
                    seen.append(("what came before an interrupt", before, one))
                    stopped = op(before)
                    seen.append(("what an interrupt stopped", stopped, one))
                    counter.add_(10)
                    written = 11.0
                    seen.append(("what came after an interrupt", stopped * 2, two))
            except KeyboardInterrupt:
                interrupted = True
            require(interrupted, "an interrupt was swallowed")
            seen.append(
                ("what is written around an interrupt", counter, made([written] * 2, self.device))
            )
            for what, t, right in seen:
                found = outcome(t.tolist)
                if not isinstance(found, PipelineError):  # which says that it is not known
                    require(found == right.tolist(), f"{what} is {found}, not {right.tolist()}")

    # ---- ops of the kit's own ----------------------------------------------------------------------

    @contextmanager
    def _op(self, name: str, kernel: Callable[[Tensor], Tensor]) -> Iterator[Block]:
        """An op of one tensor that no plan knows, with a kernel of the kit's."""
        with registry.scope():
            define(
                f"conformance::{name}(Tensor x) -> Tensor",
                rule=lambda x: TensorSpec(x._shape, x._dtype),
                namespaces=(),
            )
            registry.register_kernel(f"conformance::{name}", self.device, kernel)
            yield front(registry.entry(f"conformance::{name}"))
