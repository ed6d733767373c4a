"""`mindtorch doctor`: what it says of backends that work, that fail, and that examine themselves."""

import json
import platform
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from mindtorch_core import __version__
from mindtorch_core.cli import main
from mindtorch_core.plugins import diagnose
from mindtorch_core.values.errors import BackendUnavailableError
from mindtorch_core.values.threads import get_num_threads

pytestmark = pytest.mark.slow

TOY = Path(__file__).parents[1] / "toy_backend" / "plugin.py"
HOOK = """

@hookimpl
def mindtorch_doctor():
    from mindtorch_core.plugins import Diagnosis

    return Diagnosis({healthy}, "looked for a driver\\nfound one")
"""


def test_a_backend_with_a_device_is_healthy(capsys):
    assert main(["doctor", "cpu"]) == 0
    first, second, blas, kernels, threads = capsys.readouterr().out.splitlines()
    assert first.startswith("cpu: mindtorch-cpu ")
    assert first.endswith(", can be used")
    assert second == "  devices: 1"
    assert re.fullmatch(r"  NumPy [\d.]+\S*, its BLAS: \S.*", blas)
    assert kernels.startswith("  compiled kernels: ")
    assert re.fullmatch(r"  threads of kernels: \d+, \S.*", threads)


def test_all_installed_backends_are_examined_by_default(capsys):
    assert main(["doctor", "--json", "cpu", "meta"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [r["backend"] for r in found["backends"]] == ["cpu", "meta"]
    assert found["environment"] is None
    main(["doctor", "--json"])
    everything = json.loads(capsys.readouterr().out)["backends"]
    assert {r["backend"] for r in everything} >= {"cpu", "meta"}
    assert all(r["healthy"] and r["text"] for r in everything if r["backend"] in ("cpu", "meta"))


def test_what_a_report_of_a_fault_needs_is_listed(capsys, monkeypatch):
    monkeypatch.setenv("MINDTORCH_NUM_THREADS", "1")
    main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)["environment"]
    assert platform.system() in found["os"]
    assert platform.python_version() in found["python_version"]
    assert found["mindtorch_version"] == __version__
    assert f"numpy=={version('numpy')}" in found["pip_packages"]
    assert "MINDTORCH_NUM_THREADS=1" in found["variables"].splitlines()
    assert found["threads"] == f"{get_num_threads()} for an op"
    main(["doctor"])
    text = capsys.readouterr().out
    assert text.index("Variables of the environment:") < text.index("\ncpu: mindtorch-cpu ")
    for value in found.values():
        assert value in text


def test_a_backend_that_is_not_installed(capsys):
    assert main(["doctor", "nowhere"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "no backend 'nowhere' is installed" in err
    assert "pip" not in err  # nobody owns a package of that name
    with pytest.raises(BackendUnavailableError, match="nowhere"):
        diagnose("nowhere")


@pytest.mark.parametrize(("healthy", "verdict"), [(True, "can be used"), (False, "CANNOT be used")])
def test_a_backend_examines_itself(site, healthy, verdict):
    source = TOY.read_text("utf-8") + HOOK.format(healthy=healthy)
    site.backend("entry", source, config="DEVICE, KEY, API = 'acme', None, 1\n")
    site.run(
        f"""
from contextlib import redirect_stdout
from io import StringIO
from mindtorch_core.cli import main

with redirect_stdout(StringIO()) as printed:
    assert main(["doctor", "entry"]) == {int(not healthy)}
expected = "entry: mindtorch-entry 1.0, {verdict}\\n  looked for a driver\\n  found one\\n"
assert printed.getvalue() == expected, printed.getvalue()
"""
    )


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise OSError('no driver')", "mindtorch_doctor() raised OSError: no driver"),
        ("return 'fine'", "mindtorch_doctor() must return a Diagnosis, and returned 'fine'"),
    ],
)
def test_a_hook_that_fails_is_a_finding(site, body, told):
    hook = f"\n\n@hookimpl\ndef mindtorch_doctor():\n    {body}\n"
    source = TOY.read_text("utf-8") + hook
    site.backend("entry", source, config="DEVICE, KEY, API = 'acme', None, 1\n")
    site.run(
        f"""
from contextlib import redirect_stdout
from io import StringIO
from mindtorch_core.cli import main

with redirect_stdout(StringIO()) as printed:
    assert main(["doctor", "entry", "cpu"]) == 1
failed, works = printed.getvalue().split("\\n\\n")
assert failed == 'entry: mindtorch-entry 1.0, CANNOT be used\\n  {told.replace("'", chr(92) + "'")}', failed
assert works.startswith("cpu: "), works
"""
    )


def test_devices_that_cannot_be_counted_are_a_finding(site):
    source = TOY.read_text("utf-8").replace("return 2", "raise OSError('the driver is gone')")
    site.backend("entry", source, config="DEVICE, KEY, API = 'acme', None, 1\n")
    site.run(
        """
found = plugins.diagnose("entry")
assert (found.healthy, found.text) == (False, "device_count() raised OSError: the driver is gone")
"""
    )


def test_a_backend_that_fails_to_load(site):
    site.backend("acme", "raise OSError('no driver')")
    site.run(
        """
from contextlib import redirect_stdout
from io import StringIO
from mindtorch_core.cli import main

record_warnings()

with redirect_stdout(StringIO()) as printed:
    assert main(["doctor", "acme", "cpu"]) == 1
failed, works = printed.getvalue().split("\\n\\n")
assert failed.startswith("acme: mindtorch-acme 1.0, CANNOT be used"), failed
assert "OSError: no driver" in failed, failed
assert works.startswith("cpu: "), works
"""
    )
