"""Loading backends: each on first need, alone, and whole or not at all.

Every test installs made-up distributions into a folder and starts a fresh interpreter with that
folder on its path. In a script warnings are errors unless it records them.
"""

import pytest

CAUGHT = """
import warnings
caught = warnings.catch_warnings(record=True)
said = caught.__enter__()
warnings.simplefilter("always")
def messages():
    return [str(w.message) for w in said]
"""

# What holds of the CPU whatever happens to a third party.
CPU_WORKS = """
assert (torch.tensor([1.0, 2.0]) + 1).tolist() == [2.0, 3.0]
assert (torch.ones(2, device="meta") + 1).is_meta
"""

SNAPSHOT = """
from mindtorch_core.devices import TABLE
from mindtorch_core.dispatch.registry import registry
def snapshot():
    # Everything the registry and the device table hold.
    entries = {
        e.name: (
            str(e.schema), dict(e.kernels), {k: list(v) for k, v in e.records.items()},
            set(e.fallthrough), dict(e.metas), dict(e.plans), e.definition,
        )
        for e in registry
    }
    return entries, dict(registry.fallbacks), dict(registry.wrappers), dict(TABLE)
"""

# A backend in the middle of whose registration something goes wrong.
HALF_WAY = """
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, hookimpl
from mindtorch_core.runtime import Runtime

class BadRuntime(Runtime):
    def device_count(self): return 1
    def allocate(self, nbytes, on): return bytearray(nbytes)
    def copy_from_host(self, memory, start, data): pass
    def copy_to_host(self, memory, start, nbytes): return memoryview(b"")

@hookimpl
def mindtorch_backend():
    return Backend(device="bad", key=None, runtime=BadRuntime(), api=1)

@hookimpl
def mindtorch_register(key):
    registry.register_kernel("add", key, print)
    registry.register_kernel("add", DispatchKey.CPU, print)
    registry.register_kernel("mul", key, print).remove()
    registry.register_schema("bad::op", "op(Tensor x) -> Tensor")
    registry.register("bad::op", key, print, meta=print, plan=print)
    registry.register_fallthrough("sub", key)
    registry.register_fallback(key, print)
    with registry.transaction():
        registry.register_kernel("exp", key, print)
    raise RuntimeError("the half-way point")
"""


# ---- one good backend ---------------------------------------------------------------------------


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


def test_the_kernels_are_on_record_with_their_distribution_and_line(site):
    site.toy("acme")
    site.run(
        """
from mindtorch_core.dispatch.registry import registry
record = registry.get("add").record(torch.DispatchKey(plugins.load("acme").key))
assert record.distribution == "mindtorch-acme 1.0"
file, line = record.source.rsplit(":", 1)
assert file.endswith("mindtorch_acme/plugin.py") and line.isdecimal()
"""
    )


def test_a_backend_is_loaded_when_its_device_is_first_asked_for(site):
    site.toy("acme")
    site.run(
        """
import sys
def states():
    return {s.name: s.state for s in plugins.backends()}
assert states()["acme"] == "available"
torch.ones(2)
assert states()["acme"] == "available"
assert not [m for m in sys.modules if m.startswith("mindtorch_acme")]
torch.device("acme")
assert states()["acme"] == "loaded"
"""
    )


def test_a_device_name_is_accepted_where_a_key_is(site):
    site.toy("acme")
    site.run(
        """
from mindtorch_core.dispatch.registry import registry
registry.register_kernel("exp", "acme", lambda x: "exp")
assert torch.exp(torch.ones(1, device="acme")) == "exp"
"""
    )


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
"""
        + CPU_WORKS
    )


def test_the_entry_point_may_have_another_name_than_the_device(site):
    site.toy("acme", entry="vendor")
    site.run(
        """
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
assert [s.device for s in plugins.backends() if s.name == "vendor"] == ["acme"]
"""
    )


# ---- one that fails -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import a_library_nobody_has", "No module named 'a_library_nobody_has'"),
        ("raise ValueError('no driver')", "ValueError: no driver"),
        ("import sys; sys.exit('no driver')", "SystemExit: no driver"),
        ("def broken(:", "SyntaxError"),
        ("x = 1", "must implement the hook mindtorch_backend"),
        (
            "from mindtorch_core.plugins import hookimpl\n"
            "@hookimpl\ndef mindtorch_backend(): return {'device': 'bad'}",
            "must implement the hook mindtorch_backend",
        ),
        (
            "from mindtorch_core.plugins import hookimpl\n@hookimpl\ndef mindtorch_bakend(): ...",
            "unknown hook 'mindtorch_bakend'",
        ),
    ],
    ids=["import", "raise", "exit", "syntax", "no hook", "no Backend", "misspelt hook"],
)
def test_a_backend_that_fails_is_left_out_and_the_cause_is_told(site, source, cause):
    site.broken("bad", source)
    site.toy("acme")
    site.run(
        CAUGHT
        + f"""
import sys
plugins.load_all()
(said_once,) = messages()
assert all(t in said_once for t in ("'bad'", "mindtorch-bad 1.0", {cause!r})), said_once
plugins.load_all()
assert len(messages()) == 1
states = {{s.name: s.state for s in plugins.backends()}}
assert states["bad"] == "failed" and states["acme"] == states["cpu"] == "loaded", states
assert not [m for m in sys.modules if m.startswith("mindtorch_bad")]
for _ in range(2):
    try:
        torch.ones(2, device="bad")
    except torch.BackendUnavailableError as error:
        assert all(t in str(error) for t in ("mindtorch-bad 1.0", {cause!r})), error
        assert error.device == "bad" and error.__cause__ is not None
    else:
        raise AssertionError("a broken backend gave a tensor")
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
"""
        + CPU_WORKS
    )


def test_nothing_stays_of_a_backend_that_fails_half_way(site):
    site.broken("bad", HALF_WAY)
    site.run(
        CAUGHT
        + SNAPSHOT
        + """
plugins.load("cpu"), plugins.load("meta")
before = snapshot()
plugins.load_all()
(said_once,) = messages()
for part in ("'bad'", "mindtorch-bad 1.0", "RuntimeError: the half-way point"):
    assert part in said_once, said_once
assert snapshot() == before
(status,) = [s for s in plugins.backends() if s.name == "bad"]
assert (status.state, status.device, status.key) == ("failed", "", "")
try:
    torch.device("bad")
except torch.BackendUnavailableError as error:
    assert "the half-way point" in str(error)
else:
    raise AssertionError("the device is known")
"""
        + CPU_WORKS
    )


def test_the_next_backend_gets_what_a_failed_one_had_claimed(site):
    site.broken("bad", HALF_WAY)
    site.toy("acme", "PrivateUse1")
    site.run(
        CAUGHT
        + """
try:
    torch.device("bad")
except torch.BackendUnavailableError:
    pass
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
"""
    )


def test_a_backend_that_another_one_needed_stays_when_that_one_fails(site):
    source = "import mindtorch_core as torch\ntorch.ones(2) + 1\nraise ValueError('late')"
    site.broken("bad", source)
    site.run(
        CAUGHT
        + """
try:
    torch.device("bad")
except torch.BackendUnavailableError as error:
    assert "late" in str(error)
assert {s.name: s.state for s in plugins.backends()}["cpu"] == "loaded"
"""
        + CPU_WORKS
    )


def test_a_backend_may_not_need_itself_while_it_is_loaded(site):
    site.broken("bad", "import mindtorch_core as torch\nDEVICE = torch.device('bad')")
    site.run(
        CAUGHT
        + """
plugins.load_all()
assert "is still being loaded" in messages()[0], messages()
"""
    )


def test_an_interrupted_load_is_tried_again(site):
    site.broken("bad", "raise KeyboardInterrupt")
    site.run(
        """
for _ in range(2):
    try:
        torch.device("bad")
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not interrupted")
"""
    )


def test_a_backend_built_for_another_plugin_api_is_refused(site):
    site.toy("acme")
    file = site.folder / "mindtorch_acme" / "plugin.py"
    source = file.read_text()
    assert "api=1" in source
    file.write_text(source.replace("api=1", "api=999"))
    site.run(
        CAUGHT
        + """
plugins.load_all()
(said_once,) = messages()
assert "mindtorch-acme 1.0" in said_once
assert "built for plugin API 999" in said_once and f"API {plugins.PLUGIN_API}" in said_once
"""
        + CPU_WORKS
    )


@pytest.mark.parametrize("name", ["Acme", "acme-1", "acme:0", ""])
def test_a_device_name_that_is_no_lower_case_identifier_is_refused(site, name):
    site.toy(name, entry="vendor")
    site.run(
        CAUGHT
        + f"""
plugins.load_all()
(said_once,) = messages()
assert "must be a lower-case identifier, got {name!r}" in said_once, said_once
"""
        + CPU_WORKS
    )


# ---- conflicts ----------------------------------------------------------------------------------


def test_of_two_distributions_with_one_entry_point_the_second_is_refused(site):
    site.toy("acme", distribution="acme-first")
    site.toy("acme", distribution="acme-second")
    site.run(
        CAUGHT
        + """
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
(said_once,) = messages()
assert "acme-first 1.0" in said_once and "acme-second 1.0" in said_once, said_once
assert "'acme'" in said_once
"""
        + CPU_WORKS
    )


def test_of_two_distributions_with_one_device_name_the_second_is_refused(site):
    site.toy("acme", entry="first")
    site.toy("acme", entry="second")
    site.run(
        CAUGHT
        + """
plugins.load_all()
(said_once,) = messages()
assert "mindtorch-first 1.0" in said_once and "mindtorch-second 1.0" in said_once, said_once
assert "the device name 'acme'" in said_once and "BackendConflictError" in said_once
states = sorted(s.state for s in plugins.backends() if s.name in ("first", "second"))
assert states == ["failed", "loaded"]
a = torch.ones(2, device="acme")
assert (a + a).tolist() == [2.0, 2.0]
"""
        + CPU_WORKS
    )


@pytest.mark.parametrize(
    ("key", "holder"), [("PrivateUse2", "mindtorch-acme 1.0"), ("CPU", "mindtorch-cpu")]
)
def test_of_two_backends_with_one_key_the_second_is_refused(site, key, holder):
    site.toy("acme", "PrivateUse2")
    site.toy("bolt", key)
    site.run(
        CAUGHT
        + f"""
torch.ones(1), torch.ones(1, device="acme")
plugins.load_all()
(said_once,) = messages()
for part in ("mindtorch-bolt 1.0", "the dispatch key {key}", {holder!r}, "BackendConflictError"):
    assert part in said_once, said_once
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
"""
        + CPU_WORKS
    )


def test_a_fourth_third_party_finds_no_free_key(site):
    for name in ("acme", "bolt", "cog", "dyne"):
        site.toy(name)
    site.run(
        CAUGHT
        + """
plugins.load_all()
(said_once,) = messages()
assert "no PrivateUse key is free for" in said_once
assert sum(f"mindtorch-{n} 1.0" in said_once for n in ("acme", "bolt", "cog", "dyne")) == 4
"""
        + CPU_WORKS
    )


def test_a_third_party_may_ask_for_a_key_of_its_own_beside_one_that_takes_any(site):
    site.toy("acme", "PrivateUse3")
    site.toy("bolt")
    site.run(
        """
plugins.load_all()
keys = {s.name: s.key for s in plugins.backends()}
assert keys["acme"] == "PrivateUse3" and keys["bolt"] == "PrivateUse1", keys
"""
    )


# ---- choosing -----------------------------------------------------------------------------------


def test_the_variable_chooses_the_backends(site):
    site.toy("acme")
    site.run(
        CPU_WORKS.splitlines()[1]
        + """
assert {s.name: s.state for s in plugins.backends()}["acme"] == "disabled"
for device in ("acme", "meta"):
    try:
        torch.ones(1, device=device)
    except torch.BackendUnavailableError as error:
        assert f"'{device}' backend of mindtorch-{device}" in str(error), error
        assert "switched off by MINDTORCH_BACKENDS=cpu" in str(error)
    else:
        raise AssertionError(device)
""",
        backends="cpu",
    )


def test_the_variable_may_leave_the_cpu_out(site):
    site.toy("acme")
    site.run(
        """
import sys
a = torch.ones(2, device="acme")
assert (a + a).tolist() == [2.0, 2.0]
plugins.load_all()
assert {s.name for s in plugins.backends() if s.state == "loaded"} == {"acme"}
assert "numpy" not in sys.modules
try:
    torch.ones(2)
except torch.BackendUnavailableError as error:
    assert "switched off by MINDTORCH_BACKENDS=acme" in str(error)
else:
    raise AssertionError("the CPU was loaded")
""",
        backends="acme",
    )


def test_the_variable_chooses_several(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        """
plugins.load_all()
assert {s.name for s in plugins.backends() if s.state == "loaded"} == {"acme", "cpu"}
""",
        backends=" cpu , acme ",
    )


def test_the_variable_may_choose_none(site):
    site.run(
        """
import sys
plugins.load_all()
assert {s.state for s in plugins.backends()} == {"disabled"}
assert "numpy" not in sys.modules
try:
    torch.ones(2)
except torch.BackendUnavailableError as error:
    assert "switched off by MINDTORCH_BACKENDS=none" in str(error)
""",
        backends="none",
    )


def test_a_backend_that_is_not_chosen_cannot_fail_or_conflict(site):
    site.broken("bad", "raise ValueError")
    site.toy("acme", distribution="acme-first")
    site.distribution("acme-second", {"acme": "acme_second"}, {"acme_second.py": ""})
    site.run("plugins.load_all()\n" + CPU_WORKS, backends="cpu,meta")


# ---- none at all --------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["npu", "cuda", "xpu"])
def test_a_missing_backend_of_a_known_device_names_the_package_to_install(site, device):
    site.run(
        f"""
import importlib_metadata
find = importlib_metadata.entry_points
importlib_metadata.entry_points = lambda **kw: [e for e in find(**kw) if e.name in ("cpu", "meta")]
for _ in range(2):
    try:
        torch.ones(2, device="{device}")
    except torch.BackendUnavailableError as error:
        assert "pip install mindtorch-{device}" in str(error), error
        assert (error.device, error.package) == ("{device}", "mindtorch-{device}")
    else:
        raise AssertionError("{device} tensor")
"""
        + CPU_WORKS
    )


def test_a_missing_backend_of_an_unknown_device_names_the_likely_package(site):
    site.run(
        """
try:
    torch.ones(2, device="acme")
except torch.BackendUnavailableError as error:
    assert "mindtorch-acme" in str(error) and "installed: cpu, meta" in str(error), error
else:
    raise AssertionError("an acme tensor")
"""
    )


# ---- unloading ----------------------------------------------------------------------------------


def test_unloading_restores_the_registry_exactly(site):
    source = HALF_WAY.replace('raise RuntimeError("the half-way point")', "")
    site.broken("bad", source)
    site.toy("acme")
    site.run(
        SNAPSHOT
        + """
import sys
plugins.load("cpu"), plugins.load("meta")
before = snapshot()
for _ in range(2):
    a = torch.ones(2, device="acme")
    assert (a + a).tolist() == [2.0, 2.0]
    between = snapshot()
    assert between != before
    plugins.load("bad")
    assert snapshot() != between
    plugins.unload("bad")
    assert snapshot() == between
    plugins.unload("acme")
    assert snapshot() == before
assert not [m for m in sys.modules if m.startswith(("mindtorch_acme", "mindtorch_bad"))]
"""
        + CPU_WORKS
    )


def test_backends_may_be_unloaded_in_any_order(site):
    site.toy("acme")
    site.toy("bolt")
    site.run(
        SNAPSHOT
        + """
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


# ---- the import ---------------------------------------------------------------------------------


def test_importing_the_core_imports_nothing_heavy_and_no_plugin(site):
    site.toy("acme")
    site.run(
        """
import sys
heavy = {"numpy", "scipy", "ml_dtypes", "pluggy", "importlib_metadata", "importlib.metadata"}
roots = {m.partition(".")[0] for m in sys.modules}
plugin = {m for m in roots if m.startswith("mindtorch_")} - {"mindtorch_core"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
assert not plugin, plugin
"""
    )


def test_listing_the_backends_imports_none(site):
    site.toy("acme")
    site.run(
        """
import sys
assert {"acme", "cpu", "meta"} <= {s.name for s in plugins.backends()}
assert "numpy" not in sys.modules
assert not [m for m in sys.modules if m.startswith(("mindtorch_cpu", "mindtorch_acme"))]
"""
    )
