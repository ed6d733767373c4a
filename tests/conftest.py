"""What the contract's tests and the tests of plugin loading share: a toy backend to install, and
interpreters that start fresh.
"""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core import plugins
from mindtorch_core.plugins import loader

PRELUDE = "import mindtorch_core as torch\nfrom mindtorch_core import plugins\n"
TOY = Path(__file__).parent / "toy_backend" / "plugin.py"


class Site:
    """A folder of installed distributions, put on the path of a fresh interpreter."""

    def __init__(self, folder):
        self.folder = folder

    def distribution(self, name, entry_points, files):
        """Install a distribution: its entry points of the backends' group, and its files."""
        info = self.folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{entry} = {module}\n" for entry, module in entry_points.items()]
        (info / "entry_points.txt").write_text("[mindtorch.backends]\n" + "".join(lines))
        for path, text in files.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def toy(self, device, key=None, *, entry=None, distribution=None):
        """Install the toy backend under a device name."""
        entry = entry or device
        package = f"mindtorch_{entry}"
        self.distribution(
            distribution or package.replace("_", "-"),
            {entry: f"{package}.plugin"},
            {
                f"{package}/__init__.py": "",
                f"{package}/config.py": f"DEVICE, KEY = {device!r}, {key!r}\n",
                f"{package}/plugin.py": TOY.read_text(),
            },
        )

    def broken(self, entry, source, *, distribution=None):
        """Install a backend whose module is ``source``."""
        package = f"mindtorch_{entry}"
        self.distribution(
            distribution or package.replace("_", "-"),
            {entry: f"{package}.plugin"},
            {f"{package}/__init__.py": "", f"{package}/plugin.py": source},
        )

    def run(self, script, *, backends=None):
        """Run a script in a fresh interpreter that sees this folder; return its output.

        Warnings are errors there unless the script says otherwise.
        """
        self.folder.mkdir(exist_ok=True)
        file = self.folder / "script.py"
        file.write_text(PRELUDE + script)
        env = {k: v for k, v in os.environ.items() if k != "MINDTORCH_BACKENDS"}
        above = os.environ.get("PYTHONPATH")
        env["PYTHONPATH"] = os.pathsep.join([str(self.folder), *([above] if above else [])])
        if backends is not None:
            env["MINDTORCH_BACKENDS"] = backends
        done = subprocess.run(
            [sys.executable, "-W", "error", str(file)],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def site(tmp_path):
    """An empty folder of installed distributions."""
    return Site(tmp_path / "site")


@pytest.fixture
def toy(site, monkeypatch):
    """The toy backend, loaded into this process as the device ``toy``; gives its module."""
    site.toy("toy")
    with monkeypatch.context() as path:
        path.delenv("MINDTORCH_BACKENDS", raising=False)
        path.syspath_prepend(str(site.folder))
        loader.rediscover()
        plugins.load("toy")
        yield importlib.import_module("mindtorch_toy.plugin")
        plugins.unload("toy")
    loader.rediscover()
