"""Results of a run by op and dtype, and the table of them by family."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ...dispatch.opdef import OpDef
from ...dispatch.registry import registry

__all__ = ["STATES", "Cell", "Results", "family_of"]

# What may come of an op or a cell, the worst first. `missing` is a failure for want of a kernel.
STATES: Final = ("failed", "missing", "expected", "passed", "skipped")


@dataclass(slots=True)
class Cell:
    """The tests of one op on one dtype, or one test of the runtime.

    Attributes:
        counts: how many tests ended in each state.
        problems: state, test id and message of those that did not pass and have something to say.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, test: str, state: str, message: str) -> None:
        """Count a test."""
        self.counts[state] += 1
        if message:
            self.problems.append((state, test, message))

    @property
    def state(self) -> str:
        """The worst state that occurred."""
        return next((state for state in STATES if self.counts[state]), "skipped")


@dataclass(slots=True)
class Results:
    """All results of a run.

    Attributes:
        ops: cells by op and dtype.
        families: family by op.
        others: cells of the tests that are not of one op, by test.
    """

    ops: dict[str, dict[str, Cell]] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)
    others: dict[str, Cell] = field(default_factory=dict)

    def add(self, test: str, op: tuple[str, str, str] | None, state: str, message: str) -> None:
        """Count a test.

        Args:
            test: its id.
            op: name, family and dtype of the op it tests; None for tests of something else.
            state: one of `STATES`.
            message: what was wrong, or the reason why that was expected, or why it was skipped.
        """
        if op is None:
            cell = self.others.setdefault(test.partition("[")[0], Cell())
        else:
            name, self.families[name], dtype = op[0], op[1], op[2]
            cell = self.ops.setdefault(name, {}).setdefault(dtype or "none", Cell())
            message = "" if state == "skipped" else message  # thousands: pytest -rs lists them
        cell.add(test, state, message)

    def clear(self) -> None:
        """Forget everything."""
        for part in (self.ops, self.families, self.others):
            part.clear()

    def cells(self) -> Iterator[Cell]:
        """All cells, first those that are not of one op: a fault there explains others."""
        yield from self.others.values()
        for row in self.ops.values():
            yield from row.values()

    def problems(self, *states: str) -> list[tuple[str, str, str]]:
        """State, test id and message of the tests that ended in one of some states."""
        return [p for cell in self.cells() for p in cell.problems if p[0] in states]

    def state_of(self, op: str) -> str:
        """The worst state of an op."""
        found = {cell.state for cell in self.ops[op].values()}
        return next(state for state in STATES if state in found)

    def totals(self) -> dict[str, int]:
        """How many tests ended in each state."""
        return {state: sum(cell.counts[state] for cell in self.cells()) for state in STATES}

    def table(self) -> list[str]:
        """Lines of text: how many ops of each family are in each state."""
        shown = STATES[3], *STATES[:3], STATES[4]
        lines = [f"{'family':<18}{'ops':>6}" + "".join(f"{state:>10}" for state in shown)]
        sums = [0] * (1 + len(shown))
        for family in sorted(set(self.families.values())):
            states = [self.state_of(op) for op in self.ops if self.families[op] == family]
            counts = [len(states), *(states.count(state) for state in shown)]
            lines.append(_line(family, counts))
            sums = [a + b for a, b in zip(sums, counts, strict=True)]
        lines.append(_line("all ops", sums))
        states = [cell.state for cell in self.others.values()]
        lines.append(_line("runtime tests", [len(states), *(states.count(s) for s in shown)]))
        return lines


def _line(name: str, counts: list[int]) -> str:
    return f"{name:<18}{counts[0]:>6}" + "".join(f"{n or '-':>10}" for n in counts[1:])


# Families by the namespace that shows an op, and by the start of its name.
_NAMESPACES: Final = {
    "nn": "neural networks",
    "linalg": "linear algebra",
    "fft": "fourier",
    "special": "special",
}
_PREFIXES: Final = {"linalg_": "linear algebra", "_linalg": "linear algebra", "fft_": "fourier",
                    "_fft": "fourier", "special_": "special"}  # fmt: skip

# And by the package of the core that defines it, where neither says.
_PACKAGES: Final = {
    "arranging": "arranging",
    "creation": "factories",
    "elementwise": "element-wise",
    "fft": "fourier",
    "foreach": "lists of tensors",
    "indexing": "indexing",
    "linalg": "linear algebra",
    "nn": "neural networks",
    "random": "random",
    "reductions": "reductions",
    "sorting": "sorting",
    "special": "special",
    "views": "views",
}


def family_of(d: OpDef) -> str:
    """A name for the kind of op, for people to look it up under."""
    d = d.functional or d
    if "::" in d.name:
        return d.name.partition("::")[0]
    if d.traits.random:
        return "random"
    if d.traits.view:
        return "views"
    for prefix, family in _PREFIXES.items():
        if d.name.startswith(prefix):
            return family
    for namespace in d.exposure.namespaces:
        family = _NAMESPACES.get(namespace.partition(":")[0], "")
        if family:
            return family
    for tag, family in (("pointwise", "element-wise"), ("reduction", "reductions")):
        if tag in d.tags:
            return family
    if "Tensor" not in d.schema.partition("->")[0]:
        return "factories"
    return _PACKAGES.get(_package_of(d), "other ops")


def _package_of(d: OpDef) -> str:
    """The package of the room `operators` that defines an op."""
    home = registry.on_demand.home("aten", d.name)
    modules = [home or "", *(getattr(made, "__module__", "") for made in (d.rule, d.decomposition))]
    inside = [module.partition(".operators.")[2] for module in modules]
    return next(filter(None, inside), "").partition(".")[0]
