"""The conformance suite finds faulty kernels, and its known failures are strict."""

import subprocess
import sys

import numpy as np
import pytest

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.opdefs.define import definitions
from mindtorch_core.testing import BackendConformance, Sample, tensor
from mindtorch_core.testing.conformance import Case
from mindtorch_core.testing.samples import CALLS
from mindtorch_cpu.arrays import wrap

pytestmark = pytest.mark.slow


class Suite(BackendConformance):
    device = "cpu"


def run(test, op):
    """Run one test of the suite on all samples of an op; the messages of those that failed."""
    failed = []
    for case in Suite.cases(test):
        if case.op.name == op:
            try:
                getattr(Suite(), test)(case)
            except AssertionError as error:
                failed.append(str(error))
    return failed


def negative(change):
    """A kernel of neg whose array is changed before it is returned."""

    def kernel(self):
        return wrap(change(np.negative(self._payload)), self._dtype)

    return kernel


def rough_sine(self):
    """Half precision, for float32 only."""
    a = self._payload
    return wrap(
        np.sin(a.astype(np.float16) if a.dtype == np.float32 else a).astype(a.dtype), self._dtype
    )


FAULTS = {
    "shape": ("test_forward", "neg", negative(lambda a: a.reshape(-1)), "its rule says"),
    "strides": ("test_forward", "neg", negative(np.asfortranarray), "gave strides"),
    "dtype": ("test_forward", "neg", lambda self: self.double(), "its rule says"),
    "raises": ("test_forward", "neg", lambda self: 1 / 0, "ZeroDivisionError"),
    "order": (
        "test_layouts",
        "neg",
        lambda self: wrap(-self._payload.ravel("K").reshape(self._payload.shape), self._dtype),
        "differ",
    ),
    "other tensor": ("test_inplace", "neg_", lambda self: self.clone(), "returned another tensor"),
    "not written": ("test_inplace", "neg_", lambda self: self, "differ"),
    "refusal": ("test_inplace", "add_", lambda self, other, **_: self, "nothing was raised"),
    "out": ("test_out", "neg", lambda self, src, non_blocking=False: self, "differ"),
    "precision": ("test_agrees_with_cpu", "sin", rough_sine, "differ"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_kernel_is_found(fault):
    test, op, kernel, message = FAULTS[fault]
    assert run(test, op) == []
    with registry.scope():
        registry.register_kernel("copy_" if fault == "out" else op, "cpu", kernel)
        found = run(test, op)
    assert any(message in text for text in found)
    assert all(op in text for text in found)
    assert run(test, op) == []


def test_a_sample_that_the_rule_refuses_is_found(monkeypatch):
    """It would test nothing: kernel and rule agree that the call is wrong."""
    monkeypatch.setitem(CALLS, "cumsum", (Sample("no such dimension", (tensor(2, 3), 5)),))
    assert any("IndexError" in text for text in run("test_forward", "cumsum"))


def test_a_result_that_the_pipeline_forgets_is_found(monkeypatch):
    monkeypatch.setattr("mindtorch_core.deferred.unseen._UNSEEN", 100)
    assert any("is pending" in text for text in run("test_deferred", "max_pool2d_with_indices"))


def test_every_row_of_the_samples_is_for_an_op():
    assert set(CALLS) - {d.name for d in definitions()} == set()


def test_a_faulty_plan_is_found():
    def kernel(self):
        return wrap(np.negative(self._payload), self._dtype)

    def plan(self):
        return lambda: self

    with registry.scope():
        registry.register("neg", "cpu", kernel, plan=plan)
        assert any("differ" in text for text in run("test_deferred", "neg"))


def test_a_sample_is_the_same_each_time_and_on_each_layout():
    case = next(c for c in Suite.cases("test_layouts") if c.id == "add-broadcast")
    (a, b), _ = case.sample.build("cpu")
    again, _ = case.sample.build("cpu")
    assert (a.tolist(), b.tolist()) == (again[0].tolist(), again[1].tolist())
    assert a.tolist() != b.tolist()
    for layout in ("transposed", "strided", "offset"):
        (c, _), _ = case.variant(layout).sample.build("cpu")
        assert c.tolist() == a.tolist()
        assert (c.stride(), c.storage_offset()) != (a.stride(), 0)
    assert isinstance(case, Case)


# ---- known failures -----------------------------------------------------------------------------

MODULE = """
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.testing import BackendConformance

class TestSuite(BackendConformance):
    device = "cpu"
    known_failures = "known.txt"

    @classmethod
    def cases(cls, test):
        return (case for case in super().cases(test) if case.name == "neg")

registry.get("neg")
registry.register_kernel("neg", "cpu", lambda self: self.double())
"""


def test_known_failures_are_strict(tmp_path):
    (tmp_path / "test_suite.py").write_text(MODULE)
    (tmp_path / "known.txt").write_text(
        "test_forward[neg-float32]  # always float64\n"
        "test_forward[neg-float64]  # this one is right\n"
        "test_forward[neg-b*]       # always float64\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-k",
        "test_forward and float",
    ]
    done = subprocess.run(
        [*command, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        check=False,
    )
    assert "[XPASS(strict)] this one is right" in done.stdout
    assert "1 failed, " in done.stdout
    assert "2 xfailed" in done.stdout


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ("test_forward[neg-float32]\n", "has no reason after a #"),
        ("test_forward[neg-float32] # a\ntest_forward[neg-float32] # b\n", "stands there twice"),
        ("test_forward[neg-nothing]  # no such test\n", "names unknown tests"),
    ],
)
def test_a_wrong_line_is_refused(tmp_path, known, message):
    class WithKnown(Suite):
        known_failures = str(tmp_path / "known.txt")

    (tmp_path / "known.txt").write_text(known)
    with pytest.raises((ValueError, AssertionError), match=message):
        WithKnown().test_known_failures_exist()
