"""Each backend is a distribution of its own.

A backend's folder under ``plugins/`` holds its own ``pyproject.toml``, its tests and one package
with the backend's ops, creation and runtime; an entry point makes it known. Backends import the
core and never each other, and the core imports no backend.
"""

import ast
import importlib
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import plugins
from mindtorch_core.dispatch.registry import registry

ROOT = Path(__file__).parents[2]
GROUP = "mindtorch.backends"


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


# Every folder under plugins/ that announces a backend, by device name.
BACKENDS = {
    device: folder
    for folder in sorted((ROOT / "plugins").iterdir())
    if (folder / "pyproject.toml").exists()
    for device in project(folder).get("entry-points", {}).get(GROUP, {})
}

each_backend = pytest.mark.parametrize("device", BACKENDS)


def package(device):
    """Name of a backend's package, and its folder."""
    name = f"mindtorch_{device}"
    return name, BACKENDS[device] / "src" / name


@pytest.fixture
def installed(device):
    """The device of each backend that is installed."""
    try:
        distribution(f"mindtorch-{device}")
    except PackageNotFoundError:
        pytest.skip(f"mindtorch-{device} is not installed")
    return device


def imported(folder):
    """Top-level names of everything the Python files of a folder import, with the file."""
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], file.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield node.module.partition(".")[0], file.name


def test_there_are_backends_for_cpu_and_meta():
    assert {"cpu", "meta"} <= set(BACKENDS)


@each_backend
def test_each_backend_is_a_distribution_named_after_its_device(device):
    described = project(BACKENDS[device])
    assert described["name"] == f"mindtorch-{device}"
    assert any(d.startswith("mindtorch-core") for d in described["dependencies"])
    assert package(device)[1].is_dir()


@each_backend
def test_each_backend_is_found_by_its_entry_point(installed):
    (found,) = entry_points(group=GROUP, name=installed)
    assert found.dist.name == f"mindtorch-{installed}"
    assert found.module.partition(".")[0] == package(installed)[0]
    assert installed in [status.name for status in plugins.backends()]


@each_backend
def test_each_backend_has_tests_of_its_own(device):
    assert list((BACKENDS[device] / "tests").rglob("test_*.py"))


@each_backend
@pytest.mark.parametrize("part", ["ops", "creation", "runtime"])
def test_each_backend_holds(part, installed):
    plugins.load(installed)
    name, folder = package(installed)
    module = importlib.import_module(f"{name}.{part}")
    assert Path(module.__file__).is_relative_to(folder)


@each_backend
def test_each_backend_says_which_device_it_serves(installed):
    row = plugins.load(installed)
    assert row.type == installed
    assert row.distribution.startswith(f"mindtorch-{installed} ")
    (status,) = [s for s in plugins.backends() if s.name == installed]
    assert (status.state, status.device) == ("loaded", installed)


@each_backend
def test_a_backends_kernels_are_on_record_as_its_own(installed):
    row = plugins.load(installed)
    key = torch.DispatchKey(row.key)
    record = registry.get("add").record(key)
    assert record.distribution == row.distribution


@each_backend
def test_no_backend_imports_another(device):
    own, folder = package(device)
    others = {f"mindtorch_{other}" for other in BACKENDS} - {own}
    assert [pair for pair in imported(folder) if pair[0] in others] == []


def test_the_core_imports_no_backend():
    backends = {f"mindtorch_{device}" for device in BACKENDS}
    core = list(imported(ROOT / "mindtorch_core"))
    assert core
    assert [pair for pair in core if pair[0] in backends] == []


@each_backend
def test_what_backends_share_lives_in_the_core(installed):
    # The shape rules and the gradients: a backend brings kernels and its runtime.
    own, _ = package(installed)
    plugins.load(installed)
    defined = [e.definition for e in registry if e.definition is not None]
    assert defined
    for d in defined:
        for fn in (d.rule, *(d.grad.values() if isinstance(d.grad, dict) else ())):
            module = getattr(fn, "__module__", None) or ""
            assert not module.startswith(own), f"{d.name}: {module}"
