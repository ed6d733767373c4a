"""What `Pipeline.stats` counts: what made a pipeline flush, and the time of each stage."""

import pickle
import threading

import numpy as np
import pytest

import mindtorch_core as torch

READS = {
    "item()": lambda c: c.item(),
    "tolist()": lambda c: c.tolist(),
    "numpy()": lambda c: c.numpy(),
    "array()": np.asarray,
    "dlpack()": np.from_dlpack,
    "repr()": str,
    "bool()": lambda c: 1 if c else 0,
    "float()": float,
    "int()": int,
    "cpu()": lambda c: c.cpu(),
    "to()": lambda c: c.to("cpu"),
    "data_ptr()": lambda c: c.data_ptr(),
    "synchronize()": lambda c: torch.cpu.synchronize(),
    "equal()": lambda c: torch.equal(c, c),
    "pickling": pickle.dumps,
    "backward()": lambda c: (torch.ones(1, requires_grad=True) * c).backward(),
    "grad()": lambda c: torch.autograd.grad((x := torch.ones(1, requires_grad=True)) * c, x),
    "flush()": lambda c: torch.current_pipeline().flush(),
}


@pytest.mark.parametrize("reason", READS)
def test_a_read_is_counted_by_what_the_user_called(reason):
    with torch.pipeline() as pipe:
        READS[reason](torch.ones(1) + 1)
        before_the_end = pipe.stats()["flush_reasons"]
    assert before_the_end == {reason: 1}


def test_reading_again_is_no_flush():
    with torch.pipeline() as pipe:
        made = torch.ones(1) + 1
        made.item()
        made.tolist()
        pipe.flush()
    assert pipe.stats()["flush_reasons"] == {"item()": 1}


def test_the_end_of_the_block_counts_if_something_is_left():
    with torch.pipeline() as pipe:
        torch.ones(1) + 1
    assert pipe.stats()["flush_reasons"] == {"end of block": 1}


def test_bounds_are_counted_apart():
    with torch.pipeline(max_ops=2) as pipe:
        kept = [torch.ones(4) + i for i in range(3)]
    assert len(kept) == 3
    assert pipe.stats()["flush_reasons"] == {"max_ops": 2, "end of block": 1}
    x = torch.ones(4)
    with torch.pipeline(max_bytes=16) as pipe:
        kept = [x + i for i in range(3)]
    assert pipe.stats()["flush_reasons"] == {"max_bytes": 2, "end of block": 1}


def test_views_and_writes_keep_to_the_bounds_too():
    x = torch.ones(4)
    with torch.pipeline(max_ops=1) as pipe:
        x.add_(1)
        x[1:].mul_(2)
    assert pipe.stats()["flush_reasons"] == {"max_ops": 2, "end of block": 1}
    assert x.tolist() == [2, 4, 4, 4]


def test_an_op_that_cannot_be_deferred_says_why():
    with torch.pipeline() as pipe:
        made = torch.tensor([0.0, 1.0]) + 0
        torch.nonzero(made)
    why = "aten::nonzero: shape depends on data"
    assert pipe.stats()["flush_reasons"] == {f"break: {why}": 1}
    assert pipe.stats()["breaks"] == {why: 1}


def test_a_break_with_nothing_pending_is_no_flush():
    with torch.pipeline() as pipe:
        torch.nonzero(torch.tensor([0.0, 1.0]))
    assert pipe.stats()["flush_reasons"] == {}
    assert sum(pipe.stats()["breaks"].values()) == 1


def test_another_thread_and_another_pipeline():
    with torch.pipeline() as pipe:
        made = torch.ones(1) + 1
        reader = threading.Thread(target=made.item)
        reader.start()
        reader.join()
        other = torch.ones(1) + 2
        with torch.pipeline():
            inner = other * 2
    assert inner.item() == 6
    assert pipe.stats()["flush_reasons"] == {"another thread": 1, "another pipeline": 1}


def test_reasons_add_up_to_flushes():
    with torch.pipeline(max_ops=3) as pipe:
        x = torch.ones(2)
        for _ in range(5):
            x = x * 2 + 1
            x.sum().item()
    stats = pipe.stats()
    assert sum(stats["flush_reasons"].values()) == stats["flushes"] > 5


def test_seconds_of_recording_only_where_it_is_traced():
    with torch.pipeline() as pipe:
        x = torch.ones(2) + 1
    assert set(pipe.stats()["seconds"]) == {"plan", "launch"}
    with torch.pipeline(trace=True) as pipe:
        x = x + 1
        x = x + 2
    seconds = pipe.stats()["seconds"]
    assert set(seconds) == {"plan", "launch", "record"}
    assert all(value > 0 for value in seconds.values())


def test_tracing_changes_no_count_and_no_result():
    def run(trace):
        x = torch.arange(512 * 512).reshape(512, 512) / 7
        with torch.pipeline(trace=trace) as pipe:
            y = (x * 2).relu()
            unseen = y.exp()
            del unseen
            z = (y + 1).sqrt()
            z.mul_(0.5)
            z = z.sum(1)
            total = z.sum().item()
        stats = pipe.stats()
        del stats["seconds"], stats["plan_cache_hits"]
        return total, z.tolist(), stats

    assert run(True) == run(False)
    assert run(True)[2]["dropped"] == 1
    assert run(True)[2]["fused_groups"] == 1
