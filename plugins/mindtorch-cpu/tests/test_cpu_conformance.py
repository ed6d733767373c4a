import os

from mindtorch_core.testing import BackendConformance


class TestCPU(BackendConformance):
    device = "cpu"
    level = os.environ.get("MINDTORCH_CONFORMANCE_LEVEL", "smoke")  # core in its own session
