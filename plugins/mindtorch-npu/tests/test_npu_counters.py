"""What the allocator counts, under PyTorch's names: all numbers after each step."""

from npu_fake import FakeDevice

from mindtorch_npu.allocator import Allocator

MIB = 1 << 20
COUNTED = (
    "allocation", "allocated_bytes", "requested_bytes", "segment", "reserved_bytes", "inactive_split",
    "inactive_split_bytes",
)  # fmt: skip
NONE = (0,) * 7
# What is made, or gone; and what there is then of each, in the large pool and in the small one.
STEPS = [
    ("a", 3 * MIB, (1, 3 * MIB, 3 * MIB, 1, 20 * MIB, 1, 17 * MIB), NONE),
    ("b", 1000, None, (1, 1024, 1000, 1, 2 * MIB, 1, 2 * MIB - 1024)),
    ("c", 4 * MIB + 5, (2, 7 * MIB + 512, 7 * MIB + 5, 1, 20 * MIB, 1, 13 * MIB - 512), None),
    ("d", 1, None, (2, 1536, 1001, 1, 2 * MIB, 1, 2 * MIB - 1536)),
    ("a", None, (1, 4 * MIB + 512, 4 * MIB + 5, 1, 20 * MIB, 2, 16 * MIB - 512), None),
    ("b", None, None, (1, 512, 1, 1, 2 * MIB, 2, 2 * MIB - 512)),
    ("c", None, (0, 0, 0, 1, 20 * MIB, 0, 0), None),
    ("d", None, None, (0, 0, 0, 1, 2 * MIB, 0, 0)),
]


def test_every_counter_of_every_pool():
    allocator = Allocator(FakeDevice(), "NPU", 0)
    blocks, large, small = {}, NONE, NONE
    peaks = dict.fromkeys(("all", "large_pool", "small_pool"), NONE)
    made = {pool: [0, 0, 0] for pool in peaks}
    for name, nbytes, of_large, of_small in STEPS:
        before = {"large_pool": large, "small_pool": small}
        if nbytes is None:
            del blocks[name]
        else:
            blocks[name] = allocator.allocate(nbytes, 0)
        large, small = of_large or large, of_small or small
        pools = {"large_pool": large, "small_pool": small}
        for pool, old in before.items():
            for at in range(3):
                more = max(0, pools[pool][at] - old[at])
                made[pool][at] += more
                made["all"][at] += more
        pools["all"] = tuple(map(sum, zip(large, small, strict=True)))
        stats = allocator.statistics()
        for pool, current in pools.items():
            peaks[pool] = tuple(map(max, peaks[pool], current))
            for at, (metric, now, peak) in enumerate(
                zip(COUNTED, current, peaks[pool], strict=True)
            ):
                found = f"{metric}.{pool}"
                assert (found, stats[f"{found}.current"]) == (found, now)
                assert (found, stats[f"{found}.peak"]) == (found, peak)
                total = stats[f"{found}.allocated"]
                assert stats[f"{found}.freed"] == total - now
                if at < 3:
                    assert (found, total) == (found, made[pool][at])
            for metric, source in (("active", "allocation"), ("active_bytes", "allocated_bytes")):
                for part in ("current", "peak", "allocated", "freed"):
                    assert stats[f"{metric}.{pool}.{part}"] == stats[f"{source}.{pool}.{part}"]


def test_blocks_that_wait_for_streams_are_active_beside_new_ones():
    allocator = Allocator(FakeDevice(), "NPU", 0)
    waiting = allocator.allocate(3 * MIB, 0)
    waiting.used_on(1)
    del waiting
    new = [allocator.allocate(nbytes, 0) for nbytes in (4 * MIB, 1000)]
    assert [each.nbytes for each in new] == [4 * MIB, 1000]
    stats = allocator.statistics()
    expected = {
        "all": ((3, 7 * MIB + 1024), (2, 4 * MIB + 1024)),
        "large_pool": ((2, 7 * MIB), (1, 4 * MIB)),
        "small_pool": ((1, 1024), (1, 1024)),
    }
    for pool, (active, in_use) in expected.items():
        for metric, now in zip(("active", "active_bytes"), active, strict=True):
            assert stats[f"{metric}.{pool}.current"] == now
            assert stats[f"{metric}.{pool}.peak"] == now
        for metric, now in zip(("allocation", "allocated_bytes"), in_use, strict=True):
            assert stats[f"{metric}.{pool}.current"] == now


def test_a_peak_of_active_blocks_that_nobody_looked_at():
    allocator = Allocator(FakeDevice(), "NPU", 0)
    waiting = allocator.allocate(3 * MIB, 0)
    waiting.used_on(1)
    del waiting
    assert allocator.statistics()["active_bytes.all.peak"] == 3 * MIB
    for nbytes in (4 * MIB, 1000, 2 * MIB):
        allocator.allocate(nbytes, 0)  # and lets go of it
    stats = allocator.statistics()
    for pool, most in (("all", 7 * MIB), ("large_pool", 7 * MIB), ("small_pool", 1024)):
        assert stats[f"active_bytes.{pool}.peak"] == most
    assert stats["active.all.peak"] == 2
    assert stats["active_bytes.all.current"] == 3 * MIB
    assert stats["active_bytes.all.allocated"] == 9 * MIB + 1024
    assert stats["active_bytes.all.freed"] == 6 * MIB + 1024


def test_what_waits_is_not_freed_by_counting_anew():
    allocator = Allocator(FakeDevice(), "NPU", 0)
    waiting, used = (allocator.allocate(nbytes, 0) for nbytes in (3 * MIB, 4 * MIB))
    waiting.used_on(1)
    del waiting
    allocator.statistics()
    allocator.reset_accumulated()
    for metric, now in (("active_bytes", 7 * MIB), ("allocated_bytes", 4 * MIB)):
        for pool in ("all", "large_pool"):
            found = [
                allocator.statistics()[f"{metric}.{pool}.{n}"]
                for n in ("current", "allocated", "freed")
            ]
            assert found == [now, 0, 0]
    assert used.nbytes == 4 * MIB
