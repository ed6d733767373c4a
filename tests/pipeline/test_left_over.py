"""What becomes of a tensor's older self and of ops that an interrupt has left over."""

import gc
import sys
import threading
import time
import weakref

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import DispatchKey
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.values.devices import row_of
from mindtorch_cpu import workers
from mindtorch_cpu.fusion.limits import LIMITS


@pytest.fixture(params=["small", "planned"], autouse=True)
def size(request, monkeypatch):
    """Whether the CPU plans what is recorded."""
    torch.ones(1)
    if request.param == "planned":
        monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
        monkeypatch.setattr(LIMITS, "min_elements", 2)


# ---- data that is assigned ----------------------------------------------------------------------


@pytest.mark.parametrize("other", [torch.zeros(3), torch.zeros(2, dtype=torch.float64)], ids=str)
def test_what_was_recorded_reads_what_the_tensor_was(other):
    w = torch.ones(3)
    with torch.pipeline() as pipe:
        y = w.exp().log()
        v = w[1:]
        w.data = other
        z = w + 1
        v.add_(1)
    assert y.round().tolist() == [1, 1, 1]
    assert z.tolist() == [1] * other.numel()
    assert v.tolist() == [2, 2]
    assert pipe.stats()["flushes"] == 2


def test_averaged_weights_may_be_swapped_in_and_out():
    weight, average = torch.full((3,), 2.0), torch.full((3,), 5.0)
    data = torch.ones(3)
    with torch.pipeline():
        trained = data * weight
        kept = weight.data
        weight.data = average
        averaged = data * weight
        weight.data = kept
        weight.mul_(2)
        after = data * weight
    assert [t[0].item() for t in (trained, averaged, after, average)] == [2, 5, 4, 5]


def test_a_pending_tensor_may_be_given_other_data():
    with torch.pipeline():
        y = torch.ones(3) * 2
        z = y + 1
        y.data = torch.zeros(3)
    assert (y.tolist(), z.tolist()) == ([0, 0, 0], [3, 3, 3])


# ---- hooks on saved tensors ---------------------------------------------------------------------


def packed_in_half(x):
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.float())
    with hooks:
        y = (x.exp() * 2).tanh()
    y.sum().backward()
    return x.grad


def test_hooks_on_saved_tensors_see_values_that_wait():
    def start():
        return torch.linspace(-3, 0, 64).reshape(8, 8).requires_grad_()

    eager = packed_in_half(start())
    with torch.pipeline():
        x = start()
        grad = packed_in_half(x)
    assert torch.allclose(grad, eager)


def test_a_hook_may_change_the_shape_and_reduce():
    kept = []

    def pack(t):
        kept.append((t * 2).sum())
        return t.reshape(-1)

    x = torch.ones(4, 4, requires_grad=True)
    with torch.pipeline():
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t.reshape(4, 4)):
            y = x.exp()
        y.sum().backward()
    assert torch.allclose(x.grad, x.exp())
    assert [round(t.item(), 2) for t in kept] == [86.99]


# ---- interrupts ---------------------------------------------------------------------------------


class Stop(BaseException):
    """Like KeyboardInterrupt."""


@pytest.fixture
def interrupt():
    """An op whose kernel is interrupted, each time; gives how often it was. Another cannot be deferred."""
    times = []

    def kernel(x):
        times.append(1)
        raise Stop

    with registry.scope():
        registry.register_schema("left::stop", "stop(Tensor x) -> Tensor")
        registry.register("left::stop", DispatchKey.CPU, kernel, meta=lambda x: torch.empty_like(x))
        registry.register_schema("left::nines", "nines(Tensor(a!) x, Tensor y) -> Tensor")
        registry.register("left::nines", DispatchKey.CPU, lambda x, y: x.fill_(9) + y)
        yield times


def interrupted(program):
    """What a program gives in a block that an interrupt ends."""
    made = []
    with pytest.raises(Stop), torch.pipeline():
        made.extend(program())
    return made


def stop(x):
    return torch.ops.left.stop(x)


def test_what_has_not_run_runs_when_somebody_asks(interrupt):
    def program():
        first = torch.ones(3) + 1
        lost = stop(first)
        return first, lost, lost * 2, torch.ones(3) * 5, stop(first)

    first, lost, dependent, later, second = interrupted(program)
    assert current_pipeline() is None
    assert later._pending
    assert (later + 1).tolist() == [6, 6, 6]
    assert later.tolist() == [5, 5, 5]
    assert first.tolist() == [2, 2, 2]
    for t in (lost, dependent):
        with pytest.raises(torch.PipelineError, match=r"left::stop failed.*: Stop"):
            t.tolist()
    assert len(interrupt) == 1
    with pytest.raises(Stop):  # what runs again may be interrupted again
        second.tolist()
    assert len(interrupt) == 2
    with pytest.raises(torch.PipelineError, match="left::stop"):
        second.tolist()


def test_writes_come_in_the_order_of_the_program(interrupt):
    w, x = torch.ones(3), torch.ones(3)

    def program():
        stop(x)
        reads = w * 10
        w.add_(1)
        return reads, w * 10

    reads, reads_again = interrupted(program)
    w.mul_(2)  # after the block: what it has left over reads and writes `w` before
    assert w.tolist() == [4, 4, 4]
    assert reads.tolist() == [10, 10, 10]
    assert reads_again.tolist() == [20, 20, 20]


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.numpy().fill(9),
        lambda w: setattr(w, "data", torch.zeros(3)),
        lambda w: w.resize_(1),
        lambda w: torch.add(torch.zeros(3), 9, out=w),
        lambda w: torch.from_numpy(w.numpy()).fill_(9),
        lambda w: torch.ops.left.nines(w, torch.ones(3)),
    ],
    ids=["numpy", "data", "resize_", "out", "shared", "not deferred"],
)
def test_nobody_changes_what_left_over_ops_read(interrupt, change):
    w = torch.ones(3)

    def program():
        return w * 2, w[1:] + w[:1]

    made = interrupted(lambda: (stop(w), *program())[1:])
    change(w)
    assert [t.tolist() for t in made] == [[2, 2, 2], [2, 2]]


def test_random_numbers_are_drawn_in_the_order_of_the_program(interrupt):
    def program():
        return torch.rand_like(torch.ones(4)), torch.rand_like(torch.ones(4)), torch.ones(1)

    torch.manual_seed(0)
    wanted = [t.tolist() for t in program()]
    torch.manual_seed(0)
    first, second, _ = interrupted(lambda: (stop(torch.ones(1)), *program())[1:])
    assert second.tolist() == wanted[1]
    assert first.tolist() == wanted[0]


def test_an_outer_block_takes_over_what_an_inner_one_has_left(interrupt):
    w = torch.ones(3)
    with torch.pipeline() as outer:
        before = w * 1
        lost, inner = interrupted(lambda: (stop(w), w * 2))
        assert current_pipeline() is outer
        assert inner._pending
        w.mul_(10)
        after = inner + w
    assert [t[0].item() for t in (before, inner, after)] == [1, 2, 12]
    with pytest.raises(torch.PipelineError):
        lost.tolist()


def test_the_next_block_begins_with_what_was_left_over(interrupt):
    w = torch.ones(3)
    (left,) = interrupted(lambda: (stop(w), w * 2)[1:])
    with torch.pipeline():
        w.add_(1)
        y = w * 2
    assert (left.tolist(), y.tolist()) == ([2, 2, 2], [4, 4, 4])


def holders(held):
    """What holds an object, what holds that, and so on, for whoever sees a test fail."""
    lines, seen, level = [], {id(held)}, [held]
    for depth in range(8):
        above = [r for each in level for r in gc.get_referrers(each) if id(r) not in seen]
        seen.update(map(id, (level, above, seen)))
        level = [r for r in above if r is not level and r is not sys._getframe()][:20]
        seen.update(map(id, level))
        lines += [f"{depth} {type(o).__name__}: {o!r:.200}" for o in level]
    for frame in sys._current_frames().values():  # what runs is none of the collector's objects
        while frame is not None:
            held_here = [k for k, v in frame.f_locals.items() if id(v) in seen]
            lines += [f"{frame.f_code.co_filename}:{frame.f_lineno} {held_here}"] * bool(held_here)
            frame = frame.f_back
    return "\n".join(lines)


def test_nothing_that_nobody_can_see_is_kept(interrupt):
    operand = [torch.ones(1000)]
    gone = weakref.ref(operand[0])
    left = interrupted(lambda: (stop(torch.ones(1)), operand[0] * 2)[1:])
    operand.clear()
    assert left[0]._pending
    left.clear()
    gc.unfreeze()  # the pipeline may have served another module: the collector was told to leave that alone
    gc.collect()
    assert gone() is None, holders(gone())


def test_the_next_block_does_not_run_what_nobody_can_see(interrupt):
    interrupted(lambda: (stop(torch.ones(1)), stop(torch.zeros(1))))
    with torch.pipeline():
        y = torch.ones(2) * 3
    assert y.tolist() == [3, 3]
    assert len(interrupt) == 1


def test_a_flush_inside_goes_on_where_it_was_interrupted(interrupt):
    with torch.pipeline() as pipe:
        stop(torch.ones(2))
        x = torch.ones(2) * 3
        x.add_(1)
        with pytest.raises(Stop):
            pipe.flush()
        assert x._pending
        assert len(pipe.entries) in (2, 3)
        assert x.tolist() == [4, 4]
    stats = pipe.stats()
    assert (stats["recorded"], stats["launched"], stats["pending"]) == (stats["recorded"],) * 2 + (
        0,
    )


def test_nobody_is_at_work_any_more_when_an_interrupt_is_raised():
    at_work, started = [], threading.Event()

    def work(item):
        if threading.current_thread() is threading.main_thread():
            started.wait(60)
            raise Stop
        at_work.append(item)
        started.set()
        time.sleep(0.05)
        at_work.pop()

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(Stop):
            workers.share_out(work, range(64))
    finally:
        torch.set_num_threads(before)
    assert at_work == []
