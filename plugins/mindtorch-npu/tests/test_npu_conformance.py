import gc
import os

import pytest

import mindtorch_core as torch
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


class TestNPU(BackendConformance):
    device = "npu"
    level = os.environ.get("MINDTORCH_CONFORMANCE_LEVEL", "smoke")  # core in its own session
