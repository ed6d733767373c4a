"""The calls that the tests of ops are made of, by test and by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ...dispatch.registry import registry
from ...operators.define import NONDIFF, OpDef, definitions, front
from ...random import manual_seed
from ..recipes import Sample
from ..samples import samples
from .function_cases import FUNCTION_TESTS, FunctionCase, function_cases
from .sweeps import CLOSELY, dtype_samples, edge_samples

__all__ = ["LEVELS", "NEEDS_DTYPE", "RULES", "UNDEFINED", "Case", "Rule", "cases_of", "reaches"]

# How much is tested. Each level includes those before it.
LEVELS: Final = ("smoke", "core", "full")

# Ops whose results' elements are undefined.
UNDEFINED: Final = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
)
# Ops that draw random numbers somewhere inside, beside those whose definition says so.
RANDOM: Final = frozenset({"dropout", "rand", "randn", "randint", "rand_like", "randn_like"})
# Ops that read the memory behind a tensor, so that its layout changes their result, and views made
# of other views, which refuse layouts that they have no strides for.
NEEDS_LAYOUT: Final = frozenset(
    {
        *("as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter"),
        "set_.source_Tensor_storage_offset",
        *("view_as", "unflatten", "resize_", "resize_as_", "view_as_complex"),
        *("view_as_complex_copy",),
    }
)
# Ops that mean something else when their tensors are float64.
NEEDS_DTYPE: Final = frozenset({"view.dtype", "view_copy.dtype"})

# Ops whose samples lie where differences say nothing: on jumps, kinks and ends of the domain; and ops
# with arguments that count as constants, such as weights of classes.
NO_DIFFERENCES: Final = frozenset(
    {
        *("remainder", "fmod", "_rmod", "frexp", "grid_sampler", "kl_div", "poisson_nll_loss"),
        *("asin", "acos", "arcsin", "arccos", "nll_loss", "nll_loss_backward"),
        *("batch_norm", "native_batch_norm", "_native_batch_norm_legit"),
    }
)

# Ops that the level smoke tests closely: some of every kind.
FEW: Final = frozenset(
    {
        *("add", "mul", "div", "eq", "exp", "where.self", "clamp", "copy_", "fill_.Scalar"),
        *("sum", "mean", "amax", "argmax", "max.dim", "cumsum", "sort.stable", "softmax.int"),
        *("mm", "matmul", "cat", "index_select", "gather", "masked_fill.Scalar", "gelu"),
        *("view", "transpose.int", "select.int", "linear", "layer_norm", "zeros", "arange.start"),
    }
)


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
        return self.op.random or self.op.base_name in RANDOM

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the op; random numbers start from one seed."""
        if self.random:
            manual_seed(0)
        return front(registry.entry(self.op.name))(*args, **kwargs)

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
        and not d.random
        and not case.random
        and d.grad != NONDIFF
        and d.name not in NEEDS_DTYPE
        and d.name not in UNDEFINED
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
    "test_layouts": Rule(
        lambda case: (
            case.op.functional is None
            and case.name not in NEEDS_LAYOUT
            and any(recipe.shape for recipe in case.sample.recipes())
        )
    ),
    "test_inplace": Rule(lambda case: case.op.functional is not None),
    "test_out": Rule(lambda case: case.op.out),
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
        core=lambda case: "pointwise" not in case.op.tags or case.name in CLOSELY,
    ),
    "test_gradients": Rule(_has_gradient),
    "test_gradcheck": Rule(_is_smooth, smoke="none", core=lambda case: _is_checked(case)),
}


def _is_checked(case: Case) -> bool:
    """Whether the level core compares the gradients of a case with differences."""
    return (case.name in FEW or bool(case.op.primitive)) and _is_first(case)
