from mindtorch_core.testing import BackendConformance


class TestMeta(BackendConformance):
    device = "meta"
