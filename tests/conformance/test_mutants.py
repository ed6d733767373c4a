"""The kit finds every fault of backends that are wrong on purpose, and says what is wrong."""

import contextlib
import importlib
import re

import bare
import faults
import known_plan_mutants
import numeric_mutants
import op_mutants
import plan_mutants
import program_mutants
import pytest
import rare_plan_mutants
import runtime_mutants
import size_mutants
import stream_mutants
import structure_plan_mutants

from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing.conformance import BackendConformance
from mindtorch_core.testing.conformance.cases import RULES
from mindtorch_core.testing.conformance.function_cases import FUNCTION_TESTS, function_cases
from mindtorch_core.testing.conformance.pytorch import installed
from mindtorch_core.values.devices import row_of


class Suite(BackendConformance):
    device = "bare"
    level = "core"


@pytest.fixture(scope="module", autouse=True)
def device(tmp_path_factory):
    """The bare device, for this module's tests only."""
    with bare.loaded(tmp_path_factory.mktemp("bare")):
        # They name objects of the backend's modules, which are new now.
        for module in (
            faults,
            runtime_mutants,
            op_mutants,
            stream_mutants,
            program_mutants,
            plan_mutants,
            known_plan_mutants,
            rare_plan_mutants,
            structure_plan_mutants,
            numeric_mutants,
            size_mutants,
        ):
            importlib.reload(module)
        key = DispatchKey(row_of("bare").key)
        yield
    left = [entry.name for entry in registry if entry.kernels.get(key)]
    assert not left, "mutants leave kernels behind, which the next device with the key would get"


def cases(test, name):
    """The cases of a test that are of one op, or of one function."""
    if test in FUNCTION_TESTS:
        return [case for case in function_cases(Suite.level) if case.id == name]
    (op,) = [d for d in definitions() if d.name == name]
    return list(RULES[test].chosen(op, Suite.level))


def failures(tests):
    """What the kit's tests say: of some ops, or of the runtime where no ops are named."""
    found = []
    for test, names in tests.items():
        run = getattr(Suite(), test)
        calls = [(test, run, ())]
        if test in (*RULES, *FUNCTION_TESTS):
            chosen = [case for name in names for case in cases(test, name)]
            calls = [(f"{test}[{case.id}]", run, (case,)) for case in chosen]
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


def comparable(test):
    """Whether what a test compares with is there."""
    return test != "test_agrees_with_pytorch" or installed()


def every_test():
    found = {}
    for each in faults.MUTANTS.values():
        for test, names in each.tests.items():
            found.setdefault(test, []).extend(n for n in names if n not in found.get(test, ()))
    return found


def test_without_a_fault_nothing_is_found():
    assert failures({t: names for t, names in every_test().items() if comparable(t)}) == []


@pytest.mark.parametrize(
    "right",
    [
        (runtime_mutants, "lazy"),
        (runtime_mutants, "two_devices"),
        (stream_mutants, "streamed"),
        (stream_mutants, "reusing"),
        (plan_mutants, "compiled"),
    ],
    ids=lambda right: right[1],
)
def test_a_right_backend_of_another_kind_passes(right):
    module, name = right
    runtime = {test: () for test, names in every_test().items() if not names}
    with fault(getattr(module, name)):
        assert failures(runtime) == []


@pytest.mark.parametrize("name", sorted(faults.MUTANTS))
def test_a_mutant_is_found(name):
    mutant = faults.MUTANTS[name]
    for test, names in mutant.tests.items():
        if not comparable(test):
            continue
        with fault(mutant.put):
            found = failures({test: names})
        assert found, f"{test} does not fail"
        assert any(re.search(mutant.tells, text) for text in found), found


def test_what_a_backend_declares_of_its_numbers_is_allowed_for():
    chosen = {
        "test_subnormal_numbers": (),
        "test_declared_dtypes": (),
        "test_declared_precision": (),
        "test_agrees_with_cpu": ["exp"],
        "test_dtypes": ["exp"],
        "test_gradients": ["exp"],
        "test_edges": ["exp", "mul"],
    }
    with fault(numeric_mutants.rough):
        assert failures(chosen) == []


def test_there_are_enough():
    assert len(faults.MUTANTS) >= 40


def test_every_test_of_the_kit_finds_a_mutant():
    kit = {name for name in dir(Suite) if name.startswith("test_")}
    # Two are about the kit's own lists, one has mutants of its own, which are installed.
    others = {
        *("test_known_failures_exist", "test_every_op_has_samples"),
        "test_unloads_and_loads_again",
    }
    assert kit - set(every_test()) == others
