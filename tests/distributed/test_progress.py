"""Calls of a communicator run in the order in which they were queued, whoever moves them on."""

import threading

import pytest

from mindtorch_core.communication import Lane, Progress, Task


@pytest.fixture
def progress():
    made = Progress("test")
    yield made
    made.stop()


def task(progress, lane, steps, *, now):
    made = Task(progress)
    made.steps = steps
    progress.queue(made, lane, now=now)
    return made


def test_a_call_that_is_waited_for_ends_as_it_is_queued_where_it_can(progress):
    order = []

    def steps():
        yield True
        order.append("step")

    assert task(progress, Lane(), steps(), now=True).done
    assert order == ["step"]


def test_a_call_that_has_begun_stays_before_one_that_comes_meanwhile(progress):
    lane, order, later = Lane(), [], []

    def second():
        yield from ()
        order.append("second")

    def first():
        later.append(task(progress, lane, second(), now=False))
        yield False
        yield False
        order.append("first")

    begun = task(progress, lane, first(), now=True)
    begun.wait()
    later[0].wait()
    assert order == ["first", "second"]


def test_a_call_that_is_waited_for_comes_after_those_under_way(progress):
    lane, order, may_end = Lane(), [], threading.Event()

    def first():
        while not may_end.is_set():
            yield False
        order.append("first")

    def second():
        yield from ()
        order.append("second")

    task(progress, lane, first(), now=False)
    waited = task(progress, lane, second(), now=True)
    assert not waited.done
    may_end.set()
    waited.wait()
    assert order == ["first", "second"]


def test_an_interrupt_of_a_call_that_is_waited_for_leaves_the_others_their_way(progress):
    lane = Lane()

    def interrupted():
        yield False
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        task(progress, lane, interrupted(), now=True)

    def steps():
        yield True

    task(progress, lane, steps(), now=False).wait()
