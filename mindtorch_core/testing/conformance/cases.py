"""The calls that the tests of ops are made of, by test and by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ...dispatch.opdef import NONDIFF, OpDef
from ...dispatch.registry import registry
from ...dispatch.written import written, written_places
from ...opdefs.define import definitions
from ...opdefs.packets import front
from ...operators.recipes import Sample
from ...random import manual_seed
from ..samples import named, samples
from .function_cases import FUNCTION_TESTS, FunctionCase, function_cases
from .sweeps import dtype_samples, edge_samples

__all__ = ["LEVELS", "NEEDS_DTYPE", "RULES", "Case", "Rule", "cases_of", "reaches"]

# How much is tested. Each level includes those before it.
LEVELS: Final = ("smoke", "core", "full")

# Ops of which something is said in their families' samples; see `FamilySamples`.
NEEDS_LAYOUT: Final = named("needs_layout")
NEEDS_DTYPE: Final = named("needs_dtype")
NO_DIFFERENCES: Final = named("no_differences")
FEW: Final = named("few")
CLOSELY: Final = named("closely")


@dataclass(frozen=True, slots=True)
class Case:
    """One op and one sample call of it."""

    op: OpDef
    sample: Sample

    @property
    def name(self) -> str:
        """The op's name, with its overload."""
        return self.op.name

    @property
    def id(self) -> str:
        """As it stands in test ids."""
        return f"{self.name}-{self.sample.name}"

    @property
    def dtype(self) -> str:
        """Name of the dtype of its first tensor; empty for a call without one."""
        return next((recipe.dtype for recipe in self.sample.recipes()), "")

    @property
    def random(self) -> bool:
        """Whether the values depend on the generator."""
        return self.op.traits.random

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the op; random numbers start from one seed.

        Of an op that returns nothing, such as one on lists in place, the result is what it wrote.
        """
        if self.random:
            manual_seed(0)
        entry = registry.entry(self.op.name)
        result = front(entry)(*args, **kwargs)
        return (
            result if result is not None else [*written(written_places(entry.schema), args, kwargs)]
        )

    def variant(self, layout: str) -> Case:
        """The same call on tensors of another layout."""
        return Case(self.op, self.sample.laid_out(layout))

    def __str__(self) -> str:
        return f"{self.op.name}{self.sample}"


Wanted = Callable[[Case], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """Which cases a test is for.

    Attributes:
        wanted: whether a case is one of them.
        of: the sample calls of an op that it chooses from.
        smoke: what the level smoke takes: all cases of a ``few`` ops, the first of ``every`` other op
            besides, or ``none``.
        core: a choice among the cases of the level core; all if None.
    """

    wanted: Wanted
    of: Callable[[OpDef], Iterable[Sample]] = samples
    smoke: str = "few"
    core: Wanted | None = field(default=None)

    def chosen(self, d: OpDef, level: str) -> Iterator[Case]:
        """The cases of one op at a level."""
        if level == "smoke" and (self.smoke == "none" or not self._in_smoke(d)):
            return
        for sample in self.of(d):
            case = Case(d, sample)
            if self.wanted(case) and (level == "full" or self.core is None or self.core(case)):
                yield case
                if level == "smoke" and not _is_of_few(d):
                    return

    def _in_smoke(self, d: OpDef) -> bool:
        return self.smoke == "every" or _is_of_few(d)


def _is_of_few(d: OpDef) -> bool:
    return (d.functional or d).name in FEW


def reaches(level: str, needed: str) -> bool:
    """Whether a level includes another.

    Raises:
        ValueError: if it is not one of `LEVELS`.
    """
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
    return LEVELS.index(level) >= LEVELS.index(needed)


def cases_of(test: str, level: str) -> Iterator[Case | FunctionCase]:
    """The cases of a test at a level."""
    reaches(level, "smoke")
    if test in FUNCTION_TESTS:
        yield from function_cases(level)
        return
    rule = RULES[test]
    for d in definitions():
        yield from rule.chosen(d, level)


def _is_first(case: Case) -> bool:
    return case.sample.name == next(iter(samples(case.op))).name


def _is_functional(case: Case) -> bool:
    return case.op.functional is None


def _has_gradient(case: Case) -> bool:
    """Whether a floating argument may have one; views of whole storages and draws are left out."""
    d = case.op
    return (
        d.functional is None
        and not d.traits.random
        and d.grad != NONDIFF
        and d.name not in NEEDS_DTYPE
        and not d.traits.undefined
        and not d.name.partition(".")[0].endswith("_")
        and any(recipe.dtype in ("float32", "float64") for recipe in case.sample.recipes())
    )


def _is_smooth(case: Case) -> bool:
    """Whether differences say something: no infinities among the elements, and no jumps."""
    drawn = all(recipe.values is None for recipe in case.sample.recipes() if recipe.shape)
    return _has_gradient(case) and drawn and case.op.base_name not in NO_DIFFERENCES


# Which cases each test is for.
RULES: Final[dict[str, Rule]] = {
    "test_forward": Rule(_is_functional, smoke="every"),
    "test_layouts": Rule(  # random numbers may come in the order of the memory that they fill
        lambda case: (
            case.op.functional is None
            and not case.random
            and case.name not in NEEDS_LAYOUT
            and any(recipe.shape for recipe in case.sample.recipes())
        )
    ),
    "test_inplace": Rule(lambda case: case.op.functional is not None),
    "test_out": Rule(lambda case: case.op.out is not None),
    "test_deferred": Rule(lambda case: True),
    "test_agrees_with_meta": Rule(_is_functional, smoke="none"),
    "test_agrees_with_cpu": Rule(lambda case: True, smoke="every"),
    "test_agrees_with_pytorch": Rule(
        lambda case: case.op.functional is None and not case.random,
        smoke="none",
        core=lambda case: _is_first(case),
    ),
    "test_dtypes": Rule(_is_functional, of=dtype_samples),
    "test_edges": Rule(
        _is_functional,
        of=edge_samples,
        core=lambda case: (
            "pointwise" not in case.op.tags
            or case.name in CLOSELY
            or case.sample.name in ("many", "dimensions")
        ),
    ),
    "test_gradients": Rule(_has_gradient),
    "test_gradcheck": Rule(_is_smooth, smoke="none", core=lambda case: _is_checked(case)),
}


def _is_checked(case: Case) -> bool:
    """Whether the level core compares the gradients of a case with differences."""
    return (case.name in FEW or bool(case.op.traits.primitive)) and _is_first(case)
