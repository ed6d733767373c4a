"""Unloading a backend of which something is left: tensors, storages, gradients, generators, pipelines.

Every test installs made-up distributions into a folder and starts a fresh interpreter with that
folder on its path.
"""

import pytest

pytestmark = pytest.mark.slow

USES = {
    "an op": "a + 1",
    "an op of another device": "torch.ones(2).copy_(a)",
    "a reflected operator": "1 - a",
    "a function": "torch.exp(a)",
    "an op with a list": "torch.cat([a, a])",
    "a view": "a[0]",
    "its elements": "a.tolist()",
    "its truth": "bool(a[0])",
    "a copy": "a.cpu()",
    "a move": "a.to('meta')",
    "a view made before": "view.sum()",
    "a pickle": "pickle.dumps(a)",
    "its storage": "bytes(storage)",
    "its address": "storage.data_ptr()",
    "backward": "loss.backward()",
    "beside one of the next": "torch.ones(2, device='acme') + a",
    "a composite op of the next": "torch.nn.functional.mse_loss(torch.ones(2, device='acme'), a)",
    "in place of the next": "torch.ones(2, device='acme').add_(a)",
    "a list of both": "torch.stack([torch.ones(2, device='acme'), a])",
    "an option": "torch.add(torch.ones(2, device='acme'), 1, out=plain)",
    "deferred": "deferred(a)",
    "a factory": "torch.ones(2, device=a.device)",
    "a factory like it": "torch.ones_like(a)",
    "a new one": "a.new_zeros(2)",
    "a generator": "torch.Generator(a.device)",
    "a function of modules": "torch.nn.functional.linear(a, a)",
    "data that is swapped": "torch.ones(2).data.copy_(a.data)",
    "elements of its storage": "storage[0]",
    "a copy of its storage": "storage.clone()",
    "shared memory": "a.share_memory_()",
    "a file": "torch.save(a, io.BytesIO())",
}


def test_tensors_refuse_every_use_and_say_why(site):
    site.toy("acme")
    site.run(
        f"""
import io, pickle
a = torch.ones(2, device="acme", requires_grad=True)
view, storage, loss = a[:1], a.untyped_storage(), (a * a).sum()
plain = torch.ones(2, device="acme")
def deferred(a):
    with torch.pipeline():
        return torch.ones(2, device="acme") * a
kinds = type(a), type(storage)
plugins.unload("acme")
for again in range(2):
    for what, use in {USES!r}.items():
        try:
            eval(use)
        except torch.BackendUnavailableError as error:
            assert "was made on acme:0, whose backend was unloaded" in str(error), (what, error)
            assert "make it anew" in str(error), (what, error)
        else:
            raise AssertionError(what)
    plugins.load("acme")
assert (type(a), type(storage)) == kinds
assert a.shape == (2,) and a.requires_grad and str(a.device) == "acme:0"
assert a.device != torch.device("acme", 0) and a.device.type != "acme"
assert repr(a) == str(a) == "<tensor on acme:0, whose backend was unloaded>"
assert repr(storage) == "<Storage on acme:0, whose backend was unloaded>"
assert isinstance(a, torch.Tensor)
cpu_and_meta_work()
"""
    )


def test_tensors_are_not_revived_by_the_next_backend_of_their_key(site):
    """Its kernels would read memory that is not theirs."""
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
a = torch.ones(2, device="acme")
key = plugins.load("acme").key
plugins.unload("acme")
b = torch.zeros(2, device="bolt")
assert plugins.load("bolt").key == key
for use in (lambda: a + a, lambda: a + b, lambda: b + a, lambda: b.copy_(a), lambda: a.copy_(b)):
    with refused("was made on acme:0"):
        use()
assert (b + b).tolist() == [0.0, 0.0]
"""
    )


def test_tensors_of_other_devices_stay(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
class Mine(torch.Tensor):
    pass
kept = [torch.ones(2, device=on) for on in ("cpu", "bolt", "meta")]
here = torch.ones(2, requires_grad=True)
there = (here.to("acme") * 3).cpu()
plugins.unload("acme")
assert [(t + 1).device.type for t in kept] == ["cpu", "bolt", "meta"]
assert there.tolist() == [3.0, 3.0] and here.grad is None
"""
    )


def test_what_a_pipeline_has_recorded_is_launched_first(site):
    site.toy("acme")
    site.run(
        """
a = torch.ones(2, device="acme")
with torch.pipeline():
    b = (a + a).cpu() + 1
    c = a + a
    assert c._pending
    plugins.unload("acme")
    with refused("was made on acme:0"):
        c.tolist()
assert b.tolist() == [3.0, 3.0]
"""
    )


def test_generators_are_forgotten(site):
    site.backend("bad", GENERATING)
    site.run(
        """
from mindtorch_core.random import default_generator
sources = []
for seed in (1, 2):
    torch.manual_seed(seed)
    sources.append(default_generator(torch.device("bad", 0)).source)
    assert sources[-1].seed == seed
    plugins.unload("bad")
    torch.manual_seed(99)
assert [s.seed for s in sources] == [1, 2]
assert type(sources[0]) is not type(sources[1])
"""
    )


GENERATING = """
from mindtorch_core.plugins import Backend, hookimpl
from mindtorch_core.runtime import Runtime

class Source:
    def manual_seed(self, seed):
        self.seed = seed

class OnlyNumbers(Runtime):
    def device_count(self):
        return 1
    def allocate(self, nbytes, on):
        return bytearray(nbytes)
    def copy_from_host(self, memory, start, data):
        pass
    def copy_to_host(self, memory, start, nbytes):
        return memoryview(bytes(nbytes))
    def generator(self, on):
        return Source()

@hookimpl
def mindtorch_backend():
    return Backend(device="bad", runtime=OnlyNumbers(), api=1)
"""


@pytest.mark.parametrize("name", ["acme", "nothing"])
def test_only_what_is_loaded_can_be_unloaded(site, name):
    site.toy("acme")
    site.run(
        f"""
import pytest
with pytest.raises(KeyError, match="no backend '{name}' is loaded"):
    plugins.unload({name!r})
cpu_and_meta_work()
"""
    )


def test_a_definition_serves_again_after_every_loading(site):
    """Tables of ops that were called keep no kernel of a backend that has gone."""
    site.toy("acme")
    site.run(
        """
registry.on_demand.define_all()
plugins.load("cpu"), plugins.load("meta")
(torch.ones(2) + 1).sum()
before = snapshot()
for _ in range(3):
    a = torch.ones(2, device="acme", requires_grad=True)
    (a * a).sum().backward()
    with torch.no_grad(), torch.pipeline():
        a.relu() + a
    bits = plugins.load("acme").keys
    plugins.unload("acme")
    assert snapshot() == before
    assert not [e.name for e in registry if any(mask & bits == bits for mask in e.table)]
assert not hasattr(torch, "_acme") and "acme" not in vars(torch)
"""
    )


def test_methods_of_a_device_come_and_go_with_it(site):
    site.toy("acme")
    package = site.folder / "mindtorch_acme"
    (package / "plugin.py").write_text(
        (package / "plugin.py").read_text()
        + "\n_register = mindtorch_register\n\n@hookimpl\ndef mindtorch_register(key):\n"
        "    from mindtorch_core.backend import tensor_methods\n"
        "    _register(key)\n    tensor_methods('acme')\n"
    )
    site.run(
        """
host = torch.ones(2)
assert not hasattr(host, "acme")
for _ in range(2):
    plugins.load("acme")
    moved = host.acme()
    assert moved.is_acme and not host.is_acme and moved.device.type == "acme"
    assert host.acme(0).tolist() == [1.0, 1.0]
    from mindtorch_core.backend import tensor_methods
    for use in (lambda: host.acme("cpu"), lambda: tensor_methods("acme")):
        try:
            use()
        except RuntimeError as error:
            assert "must be acme device" in str(error) or "something else already" in str(error)
        else:
            raise AssertionError("nothing was raised")
    del moved
    plugins.unload("acme")
    assert not hasattr(host, "acme") and not hasattr(torch.Tensor, "is_acme")
"""
    )
