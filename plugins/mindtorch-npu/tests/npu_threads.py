"""Threads, for the tests of what several of them do at once."""

import threading


def in_threads(work, count=4, timeout=500):
    """Call a function in threads, with their numbers; raise what one of them raised.

    Args:
        work: the function.
        count: how many threads there are.
        timeout: the seconds after which a thread counts as stuck.
    """
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 (raised again below)
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


class WatchedLock:
    """A lock for `with` that tells when a thread waits for it.

    Attributes:
        awaited: set once one waits.
    """

    def __init__(self):
        self.lock = threading.RLock()
        self.awaited = threading.Event()

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.awaited.set()
            self.lock.acquire()

    def __exit__(self, *error):
        self.lock.release()
