"""torch.npu's view of memory, and what happens when there is none left."""

import pytest

import mindtorch_core as torch
from mindtorch_npu.acl import ACLError
from mindtorch_npu.devices import device_at
from mindtorch_npu.runtime import RUNTIME
from mindtorch_npu.statistics import Statistics

MIB = 1 << 20


@pytest.fixture
def limit(npu, simulator):
    """Sets how much memory the devices have; back to normal after the test."""
    total = npu.mem_get_info()[1]
    yield simulator.set_memory_limit
    simulator.set_memory_limit(total)


def buffer(nbytes, device="npu"):
    return torch.empty(nbytes, dtype=torch.uint8, device=device)


def test_what_tensors_use_and_what_is_reserved(npu):
    ooms = npu.memory_stats()["num_ooms"]
    start = npu.memory_allocated()
    a, b = buffer(3 * MIB), buffer(100)
    assert npu.memory_allocated() == start + 3 * MIB + 512
    assert npu.memory_reserved() == 22 * MIB
    assert npu.memory_allocated(1) == 0
    del a
    assert npu.memory_allocated("npu:0") == start + 512
    assert npu.max_memory_allocated() >= start + 3 * MIB + 512
    npu.reset_peak_memory_stats()
    assert npu.max_memory_allocated() == start + 512
    assert npu.max_memory_reserved() == 22 * MIB
    npu.empty_cache()
    assert npu.memory_reserved() == 2 * MIB
    stats = npu.memory_stats()
    assert stats["segment.large_pool.current"] == 0
    assert stats["num_ooms"] == ooms
    npu.reset_accumulated_memory_stats()
    assert npu.memory_stats()["allocation.all.allocated"] == 0
    assert len(b) == 100


def test_free_memory_is_the_device_s(npu):
    free, total = npu.mem_get_info()
    kept = buffer(64 * MIB)
    assert npu.mem_get_info()[0] <= free - 64 * MIB
    assert npu.mem_get_info(1) == (npu.mem_get_info("npu:1")[0], total)
    assert kept.nbytes == 64 * MIB


def test_the_summary_is_a_table(npu):
    kept = buffer(30 * MIB)
    text = npu.memory_summary()
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "Memory of npu:0" in text
    assert any("Allocated memory" in line and "30 MiB" in line for line in lines)
    assert "from large pool" in text
    assert "pool" not in npu.memory_summary(1, abbreviated=True)
    assert len(kept) == 30 * MIB


def test_out_of_memory_is_told_and_survived(npu, limit):
    kept = buffer(40 * MIB)
    limit(64 * MIB)
    before = npu.memory_stats()["num_ooms"]
    with pytest.raises(torch.OutOfMemoryError) as raised:
        buffer(50 * MIB)
    text = str(raised.value)
    assert "NPU out of memory. Tried to allocate 50.00 MiB. NPU 0 has a total capacity of" in text
    assert "40.00 MiB is allocated by mindtorch" in text
    assert npu.memory_stats()["num_ooms"] == before + 1
    assert buffer(10 * MIB).nbytes == 10 * MIB
    assert len(kept) == 40 * MIB


def test_the_cache_and_workspaces_are_given_up_before_memory_is_out(npu, limit):
    torch.zeros(1, device="npu")
    limit(64 * MIB)
    for _ in range(2):
        RUNTIME.workspace(20 * MIB, 0)
        RUNTIME.workspace(30 * MIB, 0)
        cached = buffer(20 * MIB)
        del cached
        assert buffer(60 * MIB).nbytes == 60 * MIB
    assert npu.memory_stats()["num_alloc_retries"] >= 2
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 80\.00 MiB"):
        RUNTIME.workspace(80 * MIB, 0)


def test_memory_that_queued_work_uses_is_not_given_back_before(npu, simulator, limit):
    torch.zeros(1, device="npu")
    npu.empty_cache()
    limit(64 * MIB)
    simulator.latency("100000")
    torch.zeros(40 * MIB, dtype=torch.uint8, device="npu")  # goes at once, its work is queued
    assert torch.zeros(50 * MIB, dtype=torch.uint8, device="npu").nbytes == 50 * MIB
    npu.synchronize()  # the fixture asserts that the watcher saw no use after free


def test_a_block_is_reused_on_its_stream_without_waiting(npu, simulator):
    with simulator.held():
        found = {torch.zeros(5 * MIB, dtype=torch.uint8, device="npu").data_ptr() for _ in range(5)}
        assert len(found) == 1
        assert not npu.current_stream().query()
    npu.synchronize()


def test_record_stream_holds_memory_back(npu, simulator):
    other = npu.Stream()
    used = torch.zeros(5 * MIB, dtype=torch.uint8, device="npu")
    address = used.data_ptr()
    npu.synchronize()
    with simulator.held():
        with other:
            kept = torch.zeros(10, device="npu")
        used.record_stream(other)
        del used
        assert torch.zeros(5 * MIB, dtype=torch.uint8, device="npu").data_ptr() != address
    other.synchronize()
    assert torch.zeros(5 * MIB, dtype=torch.uint8, device="npu").data_ptr() == address
    assert len(kept) == 10


def test_record_stream_takes_streams_of_the_device(npu):
    t = torch.zeros(1, device="npu")
    with pytest.raises(TypeError, match=r"expects a torch\.Stream, got int"):
        t.record_stream(3)
    with pytest.raises(ValueError, match="a stream of npu:1 cannot use a tensor on npu:0"):
        t.record_stream(npu.Stream(1))


def test_a_process_may_limit_itself(npu):
    total = npu.mem_get_info()[1]
    try:
        npu.set_per_process_memory_fraction(48 * MIB / total)
        kept = buffer(30 * MIB)
        with pytest.raises(
            torch.OutOfMemoryError, match=r"48\.00 MiB allowed; Of the memory in use 30\.00 MiB"
        ):
            buffer(20 * MIB)
        assert buffer(20 * MIB, "npu:1").nbytes == 20 * MIB
        del kept
        assert buffer(40 * MIB).nbytes == 40 * MIB  # what the cache held is given back for it
        npu.set_per_process_memory_fraction(1.0)
        assert buffer(100 * MIB).nbytes == 100 * MIB
    finally:
        device_at(0).allocator.allowed = None


def test_which_limits_there_may_be(npu):
    with pytest.raises(TypeError, match="must be `float`"):
        npu.set_per_process_memory_fraction(1)
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="Allowed range: 0~1"):
            npu.set_per_process_memory_fraction(wrong)
    with pytest.raises(RuntimeError, match="npu:9 was asked for"):
        npu.set_per_process_memory_fraction(0.5, 9)


def test_an_error_that_is_not_about_memory_is_not_out_of_memory(npu, simulator):
    simulator.inject("aclrtMalloc:1=507899")
    with pytest.raises(ACLError, match=r"aclrtMalloc\(\d+\) failed with code 507899"):
        buffer(200 * MIB)
    assert buffer(200 * MIB).nbytes == 200 * MIB


def test_copies_that_are_done_hold_up_no_later_ones(npu, simulator):
    """However much was copied before: only what is still on its way counts."""
    host = torch.zeros(8 * MIB, dtype=torch.uint8)
    for _ in range(12):
        host.to("npu")
        npu.synchronize()
    simulator.reset()
    for _ in range(2):
        host.to("npu")
    waits = {n for n in simulator.counters()["calls"] if "Synchronize" in n}
    assert waits == set()
    npu.synchronize()


def test_counting_anew_what_is_there_changes_no_number():
    stats = Statistics()
    for small, size in ((True, 2 * MIB), (False, 20 * MIB)):
        stats.add("segment", small, 1)
        stats.add("reserved_bytes", small, size)
    blocks = [(True, 512, 100), (False, 2 * MIB, 2 * MIB - 5)]
    for block in blocks:
        stats.made(*block)
    for _ in range(2):
        stats.reset_accumulated()
        stats.made(True, 1024, 1000)
        blocks.append((True, 1024, 1000))
        before = stats.as_dict()
        assert before["allocated_bytes.all.allocated"] == 1024
        stats.forget_current()
        for small, size in ((True, 2 * MIB), (False, 20 * MIB)):
            stats.found_segment(small, size)
        for block in blocks:
            stats.found_block(*block)
        assert stats.as_dict() == before
