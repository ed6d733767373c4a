"""A call whose time is over while its monitors look: they are asked once more, since they know whose fault it is."""

import time

import pytest

from mindtorch_core.communication import calls


def test_monitors_are_asked_when_the_time_is_over(monkeypatch):
    call = calls.Call("all_reduce", 1, "world", (0, 1), 0, seconds=1000.0)
    clock = [time.monotonic()]
    monkeypatch.setattr(calls.time, "monotonic", lambda: clock[0])

    def monitor(asked):
        if clock[0] > asked.deadline:
            return asked.error("rank 1 did not come", 1)
        clock[0] += 2000.0  # as where the machine has other things to do
        return None

    monkeypatch.setattr(calls, "MONITORS", [monitor])
    call.check()
    with pytest.raises(calls.DistributedError, match="rank 1 did not come"):
        call.check()


def test_without_monitors_the_time_ends_it(monkeypatch):
    monkeypatch.setattr(calls, "MONITORS", [])
    call = calls.Call("all_reduce", 1, "world", (0, 1), 0, seconds=-1.0)
    with pytest.raises(calls.DistributedError, match="not done after -1 s"):
        call.check()
