"""Compiled code reads and writes nothing outside of its arrays, its results and its scratch memory."""

import subprocess
import sys
from pathlib import Path

import pytest

GUARDED = Path(__file__).parent / "programs" / "guarded.py"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are protected by mprotect")
def test_generated_code_stays_within_its_arrays():
    pytest.importorskip("llvmlite")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(GUARDED)],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "fine"
