import os

from mindtorch_core.testing import BackendConformance


class TestMeta(BackendConformance):
    device = "meta"
    level = os.environ.get("MINDTORCH_CONFORMANCE_LEVEL", "smoke")  # core in its own session
