"""The caching allocator over a device made of numbers: no overlap, nothing lost, everything merged."""

import gc
import threading
from contextlib import suppress
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from npu_fake import FakeDevice
from npu_threads import WatchedLock, in_threads

from mindtorch_core.values.errors import OutOfMemoryError
from mindtorch_npu.allocator import (
    LARGE_SEGMENT,
    QUANTUM,
    ROUND_SEGMENT,
    SMALL,
    SMALL_SEGMENT,
    Allocator,
)

MIB = 1 << 20


@pytest.fixture
def device():
    return FakeDevice()


@pytest.fixture
def allocator(device):
    return Allocator(device, "NPU", 0)


def stat(allocator, name):
    return allocator.statistics()[name]


# ---- sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nbytes", "segment"),
    [
        (1, SMALL_SEGMENT),
        (SMALL, SMALL_SEGMENT),
        (SMALL + 1, LARGE_SEGMENT),
        (10 * MIB - QUANTUM, LARGE_SEGMENT),
        (10 * MIB, 10 * MIB),
        (20 * MIB + 1, 22 * MIB),
        (100 * MIB, 100 * MIB),
    ],
)
def test_the_size_of_a_segment_depends_on_the_block(allocator, device, nbytes, segment):
    block = allocator.allocate(nbytes, 0)
    assert list(device.segments.values()) == [segment]
    assert block.nbytes == nbytes
    assert block.ptr in device.segments


def test_blocks_are_rounded_to_the_quantum(allocator):
    blocks = [allocator.allocate(1, 0), allocator.allocate(QUANTUM, 0), allocator.allocate(513, 0)]
    assert [b.ptr - blocks[0].ptr for b in blocks] == [0, QUANTUM, 2 * QUANTUM]
    assert stat(allocator, "allocated_bytes.all.current") == 4 * QUANTUM
    assert stat(allocator, "requested_bytes.all.current") == 1 + QUANTUM + 513


def test_a_block_without_bytes_takes_no_memory(allocator, device):
    block = allocator.allocate(0, 0)
    assert block.ptr == 0
    block.used_on(3)
    del block
    assert not device.segments
    assert stat(allocator, "allocation.all.allocated") == 0


# ---- reuse -----------------------------------------------------------------------------------------


def test_memory_is_reused_at_once_on_its_stream_and_never_on_another(allocator, device):
    first = allocator.allocate(3 * MIB, 0)
    address = first.ptr
    del first
    other = allocator.allocate(3 * MIB, 1)
    assert other.ptr != address
    assert allocator.allocate(3 * MIB, 0).ptr == address
    assert len(device.segments) == 2
    assert device.drained == 0


def test_best_fit_takes_the_smallest_hole_that_is_large_enough(allocator):
    sizes = [6 * MIB, 1, 3 * MIB, 2]
    blocks = [allocator.allocate(s * 1 if s > 10 else 2 * MIB, 0) for s in sizes]
    hole = blocks[2].ptr
    blocks[0] = blocks[2] = None
    assert allocator.allocate(3 * MIB, 0).ptr == hole


def test_a_large_block_is_split_only_if_more_than_a_mebibyte_is_left(allocator):
    first = allocator.allocate(20 * MIB, 0)
    address = first.ptr
    del first
    near = allocator.allocate(19 * MIB, 0)
    assert near.ptr == address
    assert stat(allocator, "allocated_bytes.all.current") == 20 * MIB
    del near
    allocator.allocate(18 * MIB, 0)
    assert stat(allocator, "inactive_split.all.current") == 0  # it has gone and merged again
    kept = allocator.allocate(18 * MIB, 0)
    assert stat(allocator, "inactive_split_bytes.all.current") == 2 * MIB
    assert kept.ptr == address


def test_neighbours_merge_in_any_order(allocator, device):
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [1, 3, 0, 2]):
        blocks = [allocator.allocate(5 * MIB, 0) for _ in range(4)]
        for i in order:
            blocks[i] = None
        assert stat(allocator, "inactive_split.all.current") == 0
        assert allocator.allocate(9 * MIB, 0).ptr == next(iter(device.segments))
    assert len(device.segments) == 1


# ---- other streams ---------------------------------------------------------------------------------


def test_a_recorded_stream_holds_a_block_back_until_its_event_has_passed(allocator, device):
    block = allocator.allocate(3 * MIB, 0)
    address = block.ptr
    block.used_on(1)
    block.used_on(0)  # its own stream is no other
    block.used_on(2)
    del block
    assert allocator.allocate(17 * MIB, 0).ptr != address
    assert sorted(s for s, _ in device.events) == [1, 2]
    assert stat(allocator, "active_bytes.all.current") > stat(
        allocator, "allocated_bytes.all.current"
    )
    first, second = sorted(device.events)
    device.events[second] = True
    assert stat(allocator, "active.all.current") == 1
    device.events[first] = True
    assert stat(allocator, "active.all.current") == 0
    assert allocator.allocate(3 * MIB, 0).ptr == address


def test_a_failure_to_record_keeps_the_block_until_recording_works(allocator, device):
    block = allocator.allocate(3 * MIB, 0)
    block.used_on(1)
    block.used_on(2)
    del block
    device.failing = "record"
    with pytest.raises(RuntimeError, match="record"):
        allocator.allocate(1, 0)
    assert stat(allocator, "allocated_bytes.all.current") == 0
    assert stat(allocator, "active.all.current") == 1
    assert len(device.events) == 2
    device.drain()
    assert stat(allocator, "active.all.current") == 0


def test_no_event_is_recorded_before_collected_launches_are_queued(allocator, device):
    block = allocator.allocate(3 * MIB, 0)
    address = block.ptr
    block.used_on(1)
    device.collected = True
    del block
    assert allocator.allocate(3 * MIB, 0).ptr != address
    assert not device.events
    device.queue_collected()
    assert stat(allocator, "active.all.current") == 1
    assert len(device.events) == 1


# ---- the end of memory -----------------------------------------------------------------------------


def test_the_cache_is_emptied_before_giving_up(allocator, device):
    device.limit = 50 * MIB
    kept = allocator.allocate(20 * MIB, 0)
    gone = allocator.allocate(30 * MIB, 1)
    del gone
    large = allocator.allocate(26 * MIB, 0)
    assert device.drained == 1
    assert stat(allocator, "num_alloc_retries") == 1
    assert stat(allocator, "num_ooms") == 0
    assert sorted(device.segments.values()) == [20 * MIB, 26 * MIB]
    assert kept.ptr != large.ptr


def test_what_waits_for_events_is_reused_before_giving_up(allocator, device):
    device.limit = 40 * MIB
    block = allocator.allocate(30 * MIB, 0)
    block.used_on(1)
    del block
    assert allocator.allocate(35 * MIB, 0).nbytes == 35 * MIB


def test_out_of_memory_says_how_much_there_is(allocator, device):
    device.limit = 64 * MIB
    kept = [allocator.allocate(20 * MIB, 0), allocator.allocate(MIB // 2, 0)]
    with pytest.raises(OutOfMemoryError) as raised:
        allocator.allocate(50 * MIB, 0)
    text = str(raised.value)
    assert "NPU out of memory. Tried to allocate 50.00 MiB." in text
    assert "NPU 0 has a total capacity of 64.00 MiB of which 42.00 MiB is free" in text
    assert "20.50 MiB is allocated by mindtorch, and 1.50 MiB is reserved" in text
    assert stat(allocator, "num_ooms") == 1
    assert allocator.allocate(20 * MIB, 0).nbytes == 20 * MIB
    assert len(kept) == 2


def test_collected_launches_are_queued_before_memory_goes_back(allocator, device):
    device.limit = 30 * MIB
    gone = allocator.allocate(20 * MIB, 1)
    del gone
    device.collected = True
    assert allocator.allocate(20 * MIB, 0).nbytes == 20 * MIB
    assert not device.collected
    device.collected = True
    allocator.empty_cache()
    assert not device.segments


def test_while_launches_are_being_queued_no_memory_goes_back(allocator, device):
    device.limit = 30 * MIB
    gone = allocator.allocate(20 * MIB, 1)
    del gone
    device.sending = True
    with pytest.raises(OutOfMemoryError):
        allocator.uncached(20 * MIB)
    assert device.drained == 0
    device.sending = False
    assert allocator.uncached(20 * MIB) in device.segments


@pytest.mark.parametrize("nbytes", [1 << 62, 1 << 63, 1 << 70])
def test_sizes_beyond_all_memory_are_out_of_memory(allocator, device, nbytes):
    device.limit = MIB
    with pytest.raises(OutOfMemoryError):
        allocator.allocate(nbytes, 0)


@pytest.mark.parametrize("call", ["malloc", "free", "drain"])
def test_other_failures_pass_through_and_change_nothing(allocator, device, call):
    kept = allocator.allocate(20 * MIB, 0)
    gone = allocator.allocate(20 * MIB, 1)
    del gone
    before = allocator.statistics()
    device.failing = call
    fails = partial(allocator.allocate, 40 * MIB, 0) if call == "malloc" else allocator.empty_cache
    with pytest.raises(RuntimeError, match=call):
        fails()
    assert allocator.statistics() == before
    allocator.empty_cache()
    assert list(device.segments) == [kept.ptr]


def test_empty_cache_waits_for_the_device_and_keeps_what_is_used(allocator, device):
    kept = [allocator.allocate(100, 0), allocator.allocate(30 * MIB, 0)]
    kept[1] = None
    allocator.empty_cache()
    assert device.drained == 1
    assert list(device.segments.values()) == [SMALL_SEGMENT]
    assert stat(allocator, "reserved_bytes.all.current") == SMALL_SEGMENT


def test_peaks_and_totals_start_anew(allocator):
    allocator.allocate(3 * MIB, 0)
    assert stat(allocator, "allocated_bytes.all.peak") == 3 * MIB
    assert stat(allocator, "allocated_bytes.large_pool.freed") == 3 * MIB
    assert stat(allocator, "allocated_bytes.small_pool.peak") == 0
    allocator.reset_peak()
    allocator.reset_accumulated()
    assert stat(allocator, "allocated_bytes.all.peak") == 0
    assert stat(allocator, "allocated_bytes.all.freed") == 0
    assert stat(allocator, "reserved_bytes.all.peak") == LARGE_SEGMENT


def test_closing_gives_everything_back(allocator, device):
    blocks = [allocator.allocate(n, n % 3) for n in (1, 5000, 2 * MIB, 30 * MIB)]
    blocks[1] = None
    allocator.close()
    assert not device.segments
    del blocks


# ---- threads and finalisers ------------------------------------------------------------------------


def test_a_block_may_go_while_the_allocator_is_at_work(device):
    """As in a garbage collection that starts inside an allocation."""
    holder = []

    class Collecting(FakeDevice):
        def malloc(self, nbytes):
            holder.clear()  # finalises a block with the allocator's lock held
            gc.collect()
            return super().malloc(nbytes)

    allocator = Allocator(Collecting(), "NPU", 0)
    holder.append(allocator.allocate(3 * MIB, 0))
    assert allocator.allocate(30 * MIB, 0).nbytes == 30 * MIB
    assert stat(allocator, "allocated_bytes.all.current") == 0


def test_a_thread_with_collected_launches_keeps_others_from_its_memory(allocator, monkeypatch):
    monkeypatch.setattr(Allocator, "turn", WatchedLock())
    got = []
    gone = allocator.allocate(3 * MIB, 0)
    address = gone.ptr
    thread = threading.Thread(target=lambda: got.append(allocator.allocate(3 * MIB, 0)))
    with Allocator.turn:
        del gone
        thread.start()
        assert Allocator.turn.awaited.wait(100)
        assert not got
        mine = allocator.allocate(3 * MIB, 0)
        assert mine.ptr == address
    thread.join(100)
    assert got[0].ptr != address


def test_threads_share_an_allocator(allocator, device):
    def work(stream):
        held = []
        for i in range(400):
            size = 1 + (i * 7919 * (stream + 1)) % (3 * MIB)
            held.append(allocator.allocate(size, stream % 2))
            if len(held) > 5:
                held.pop(i % 5)
            spans = sorted((b.ptr, b.ptr + b.nbytes) for b in held)
            assert all(a[1] <= b[0] for a, b in pairwise(spans))

    in_threads(work)
    assert stat(allocator, "allocation.all.current") == 0
    allocator.empty_cache()
    assert not device.segments


# ---- any sequence of calls -------------------------------------------------------------------------


class AnySequence(RuleBasedStateMachine):
    """Blocks come, go and are recorded; the device runs out and recovers."""

    def __init__(self):
        super().__init__()
        self.device = FakeDevice(limit=96 * MIB)
        self.allocator = Allocator(self.device, "NPU", 0)
        self.blocks = []

    sizes = st.one_of(
        st.integers(1, 4 * QUANTUM),
        st.integers(1, 2 * SMALL),
        st.integers(1, 24 * MIB),
        st.sampled_from([SMALL, SMALL + 1, 10 * MIB, LARGE_SEGMENT]),
    )

    @rule(nbytes=sizes, stream=st.integers(0, 2))
    def allocate(self, nbytes, stream):
        try:
            self.blocks.append(self.allocator.allocate(nbytes, stream))
        except OutOfMemoryError:  # only if even a segment of its own would not have fitted
            room = self.device.limit - sum(self.device.segments.values())
            assert room < max(LARGE_SEGMENT, -(-nbytes // ROUND_SEGMENT) * ROUND_SEGMENT)

    @precondition(lambda self: self.blocks)
    @rule(data=st.data())
    def drop(self, data):
        self.blocks.pop(data.draw(st.integers(0, len(self.blocks) - 1)))

    @precondition(lambda self: self.blocks)
    @rule(data=st.data(), stream=st.integers(0, 2))
    def use_elsewhere(self, data, stream):
        self.blocks[data.draw(st.integers(0, len(self.blocks) - 1))].used_on(stream)

    @rule()
    def pass_events(self):
        for event in self.device.events:
            self.device.events[event] = True

    @rule(call=st.sampled_from(["malloc", "free", "drain", "record"]))
    def fail_once(self, call):
        self.device.failing = call
        with suppress(RuntimeError):
            self.blocks.append(self.allocator.allocate(12 * MIB, 0))
            self.allocator.empty_cache()
        self.device.failing = None

    @rule()
    def empty_cache(self):
        self.allocator.empty_cache()

    @invariant()
    def blocks_lie_in_segments_and_do_not_overlap(self):
        spans = sorted((b.ptr, b.ptr + b.nbytes) for b in self.blocks)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
        for start, end in spans:
            assert start % QUANTUM == 0
            assert any(s <= start and end <= s + n for s, n in self.device.segments.items())

    @invariant()
    def counters_agree_with_what_there_is(self):
        stats = self.allocator.statistics()
        assert stats["allocation.all.current"] == len(self.blocks)
        assert stats["requested_bytes.all.current"] == sum(b.nbytes for b in self.blocks)
        assert stats["segment.all.current"] == len(self.device.segments)
        assert stats["reserved_bytes.all.current"] == sum(self.device.segments.values())
        assert stats["allocated_bytes.all.current"] <= stats["active_bytes.all.current"]
        assert stats["active_bytes.all.current"] <= stats["reserved_bytes.all.current"]
        for metric in ("allocation", "allocated_bytes", "segment", "active", "inactive_split"):
            for pool in ("all", "large_pool", "small_pool"):
                name = f"{metric}.{pool}"
                made, freed = stats[f"{name}.allocated"], stats[f"{name}.freed"]
                assert stats[f"{name}.current"] == made - freed

    def teardown(self):
        self.blocks.clear()
        self.device.failing = None
        self.allocator.empty_cache()
        assert not self.device.segments  # all pieces found their neighbours again
        stats = self.allocator.statistics()
        assert not any(v for k, v in stats.items() if k.endswith(".current"))


AnySequence.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnySequence = AnySequence.TestCase
