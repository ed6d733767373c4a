"""What goes wrong between ranks is an error on each that is left: who, what, where."""

import re
import signal
import time
from pathlib import Path

import pytest


def test_calls_that_do_not_go_together(ranks):
    done = ranks(3, "mismatches.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 3


def test_ranks_that_wait_in_another_group_say_so(ranks):
    done = ranks(3, "elsewhere.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 3


def test_messages_concern_two_ranks(ranks):
    done = ranks(3, "messages.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 3


@pytest.mark.parametrize(
    ("mode", "status", "texts"),
    [
        ("kill", 137, {"all_reduce": "rank 1 is gone: its process has died"}),
        ("kill", 137, {"monitored_barrier": "rank 1 is gone: its process has died"}),
        (
            "raise",
            1,
            {"all_reduce": "rank 1 is gone: raised KeyError: 'mine' at .*failures.py:"},
        ),
        ("end", 0, {"all_reduce": "rank 1 has ended without this call"}),
        (
            "late",
            0,
            {
                "all_reduce": "not done after 2 s: rank 1 did not come|has given up waiting",
                "monitored_barrier": "Ranks 1 failed to pass monitoredBarrier in 2000 ms",
            },
        ),
        # What it gives would be taken by nobody.
        (
            "late",
            0,
            dict.fromkeys(
                ("broadcast", "scatter", "gather", "reduce"),
                "not done after 2 s: rank 1 did not come|has given up waiting",
            ),
        ),
    ],
)
def test_a_rank_that_does_not_come(ranks, mode, status, texts):
    done = ranks(3, "failures.py", mode, *texts, grace=40)
    assert done.returncode == status, (done.stdout, done.stderr)
    assert "no error" not in done.stdout
    for rank in (0, 2):
        lines = re.findall(rf"\[{rank}\] heard after (.*)", done.stdout)
        for line, (op, text) in zip(lines, texts.items(), strict=True):
            assert re.search(text, line), line
            assert f"s: 1 {op} " in line
            assert float(line.split()[0]) < 40  # of 50: nobody has waited for the deadline
            if op != "monitored_barrier" or mode == "kill":
                assert f"[{rank}] then 1 {op}" in done.stdout
    if mode in ("kill", "raise"):
        first = next(line for line in done.stderr.split("\n") if "wait for each other" not in line)
        assert first.startswith("mindtorch run: rank 1 failed first, with")


@pytest.mark.parametrize(("mode", "status", "grace"), [("waiting", 7, 40), ("busy", 1, 2)])
def test_the_cause_is_named_and_no_process_is_left(ranks, tmp_path, mode, status, grace):
    done = ranks(2, "ends.py", mode, tmp_path, grace=grace)
    assert done.returncode == status, done.stderr
    assert f"rank 1 failed first, with exit status {status}" in done.stderr
    assert ("rank 1 has ended without this call" in done.stderr) == (mode == "waiting")
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_rank_that_ends_too_early_is_named_and_not_who_waits_for_it(ranks, tmp_path):
    done = ranks(2, "ends.py", "too early", tmp_path, grace=40)
    assert done.returncode == 1, done.stderr
    assert "rank 1 ended first, with exit status 0, while rank 0 waited for it" in done.stderr
    assert "failed first" not in done.stderr


def test_a_rank_that_ends_before_it_has_begun_is_not_waited_for(ranks, tmp_path):
    done = ranks(2, "ends.py", "before it begins", tmp_path, grace=1)
    assert done.returncode == 137, done.stderr
    assert "rank 1 ended first, with exit status 0, while rank 0 waited for it" in done.stderr


@pytest.mark.parametrize(
    ("late", "texts"),
    [
        (1, dict.fromkeys("012", "DistStoreError: .* 2/3 clients joined: rank 1 did not come")),
        (
            0,
            {
                **dict.fromkeys(
                    "12", "DistNetworkError: .*; rank 0, which serves the store, did not come"
                ),
                "0": "DistStoreError: .* 1/3 clients joined: ranks 1, 2 did not come to init",
            },
        ),
    ],
)
def test_nobody_waits_for_a_rank_to_begin_for_longer_than_was_said(ranks, tmp_path, late, texts):
    done = ranks(3, "late_beginning.py", "mpi", late, tmp_path)
    assert done.returncode == 0, (done.stdout, done.stderr)
    for rank, text in texts.items():
        (line,) = re.findall(rf"\[{rank}\] (.*)", done.stdout)
        assert re.match(text, line), line


def test_a_rank_that_is_stopped_ends_when_the_others_have(ranks, tmp_path):
    done = ranks(2, "ends.py", "stopped", tmp_path, grace=1)
    assert done.returncode == 137, done.stderr
    pid = int((tmp_path / "pid").read_text())
    assert (
        f"rank 1 (process {pid}) is stopped by a signal, and all others have ended" in done.stderr
    )
    assert is_gone(pid)


@pytest.mark.parametrize("what", ["all_reduce", "recv"])
def test_memory_of_a_call_that_is_interrupted_stays_mpis(ranks, what):
    done = ranks(2, "interrupted.py", what)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == 2


def is_gone(pid):
    """Whether a process ends; it may be a zombie that nobody has asked for yet."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        status = Path(f"/proc/{pid}/status")
        try:
            if "State:\tZ" in status.read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_launcher(ranks, tmp_path, number):
    launcher = ranks.start(2, "ends.py", "busy forever", tmp_path)
    try:
        end = time.monotonic() + 50
        while len(list(tmp_path.glob("pid*"))) < 2 and time.monotonic() < end:
            assert launcher.poll() is None
            time.sleep(0.05)
        pids = [int(each.read_text()) for each in tmp_path.glob("pid*")]
        assert len(pids) == 2
        launcher.send_signal(number)
        launcher.wait(30)
        assert all(map(is_gone, pids))
    finally:
        launcher.kill()
        launcher.wait()
