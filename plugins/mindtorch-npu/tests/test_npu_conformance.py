import gc
import os

import pytest

import mindtorch_core as torch
from mindtorch_core.inspection import coverage
from mindtorch_core.testing.conformance import BackendConformance


@pytest.fixture(autouse=True)
def _cpu_allowed(monkeypatch):
    """Ops that CANN lacks are left to the CPU; which ones is not what is tested here."""
    monkeypatch.setenv("MINDTORCH_NPU_FALLBACK", "silent")


@pytest.fixture(autouse=True)
def _nothing_to_report():
    """For these many tests the watcher is asked once, at the end, instead of after each."""


@pytest.fixture(autouse=True, scope="module")
def _nothing_to_report_at_the_end():
    yield
    from mindtorch_npu_simulator import control

    gc.collect()
    torch.npu.synchronize()
    assert control.findings() == []


class Smoke(BackendConformance):
    device = "npu"
    level = "smoke"


class TestNPU(BackendConformance):
    device = "npu"
    level = os.environ.get("MINDTORCH_CONFORMANCE_LEVEL", "smoke")  # core in its own session

    @classmethod
    def cases(cls, test):
        """At level core: of what has no kernel here only values, beside what level smoke takes.

        Those are made of ops that have one, or computed by the CPU, whose tests take them through all.
        """
        if cls.level != "core" or test in ("test_forward", "test_agrees_with_cpu"):
            return super().cases(test)
        others = {
            op.op.removeprefix("aten::") for op in coverage(cls.device).ops if op.served != "kernel"
        }
        few = {case.id for case in Smoke.cases(test)}
        return (c for c in super().cases(test) if c.name not in others or c.id in few)
