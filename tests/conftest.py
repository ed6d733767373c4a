"""What the contract's tests and the tests of plugin loading share: distributions made up on the
spot, among them a toy backend, and interpreters that start fresh.
"""

import gc
import importlib
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mindtorch_core import plugins
from mindtorch_core.plugins import loader

SOURCES = Path(__file__).parent / "toy_backend"

# No test keeps compiled kernels in the user's folder, nor does a process that one starts.
os.environ.setdefault("MINDTORCH_KERNEL_CACHE", "")


class Site:
    """A folder of installed distributions, put on the path of a fresh interpreter."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        (folder / "checks.py").write_text((SOURCES / "checks.py").read_text())

    def backend(self, entry, source, *, config="", distribution=None):
        """Install a distribution with a backend.

        Args:
            entry: name of its entry point.
            source: text of the module the entry point names.
            config: text of the module ``config`` beside it.
            distribution: its name, if not ``mindtorch-<entry>``.
        """
        name = distribution or f"mindtorch-{entry}"
        info = self.folder / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        line = f"{entry} = mindtorch_{entry}.plugin\n"
        (info / "entry_points.txt").write_text("[mindtorch.backends]\n" + line)
        package = self.folder / f"mindtorch_{entry}"
        package.mkdir(exist_ok=True)
        for module, text in {"__init__": "", "config": config, "plugin": source}.items():
            (package / f"{module}.py").write_text(text)

    def project(self, folder):
        """Install a project with the layout of ``src``, as its ``pyproject.toml`` describes it."""
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        name = project["name"].replace("-", "_")
        shutil.copytree(folder / "src" / name, self.folder / name)
        info = self.folder / f"{name}-{project['version']}.dist-info"
        info.mkdir()
        metadata = (
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        (info / "METADATA").write_text(metadata)
        (info / "entry_points.txt").write_text(
            "".join(
                f"[{group}]\n" + "".join(f"{each} = {module}\n" for each, module in points.items())
                for group, points in project["entry-points"].items()
            )
        )

    def toy(self, device, key=None, *, entry=None, distribution=None, api=2):
        """Install the toy backend under a device name."""
        source = (SOURCES / "plugin.py").read_text()
        config = f"DEVICE, KEY, API = {device!r}, {key!r}, {api!r}\n"
        self.backend(entry or device, source, config=config, distribution=distribution)

    def half_way(self, device, *, fails):
        """Install the backend that registers much and may then fail."""
        source = (SOURCES / "half_way.py").read_text()
        self.backend(device, source, config=f"DEVICE, FAILS = {device!r}, {fails!r}\n")

    def run(self, script, *, backends=None):
        """Run a script in a fresh interpreter that sees this folder.

        It finds the names of ``checks.py`` imported. Warnings are errors there unless it calls
        ``record_warnings``.

        Args:
            script: what to run; it asserts.
            backends: value of the variable that chooses backends, or None to leave it unset.
        """
        file = self.folder / "script.py"
        file.write_text("from checks import *\n" + script)
        done = self.python("-W", "error", str(file), backends=backends)
        assert done.returncode == 0, done.stdout + done.stderr

    def python(self, *arguments, backends=None, cwd=None):
        """Run a fresh interpreter that sees this folder; returns what came of it."""
        env = {k: v for k, v in os.environ.items() if k != "MINDTORCH_BACKENDS"}
        above = os.environ.get("PYTHONPATH")
        env["PYTHONPATH"] = os.pathsep.join([str(self.folder), *([above] if above else [])])
        if backends is not None:
            env["MINDTORCH_BACKENDS"] = backends
        return subprocess.run(
            [sys.executable, *arguments],
            env=env,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture(autouse=True, scope="module")
def _old_objects_out_of_the_way():
    """Unloading a backend looks at all objects: those of 100,000 collected tests need not be seen."""
    gc.collect()
    gc.freeze()


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
