"""What a launch holds: no memory behind the last op that reads it."""

import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.pipeline import Plan, Step


class Memory(bytearray):
    """What a backend allocates; it can be followed."""


@pytest.fixture
def most_alive(toy, monkeypatch):
    """How many memories there were at most when one more was allocated."""
    made, most = [], []

    def allocate(self, nbytes, on):
        memory = Memory(nbytes)
        made.append(weakref.ref(memory))
        most.append(sum(ref() is not None for ref in made))
        return memory

    monkeypatch.setattr(toy.ToyRuntime, "allocate", allocate)
    return most


def one_by_one(self, entries):
    return None


def in_steps(self, entries):
    return Plan([Step((i,)) for i in range(len(entries))])


@pytest.mark.parametrize("plan", [one_by_one, in_steps])
def test_memory_that_views_share_is_let_go_behind_its_last_reader(
    toy, monkeypatch, most_alive, plan
):
    monkeypatch.setattr(toy.ToyRuntime, "plan", plan)
    y = torch.ones(2, 3, device="toy")
    with torch.pipeline() as pipe:
        for _ in range(20):
            y = (y + 1).view(6).view(2, 3)
        before = len(most_alive)
        pipe.flush()
    assert len(most_alive) >= before + 20
    assert max(most_alive[before:]) <= 5
    assert y.tolist() == [[21.0] * 3] * 2


@pytest.mark.parametrize("plan", [one_by_one, in_steps])
def test_memory_that_data_has_shown_is_pending_no_more_when_that_is_gone(toy, monkeypatch, plan):
    monkeypatch.setattr(toy.ToyRuntime, "plan", plan)
    y = torch.ones(3, device="toy")
    with torch.pipeline():
        y.data.add_(1)
        assert y._pending
    assert not y._pending
    assert y.tolist() == [2.0, 2.0, 2.0]
