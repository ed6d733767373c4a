from mindtorch_core.testing import BackendConformance


class TestCPU(BackendConformance):
    device = "cpu"
