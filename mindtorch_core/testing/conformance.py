"""The conformance suite: what a backend must do, tested op by op from the ops' definitions.

This is a backend's whole test file::

    from mindtorch_core.testing.conformance import BackendConformance

    class TestAcme(BackendConformance):
        device = "acme"
        known_failures = "known_failures.txt"

A line of the known failures is a test's id, such as ``test_forward[erf-bfloat16]``, in which ``*``
stands for anything, and after a ``#`` the reason. Such a test must fail, so the line has to go when
the kernel is mended.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import pytest

from ..devices import row_of
from ..dispatch.pipeline import pipeline_context
from ..dispatch.registry import registry
from ..dispatch.schema import parse_schema
from ..dtypes import COMPLEX, FLOATING
from ..errors import BackendUnavailableError, PipelineError
from ..operators.define import OpDef, TensorSpec, definitions, front
from ..promotion import can_cast
from ..random import manual_seed
from ..shapes import contiguous_strides
from ..tensor import Tensor
from .comparison import assert_close, default_tolerances, outcome
from .recipes import LAYOUTS, Sample
from .samples import WITHOUT_SAMPLES, samples

__all__ = ["BackendConformance"]

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


@dataclass(frozen=True, slots=True)
class Case:
    """One op and one sample call of it."""

    op: OpDef
    sample: Sample

    @property
    def id(self) -> str:
        """As it stands in test ids."""
        return f"{self.op.name}-{self.sample.name}"

    @property
    def random(self) -> bool:
        """Whether the values depend on the generator."""
        return self.op.random or self.op.base_name in RANDOM

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the op; random numbers start from one seed."""
        if self.random:
            seed_if_possible()
        return front(registry.entry(self.op.name))(*args, **kwargs)

    def variant(self, layout: str) -> Case:
        """The same call on tensors of another layout."""
        return Case(self.op, self.sample.laid_out(layout))

    def __str__(self) -> str:
        return f"{self.op.name}{self.sample}"


def seed_if_possible() -> None:
    """Seed the generators; without a CPU backend there is none that seeds them all."""
    try:
        manual_seed(0)
    except BackendUnavailableError:
        return


def require(condition: bool, problem: str) -> None:
    """Fail a test, saying what is wrong.

    Raises:
        AssertionError: if the condition does not hold.
    """
    if not condition:
        raise AssertionError(problem)


def tensors_of(result: Any) -> list[Tensor]:
    """The tensors of a result, alone or in tuples; none if it is a truth value."""
    if isinstance(result, tuple | list):
        return [t for part in result for t in tensors_of(part)]
    if isinstance(result, bool):
        return []
    require(isinstance(result, Tensor), f"the result holds {type(result).__name__}, not a tensor")
    return [result]


def raised_alike(case: Case, found: Any, wanted: Any) -> bool:
    """Whether both outcomes are exceptions of one type; fails if only one is, or they differ."""
    if isinstance(wanted, Exception):
        if not isinstance(found, Exception):
            raise AssertionError(f"{case}: {wanted!r} was expected, but nothing was raised")
        if not isinstance(found, type(wanted) | PipelineError):
            raise AssertionError(f"{case}: {wanted!r} was expected, not {found!r}") from found
        return True
    if isinstance(found, Exception):
        raise AssertionError(f"{case} raised {found!r}") from found
    return False


def specs_of(d: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the op's rule says of a call: specs, the exception it raises, or None without a rule."""
    rule = d.rule
    if rule is None:
        return None
    found = outcome(rule, *args, **kwargs)
    return [found] if isinstance(found, TensorSpec) else found


def check_spec(case: Case, t: Tensor, spec: TensorSpec) -> None:
    """Check a result's shape, dtype, strides and offset against the rule's."""
    require(
        (t._shape, t._dtype) == (tuple(spec.shape), spec.dtype),
        f"{case} gave {t.dtype}{list(t.shape)}, its rule says {spec}",
    )
    wanted = contiguous_strides(t._shape) if spec.strides is None else tuple(spec.strides)
    require(
        significant(t, tuple(t.stride())) == significant(t, wanted),
        f"{case} gave strides {tuple(t.stride())}, its rule says {wanted}",
    )
    if case.op.view and t.numel():
        require(
            t.storage_offset() == spec.offset,
            f"{case} gave offset {t.storage_offset()}, its rule says {spec.offset}",
        )


def check_pending(case: Case, result: Any, wanted: Any) -> None:
    """Check what is known of results before they are computed.

    Afterwards nothing refers to them but ``result``, so that a pipeline which drops them is found.
    """
    for t, eager in zip(tensors_of(result), tensors_of(wanted), strict=False):
        require(
            (t._shape, t._dtype) == (eager._shape, eager._dtype),
            f"{case} is {t.dtype}{list(t.shape)} while pending",
        )


def significant(t: Tensor, strides: tuple[int, ...]) -> list[int]:
    """The strides that say where elements lie: those of dimensions with several of them."""
    return [n for size, n in zip(t._shape, strides, strict=True) if size > 1] if t.numel() else []


# Some ops warn, each time, that another one should be used.
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
class BackendConformance:
    """Tests of a backend; subclass it in a test module and set the attributes.

    Attributes:
        device: the device under test.
        known_failures: file beside the test module that lists tests known to fail, or empty.
    """

    device: ClassVar[str] = ""
    known_failures: ClassVar[str] = ""

    # ---- collecting ----------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give every test the ops and samples that it is for."""
        if "case" not in metafunc.fixturenames:
            return
        known = self._known_failures()
        name = metafunc.function.__name__
        params = []
        for case in self.cases(name):
            reasons = [why for line, why in known.items() if matches(line, name, case)]
            marks = [pytest.mark.xfail(reason=why, strict=True) for why in reasons]
            params.append(pytest.param(case, id=case.id, marks=marks))
        if name == "test_agrees_with_cpu" and not has_cpu():
            skip = pytest.mark.skip(reason="there is no CPU backend to compare with")
            params = [pytest.param(None, id="cpu", marks=skip)]
        metafunc.parametrize("case", params)

    @classmethod
    def cases(cls, test: str) -> Iterator[Case]:
        """The cases of one of the tests, by its name."""
        row_of(cls.device)
        wanted = _WANTED[test]
        for d in definitions():
            for sample in samples(d):
                case = Case(d, sample)
                if wanted(case):
                    yield case

    @classmethod
    def executes(cls) -> bool:
        """Whether tensors of the device have elements."""
        return row_of(cls.device).runtime.executes

    @classmethod
    def _known_failures(cls) -> dict[str, str]:
        """Reasons by test id.

        Raises:
            ValueError: if a line has no reason or stands there twice.
        """
        found: dict[str, str] = {}
        if not cls.known_failures:
            return found
        path = Path(inspect.getfile(cls)).parent / cls.known_failures
        for line in path.read_text(encoding="utf-8").splitlines():
            test, _, reason = (part.strip() for part in line.partition("#"))
            if not test:
                continue
            if not reason or test in found:
                problem = "stands there twice" if reason else "has no reason after a #"
                raise ValueError(f"{path.name}: {test} {problem}")
            found[test] = reason
        return found

    def same(self, case: Case, found: Any, wanted: Any, **options: Any) -> None:
        """Check that two results are equal: values too, where the op defines them."""
        if isinstance(wanted, tuple | list):
            require(len(found) == len(wanted), f"{case} gave {len(found)} results")
            for one, other in zip(found, wanted, strict=True):
                self.same(case, one, other, **options)
        elif self.executes() and case.op.name not in UNDEFINED:
            assert_close(found, wanted, equal_nan=True, msg=str(case), **options)
        else:
            alike = (found._shape, found._dtype) == (wanted._shape, wanted._dtype)
            require(alike, f"{case} gave {found!r} and {wanted!r}")

    # ---- the tests -----------------------------------------------------------------------------

    def test_every_op_has_samples(self) -> None:
        """An op without a sample is not tested at all."""
        bare = [d.name for d in definitions() if not samples(d) and d.name not in WITHOUT_SAMPLES]
        require(
            not bare,
            f"ops without samples: {', '.join(bare)}; give them rows in "
            f"mindtorch_core.testing.sample_table, or a function decorated with sampler",
        )

    def test_known_failures_exist(self) -> None:
        """A line that names no test is a leftover."""
        tests = [(name, case) for name in _WANTED for case in self.cases(name)]
        unknown = [
            line
            for line in self._known_failures()
            if not any(matches(line, name, case) for name, case in tests)
        ]
        require(not unknown, f"{self.known_failures} names unknown tests: {', '.join(unknown)}")

    def test_forward(self, case: Case) -> None:
        """The op runs, and its result is what its rule says: shape, dtype, strides and device."""
        args, kwargs = case.sample.build(self.device)
        specs = specs_of(case.op, args, kwargs)
        result = outcome(case.call, args, kwargs)
        # A sample is a call that works: one that its rule refuses would test nothing.
        raised_alike(case, result, None)
        if writes_first(case.op):
            require(result is args[0], f"{case} returned another tensor than its first argument")
            require(result._version > 0, f"{case} counted no new version")
        for i, t in enumerate(tensors_of(result)):
            require(t.device.type == self.device, f"{case} gave a tensor on {t.device}")
            require(not t._pending, f"{case} gave a pending tensor outside a pipeline")
            if specs is not None:
                check_spec(case, t, specs[i])
            if self.executes():
                t.tolist()

    def test_layouts(self, case: Case) -> None:
        """Elements count, not how they lie in memory: transposed, strided and offset inputs."""
        args, kwargs = case.sample.build(self.device)
        wanted = outcome(case.call, args, kwargs)
        for layout in LAYOUTS[1:]:
            variant = case.variant(layout)
            args, kwargs = variant.sample.build(self.device)
            specs = specs_of(case.op, args, kwargs)
            found = outcome(variant.call, args, kwargs)
            if raised_alike(variant, found, specs if isinstance(specs, Exception) else wanted):
                continue
            self.same(variant, found, wanted, rtol=1e-6, atol=1e-6)
            for t, spec in zip(tensors_of(found), specs or (), strict=False):
                check_spec(variant, t, spec)

    def test_inplace(self, case: Case) -> None:
        """``op_`` writes what ``op`` gives, returns the tensor itself and counts a new version."""
        functional = case.op.functional
        assert functional is not None  # _WANTED chooses only such
        for layout in LAYOUTS:
            variant = case.variant(layout)
            args, kwargs = variant.sample.build(self.device)
            wanted: Any = outcome(Case(functional, variant.sample).call, args, kwargs)
            args, kwargs = variant.sample.build(self.device)
            target = args[0]
            if not isinstance(wanted, Exception) and not fits(target, wanted):
                wanted = RuntimeError("the result does not fit")
            version = target._version
            found = outcome(variant.call, args, kwargs)
            if raised_alike(variant, found, wanted):
                continue
            require(found is target, f"{variant} returned another tensor than its first argument")
            require(target._version > version, f"{variant} counted no new version")
            self.same(variant, target, wanted.to(target.dtype), rtol=1e-6, atol=1e-6)

    def test_out(self, case: Case) -> None:
        """``out=`` gets what the op gives: an empty tensor is resized, another one is filled."""
        args, kwargs = case.sample.build(self.device)
        wanted = case.call(args, kwargs)
        results = tensors_of(wanted)
        empty = [t.new_empty((0,)) for t in results]
        filled = [strided_like(t) for t in results]
        for outs in (empty, filled):
            out = outs[0] if len(outs) == 1 else tuple(outs)
            args, kwargs = case.sample.build(self.device)
            returned = case.call(args, {**kwargs, "out": out})
            for given, got, want in zip(outs, tensors_of(returned), results, strict=True):
                require(got is given, f"{case} with out= returned another tensor")
                self.same(case, given, want)

    def test_deferred(self, case: Case) -> None:
        """In a pipeline an op gives what it gives outside, from ready and from pending inputs."""
        args, kwargs = case.sample.build(self.device)
        wanted = outcome(case.call, args, kwargs)
        for pending in (False, True):
            mine, options = case.sample.build(self.device)
            found = outcome(self._deferred, case, mine, options, pending, wanted)
            if raised_alike(case, found, wanted):
                continue
            self.same(case, found, wanted)
            if is_mutable(case.op) and not pending:
                self.same(case, mine[0], args[0])

    def _deferred(
        self, case: Case, args: tuple[Any, ...], kwargs: dict[str, Any], pending: bool, wanted: Any
    ) -> Any:
        """Call in a pipeline and check what is known of the result before it is computed."""
        with pipeline_context():
            if pending:
                args = tuple(a.clone() if isinstance(a, Tensor) else a for a in args)
            result = case.call(args, kwargs)
            if not isinstance(wanted, Exception):
                check_pending(case, result, wanted)
        for t in tensors_of(result):
            require(not t._pending, f"{case} is pending after its pipeline has ended")
        return result

    def test_agrees_with_cpu(self, case: Case) -> None:
        """Shapes and dtypes are the CPU's, and values are close to the CPU's in float64."""
        args, kwargs = case.sample.build("cpu")
        like = outcome(case.call, args, kwargs)
        args, kwargs = case.sample.build(self.device)
        found = outcome(case.call, args, kwargs)
        if raised_alike(case, found, like):
            return
        exact = like
        if case.op.name not in NEEDS_DTYPE:
            exact = case.call(*case.sample.in_float64().build("cpu"))
        for t, cpu, want in zip(*map(tensors_of, (found, like, exact)), strict=True):
            require(
                (t._shape, t._dtype) == (cpu._shape, cpu._dtype),
                f"{case} gave {t.dtype}{list(t.shape)}, on the CPU {cpu.dtype}{list(cpu.shape)}",
            )
            if self.executes() and not case.random and case.op.name not in UNDEFINED:
                rtol, atol = default_tolerances(t.dtype)
                assert_close(
                    t, want, rtol=rtol, atol=atol, equal_nan=True, check_dtype=False,
                    check_device=False, msg=str(case),
                )  # fmt: skip


def matches(line: str, test: str, case: Case) -> bool:
    """Whether a line of the known failures names a test."""
    pattern = re.escape(line).replace(r"\*", ".*")
    return re.fullmatch(pattern, f"{test}[{case.id}]") is not None


def fits(target: Tensor, result: Any) -> bool:
    """Whether a result can be written into a tensor; complex memory has no place for real parts."""
    made, kept = result._dtype, target._dtype
    halved = kept.category == COMPLEX and made.category == FLOATING
    return result._shape == target._shape and can_cast(made, kept) and not halved


def strided_like(t: Tensor) -> Tensor:
    """A tensor of the same shape and dtype whose elements have gaps between them."""
    strides = tuple(2 * n for n in contiguous_strides(t._shape))
    made: Tensor = t.new_zeros((2 * max(t.numel(), 1),)).as_strided(t._shape, strides)
    return made


def writes_first(d: OpDef) -> bool:
    """Whether the op writes its first argument, which it then returns."""
    first = parse_schema(d.schema).arguments[:1]
    return any(a.alias is not None and a.alias.is_write for a in first)


def is_mutable(d: OpDef) -> bool:
    """Whether the op writes an argument."""
    return parse_schema(d.schema).is_mutable


def has_cpu() -> bool:
    """Whether there is a CPU backend to compare with."""
    try:
        row_of("cpu")
    except BackendUnavailableError:
        return False
    return True


Wanted = Callable[[Case], bool]

# Which cases each test is for.
_WANTED: Final[dict[str, Wanted]] = {
    "test_forward": lambda case: case.op.functional is None,
    "test_layouts": lambda case: (
        case.op.functional is None
        and case.op.name not in NEEDS_LAYOUT
        and any(recipe.shape for recipe in case.sample.recipes())
    ),
    "test_inplace": lambda case: case.op.functional is not None,
    "test_out": lambda case: case.op.out,
    "test_deferred": lambda case: True,
    "test_agrees_with_cpu": lambda case: True,
}
