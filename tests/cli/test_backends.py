"""`mindtorch backends`: what it says of backends that work, fail, and are left out."""

import json
import os
import re
import subprocess
import sys

import pytest

from mindtorch_core.cli import main


def ask(site, *arguments, backends=None):
    """What the command prints for what is installed in a site, and its exit status."""
    done = site.python("-m", "mindtorch_core", "backends", *arguments, backends=backends)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stderr == ""
    return done.stdout, done.returncode


def test_what_is_installed_is_listed(capsys):
    main(["backends"])
    lines = capsys.readouterr().out.splitlines()
    head = "name distribution version status key devices ms kernels ops"
    assert " ".join(lines[0].split()) == head
    (cpu,) = [line for line in lines if line.startswith("cpu ")]
    pattern = r"cpu +mindtorch-cpu +\S+ +loaded +CPU +1 +\d+ +\d+ +(\d+) of (\d+)"
    found = re.fullmatch(pattern, cpu)
    assert found, cpu
    assert found[1] == found[2]


def test_each_has_its_own_row(site):
    site.toy("acme", "PrivateUse2")
    site.toy("bolt")
    text, status = ask(site, "--json", backends="acme,bolt,cpu")
    rows = {row["name"]: row for row in json.loads(text)}
    assert status == 0
    for name, key in (("acme", "PrivateUse2"), ("bolt", "PrivateUse1")):
        row = rows[name]
        assert (row["distribution"], row["version"]) == (f"mindtorch-{name}", "1.0")
        assert (row["status"], row["key"], row["device"]) == ("loaded", key, name)
        assert (row["devices"], row["kernels"], row["reason"]) == (2, 8, "")
        assert 8 < row["ops"] < row["known"]
        assert 0 < row["milliseconds"] < 60_000
    assert rows["meta"]["status"] == "disabled"
    assert rows["meta"]["reason"] == "left out by MINDTORCH_BACKENDS"
    assert rows["meta"]["milliseconds"] is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise ValueError('no\\n driver')", "bad: ValueError: no driver"),
        ("import nothing_of_that_name", "bad: ModuleNotFoundError: No module named"),
    ],
)
def test_why_one_failed(site, source, reason):
    site.backend("bad", source)
    text, status = ask(site, backends="cpu,bad")
    assert status == 1
    table, _, reasons = text.partition("\n\n")
    assert re.search(r"^bad +mindtorch-bad +1\.0 +failed +- +- +\d+ +- +-$", table, re.M), table
    assert re.search(r"^cpu +mindtorch-cpu +\S+ +loaded", table, re.M), table
    assert reason in reasons


def test_a_clash_and_another_api_are_told(site):
    site.toy("acme", entry="first")
    site.toy("acme", entry="second")
    site.toy("bolt", api=999)
    text, status = ask(site, backends="first,second,bolt")
    assert status == 1
    assert "BackendConflictError: the device name 'acme' of mindtorch-" in text
    assert "bolt: RuntimeError: it was built for plugin API 999" in text


def test_a_runtime_that_fails_is_told(site):
    site.toy("acme")
    plugin = site.folder / "mindtorch_acme" / "plugin.py"
    plugin.write_text(
        plugin.read_text().replace("        return 2\n", "        raise OSError('gone')\n")
    )
    text, status = ask(site, backends="acme")
    assert status == 1
    assert re.search(r"^acme .* failed +PrivateUse1 +- ", text, re.M), text
    assert "acme: device_count() raised OSError: gone" in text


def test_none_at_all(site, monkeypatch, capsys):
    from mindtorch_core import plugins

    monkeypatch.setattr(plugins, "backends", list)
    assert main(["backends"]) == 0
    assert "fix: pip install mindtorch-cpu" in capsys.readouterr().out


def test_a_name_in_the_variable_that_is_not_installed_is_said():
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "backends"],
        env={**os.environ, "MINDTORCH_BACKENDS": "cpu,mta"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    said = "MINDTORCH_BACKENDS=cpu,mta chooses what is not installed: mta"
    assert line.startswith(f"mindtorch: warning: {said}")
    assert line.endswith("Did you mean meta?")
