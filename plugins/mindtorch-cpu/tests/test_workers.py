"""Threads that share out work: every item once, the first error raised, nobody at work afterwards."""

import threading
import time
from collections import Counter

import pytest

import mindtorch_core as torch
from mindtorch_cpu.workers import share_out


@pytest.fixture(autouse=True)
def several_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    yield
    torch.set_num_threads(before)


def test_every_item_is_worked_on_once_by_several_threads():
    done, at_once = Counter(), threading.Barrier(4)
    threads = set()

    def work(item):
        if item < 4:
            at_once.wait(20)  # four threads are there
        threads.add(threading.get_ident())
        done[item] += 1

    for count in (8, 9, 100):
        done.clear()
        share_out(work, range(count))
        assert done == Counter(range(count))
    assert len(threads) >= 4
    assert threading.get_ident() in threads


@pytest.mark.parametrize("elsewhere", [True, False])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_an_error_of_any_thread_is_raised_when_all_have_stopped(error, elsewhere):
    caller, failed, begun, at_work = threading.get_ident(), threading.Event(), [], set()

    def work(item):
        me = threading.get_ident()
        begun.append(item)
        at_work.add(me)
        if (me != caller) == elsewhere and not failed.is_set():
            failed.set()
            at_work.remove(me)
            raise error("no luck")
        assert failed.wait(20)
        time.sleep(0.001)  # so that the error is kept before there are no items left
        at_work.remove(me)

    with pytest.raises(error, match="no luck"):
        share_out(work, range(1000))
    assert not at_work
    assert len(begun) < 1000  # no item is begun after it, but those that others had taken
    done = []
    share_out(done.append, range(50))
    assert sorted(done) == list(range(50))


def test_the_first_error_is_raised():
    turns, first = threading.Barrier(2), threading.Event()

    def work(item):
        turns.wait(20)
        if threading.get_ident() == caller:
            assert first.wait(20)
            raise ValueError("second")
        first.set()
        raise ValueError("first")

    caller = threading.get_ident()
    torch.set_num_threads(2)
    with pytest.raises(ValueError, match="first") as found:
        share_out(work, range(4))
    assert found.value.__context__ is None


def test_work_within_work_stays_in_its_thread():
    at_once, threads = threading.Barrier(2), []

    def work(item):
        at_once.wait(20)
        inner = set()
        share_out(lambda _: (inner.add(threading.get_ident()), time.sleep(0.001)), range(20))
        threads.append((threading.get_ident(), inner))

    share_out(time.sleep, [0.001] * 8)  # there are threads that have nothing to do
    torch.set_num_threads(2)
    caller = threading.Thread(target=share_out, args=(work, range(4)), daemon=True)
    caller.start()
    caller.join(30)  # it would wait for itself
    assert len({me for me, _ in threads}) == 2
    assert all(inner == {me} for me, inner in threads)


@pytest.mark.parametrize(("count", "threads"), [(0, 4), (1, 4), (3, 4), (100, 1)])
def test_little_work_is_done_by_the_caller(count, threads):
    torch.set_num_threads(threads)
    done = []
    share_out(lambda item: done.append((item, threading.get_ident())), range(count))
    assert done == [(item, threading.get_ident()) for item in range(count)]
