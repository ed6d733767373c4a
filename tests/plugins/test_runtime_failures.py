"""Backends whose runtime fails when it is used: the error is theirs, and everything else works.

Every test installs made-up distributions into a folder and starts a fresh interpreter with that
folder on its path.
"""

import pytest

pytestmark = pytest.mark.slow

SOURCE = """
from mindtorch_core.plugins import Backend, hookimpl
from mindtorch_core.runtime import Runtime

class Failing(Runtime):
    def device_count(self):
        return self.fail_in("device_count") or {count}
    def allocate(self, nbytes, on):
        return self.fail_in("allocate") or bytearray(nbytes)
    def copy_from_host(self, memory, start, data):
        self.fail_in("copy_from_host")
    def copy_to_host(self, memory, start, nbytes):
        return self.fail_in("copy_to_host") or memoryview(bytes(nbytes))
    def synchronize(self, on=None):
        self.fail_in("synchronize")
    def plan(self, entries):
        self.fail_in("plan")
    def fail_in(self, name):
        if name == "{method}":
            raise OSError("the driver is gone")

@hookimpl
def mindtorch_backend():
    return Backend(device="bad", runtime=Failing(), api=1)

@hookimpl
def mindtorch_register(key):
    from mindtorch_core.dispatch.registry import registry
    registry.register_kernel("relu", key, lambda self: self)
"""

MADE = "torch.ones(2).to('bad')"
USES = {
    "device_count": "torch.bad.is_available()",
    "allocate": MADE,
    "copy_from_host": MADE,
    "copy_to_host": MADE + ".cpu()",
    "synchronize": "torch.bad.synchronize()",
    "plan": "pipelined()",
}


@pytest.mark.parametrize("method", USES)
def test_a_runtimes_error_reaches_who_used_it_and_nobody_else(site, method):
    site.backend("bad", SOURCE.format(method=method, count=1))
    site.toy("acme")
    site.run(
        f"""
def pipelined():
    t = {MADE}
    with torch.pipeline():
        r = t.relu()
a = torch.ones(2, device="acme")
for _ in range(2):
    try:
        {USES[method]}
    except (OSError, RuntimeError, RuntimeWarning) as error:  # a plan that fails costs a warning
        chain = [error]
        while chain[-1].__cause__ is not None:
            chain.append(chain[-1].__cause__)
        assert any("the driver is gone" in str(e) for e in chain), chain
    else:
        raise AssertionError("it did not fail")
    assert (a + a).tolist() == [2.0, 2.0]
    with torch.pipeline():
        b = a + a
        c = torch.ones(2) + 1
    assert b.tolist() == c.tolist() == [2.0, 2.0]
    cpu_and_meta_work()
assert states()["bad"] == "loaded"
plugins.unload("bad")
assert (a + a).tolist() == [2.0, 2.0]
"""
    )


def test_a_backend_without_devices_loads_and_says_so(site):
    """Hardware that is not there is no failure at import: the message comes with the first use."""
    site.backend("bad", SOURCE.format(method="none", count=0))
    site.run(
        """
import pytest
assert torch.device("bad").type == "bad"
assert not torch.bad.is_available() and torch.bad.device_count() == 0
for use in (lambda: torch.ones(2, device="bad"), lambda: torch.ones(2).to("bad:0")):
    with pytest.raises(RuntimeError, match="bad:0 was asked for, but no bad device was found"):
        use()
torch.manual_seed(3)
assert plugins.diagnose("bad").healthy is False
cpu_and_meta_work()
"""
    )


def test_an_index_that_is_out_of_range_is_told(site):
    site.toy("acme")
    site.run(
        """
import pytest
with pytest.raises(RuntimeError, match="acme:2 was asked for, but there are 2 acme devices"):
    torch.ones(2, device="acme:2")
a = torch.ones(2, device="acme:1", requires_grad=True)
(a * a).sum().backward()
assert a.grad.device is a.device is torch.device("acme", 1)
"""
    )


def test_a_kernels_error_is_the_callers(site):
    site.toy("acme")
    site.run(
        """
def broken(self):
    raise ZeroDivisionError("a bug of the vendor")
registry.register_kernel("exp", "acme", broken)
a = torch.ones(2, device="acme")
try:
    torch.exp(a)
except ZeroDivisionError as error:
    assert "a bug of the vendor" in str(error)
try:
    with torch.pipeline():
        b = a + a
        torch.exp(a)
        c = a + b
except torch.PipelineError as error:
    assert "aten::exp" in str(error) and isinstance(error.__cause__, ZeroDivisionError), error
assert b.tolist() == [2.0, 2.0]
cpu_and_meta_work()
"""
    )
