"""The page on communicators: what it writes is a package that passes the kit."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "communicator.md"


def test_the_pages_communicator_passes_the_kit(tmp_path):
    named = re.compile(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", re.S | re.M)
    files = dict(named.findall(PAGE.read_text(encoding="utf-8")))
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    (points,) = project["entry-points"].values()
    info = f"mindtorch_post-{project['version']}.dist-info"  # makes it count as installed
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    files[f"{info}/entry_points.txt"] = "[mindtorch.communicators]\n" + "".join(
        f"{name} = {module}\n" for name, module in points.items()
    )
    files["src/mindtorch_post/__init__.py"] = ""
    for name, text in files.items():
        path = tmp_path / name.removeprefix("src/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch_core", "verify", "--communicator", "post", "-n", "2"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        capture_output=True, text=True, timeout=58, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.splitlines()[-1] == "[0] all checks passed"
