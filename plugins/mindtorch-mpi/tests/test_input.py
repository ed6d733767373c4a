"""What processes of a job read: rank 0 the terminal, and nobody a pipe."""

import fcntl
import os
import pty
import subprocess
import sys
import termios

import pytest

PROGRAM = """
import os
import torch.distributed as dist

dist.init_process_group("mpi")
here = 5 + dist.get_rank()
dist.breakpoint()
print("after", dist.get_rank())
dist.destroy_process_group()
"""


@pytest.mark.usefixtures("ranks")  # which skip where there is no MPI
def test_a_debugger_on_rank_0_reads_the_terminal(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "mindtorch_core", "run", "-n", "2", str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    try:
        os.write(ours, b"up\np here * 11\nc\n")
        shown = running.communicate(timeout=58)[0]
    finally:
        running.kill()
        os.close(ours)
        os.close(theirs)
    assert running.returncode == 0, shown
    assert "55\n" in shown
    assert shown.count("after ") == 2


def test_a_pipe_is_left_to_who_comes_next():
    command = f"{sys.executable} -m mindtorch_core run -n 2 -c pass; cat"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        input="a line\n", capture_output=True, text=True, timeout=58, check=False,
    )  # fmt: skip
    assert done.stdout == "a line\n", done.stderr
