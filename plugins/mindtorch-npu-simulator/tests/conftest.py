import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "support"))  # a module that all tests share
sys.path.append(
    str(HERE.parent / "src")
)  # not installed: ASCEND_TOOLKIT_HOME names a built toolkit


def pytest_collection_modifyitems(items):
    """Put these tests first: a plugin that is tested in the same process keeps the library for it,
    and these reset its devices."""
    items.sort(key=lambda item: HERE not in item.path.parents)


@pytest.fixture(scope="module")
def binding():
    """The library, initialised. Without a toolkit every test fails here, and says so."""
    from acl_binding import Acl

    acl = Acl()
    acl.ok("aclInit", None)
    yield acl
    acl.ok("aclFinalize")


@pytest.fixture
def acl(binding):
    """The library with device 0 current; the test must leave no finding and no object."""
    from mindtorch_npu_simulator import control

    control.reset()
    binding.ok("aclrtSetDevice", 0)
    yield binding
    control.clear_faults()
    control.latency("")
    binding.ok("aclrtSetDevice", 0)
    binding.close()
    for device in (0, 1):
        binding.aclrtResetDeviceForce(device)
    binding.message()
    assert control.findings() == []
    assert control.live() == {}


@pytest.fixture
def found():
    """Take the findings: the kinds must be those, and the texts contain the words."""
    from mindtorch_npu_simulator import control

    def take(*kinds, words=()):
        findings = control.findings(clear=True)
        assert [f["kind"] for f in findings] == list(kinds), findings
        for word in words:
            assert any(word in f["text"] for f in findings), (word, findings)

    return take
