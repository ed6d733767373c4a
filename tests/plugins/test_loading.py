"""Loading backends that work: on first need, chosen by a variable, several at once, and unloading.

Every test installs made-up distributions into a folder and starts a fresh interpreter with that
folder on its path.
"""

import pytest

pytestmark = pytest.mark.slow

# ---- one backend of a third party ---------------------------------------------------------------


def test_a_third_partys_backend_works(site):
    site.toy("acme")
    site.run(
        """
a = torch.tensor([1.0, 2.0], device="acme")
assert (a + a).tolist() == [2.0, 4.0]
assert (a + a).device == torch.device("acme:0") == torch.device("acme", 0)
assert torch.ones(2, 2, device="acme:1").device == torch.device("acme:1")
assert str(a) == "tensor([1., 2.], device='acme:0')"
row = plugins.load("acme")
assert row.key in {torch.DispatchKey[f"PrivateUse{i}"] for i in (1, 2, 3)}
assert row.distribution == "mindtorch-acme 1.0"
"""
    )


def test_tensors_go_to_a_third_partys_device_and_back(site):
    site.toy("acme")
    site.run(
        """
there = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t().to("acme")
assert there.device.type == "acme"
assert there.cpu().tolist() == [[1.0, 3.0], [2.0, 4.0]]
assert there.to("acme:1").device == torch.device("acme:1")
"""
    )


def test_tensors_are_copied_into_existing_ones_on_a_third_partys_device_and_back(site):
    site.toy("acme")
    site.run(
        """
there = torch.zeros(2, device="acme")
there.copy_(torch.tensor([1.0, 2.0]))
assert there.device.type == "acme" and there.tolist() == [1.0, 2.0]
here = torch.zeros(2)
here.copy_(there)
assert here.is_cpu and here.tolist() == [1.0, 2.0]
"""
    )


def test_gradients_flow_on_a_third_partys_device_and_through_copies(site):
    site.toy("acme")
    site.run(
        """
a = torch.tensor([1.0, 2.0]).requires_grad_()
b = a.to("acme")
(b * b).sum().cpu().backward()
assert a.grad.is_cpu and a.grad.tolist() == [2.0, 4.0]
"""
    )


def test_the_kernels_are_on_record_with_their_distribution_and_line(site):
    site.toy("acme")
    site.run(
        """
record = registry.get("add").record(torch.DispatchKey(plugins.load("acme").key))
assert record.distribution == "mindtorch-acme 1.0"
file, line = record.source.rsplit(":", 1)
assert file.endswith("mindtorch_acme/plugin.py") and line.isdecimal()
"""
    )


def test_a_device_name_is_accepted_where_a_key_is(site):
    site.toy("acme")
    site.run(
        """
registry.register_kernel("exp", "acme", lambda x: "exp")
assert torch.exp(torch.ones(1, device="acme")) == "exp"
"""
    )


def test_the_entry_point_may_have_another_name_than_the_device(site):
    site.toy("acme", entry="vendor")
    site.run(
        """
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
assert [s.device for s in plugins.backends() if s.name == "vendor"] == ["acme"]
"""
    )


# ---- two of them --------------------------------------------------------------------------------


def test_two_third_parties_live_in_one_process(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
a, b = torch.ones(2, device="acme"), torch.tensor([5.0, 6.0], device="bolt")
assert (a + a).tolist() == [2.0, 2.0] and (b + b).tolist() == [10.0, 12.0]
assert plugins.load("acme").key != plugins.load("bolt").key
assert (a + b.to("acme")).tolist() == [6.0, 7.0]
try:
    a + b
except RuntimeError as error:
    assert "acme:0 and bolt:0" in str(error), error
else:
    raise AssertionError("tensors of two devices were added")
cpu_and_meta_work()
"""
    )


def test_one_may_ask_for_a_key_beside_one_that_takes_any(site):
    site.toy("acme", "PrivateUse3")
    site.toy("bolt")
    site.run(
        """
plugins.load_all()
keys = {s.name: s.key for s in plugins.backends()}
assert (keys["acme"], keys["bolt"]) == ("PrivateUse3", "PrivateUse1"), keys
"""
    )


# ---- on first need ------------------------------------------------------------------------------


def test_importing_the_core_imports_nothing_heavy_and_no_plugin(site):
    site.toy("acme")
    site.run(
        """
import sys
heavy = {"numpy", "scipy", "ml_dtypes", "pluggy", "importlib_metadata", "importlib.metadata"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
roots = {m.partition(".")[0] for m in sys.modules}
assert {r for r in roots if r.startswith("mindtorch_")} == {"mindtorch_core"}, roots
"""
    )


def test_listing_the_backends_imports_none(site):
    site.toy("acme")
    site.run(
        """
import sys
assert {"acme", "cpu", "meta"} <= set(states())
assert "numpy" not in sys.modules
assert not [m for m in sys.modules if m.startswith(("mindtorch_cpu", "mindtorch_acme"))]
"""
    )


def test_a_backend_is_loaded_when_its_device_is_first_asked_for(site):
    site.toy("acme")
    site.run(
        """
import sys
torch.ones(2)
assert states()["acme"] == "available"
assert not [m for m in sys.modules if m.startswith("mindtorch_acme")]
torch.device("acme")
assert states()["acme"] == "loaded"
"""
    )


# ---- choosing -----------------------------------------------------------------------------------


def test_the_variable_chooses_one(site):
    site.toy("acme")
    site.run(
        """
assert (torch.tensor([1.0, 2.0]) + 1).tolist() == [2.0, 3.0]
assert states()["acme"] == "disabled"
for device in ("acme", "meta"):
    with refused(f"'{device}' backend of mindtorch-{device}", "by MINDTORCH_BACKENDS=cpu"):
        torch.ones(1, device=device)
""",
        backends="cpu",
    )


def test_the_variable_chooses_several(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
plugins.load_all()
assert {name for name, state in states().items() if state == "loaded"} == {"acme", "cpu"}
""",
        backends=" cpu , acme ",
    )


def test_the_variable_may_leave_the_cpu_out(site):
    site.toy("acme")
    site.run(
        """
import sys
a = torch.ones(2, device="acme")
assert (a + a).tolist() == [2.0, 2.0]
plugins.load_all()
assert {name for name, state in states().items() if state == "loaded"} == {"acme"}
assert "numpy" not in sys.modules
with refused("'cpu' backend of mindtorch-cpu", "switched off by MINDTORCH_BACKENDS=acme"):
    torch.ones(2)
""",
        backends="acme",
    )


def test_the_variable_may_choose_none(site):
    site.run(
        """
import sys
plugins.load_all()
assert set(states().values()) == {"disabled"}
assert "numpy" not in sys.modules
with refused("switched off by MINDTORCH_BACKENDS=none"):
    torch.ones(2)
""",
        backends="none",
    )


def test_a_backend_that_is_not_chosen_cannot_fail_or_conflict(site):
    site.backend("bad", "raise ValueError")
    site.toy("acme", distribution="acme-first")
    site.toy("acme", distribution="acme-second")
    site.run("plugins.load_all()\ncpu_and_meta_work()", backends="cpu,meta")


# ---- none at all --------------------------------------------------------------------------------


def test_a_missing_backend_of_ours_names_the_package_to_install(site):
    site.run(
        """
import importlib_metadata
find = importlib_metadata.entry_points
importlib_metadata.entry_points = lambda **kw: [e for e in find(**kw) if e.name in ("cpu", "meta")]
for _ in range(2):
    with refused("pip install mindtorch-npu", "installed: cpu, meta"):
        torch.ones(2, device="npu")
try:
    torch.ones(2, device="npu")
except torch.BackendUnavailableError as error:
    assert (error.device, error.package) == ("npu", "mindtorch-npu")
cpu_and_meta_work()
"""
    )


@pytest.mark.parametrize("device", ["cuda", "xpu", "gpu", "float64", "zzz"])
def test_no_advice_to_install_what_nobody_owns(site, device):
    site.run(
        f"""
import importlib_metadata
find = importlib_metadata.entry_points
importlib_metadata.entry_points = lambda **kw: [e for e in find(**kw) if e.name in ("cpu", "meta")]
advice = {{
    "cuda": "fix: use device='cpu': no backend of an accelerator is installed",
    "xpu": "fix: use device='cpu': no backend of an accelerator is installed",
    "gpu": "fix: use device='cpu': no backend of an accelerator is installed",
    "float64": "Did you mean torch.float64?",
    "zzz": "`mindtorch backends` lists the devices there are",
}}
with refused(advice["{device}"], "(installed: cpu, meta)"):
    torch.ones(2, device="{device}")
try:
    torch.ones(2, device="{device}")
except torch.BackendUnavailableError as error:
    assert error.package is None
    assert "pip" not in str(error) and "mindtorch-" not in str(error), error
"""
    )


def test_accelerators_that_are_installed_are_named(site):
    site.toy("acme")
    site.run(
        """
with refused("fix: use the accelerator that is installed: device='acme'"):
    torch.ones(2, device="cuda:0")
with refused("device='acme'"):
    torch.ones(2).to("gpu")
"""
    )


def test_a_name_in_the_variable_that_is_not_installed_is_a_warning(site):
    site.run(
        """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.ones(2)
    torch.ones(2)
(one,) = caught
assert "MINDTORCH_BACKENDS=cpu,meta,mta chooses what is not installed: mta" in str(one.message)
assert "Did you mean meta?" in str(one.message)
""",
        backends="cpu,meta,mta",
    )


def test_a_missing_backend_of_an_unknown_device_names_those_there_are(site):
    site.run(
        """
with refused("known device type", ": acme.", "`mindtorch backends`", "installed: cpu, meta"):
    torch.ones(2, device="acme")
"""
    )


def test_importing_modules_of_a_plugin_registers_nothing(site):
    """Else its kernels would belong to nobody, and unloading would leave them behind."""
    site.run(
        """
import mindtorch_cpu.ops.order, mindtorch_meta.ops
assert not any(registry.entry(name).kernels.keys() & {torch.DispatchKey.CPU, torch.DispatchKey.Meta}
               for name in ("add", "matmul", "sort.stable"))
cpu_and_meta_work()
for name in ("add", "matmul", "sort.stable"):
    record = registry.entry(name).record(torch.DispatchKey.CPU)
    assert record.distribution.startswith("mindtorch-cpu "), record.distribution
plugins.unload("cpu")
assert torch.DispatchKey.CPU not in registry.entry("sort.stable").kernels
"""
    )


# ---- unloading ----------------------------------------------------------------------------------


def test_unloading_restores_the_registry_exactly(site):
    """Also what a backend took from another one, of which a warning tells."""
    site.half_way("bad", fails=False)
    site.toy("acme")
    site.run(
        """
import sys, warnings
plugins.load("cpu"), plugins.load("meta")
before = snapshot()
for _ in range(2):
    a = torch.ones(2, device="acme")
    assert (a + a).tolist() == [2.0, 2.0]
    between = snapshot()
    assert between != before
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plugins.load("bad")
    (text,) = [str(w.message) for w in caught]
    assert "aten::add at CPU" in text, text
    assert "(mindtorch-cpu 0.1.0)" in text, text
    assert "(mindtorch-bad 1.0)" in text, text
    assert snapshot() != between
    plugins.unload("bad")
    assert snapshot() == between
    plugins.unload("acme")
    assert snapshot() == before
assert not [m for m in sys.modules if m.startswith(("mindtorch_acme", "mindtorch_bad"))]
cpu_and_meta_work()
"""
    )


def test_backends_may_be_unloaded_in_any_order(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
plugins.load("cpu"), plugins.load("meta")
before = snapshot()
plugins.load("acme"), plugins.load("bolt")
plugins.unload("acme")
b = torch.ones(2, device="bolt")
assert (b + b).tolist() == [2.0, 2.0]
plugins.unload("bolt")
assert snapshot() == before
"""
    )


def test_a_key_that_was_given_back_serves_the_next_backend(site):
    # The second one lacks most kernels of the first: what was computed for those must be gone.
    site.toy("acme")
    site.half_way("bad", fails=False)
    site.run(
        """
a = torch.ones(2, device="acme")
with torch.pipeline():
    (a * a).relu()
key = plugins.load("acme").key
plugins.unload("acme")
assert plugins.load("bad").key == key
registry.register_kernel("relu", key, lambda x: "the kernel of the second")
from mindtorch_core.dispatch.dispatcher import dispatch_with_keyset
assert dispatch_with_keyset("relu", key, None, torch.ones(2, device="meta")) == "the kernel of the second"
assert not any(mask & key for e in registry for mask in e.table if e.name != "aten::relu")
"""
    )


def test_an_index_alone_names_the_only_accelerator_that_is_installed(site):
    site.toy("acme")
    site.run(
        """
assert torch.device(1) is torch.device("acme", 1)
""",
        backends="acme,cpu",
    )
    site.run(
        """
import pytest
with pytest.raises(RuntimeError, match="accelerator device when none is available"):
    torch.device(0)
""",
        backends="cpu",
    )


def test_streams_events_and_functions_are_the_accelerators_or_else_the_hosts(site):
    site.toy("acme")
    script = """
with torch.device("meta"):
    assert torch.get_device_module() is getattr(torch, place.type)
assert torch.Stream().device == torch.Event().device == place
with torch.Stream():
    assert torch.ones(2).sum() == 2
"""
    site.run(f"place = torch.device('acme:0'){script}", backends="acme,cpu,meta")
    site.run(f"place = torch.device('cpu'){script}", backends="cpu,meta")


def test_the_host_and_meta_are_no_accelerators(site):
    site.run(
        """
import pytest
torch.ones(1), torch.ones(1, device="meta")  # both are loaded
assert not torch.accelerator.is_available()
assert torch.accelerator.device_count() == 0
assert torch.accelerator.current_accelerator() is None
for call in (torch.accelerator.current_device_index, lambda: torch.device(0), torch.accelerator.synchronize):
    with pytest.raises(RuntimeError, match="accelerator device when none is available"):
        call()
""",
        backends="cpu,meta",
    )


def test_an_index_alone_names_the_loaded_accelerator(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
import pytest
torch.ones(2, device="acme")
assert torch.device(1) is torch.device("acme", 1)
assert torch.ones(2, device=1).device == torch.zeros(2).to(1).device == torch.device("acme:1")
with pytest.raises(RuntimeError, match="must not be negative"):
    torch.device(-1)
with pytest.raises(TypeError, match="only together with a device type string"):
    torch.device(0, 1)
with pytest.raises(TypeError, match="not bool"):
    torch.device(True)
torch.ones(2, device="bolt")
with pytest.raises(RuntimeError, match="several are [(]acme, bolt[)]"):
    torch.device(0)
"""
    )
