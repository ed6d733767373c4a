from mindtorch_core.testing import BackendConformance


class TestMeta(BackendConformance):
    device = "meta"
    known_failures = "meta_known_failures.txt"
