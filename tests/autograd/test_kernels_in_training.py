"""Whatever kernel a backend registers: it is used in training, forward or backward, or registering it says so."""

import warnings

import pytest

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.testing.comparison import outcome
from mindtorch_core.testing.conformance.cases import cases_of
from mindtorch_core.testing.conformance.gradient_tests import _gradients

pytestmark = pytest.mark.slow


class Counted:
    """A kernel of a backend's own, which computes what the CPU's does."""

    def __init__(self, name):
        entry = registry.entry(name)
        kernels = {str(key.name): kernel for key, kernel in entry.kernels.items()}
        self.name, self.calls = name, 0
        self.compute = kernels.get("CPU") or entry.definition.decomposition

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.compute(*args, **kwargs)

    def register(self):
        """Register it; gives the registration, and whether it is said to be passed over."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made = registry.register_kernel(self.name, "CPU", self)
        return made, any("passed over in training" in str(each.message) for each in said)


def has_gradients(case):
    found = outcome(_gradients, case, case.sample.in_float64(), "cpu")
    return found and not isinstance(found, Exception)


def test_forward_kernels_are_used_or_said_to_be_passed_over():
    wrong, used, said = [], set(), set()
    for case in cases_of("test_gradients", "core"):
        name = case.op.name
        if name in used | said:
            continue
        kernel = Counted(name)
        registration, is_said = kernel.register()
        with registration:
            if not has_gradients(case):
                continue
        (said if is_said else used).add(name)
        if is_said is (kernel.calls > 0):
            wrong.append(f"{case}: said to be passed over: {is_said}, calls: {kernel.calls}")
    assert not wrong, "\n".join(wrong)
    assert len(used) > 700
    assert len(said) > 10


def test_backward_kernels_are_used():
    names = [n for n in registry.names() if "backward" in n]
    kernels = [Counted(name) for name in names]
    registrations = [kernel.register()[0] for kernel in kernels]
    try:
        waiting = kernels
        for case in cases_of("test_gradients", "full"):
            has_gradients(case)
            waiting = [kernel for kernel in waiting if not kernel.calls]
            if not waiting:
                break
    finally:
        for registration in reversed(registrations):
            registration.remove()
    assert [kernel.name for kernel in waiting] == []
    assert len(kernels) > 60
