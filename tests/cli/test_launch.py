"""Several processes of one program, where the launcher does not start them."""

import os
import sys

import pytest

from mindtorch_core.cli import launch as launching


@pytest.mark.skipif(os.name == "nt", reason="the launcher is a shell script")
@pytest.mark.parametrize(("status", "expected"), [(0, 1), (3, 3)])
def test_a_launcher_that_starts_nobody_is_a_failure(tmp_path, monkeypatch, capfd, status, expected):
    fake = tmp_path / "mpiexec"
    fake.write_text(f"#!/bin/sh\necho no slots here >&2\nexit {status}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(launching, "mpiexec", lambda *, replaces=False: [str(fake)])
    found = launching.launch([sys.executable, "-c", "pass"], dict(os.environ), 2)
    assert found == expected
    said = capfd.readouterr().err
    assert "rank 0 was not started, or was killed" in said
    assert "no slots here" in said
