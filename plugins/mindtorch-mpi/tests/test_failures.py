"""What goes wrong between ranks is an error on each that is left: who, what, where."""

import re
import time
from pathlib import Path

import pytest


def test_calls_that_do_not_go_together(ranks):
    done = ranks(3, "mismatches.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 3


@pytest.mark.parametrize(
    ("mode", "status", "text"),
    [
        ("kill", 137, "rank 1 is gone: its process has died"),
        ("raise", 1, "rank 1 is gone: raised KeyError: 'mine' at .*failures.py:"),
        ("end", 0, "rank 1 has ended without this call"),
        ("late", 0, "not done after 3 s: rank 1 did not come|has given up waiting for rank 1"),
    ],
)
def test_a_rank_that_does_not_come(ranks, mode, status, text):
    done = ranks(3, "failures.py", mode)
    assert done.returncode == status, (done.stdout, done.stderr)
    for rank in (0, 2):
        (line,) = re.findall(rf"\[{rank}\] after (.*)", done.stdout)
        assert re.search(text, line), line
        assert "s: 1 all_reduce 2 " in line
        assert float(line.split()[0]) < (5 if mode == "late" else 3)
        assert f"[{rank}] then 1" in done.stdout
    if mode in ("kill", "raise"):
        first = next(line for line in done.stderr.split("\n") if "wait for each other" not in line)
        assert first.startswith("mindtorch run: rank 1 failed first, with")


@pytest.mark.parametrize(("mode", "status"), [("waiting", 7), ("busy", 1)])
def test_the_cause_is_named_and_no_process_is_left(ranks, tmp_path, mode, status):
    done = ranks(2, "ends.py", mode, tmp_path)
    assert done.returncode == status, done.stderr
    assert f"rank 1 failed first, with exit status {status}" in done.stderr
    assert ("rank 1 has ended without this call" in done.stderr) == (mode == "waiting")
    pid, end = int((tmp_path / "pid").read_text()), time.monotonic() + 15
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
