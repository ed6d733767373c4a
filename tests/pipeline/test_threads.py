"""Pipelines and threads: each has its own, and any may read what another one's block has pending."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.pipeline import current_pipeline


def test_threads_have_pipelines_of_their_own():
    barrier = threading.Barrier(4, timeout=60)

    def work(number):
        x = torch.full((64,), float(number))
        with torch.pipeline() as pipe:
            for _ in range(50):
                x = x * 0.5 + number
            barrier.wait()
            assert current_pipeline() is pipe
            assert x._pending is True
            counted = pipe.stats()["recorded"]
        return counted, x[0].item()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert [counted for counted, _ in found] == [100] * 4
    assert [value for _, value in found] == pytest.approx([2 * n for n in range(4)])


def test_workers_may_read_what_an_open_block_has_pending():
    with torch.pipeline() as pipe, ThreadPoolExecutor(4) as pool:
        for step in range(20):
            made = [torch.full((8,), float(i)) * 2 + step for i in range(8)]
            used = list(pool.map(lambda t: (t * 10).sum().item(), made))
            assert used == [80 * (2 * i + step) for i in range(8)]
        assert set(pipe.stats()["flush_reasons"]) == {"another thread"}


def test_who_reads_as_the_block_ends_waits_for_what_it_writes():
    class Late:
        """A lock that whoever ends the block gets once the reader had its turn."""

        def __init__(self, lock, reader):
            self.lock, self.reader, self.owner = lock, reader, threading.get_ident()

        def __enter__(self):
            if threading.get_ident() == self.owner and self.reader.ident is None:
                self.reader.start()
                self.reader.join(10)
            return self.lock.__enter__()

        def __exit__(self, *exc_info):
            return self.lock.__exit__(*exc_info)

    kept, found = torch.zeros(4), []
    reader = threading.Thread(target=lambda: found.append(kept.tolist()))
    with torch.pipeline() as pipe:
        kept.copy_(torch.ones(4) + 1)
        pipe.lock = Late(pipe.lock, reader)
    assert found == [[2.0] * 4]


def test_a_block_goes_on_recording_while_other_threads_flush_it():
    stop = threading.Event()
    errors = []
    with torch.pipeline() as pipe:

        def keep_flushing():
            try:
                while not stop.is_set():
                    pipe.flush()
            except Exception as error:  # noqa: BLE001
                errors.append(error)

        others = [threading.Thread(target=keep_flushing) for _ in range(2)]
        for thread in others:
            thread.start()
        try:
            x, total = torch.zeros(4), torch.zeros(4)
            for step in range(300):
                x = x + 1
                total.add_(x)
                total[1:].mul_(1)
                assert step % 100 or total[0].item() == (step + 1) * (step + 2) / 2
        finally:
            stop.set()
            for thread in others:
                thread.join()
    assert errors == []
    assert (x.tolist(), total.tolist()) == ([300] * 4, [45150] * 4)
