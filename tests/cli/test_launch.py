"""``python -m torch.distributed.launch``: scripts hear their local rank, as PyTorch tells it."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
import beside
told = "got", __name__, os.path.basename(sys.argv[0]), *sys.argv[1:], os.environ["LOCAL_RANK"]
os.write(1, (" ".join(told) + chr(10)).encode())  # at once: the processes share the pipe
"""


def launched(folder, *arguments, start=("mindtorch_core", "run", "-m")):
    """Status, what scripts have printed, and what was said otherwise."""
    (folder / "program.py").write_text(PROGRAM)
    (folder / "beside.py").touch()
    done = subprocess.run(
        [sys.executable, "-m", *start, "torch.distributed.launch", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=58, check=False, cwd=folder,
    )  # fmt: skip
    said = sorted(line for line in done.stdout.splitlines() if line.startswith("got"))
    return done.returncode, said, done.stderr


@pytest.mark.parametrize(
    "options",
    [["program.py"], ["--use-env", "program.py"], ["-m", "program"]],
    ids=" ".join,
)
def test_what_a_script_is_told(tmp_path, options):
    pytest.importorskip("torch")
    given = ["--nproc-per-node=2", *options, "--x", "3"]
    status, said, errors = launched(tmp_path, *given)
    assert status == 0, errors
    assert len(said) == 2
    assert (0, said) == launched(tmp_path, *given, start=())[:2]
    assert "FutureWarning: torch.distributed.launch is deprecated" in errors


def test_a_command_that_is_no_script_hears_no_rank(tmp_path):
    status, _, errors = launched(tmp_path, "--no-python", "true")
    assert status == 2
    assert "you must also set the '--use-env' flag" in errors
