"""Where a pipeline meets the rest of Python: forks, generators, copies, the collector."""

import asyncio
import contextlib
import copy
import gc
import os
import pickle
import signal
import threading
import time
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.pipeline import current_pipeline
from mindtorch_cpu import workers

ROWS, COLUMNS = 4, 1 << 19  # rows longer than what one op already shares out over threads


@pytest.fixture
def threads():
    """Put the number of threads back."""
    count = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(count)


def chain(x):
    """Element-wise ops that fuse."""
    return ((x * 3 + 1).sqrt() - 0.5).exp().reciprocal()


def bits(t):
    return t.shape, t.dtype, t.clone().numpy().tobytes()


# ---- bounds -------------------------------------------------------------------------------------


def test_max_bytes_flushes_before_the_next_op():
    x = torch.ones(256)
    with torch.pipeline(max_bytes=2048) as pipe:
        first, second = x + 1, x + 2
        assert (first._pending, second._pending) == (True, True)
        third = x + 3
        assert (first._pending, second._pending, third._pending) == (False, False, True)
    assert pipe.stats()["flush_reasons"] == {"max_bytes": 1, "end of block": 1}
    assert third.sum().item() == 4 * 256


@pytest.mark.parametrize("bound", ["max_ops", "max_bytes"])
@pytest.mark.parametrize("value", [0, -1])
def test_bounds_must_be_positive(bound, value):
    with pytest.raises(ValueError, match=f"{bound} must be at least 1, got {value}"):
        torch.pipeline(**{bound: value})
    assert current_pipeline() is None


@pytest.mark.parametrize("bound", ["max_ops", "max_bytes"])
@pytest.mark.parametrize("value", ["many", None, 1.5, True])
def test_bounds_must_be_ints(bound, value):
    with pytest.raises(TypeError, match=f"{bound} must be an int, got {type(value).__name__}"):
        torch.pipeline(**{bound: value})


# ---- exceptions ---------------------------------------------------------------------------------


def test_what_was_recorded_before_an_exception_is_computed():
    x = torch.ones(2)
    made = []

    def body(pipe):
        with pipe:
            made.append(x + 1)
            x.add_(5)
            raise KeyError("mine")

    pipe = torch.pipeline()
    with pytest.raises(KeyError, match="mine"):
        body(pipe)
    assert (made[0].tolist(), x.tolist()) == ([2, 2], [6, 6])
    assert pipe.stats()["pending"] == 0


def test_the_exception_of_the_body_stays_visible_if_the_launch_fails_too():
    made = []

    def body():
        with torch.pipeline():
            made.append(torch.tensor([1]) // torch.tensor([0]))
            raise KeyError("mine")

    with pytest.raises(torch.PipelineError) as caught:
        body()
    assert caught.value.op == "aten::floor_divide"
    assert isinstance(caught.value.__context__, KeyError)
    assert made[0].shape == (1,)


def test_a_failing_op_leaves_the_pipeline_usable_and_leaks_nothing():
    with torch.pipeline() as pipe:
        a, b = torch.tensor([6, 8]) + 0, torch.tensor([3, 0]) + 0
        quotient = a // b
        double = quotient * 2
        fine = a * 5
        with pytest.raises(torch.PipelineError):
            pipe.flush()
        assert fine.tolist() == [30, 40]
        for lost in (quotient, double):
            with pytest.raises(torch.PipelineError, match="floor_divide"):
                lost.tolist()
        later = fine + 1
        assert later._pending is True
    assert later.tolist() == [31, 41]
    held = [weakref.ref(t) for t in (a, b, quotient, double, fine)]
    del a, b, quotient, double, fine, lost
    gc.collect()
    assert [ref() for ref in held] == [None] * 5


# ---- nesting ------------------------------------------------------------------------------------


def test_an_inner_block_settles_and_the_outer_one_goes_on():
    with torch.pipeline() as outer:
        a = torch.ones(2) + 1
        with torch.pipeline() as inner:
            b = a * 2
            c = torch.ones(2) * 7
        assert (b._pending, c._pending) == (False, False)
        d = b + c
        assert d._pending is True
        assert (inner.stats()["launched"], len(outer.entries)) == (3, 1)
    assert d.tolist() == [11, 11]
    assert outer.stats()["flush_reasons"] == {"another pipeline": 1, "end of block": 1}


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: torch.neg(x, out=x),
        lambda x: x.detach()[1:].zero_(),
        lambda x: x.numpy().fill(9),
        lambda x: x.random_(),
    ],
)
def test_what_an_inner_block_writes_comes_after_what_the_outer_one_reads(write, trace):
    x = torch.tensor([1.0, 2.0, 3.0])
    with torch.pipeline():
        doubled, tiled = x * 2, x.repeat(2)
        with torch.pipeline(trace=trace):
            write(x)
    assert (doubled.tolist(), tiled.tolist()) == ([2, 4, 6], [1, 2, 3, 1, 2, 3])


def test_random_numbers_come_in_program_order_in_nested_blocks():
    def drawn(block):
        torch.manual_seed(3)
        with block():
            first = torch.rand(2)
            with block():
                second = torch.rand(2)
        return first.tolist(), second.tolist()

    assert drawn(torch.pipeline) == drawn(contextlib.nullcontext)


# ---- generators and coroutines ------------------------------------------------------------------


def test_a_suspended_generator_leaves_its_block_open():
    def batches():
        with torch.pipeline():
            for step in range(3):
                yield torch.ones(2) + step

    made = batches()
    first = next(made)
    unrelated = torch.ones(2) * 3
    assert (first._pending, unrelated._pending) == (True, True)
    made.close()
    assert (first._pending, unrelated._pending) == (False, False)
    assert current_pipeline() is None
    assert [t.tolist() for t in batches()] == [[1, 1], [2, 2], [3, 3]]
    assert current_pipeline() is None


def test_generators_may_end_in_any_order():
    def block(number):
        with torch.pipeline() as pipe:
            yield pipe
            yield torch.ones(1) * number

    one, two = block(1), block(2)
    outer, inner = next(one), next(two)
    assert current_pipeline() is inner
    from_outer = next(one)
    one.close()
    assert current_pipeline() is inner
    from_inner = torch.ones(1) * 5
    assert from_inner._pending is True
    two.close()
    assert current_pipeline() is None
    assert (from_outer.item(), from_inner.item(), len(outer.entries)) == (1, 5, 0)


def test_coroutines_that_await_in_their_blocks_get_right_values():
    async def work(number):
        with torch.pipeline():
            x = torch.ones(2) * number
            for _ in range(3):
                await asyncio.sleep(0)
                x = x + 1
        return x.tolist()

    async def both():
        return await asyncio.gather(*(work(n) for n in range(5)))

    assert asyncio.run(both()) == [[n + 3, n + 3] for n in range(5)]
    assert current_pipeline() is None


# ---- the collector ------------------------------------------------------------------------------


def test_pending_tensors_die_with_their_last_reference():
    x = torch.ones(4)
    with torch.pipeline() as pipe:
        made = x + 1
        part = made[1:]
        held = [weakref.ref(made), weakref.ref(made._storage)]
        del made, part
        pipe.flush()
        assert [ref() for ref in held] == [None, None]
        assert pipe.entries == []


def test_a_discarded_pipeline_and_its_tensors_die():
    with torch.pipeline() as pipe:
        y = torch.ones(4) + 1
    held = weakref.ref(y)
    assert y.tolist() == [2] * 4
    del y
    assert held() is None
    assert pipe.stats()["launched"] == 2


def test_blocks_leave_no_objects_behind():
    weight = torch.ones(4, 4, requires_grad=True)

    def step():
        with torch.pipeline():
            loss = (torch.ones(2, 4) @ weight).tanh().sum() * 3
            loss.backward()
            with torch.no_grad():
                weight.sub_(weight.grad, alpha=0.01)
            weight.grad = None

    def count():
        gc.collect()
        return len(gc.get_objects())

    for _ in range(5):
        step()
    before = count()
    for _ in range(50):
        step()
    assert count() - before < 25


# ---- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_of_a_pending_tensor_has_its_value(duplicate):
    eager = duplicate(torch.arange(6.0).reshape(2, 3).t() * 2)
    with torch.pipeline():
        y = torch.arange(6.0).reshape(2, 3).t() * 2
        made = duplicate(y)
        assert made is not y
        assert (made.shape, made.stride()) == (eager.shape, eager.stride())
        y = y + 100
    assert made.tolist() == [[0, 6], [2, 8], [4, 10]]
    assert made._pending is False


def test_a_list_that_was_passed_may_be_changed_afterwards():
    """What was recorded keeps tensors, dimensions, sizes and indices as they were."""

    def program(change):
        tensors, dims, size = [torch.ones(2), torch.zeros(2)], [0], [2, 3]
        at, parts = [2, 0], [1, 2]
        x = torch.arange(6.0)
        made = [
            torch.cat(tensors), torch.stack(tensors), x.reshape(size), x.reshape(2, 3).sum(dims),
            x[at], torch.full(size, 7.0), *torch.arange(3.0).split(parts),
        ]  # fmt: skip
        if change:
            tensors[0] = torch.ones(()) * 9
            dims[0], size[0], at[0], parts[0] = 1, 9, 5, 8
        return made

    eager = program(change=False)
    with torch.pipeline():
        deferred = program(change=True)
    assert [t.tolist() for t in deferred] == [t.tolist() for t in eager]


# ---- out= and views -----------------------------------------------------------------------------


def test_out_may_be_pending_and_is_written_in_order():
    x = torch.ones(3)
    with torch.pipeline():
        out = x * 5
        before = out + 1
        made = torch.add(x, 1, out=out)
        assert made is out
        assert out._pending is True
        after = out + 1
    assert [t.tolist() for t in (before, out, after)] == [[6] * 3, [2] * 3, [3] * 3]


def test_views_of_pending_memory_are_written_through_before_and_after_a_flush():
    def program(flush):
        base = torch.zeros(2, 3) + 1
        row, column = base[0], base.t()[1]
        row.mul_(2)
        flush()
        column.add_(10)
        early = base * 1
        base.mul_(3)
        flush()
        row[2:] = -1
        return [t.tolist() for t in (base, row, column, early)]

    eager = program(lambda: None)
    with torch.pipeline() as pipe:
        assert program(lambda: None) == eager
        assert program(pipe.flush) == eager
    assert eager[0] == [[6, 36, -1], [3, 33, 3]]


# ---- the threads that compute -------------------------------------------------------------------


def test_the_number_of_threads_changes_no_bit(threads):
    x = torch.arange(1.0, 1.0 + (1 << 20)).reshape(1024, 1024)
    found = []
    for count in (1, 2, 3):
        threads(count)
        with torch.pipeline() as pipe:
            y = chain(x)
            rows = y.sum(1)
        assert pipe.stats()["fused_groups"] >= 1
        found.append((bits(y), bits(rows)))
    assert found[1:] == found[:1] * 2
    assert found[0][0] == bits(chain(x))


def test_ops_on_long_rows_do_not_wait_for_the_thread_they_run_in(threads):
    threads(2)
    x = torch.ones(ROWS, COLUMNS)
    made = []

    def work():
        with torch.pipeline():
            made.append(chain(x).amax(1))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(60)
    assert not worker.is_alive()
    assert made[0].tolist() == chain(x).amax(1).tolist()


def test_threads_are_added_where_more_are_wanted(threads):
    for count in (2, 4, 3):
        threads(count)
        meeting = threading.Barrier(count, timeout=60)  # passes only with so many threads
        workers.share_out(lambda item, meeting=meeting: meeting.wait(), range(2 * count))


def test_an_error_in_shared_work_is_raised_and_the_next_one_is_shared_again(threads):
    threads(2)

    def work(item):
        raise KeyError(item)

    with pytest.raises(KeyError):
        workers.share_out(work, range(8))
    meeting = threading.Barrier(2, timeout=60)
    workers.share_out(lambda item: meeting.wait(), range(4))  # passes only with two threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded")
def test_a_forked_child_computes_with_threads_of_its_own(threads):
    threads(2)
    x = torch.ones(1024, 1024)
    with torch.pipeline():
        expected = chain(x)
    wanted = bits(expected)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with torch.pipeline():
                made = chain(x)
            status = 0 if bits(made) == wanted else 2
        finally:
            os._exit(status)
    deadline = time.monotonic() + 60
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    assert done == (child, 0)
