"""The kit finds every fault of backends that are wrong on purpose, and says what is wrong."""

import contextlib
import importlib
import re

import bare
import faults
import op_mutants
import pytest
import runtime_mutants

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.operators.define import definitions
from mindtorch_core.testing.conformance import BackendConformance
from mindtorch_core.testing.conformance.cases import RULES


class Suite(BackendConformance):
    device = "bare"
    level = "core"


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    """The bare device, for this module's tests only."""
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        for module in (faults, runtime_mutants, op_mutants):
            importlib.reload(
                module
            )  # they name objects of the backend's modules, which are new now
        yield


def failures(tests):
    """What the kit's tests say: of some ops, or of the runtime where no ops are named."""
    found = []
    ops = {d.name: d for d in definitions()}
    for test, names in tests.items():
        run = getattr(Suite(), test)
        calls = [(test, run, ())] if test not in RULES else [
            (f"{test}[{case.id}]", run, (case,))
            for name in names
            for case in RULES[test].chosen(ops[name], Suite.level)
        ]  # fmt: skip
        assert calls, f"{test} has no case for {names}"
        for id, call, args in calls:
            with contextlib.suppress(pytest.skip.Exception):
                try:
                    call(*args)
                except Exception as error:  # noqa: BLE001 (pytest reports any)
                    found.append(f"{id}: {error}")
    return found


@contextlib.contextmanager
def fault(put):
    """The bare backend with a fault inside the block."""
    with registry.scope(), pytest.MonkeyPatch.context() as patch:
        put(patch)
        yield


def every_test():
    found = {}
    for each in faults.MUTANTS.values():
        for test, names in each.tests.items():
            found.setdefault(test, []).extend(n for n in names if n not in found.get(test, ()))
    return found


def test_without_a_fault_nothing_is_found():
    assert failures(every_test()) == []


@pytest.mark.parametrize("right", ["lazy", "two_devices"])
def test_a_right_backend_of_another_kind_passes(right):
    runtime = {test: () for test, names in every_test().items() if not names}
    with fault(getattr(runtime_mutants, right)):
        assert failures(runtime) == []


@pytest.mark.parametrize("name", sorted(faults.MUTANTS))
def test_a_mutant_is_found(name):
    mutant = faults.MUTANTS[name]
    with fault(mutant.put):
        found = failures(mutant.tests)
    assert found, f"no test of {', '.join(mutant.tests)} fails"
    assert any(re.search(mutant.tells, text) for text in found), found


def test_there_are_enough():
    assert len(faults.MUTANTS) >= 40
