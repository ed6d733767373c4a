"""Libraries written for the array API standard, given tensors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import array_api as xp

pytestmark = pytest.mark.slow

np = pytest.importorskip("numpy")

PROGRAMS = Path(__file__).parent / "programs"


def test_array_api_compat_finds_the_namespace():
    compat = pytest.importorskip("array_api_compat")
    x = torch.ones(3, 2)
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert compat.array_namespace(x, api_version=version) is xp
    assert compat.array_namespace(x, x, 1.5, None) is xp
    assert compat.is_array_api_obj(x)
    assert not compat.is_torch_array(x)
    assert not compat.is_numpy_array(x)
    assert compat.size(x) == 6
    assert compat.device(x) == x.device
    assert compat.to_device(x, "meta").device.type == "meta"
    assert compat.is_writeable_array(x)
    assert not compat.is_lazy_array(x)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, np.ones(2))


def test_einops():
    einops = pytest.importorskip("einops.array_api")
    a = np.arange(24.0).reshape(2, 3, 4)
    x = torch.asarray(a)
    assert (
        einops.rearrange(x, "a b c -> c (a b)").tolist()
        == a.transpose(2, 0, 1).reshape(4, 6).tolist()
    )
    assert einops.reduce(x, "a b (c d) -> a c", "mean", d=2).shape == (2, 2)
    assert einops.reduce(x, "a b c -> b", "sum").tolist() == a.sum((0, 2)).tolist()
    assert einops.repeat(x, "a b c -> a (b r) c", r=2).shape == (2, 6, 4)
    packed, sizes = einops.pack([x, x[:, 0]], "a * c")
    first, second = einops.unpack(packed, sizes, "a * c")
    assert (first.tolist(), second.tolist()) == (x.tolist(), x[:, 0].tolist())


@pytest.mark.parametrize("library", ["sklearn", "scipy"])
def test_programs(library):
    """In a process of its own: SciPy reads its setting when it is imported."""
    pytest.importorskip(library)
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / f"use_{library}.py")],
        capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    agreed = [line for line in done.stdout.splitlines() if line.endswith(" agrees")]
    assert len(agreed) >= {"sklearn": 30, "scipy": 25}[library], done.stdout
