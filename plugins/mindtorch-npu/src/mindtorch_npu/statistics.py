"""What an allocator counts, under the names of PyTorch's memory statistics."""

from __future__ import annotations

from typing import Final

__all__ = ["Statistics"]

BLOCKS: Final = ("allocation", "allocated_bytes", "requested_bytes")
OTHERS: Final = ("segment", "reserved_bytes", "inactive_split", "inactive_split_bytes")
# Blocks that have gone and are not free yet. With those in use they are the active ones.
HELD: Final = ("held", "held_bytes")
ACTIVE: Final = {
    "active": ("allocation", "held"),
    "active_bytes": ("allocated_bytes", "held_bytes"),
}
POOLS: Final = ("all", "large_pool", "small_pool")


class _Meter:
    """One number of one pool over time; of both together only the peak is kept."""

    __slots__ = ("allocated", "current", "peak", "start")

    def __init__(self) -> None:
        self.current = self.peak = self.allocated = 0
        self.start = 0  # the value when `allocated` began to count

    def found(self, amount: int) -> None:
        """Count what was there before; it may not have been counted among the total then."""
        self.current += amount
        self.allocated = max(self.allocated, self.current - self.start)


class Statistics:
    """Counts of blocks and bytes, for the small pool, the large pool and both together.

    Attributes:
        retries: how often the cache was emptied because the device had no memory left.
        failures: how often that did not help.
    """

    def __init__(self) -> None:
        self.retries = 0
        self.failures = 0
        self._meters = {
            metric: (_Meter(), _Meter(), _Meter()) for metric in (*BLOCKS, *OTHERS, *HELD, *ACTIVE)
        }
        # For each pool, by whether it is the small one: its meters, the other pool's, both together.
        self._blocks = tuple(
            [self._in_pool(metric, small) for metric in BLOCKS] for small in (False, True)
        )
        self._holding = 0

    def _in_pool(self, metric: str, small: bool) -> tuple[_Meter, _Meter, _Meter]:
        whole, large_pool, small_pool = self._meters[metric]
        return (small_pool, large_pool, whole) if small else (large_pool, small_pool, whole)

    # ---- counting ------------------------------------------------------------------------------

    def made(self, small: bool, size: int, requested: int) -> None:
        """Count a new block."""
        for meters, amount in zip(self._blocks[small], (1, size, requested), strict=True):
            _raise(meters, amount)
        if self._holding:
            self._see_active()

    def gone(self, small: bool, size: int, requested: int) -> None:
        """Count a block that has gone."""
        number, sizes, requests = self._blocks[small]
        number[0].current -= 1
        sizes[0].current -= size
        requests[0].current -= requested

    def held(self, small: bool, size: int, sign: int) -> None:
        """Count a block that has gone and waits to be free, or waits no more."""
        self._holding += sign
        self.add("held", small, sign)
        self.add("held_bytes", small, sign * size)
        self._see_active()

    def add(self, metric: str, small: bool, amount: int) -> None:
        """Count a change of one of the other numbers."""
        meters = self._in_pool(metric, small)
        if amount > 0:
            _raise(meters, amount)
        else:
            meters[0].current += amount

    def _see_active(self) -> None:
        """Remember the most active blocks; while none are held they are those in use."""
        for metric, parts in ACTIVE.items():
            for at in range(3):
                now = sum(self._current(part, at) for part in parts)
                meter = self._meters[metric][at]
                meter.peak = max(meter.peak, now)

    # ---- counting anew -------------------------------------------------------------------------

    def forget_current(self) -> None:
        """Start from nothing, to be told of everything there is."""
        self._holding = 0
        for meters in self._meters.values():
            for meter in meters:
                meter.current = 0

    def found_block(self, small: bool, size: int, requested: int) -> None:
        """Count a block that was there before."""
        for (meter, *_), amount in zip(self._blocks[small], (1, size, requested), strict=True):
            meter.found(amount)

    def found_segment(self, small: bool, size: int) -> None:
        """Count a segment that was there before."""
        self._in_pool("segment", small)[0].found(1)
        self._in_pool("reserved_bytes", small)[0].found(size)

    # ---- reading -------------------------------------------------------------------------------

    def current(self, metric: str) -> int:
        """The present value of both pools together."""
        return self._current(metric, 0)

    def _current(self, metric: str, at: int) -> int:
        if metric in ACTIVE:
            return sum(self._current(part, at) for part in ACTIVE[metric])
        whole, large_pool, small_pool = self._meters[metric]
        return (
            (whole, large_pool, small_pool)[at].current
            if at
            else large_pool.current + small_pool.current
        )

    def as_dict(self) -> dict[str, int]:
        """All numbers by their full names, such as ``allocated_bytes.all.peak``."""
        found = {"num_alloc_retries": self.retries, "num_ooms": self.failures}
        for metric in (*BLOCKS, *OTHERS, *ACTIVE):
            source = ACTIVE[metric][0] if metric in ACTIVE else metric
            for at, pool in enumerate(POOLS):
                counted = self._meters[source][1:] if not at else [self._meters[source][at]]
                current = self._current(metric, at)
                allocated = sum(meter.allocated for meter in counted)
                start = sum(meter.start for meter in counted)
                if metric in ACTIVE:
                    held = self._meters[ACTIVE[metric][1]]
                    start += sum(meter.start for meter in (held[1:] if not at else [held[at]]))
                name = f"{metric}.{pool}"
                found[f"{name}.current"] = current
                found[f"{name}.peak"] = max(
                    self._meters[metric][at].peak, self._meters[source][at].peak
                )
                found[f"{name}.allocated"] = allocated
                found[f"{name}.freed"] = allocated - current + start
        return dict(sorted(found.items()))

    def reset_peak(self) -> None:
        """Let the peaks start anew from the present values."""
        for metric, meters in self._meters.items():
            for at, meter in enumerate(meters):
                meter.peak = self._current(metric, at)

    def reset_accumulated(self) -> None:
        """Let the totals start anew from zero."""
        self.retries = self.failures = 0
        for meters in self._meters.values():
            for meter in meters:
                meter.allocated, meter.start = 0, meter.current


def _raise(meters: tuple[_Meter, _Meter, _Meter], amount: int) -> None:
    """Count an amount more in a pool, given its meter, the other pool's and that of both together."""
    meter, other, whole = meters
    meter.current = current = meter.current + amount
    meter.allocated += amount
    if current > meter.peak:
        meter.peak = current
    current += other.current
    if current > whole.peak:
        whole.peak = current
