"""What loading one plugin costs beyond its own imports.

    python benchmarks/plugin_loading.py

Each figure is the median over fresh interpreters, in milliseconds. The modules of the plugin, and all
that they import, are imported before the clock starts, so what is measured is the core's part: reading the
entry points, the hooks, the claims, the registrations and their journal. It should stay under 15
milliseconds for a backend. Reading the entry points is shown beside it: it is paid once per process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROUNDS = 11
LIMIT = 15.0  # milliseconds

SCRIPT = """
import importlib, sys, time
import mindtorch_core as torch
from mindtorch_core import plugins
import pluggy, importlib_metadata
from mindtorch_core.plugins import hookimpl
from mindtorch_core.values.devices import row_of
start = time.perf_counter()
found = {status.name: status for status in plugins.backends()}
listed = time.perf_counter() - start
name, module = sys.argv[1:]
importlib.import_module(module)
start = time.perf_counter()
plugins.load(name)
print(1000 * listed, 1000 * (time.perf_counter() - start))
"""


def installed(folder: Path, project: Path) -> tuple[str, str]:
    """Make a project's package count as installed in a folder; its device and its module."""
    described = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    points = described["entry-points"]["mindtorch.backends"]
    package = described["name"].replace("-", "_")
    (folder / package).symlink_to(project / "src" / package)
    info = folder / f"{package}-{described['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {described['name']}\nVersion: {described['version']}\n")
    lines = "".join(f"{name} = {module}\n" for name, module in points.items())
    (info / "entry_points.txt").write_text(f"[mindtorch.backends]\n{lines}")
    ((device, module),) = points.items()
    return device, module


def measured(folder: Path, device: str, module: str) -> tuple[float, float]:
    """Medians of listing the backends and of loading one."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    pairs = []
    for _ in range(ROUNDS):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, device, module],
            env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        pairs.append(tuple(map(float, done.stdout.split())))
    listing, loading = zip(*pairs, strict=True)
    return statistics.median(listing), statistics.median(loading)


def main() -> int:
    """Print the figures; 1 if a plugin takes longer than it should."""
    slow = False
    print(f"{'plugin':<10}{'entry points':>14}{'loading':>10}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        examples = [
            installed(folder, ROOT / "examples" / f"mindtorch-{d}") for d in ("acme", "zed")
        ]
        for device, module in [
            *examples,
            ("cpu", "mindtorch_cpu.plugin"),
            ("meta", "mindtorch_meta.plugin"),
        ]:
            listing, loading = measured(folder, device, module)
            print(f"{device:<10}{listing:>11.1f} ms{loading:>7.1f} ms")
            slow |= loading > LIMIT
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
