"""Loading backends that fail or conflict: nothing stays of them, the user is told, the rest works.

Every test installs made-up distributions into a folder and starts a fresh interpreter with that
folder on its path.
"""

import pytest

from mindtorch_core import plugins

# ---- failures -----------------------------------------------------------------------------------

HOOK = "from mindtorch_core.plugins import hookimpl\n@hookimpl\n"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import a_library_nobody_has", "No module named 'a_library_nobody_has'"),
        ("raise ValueError('no driver')", "ValueError: no driver"),
        ("import sys; sys.exit('no driver')", "SystemExit: no driver"),
        ("raise BaseException('a panic')", "BaseException: a panic"),
        ("def broken(:", "SyntaxError"),
        ("x = 1", "must implement the hook mindtorch_backend"),
        (HOOK + "def mindtorch_backend(): return 1", "must implement the hook mindtorch_backend"),
        (HOOK + "def mindtorch_bakend(): ...", "unknown hook 'mindtorch_bakend'"),
    ],
    ids=[
        "import",
        "raise",
        "exit",
        "no Exception",
        "syntax",
        "no hook",
        "no Backend",
        "misspelt hook",
    ],
)
def test_a_backend_that_fails_is_left_out_and_the_cause_is_told(site, source, cause):
    site.backend("bad", source)
    site.toy("acme")
    site.run(
        f"""
import sys
record_warnings()
for _ in range(2):
    plugins.load_all()
(text,) = warned
assert all(part in text for part in ("'bad'", "mindtorch-bad 1.0", {cause!r})), text
assert (states()["bad"], states()["acme"], states()["cpu"]) == ("failed", "loaded", "loaded")
assert not [m for m in sys.modules if m.startswith("mindtorch_bad")]
for _ in range(2):
    with refused("'bad' backend of mindtorch-bad 1.0", {cause!r}):
        torch.ones(2, device="bad")
try:
    torch.ones(2, device="bad")
except torch.BackendUnavailableError as error:
    assert error.device == "bad" and error.__cause__ is not None
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
cpu_and_meta_work()
"""
    )


def test_nothing_stays_of_a_backend_that_fails_half_way(site):
    site.half_way("bad", fails=True)
    site.run(
        """
record_warnings()
plugins.load("cpu"), plugins.load("meta")
before = snapshot()
plugins.load_all()
overriding, text = warned
assert "aten::add at CPU" in overriding, overriding
for part in ("'bad'", "mindtorch-bad 1.0", "RuntimeError: the half-way point"):
    assert part in text, text
assert snapshot() == before
(status,) = [s for s in plugins.backends() if s.name == "bad"]
assert (status.state, status.device, status.key) == ("failed", "", "")
with refused("the half-way point"):
    torch.device("bad")
cpu_and_meta_work()
""",
        backends="cpu,meta,bad",
    )


def test_the_next_backend_gets_what_a_failed_one_had_claimed(site):
    site.half_way("bad", fails=True)
    site.toy("acme", "PrivateUse1")
    site.run(
        """
record_warnings()
with refused("the half-way point"):
    torch.device("bad")
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
"""
    )


def test_a_backend_that_another_one_needed_stays_when_that_one_fails(site):
    source = "import mindtorch_core as torch\ntorch.ones(2) + 1\nraise ValueError('late')"
    site.backend("bad", source)
    site.run(
        """
record_warnings()
with refused("ValueError: late"):
    torch.device("bad")
assert states()["cpu"] == "loaded"
cpu_and_meta_work()
"""
    )


def test_a_failed_backend_of_another_name_is_mentioned(site):
    site.backend("vendor", "raise ValueError('no driver')")
    site.run(
        """
record_warnings()
with refused("start of device string: acme", "vendor (failed to load: no driver)"):
    torch.device("acme")
"""
    )


def test_a_backend_cannot_use_its_device_while_it_is_loaded(site):
    site.backend("bad", "import mindtorch_core as torch\nDEVICE = torch.device('bad')")
    site.run(
        """
record_warnings()
plugins.load_all()
assert "'bad' backend of mindtorch-bad 1.0 is still being loaded" in warned[0], warned
"""
    )


def test_an_interrupted_load_is_tried_again(site):
    site.backend("bad", "raise KeyboardInterrupt")
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
    site.toy("acme", api=999)
    site.run(
        """
record_warnings()
plugins.load_all()
(text,) = warned
for part in ("mindtorch-acme 1.0", "for plugin API 999", f"API {plugins.PLUGIN_API}"):
    assert part in text, text
with refused("for plugin API 999"):
    torch.ones(2, device="acme")
cpu_and_meta_work()
"""
    )


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (plugins.OLDEST_PLUGIN_API - 1, "newer release of the backend, or an older mindtorch-core"),
        (plugins.PLUGIN_API + 1, "newer mindtorch-core, or an older release of the backend"),
    ],
    ids=["too old", "too new"],
)
def test_the_refusal_says_what_to_install(site, number, fix):
    site.toy("acme", api=number)
    site.run(
        f"""
record_warnings()
plugins.load_all()
served = f"API {{plugins.OLDEST_PLUGIN_API}} to API {{plugins.PLUGIN_API}}"
with refused("for plugin API {number},", f"serves {{served}}: install a {fix}"):
    torch.ones(2, device="acme")
"""
    )


@pytest.mark.parametrize("api", range(plugins.OLDEST_PLUGIN_API, plugins.PLUGIN_API + 1))
def test_every_plugin_api_of_the_range_is_served(site, api):
    site.toy("acme", api=api)
    site.run('assert torch.ones(2, device="acme").tolist() == [1, 1]')


@pytest.mark.parametrize("name", ["Acme", "acme-1", "acme:0", ""])
def test_a_device_name_that_is_no_lower_case_identifier_is_refused(site, name):
    site.toy(name, entry="vendor")
    site.run(
        f"""
record_warnings()
plugins.load_all()
(text,) = warned
assert "must be a lower-case identifier, got {name!r}" in text, text
cpu_and_meta_work()
"""
    )


# ---- conflicts ----------------------------------------------------------------------------------


def test_of_two_distributions_with_one_entry_point_the_second_is_refused(site):
    site.toy("acme", distribution="acme-first")
    site.toy("acme", distribution="acme-second")
    site.run(
        """
record_warnings()
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
(text,) = warned
assert all(part in text for part in ("'acme'", "acme-first 1.0", "acme-second 1.0")), text
cpu_and_meta_work()
"""
    )


def test_of_two_distributions_with_one_device_name_the_second_is_refused(site):
    site.toy("acme", entry="first")
    site.toy("acme", entry="second")
    site.run(
        """
record_warnings()
plugins.load_all()
(text,) = warned
for part in ("mindtorch-first 1.0", "mindtorch-second 1.0", "the device name 'acme'"):
    assert part in text, text
assert "BackendConflictError" in text
assert sorted([states()["first"], states()["second"]]) == ["failed", "loaded"]
a = torch.ones(2, device="acme")
assert (a + a).tolist() == [2.0, 2.0]
cpu_and_meta_work()
"""
    )


@pytest.mark.parametrize(
    ("key", "holder"), [("PrivateUse2", "mindtorch-acme 1.0"), ("CPU", "mindtorch-cpu")]
)
def test_of_two_backends_with_one_key_the_second_is_refused(site, key, holder):
    site.toy("acme", "PrivateUse2")
    site.toy("bolt", key)
    site.run(
        f"""
record_warnings()
torch.ones(1), torch.ones(1, device="acme")
plugins.load_all()
(text,) = warned
for part in ("mindtorch-bolt 1.0", "dispatch key {key}", {holder!r}, "BackendConflictError"):
    assert part in text, text
assert torch.ones(2, device="acme").tolist() == [1.0, 1.0]
cpu_and_meta_work()
"""
    )


def test_a_fourth_third_party_finds_no_free_key(site):
    names = ["acme", "bolt", "cog", "dyne"]
    for name in names:
        site.toy(name)
    site.run(
        f"""
record_warnings()
plugins.load_all()
(text,) = warned
assert "no PrivateUse key is free for" in text
assert all(f"mindtorch-{{name}} 1.0" in text for name in {names}), text
cpu_and_meta_work()
"""
    )
