"""The kit finds backends that leave something behind: when they are unloaded, or fail to load."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mindtorch_core.testing.conformance.round_trip import COMMAND, NOT_INSTALLED

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
ABOVE = [path for path in (os.environ.get("PYTHONPATH"),) if path]

# A distribution around the bare backend, with something before its registrations and behind them.
PLUGIN = """
import os

import mindtorch_core as torch
from bare_backend.kernels import KERNELS
from bare_backend.plugin import mindtorch_backend
from bare_backend.runtime import RUNTIME
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.library import cpu_fallback
from mindtorch_core.opdefs.define import op
from mindtorch_core.plugins import hookimpl

@hookimpl
def mindtorch_register(key):
{before}
    for name, kernel in KERNELS.items():
        registry.register_kernel(name, key, kernel)
    registry.register_fallback(key, cpu_fallback)
{behind}
"""

LATE_KERNEL = """
right = RUNTIME.allocate
def allocate(nbytes, on):
    if "late" not in vars(RUNTIME):
        RUNTIME.late = registry.register_kernel("sinh", key, KERNELS["exp"])
    return right(nbytes, on)
RUNTIME.allocate = allocate
"""
LATE_OP = LATE_KERNEL.replace(
    'registry.register_kernel("sinh", key, KERNELS["exp"])',
    'registry.register_schema("bare::late", "bare::late(Tensor self) -> Tensor")',
)
# What is wrong, and what the kit has to say of it.
MUTANTS = {
    "kernels registered at the first use stay": (
        LATE_KERNEL, "unloading bare leaves kernels: aten::sinh at PrivateUse1",
    ),
    "ops defined at the first use stay": (LATE_OP, "unloading bare leaves ops: bare::late"),
    "a patched method stays": (
        "torch.Tensor.bare = lambda self: self.to('bare')",
        "unloading bare leaves names in torch.Tensor: bare",
    ),
    "a patched function stays": (
        "torch.on_bare = lambda t: t.to('bare')",
        "unloading bare leaves names in torch: on_bare",
    ),
    "a kernel of the core is removed": (
        "relu = registry.entry('relu')\nfor each in relu.records:\n    relu.put(each, ())",
        "unloading bare takes kernels that were there before: aten::relu at",
    ),
    "a failed loading leaves its patch": (
        "torch.Tensor.half_way = lambda self: self\n"
        "---\n"  # reached by a loading that succeeds
        "registry.note(lambda: delattr(torch.Tensor, 'half_way'))",
        "a loading that fails half-way leaves names in torch.Tensor: half_way",
    ),
    "the second loading differs": (
        "if 'again' not in os.environ: registry.register_kernel('sinh', key, KERNELS['exp'])\n"
        "os.environ['again'] = '1'",
        "loading a second time takes kernels that were there before: aten::sinh at PrivateUse1",
    ),
}  # fmt: skip


@pytest.fixture
def round_trip(tmp_path):
    """Makes a distribution with a fault, and runs the kit's round trip on it."""

    def run(fault, entry="bare"):
        package = tmp_path / "mindtorch_variant"
        package.mkdir()
        (package / "__init__.py").touch()
        before, _, behind = fault.partition("---\n")
        text = PLUGIN.replace("{before}", textwrap.indent(before, "    "))
        text = text.replace("{behind}", textwrap.indent(behind, "    "))
        (package / "plugin.py").write_text(text)
        info = tmp_path / "mindtorch_variant-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: mindtorch-variant\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(
            "[mindtorch.backends]\nbare = mindtorch_variant.plugin\n"
        )
        env = {**os.environ, "MINDTORCH_BACKENDS": "cpu,meta,bare"}
        env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(TESTS), *ABOVE])
        return subprocess.run(
            [sys.executable, "-c", COMMAND, "bare", entry],
            env=env, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    return run


def test_a_backend_without_a_fault_passes(round_trip):
    done = round_trip("pass")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_backend_that_is_not_found(round_trip):
    assert round_trip("pass", entry="bore").returncode == NOT_INSTALLED


@pytest.mark.parametrize("name", MUTANTS)
def test_what_is_left_behind_is_named(round_trip, name):
    fault, tells = MUTANTS[name]
    done = round_trip(fault)
    assert done.returncode == 1
    assert tells in done.stderr.splitlines()[-1]
