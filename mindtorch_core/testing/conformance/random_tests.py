"""Random numbers: seeds, positions, generators, devices apart, and plausible distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import mindtorch_core as torch

from ...deferred import pipeline_context
from ..comparison import outcome
from .base import ConformanceBase
from .checks import has, made, require

__all__ = ["RandomTests"]

_N = 4000


class RandomTests(ConformanceBase):
    """`Runtime.generator` and the kernels that draw from it."""

    def _generator(self) -> Any:
        found = outcome(lambda: torch.Generator(self.device))
        if isinstance(found, RuntimeError):
            pytest.skip(f"{self.device} has no random numbers: {found}")
        if isinstance(found, Exception):
            raise AssertionError(f"making a generator raised {found!r}") from found
        return found

    def _positioned(self) -> Any:
        """A generator whose positions can be read: they are tensors on the CPU."""
        if not has("cpu"):
            pytest.skip("there is no CPU backend, whose tensors hold positions")
        return self._generator()

    def _draws(self) -> dict[str, Callable[[], list[Any]]]:
        """Ways to draw, by name; each gives a list of numbers."""
        where = self.device
        return {
            "rand": lambda: torch.rand(8, device=where).tolist(),
            "randn": lambda: torch.randn(8, device=where).tolist(),
            "randint": lambda: torch.randint(0, 1000, (8,), device=where).tolist(),
            "randperm": lambda: torch.randperm(20, device=where).tolist(),
            "uniform_": lambda: torch.empty(8, device=where).uniform_().tolist(),
            "normal_": lambda: torch.empty(8, device=where).normal_().tolist(),
            "bernoulli_": lambda: torch.empty(40, device=where).bernoulli_(0.5).tolist(),
            "dropout": lambda: torch.nn.functional.dropout(torch.ones(40, device=where)).tolist(),
        }

    def test_seeds(self) -> None:
        """One seed gives one sequence; another seed another; the sequence goes on."""
        self._generator()
        for name, draw in self._draws().items():
            with _seeded(3):
                first, second = draw(), draw()
            require(first != second, f"{name} gives the same numbers twice in a row")
            with _seeded(3):
                again = draw()
            require(first == again, f"{name}: manual_seed(3) does not give the same numbers again")
            with _seeded(4):
                other = draw()
            require(first != other, f"{name}: the seeds 3 and 4 give the same numbers")

    def test_positions(self) -> None:
        """A position that was read is where the sequence goes on once it is set."""
        generator = self._positioned().manual_seed(5)
        torch.rand(5, device=self.device, generator=generator)
        position = generator.get_state()
        first = torch.rand(7, device=self.device, generator=generator).tolist()
        torch.rand(3, device=self.device, generator=generator)
        generator.set_state(position)
        again = torch.rand(7, device=self.device, generator=generator).tolist()
        require(first == again, "set_state() does not go back to where get_state() was called")
        twin = generator.clone_state()
        require(
            torch.rand(5, device=self.device, generator=twin).tolist()
            == torch.rand(5, device=self.device, generator=generator).tolist(),
            "clone_state() gives a generator at another position",
        )
        require(generator.initial_seed() == 5, f"initial_seed() is {generator.initial_seed()}")

    def test_wrong_positions(self) -> None:
        """A position of something else is refused and leaves the generator where it was."""
        generator = self._positioned().manual_seed(5)
        position = generator.get_state()
        zeros = (torch.zeros(n, dtype=torch.uint8, device="cpu") for n in (3, 24))
        for wrong in (*zeros, position[:-8]):  # whether the longer ones are refused is its affair
            found = outcome(generator.set_state, wrong)
            n, refused = wrong.numel(), isinstance(found, Exception)
            require(refused or n > 3, "set_state() takes three zeros for a position")
            after = bytes(generator.get_state().tolist())
            require(
                not refused or after == bytes(position.tolist()),
                f"set_state() of {n} bytes was refused, and moved the generator",
            )
            generator.set_state(position)

    def test_generators_are_apart(self) -> None:
        """A generator of its own draws its own numbers and leaves the default one alone."""
        mine = self._generator().manual_seed(11)
        with _seeded(1):
            plain = torch.rand(6, device=self.device).tolist()
        with _seeded(1):
            own = torch.rand(6, device=self.device, generator=mine).tolist()
            default = torch.rand(6, device=self.device).tolist()
        require(default == plain, "drawing from a generator of its own moves the default one")
        again = torch.rand(6, device=self.device, generator=mine.manual_seed(11)).tolist()
        require(own == again and own != plain, "generator= is ignored")

    def test_devices_are_apart(self) -> None:
        """Drawing on one device moves no other device's sequence, nor the CPU's."""
        devices = [on for on in self.devices() if on.type != "cpu"]
        others = [*map(str, devices), *(["cpu"] if has("cpu") else [])]
        if len(others) < 2:
            pytest.skip("there is one device")
        for mine in others:
            for other in others:
                if mine == other:
                    continue
                with _seeded(2):
                    wanted = torch.rand(5, device=other).tolist()
                with _seeded(2):
                    torch.rand(9, device=mine)
                    found = torch.rand(5, device=other).tolist()
                require(found == wanted, f"drawing on {mine} moves the sequence of {other}")

    def test_in_a_pipeline(self) -> None:
        """Deferred draws give what they give at once, in program order."""
        self._generator()
        with _seeded(6):
            wanted = [torch.rand(4, device=self.device).tolist() for _ in range(3)]
        with _seeded(6), pipeline_context():
            drawn = [torch.rand(4, device=self.device) for _ in range(3)]
        require([t.tolist() for t in drawn] == wanted, "a pipeline draws other numbers")

    def test_in_a_pipeline_again(self) -> None:
        """A block that comes again draws anew, also what nobody looks at."""
        self._generator()

        def draws() -> Any:
            torch.rand(4, device=self.device)
            return torch.rand(4, device=self.device) + 1

        with _seeded(6):
            wanted = [draws().tolist() for _ in range(5)]
        found = []
        with _seeded(6):
            for _ in wanted:
                with pipeline_context():
                    drawn = draws()
                found.append(drawn.tolist())
        require(found == wanted, "a pipeline that comes again draws other numbers")

    def test_distributions(self) -> None:
        """Numbers lie where they must, and means and spreads are plausible."""
        self._generator()
        with _seeded(8):
            drawn = {
                "rand": (torch.rand(_N, device=self.device), 0.5, math.sqrt(1 / 12)),
                "randn": (torch.randn(_N, device=self.device), 0.0, 1.0),
                "uniform_": (torch.empty(_N, device=self.device).uniform_(2, 6), 4.0, 4 / math.sqrt(12)),
                "randint": (torch.randint(0, 10, (_N,), device=self.device), 4.5, math.sqrt(8.25)),
                "bernoulli_": (torch.empty(_N, device=self.device).bernoulli_(0.25), 0.25, 0.433),
            }  # fmt: skip
        for name, (t, mean, deviation) in drawn.items():
            values = t.tolist()
            found = sum(values) / _N
            spread = math.sqrt(sum((v - found) ** 2 for v in values) / _N)
            require(
                abs(found - mean) < 6 * deviation / math.sqrt(_N), f"{name} has the mean {found}"
            )
            require(abs(spread / deviation - 1) < 0.1, f"{name} deviates by {spread}")
        _within("rand", drawn["rand"][0], 0, 1)
        _within("uniform_(2, 6)", drawn["uniform_"][0], 2, 6)
        require(set(drawn["randint"][0].tolist()) == set(range(10)), "randint(0, 10) misses some")
        with _seeded(9):
            order = torch.randperm(100, device=self.device).tolist()
        require(sorted(order) == list(range(100)), "randperm gives no permutation")

    def test_seed_of_the_module(self) -> None:
        """``torch.<device>.manual_seed`` seeds the device, and fork_rng restores it."""
        self._generator()
        module: Any = getattr(torch, self.device, None)
        if not hasattr(module, "manual_seed_all"):
            pytest.skip(f"torch.{self.device} has no manual_seed_all")
        with torch.random.fork_rng(devices=self.devices()):
            module.manual_seed_all(21)
            first = torch.rand(4, device=self.device).tolist()
            module.manual_seed_all(21)
            require(first == torch.rand(4, device=self.device).tolist(), "the seed 21 is ignored")
        with _seeded(7):
            with torch.random.fork_rng(devices=self.devices()):
                inside = torch.rand(4, device=self.device).tolist()
            after = torch.rand(4, device=self.device).tolist()
        require(inside == after, "fork_rng does not restore the sequence")

    def test_odd_draws(self) -> None:
        """Empty tensors and scalars are filled, and views are written where they lie."""
        self._generator()
        require(torch.rand(0, 3, device=self.device).tolist() == [], "an empty draw fails")
        require(0 <= torch.rand((), device=self.device).item() < 1, "a scalar draw fails")
        t = made([9.0] * 6, self.device)
        t[1::2].uniform_()
        values = t.tolist()
        require(values[::2] == [9.0] * 3, "a draw into a view writes elsewhere")
        require(all(0 <= v < 1 for v in values[1::2]), "a draw into a view writes nothing")


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    torch.manual_seed(seed)
    yield


def _within(name: str, t: Any, low: float, high: float) -> None:
    values = t.tolist()
    require(min(values) >= low and max(values) <= high, f"{name} leaves {low}..{high}")
