"""The core installed on its own: no NumPy, no backend, and an error that says what is missing."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OFFLINE = ("NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "ProxyError")


def run(python, *arguments):
    """Run an interpreter that sees neither the checkout nor this process's settings."""
    return subprocess.run(
        [str(python), "-I", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of a fresh environment that holds the core and nothing else."""
    venv = tmp_path_factory.mktemp("core") / "venv"
    made = run(sys.executable, "-m", "venv", venv)
    assert made.returncode == 0, made.stderr
    scripts = sysconfig.get_path("scripts", "venv", {"base": venv, "installed_base": venv})
    python = Path(scripts) / "python"
    installed = run(python, "-m", "pip", "install", "--disable-pip-version-check", ROOT)
    if installed.returncode and any(sign in installed.stderr for sign in OFFLINE):
        pytest.skip("building the distribution needs a package index, and none can be reached")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return python


def check(python, script):
    done = run(python, "-W", "error", "-c", script)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_core_needs_no_numpy(python):
    check(
        python,
        """
import importlib.util
assert importlib.util.find_spec("numpy") is None
import mindtorch_core as torch
assert "site-packages" in torch.__file__, torch.__file__
assert torch.__version__
assert torch.Size([2, 3]).numel() == 6
assert torch.promote_types(torch.int32, torch.float32) is torch.float32
""",
    )


def test_without_a_backend_the_error_says_what_to_install(python):
    check(
        python,
        """
import mindtorch_core as torch
for device, call in {
    "cpu": lambda: torch.ones(2),
    "meta": lambda: torch.tensor([1.0], device="meta"),
    "npu": lambda: torch.ones(2, device="npu"),
}.items():
    try:
        call()
    except torch.BackendUnavailableError as error:
        assert f"pip install mindtorch-{device}" in str(error), error
    else:
        raise AssertionError(device)
""",
    )


def test_the_registry_knows_the_ops_without_kernels(python):
    check(
        python,
        """
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
entry = registry.get("add")
assert entry.schema.name == "add"
assert DispatchKey.CPU not in entry.kernels
""",
    )


def test_the_command_works_without_a_backend(python):
    command = python.parent / "mindtorch"

    def ask(*arguments):
        return subprocess.run(
            [str(command), *arguments], capture_output=True, text=True, timeout=300, check=False
        )

    assert ask("--version").stdout.startswith("mindtorch ")
    explained = ask("explain", "exp", "--device", "CPU")
    assert "Could not run 'aten::exp'" in explained.stdout, explained.stderr
    refused = ask("explain", "exp")
    assert refused.returncode == 2
    assert "pip install mindtorch-cpu" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_new_backend_is_written_by_what_is_installed(python, tmp_path):
    """Its templates are data files, which a distribution may forget."""
    command = [str(python.parent / "mindtorch"), "new-backend", "zap", "--directory", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "mindtorch-zap"
    assert (folder / ".github" / "workflows" / "ci.yml").is_file()
    check(
        python,
        f"""
import sys
sys.path.insert(0, {str(folder / "src")!r})
from mindtorch_zap import plugin
assert plugin.mindtorch_backend().device == "zap"
assert len(plugin.KERNELS) >= 3
""",
    )
