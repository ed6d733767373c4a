"""Threads doing everything at once, and forks in the midst of it: right values, and nothing hangs."""

import os

import pytest
from attack import SECONDS, alone, first_seed, told

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_threads_and_forks():
    script = """
    import sys, threads_and_forks as m
    m.main(int(sys.argv[1]), float(sys.argv[2]))
    """
    seed = first_seed()
    try:
        alone(script, seed, SECONDS or 5)
    except AssertionError as error:
        pytest.fail(told(seed, error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_fork_while_another_thread_holds_every_lock():
    alone("import threads_and_forks as m\nm.fork_while_all_is_locked()")


def test_a_spawned_process():
    alone("import threads_and_forks as m\nif __name__ == '__main__': m.spawned()")
