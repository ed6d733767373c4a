"""What the families of tests share: which device, how much of it, and what is known to fail."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest

from ...opdefs.define import definitions
from ...plugins.loader import known_failures_of, numerics_of
from ...plugins.numerics import Numerics
from ...runtime import Runtime
from ...values.devices import device as Device
from ...values.devices import row_of
from ..samples import WITHOUT_SAMPLES, samples
from .cases import RULES, Case, cases_of, reaches
from .checks import has, has_dtype, require
from .function_cases import FUNCTION_TESTS, FunctionCase
from .pytorch import installed

__all__ = ["ConformanceBase", "from_level", "without_data"]

F = TypeVar("F", bound=Callable[..., Any])

# Tests that compare with something which may be absent: the device, and what to say then.
_NEEDED = {"test_agrees_with_cpu": "cpu", "test_gradients": "cpu", "test_dtypes": "cpu",
           "test_edges": "cpu", "test_agrees_with_meta": "meta", "test_functions": "cpu",
           "test_function_gradients": "cpu"}  # fmt: skip
# Dtypes that every device has to have; samples of others are left out where one lacks them.
_EVERYWHERE = frozenset({"float32", "int64", "bool"})
# Tests that are about elements only.
_WITH_ELEMENTS = frozenset({"test_gradients", "test_gradcheck", "test_edges", *FUNCTION_TESTS})


def from_level(level: str) -> Callable[[F], F]:
    """Decorator: leave a test out below a level."""

    def mark(test: F) -> F:
        test.level = level  # type: ignore[attr-defined]
        return test

    return mark


def without_data(test: F) -> F:
    """Decorator: the test makes sense on a device without data, too."""
    test.without_data = True  # type: ignore[attr-defined]
    return test


class ConformanceBase:
    """The attributes that a backend's tests set, and which tests they get for it."""

    device: ClassVar[str] = ""
    known_failures: ClassVar[str] = ""
    level: ClassVar[str] = "core"

    # ---- collecting ----------------------------------------------------------------------------

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give every test of ops the ops and samples that it is for."""
        if "case" not in metafunc.fixturenames:
            return
        name = metafunc.function.__name__
        known = [
            (_pattern(line), why)
            for line, why in self._known_failures().items()
            if _names(line.partition("[")[0], name)
        ]
        absent = self._absent(name)
        params = []
        for case in () if absent else self.cases(name):
            id = f"{name}[{case.id}]"
            reasons = [why for pattern, why in known if pattern.fullmatch(id)]
            marks = [pytest.mark.xfail(reason=why, strict=True) for why in reasons]
            params.append(pytest.param(case, id=case.id, marks=marks))
        if not params:
            why = absent or f"the level {self.level} leaves it out"
            params = [pytest.param(None, id="none", marks=pytest.mark.skip(reason=why))]
        metafunc.parametrize("case", params)

    @pytest.fixture(autouse=True)
    def _as_declared(self, request: pytest.FixtureRequest) -> None:
        """Apply levels and known failures; tests of cases have theirs, and may lack a dtype."""
        if "case" in request.fixturenames:
            self._skip_without_dtypes(request.getfixturevalue("case"))
            return
        test = request.function
        if not reaches(self.level, getattr(test, "level", "smoke")):
            pytest.skip(f"the level {self.level} leaves it out")
        if not self.executes() and not getattr(test, "without_data", False):
            pytest.skip(f"tensors of {self.device} have no elements")
        for line, why in self._known_failures().items():
            if _names(line, test.__name__):
                request.applymarker(pytest.mark.xfail(reason=why, strict=True))

    def _skip_without_dtypes(self, case: Case | FunctionCase) -> None:
        """Leave a sample out that has tensors of a dtype which the device does not have."""
        if isinstance(case, Case) and self.executes():
            for name in sorted({r.dtype for r in case.sample.recipes()} - _EVERYWHERE):
                if not has_dtype(self.device, name):
                    pytest.skip(f"{self.device} has no {name}")

    def _absent(self, test: str) -> str:
        """Why a test has nothing to compare with; empty if it has."""
        other = _NEEDED.get(test, "")
        if other and not has(other):
            return f"there is no {other.upper()} backend to compare with"
        if test in _WITH_ELEMENTS and not self.executes():
            return f"tensors of {self.device} have no elements"
        if test == "test_agrees_with_pytorch" and not installed():
            return "PyTorch is not installed"
        return ""

    @classmethod
    def cases(cls, test: str) -> Iterator[Case | FunctionCase]:
        """The cases of one of the tests of ops or functions, by its name, at the class's level.

        A suite that overrides it leaves some out: ``(c for c in super().cases(test) if ...)``, by
        their ``name``, ``dtype`` and ``sample``.
        """
        row_of(cls.device)
        yield from cases_of(test, cls.level)

    # ---- the device ----------------------------------------------------------------------------

    @classmethod
    def runtime(cls) -> Runtime:
        """The device's runtime."""
        return row_of(cls.device).runtime

    @classmethod
    def numerics(cls) -> Numerics:
        """What the device's backend declares of its arithmetic."""
        return numerics_of(cls.device)

    @classmethod
    def tolerances(cls, op: str, rtol: float, atol: float) -> tuple[float, float]:
        """Tolerances of an op's results, at least what the backend declares of it."""
        error = cls.numerics().error_of(op)
        return max(rtol, error), max(atol, error)

    @classmethod
    def executes(cls) -> bool:
        """Whether tensors of the device have elements."""
        return cls.runtime().executes

    @classmethod
    def devices(cls) -> list[Device]:
        """All devices of the type; there has to be one."""
        runtime = cls.runtime()
        count: Any = runtime.device_count()
        require(
            type(count) is int and count > 0,
            f"device_count() is {count!r}: there is no {cls.device} device to test",
        )
        return [runtime.concrete_device(Device(cls.device, i)) for i in range(count)]

    # ---- known failures ------------------------------------------------------------------------

    @classmethod
    def _known_failures(cls) -> dict[str, str]:
        """Reasons by test id, from the class's file or the distribution's.

        Raises:
            ValueError: if a line has no reason or stands there twice.
        """
        path = cls._known_failures_file()
        if path is None:
            return {}
        stamp = (str(path), path.stat().st_mtime_ns)
        if stamp not in _READ:
            _READ[stamp] = _read(path)
        return _READ[stamp]

    @classmethod
    def _known_failures_file(cls) -> Path | None:
        if cls.known_failures:
            return Path(inspect.getfile(cls)).parent / cls.known_failures
        return known_failures_of(cls.device)

    @without_data
    def test_known_failures_exist(self) -> None:
        """A line that names no test is a leftover."""
        made = (*RULES, *FUNCTION_TESTS)
        plain = [name for name in dir(self) if name.startswith("test_") and name not in made]
        ids = {name: [f"{name}[{case.id}]" for case in cases_of(name, "full")] for name in made}
        ids |= {name: [name] for name in plain}
        unknown = []
        for line in self._known_failures():
            tests = [name for name in ids if _names(line.partition("[")[0], name)]
            pattern = _pattern(line)
            if not any(pattern.fullmatch(id) for name in tests for id in ids[name]):
                unknown.append(line)
        file = self._known_failures_file()
        require(not unknown, f"{file and file.name} names unknown tests: {', '.join(unknown)}")

    @without_data
    def test_every_op_has_samples(self) -> None:
        """An op without a sample is not tested at all."""
        bare = [d.name for d in definitions() if not samples(d) and d.name not in WITHOUT_SAMPLES]
        require(
            not bare,
            f"ops without samples: {', '.join(bare)}; give them calls in the module samples of their "
            f"family, or a function decorated with mindtorch_core.testing.sampler",
        )


_READ: dict[tuple[str, int], dict[str, str]] = {}


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        test, _, reason = (part.strip() for part in line.partition("#"))
        if not test:
            continue
        if not reason or test in found:
            problem = "stands there twice" if reason else "has no reason after a #"
            raise ValueError(f"{path.name}: {test} {problem}")
        found[test] = reason
    return found


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(re.escape(line).replace(r"\*", ".*"))


def _names(line: str, id: str) -> bool:
    return _pattern(line).fullmatch(id) is not None
