"""What a runtime tells about its devices, and memory that other libraries may share."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from ...deferred import pipeline_context
from ..comparison import outcome
from .base import ConformanceBase, without_data
from .checks import made, require

__all__ = ["SharingTests"]

_BYTES = 40_000
_NOW, _PEAK = "allocated_bytes.all.current", "allocated_bytes.all.peak"


class SharingTests(ConformanceBase):
    """Statistics, facts, and the ways out to NumPy and DLPack."""

    def _stats(self) -> dict[str, int]:
        found = self.runtime().memory_stats(self.devices()[0])
        if _NOW not in found:
            pytest.skip(f"memory_stats() of {self.device} does not count what is allocated")
        return found

    @without_data
    def test_properties(self) -> None:
        """Facts about each device are a dictionary with a name in it."""
        for on in self.devices():
            found: Any = self.runtime().properties(on)
            named = isinstance(found, dict) and isinstance(found.get("name"), str)
            require(named and bool(found["name"]), f"properties({on}) has no name: {found}")

    def test_memory_stats(self) -> None:
        """Counters follow what is allocated; the peak stays, until it is reset."""
        on = self.devices()[0]
        before = self._stats()[_NOW]
        t = made([0] * (_BYTES // 4), self.device)
        during = self._stats()
        grown = during[_NOW] - before
        require(grown >= _BYTES, f"memory_stats() grew by {grown} for {_BYTES} bytes")
        require(t.numel() == _BYTES // 4, "the tensor is gone")
        del t
        self.runtime().synchronize(on)
        after = self._stats()
        wrong = [name for name, value in after.items() if value < 0]
        require(not wrong, f"memory_stats() has counters below zero: {wrong}")
        if _PEAK in after:
            require(after[_PEAK] >= during[_NOW], "the peak is lower than what was allocated")
            self.runtime().reset_memory_stats(on, "peak")
            reset = self._stats()
            require(
                reset[_PEAK] == reset[_NOW],
                f"after reset_memory_stats() the peak is {reset[_PEAK]}, and {reset[_NOW]} bytes "
                f"are allocated",
            )

    def test_memory_info(self) -> None:
        """Free memory is part of the total, where the backend tells it."""
        for on in self.devices():
            found = outcome(self.runtime().memory_info, on)
            if isinstance(found, RuntimeError):
                pytest.skip(f"{self.device} does not tell how much memory it has")
            if isinstance(found, Exception):
                raise AssertionError(f"memory_info({on}) raised {found!r}") from found
            free, total = found
            require(0 <= free <= total and total > 0, f"memory_info({on}) is {free} of {total}")

    def test_empty_cache(self) -> None:
        """Giving memory back leaves living tensors as they are, and later ones can be made."""
        kept = [made([float(i)] * 100, self.device) for i in range(8)]
        views = [t[50:] for t in kept[::2]]
        del kept[::2]
        self.runtime().empty_cache()
        fresh = made([-1.0] * 100, self.device) + 0
        found = [t.tolist()[0] for t in (*views, *kept)]
        wanted = [0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0]
        require(found == wanted, f"empty_cache() changed living tensors: {found}")
        require(fresh.tolist() == [-1.0] * 100, "after empty_cache() a tensor is wrong")

    def test_numpy(self) -> None:
        """An array shares the tensor's memory, or the error says to copy to the CPU."""
        if find_spec("numpy") is None:
            pytest.skip("NumPy is not installed")
        t = made([1.0, 2.0, 3.0, 4.0], self.device).view(2, 2)
        array: Any = outcome(t.t().numpy)
        if isinstance(array, Exception):
            told = isinstance(array, TypeError) and "cpu()" in str(array)
            require(told, f"numpy() must raise TypeError and name Tensor.cpu(), not {array!r}")
            return
        require(array.tolist() == [[1, 3], [2, 4]], f"numpy() of a transpose is {array.tolist()}")
        array[0, 1] = 9
        require(t.tolist() == [[1, 2], [9, 4]], "numpy() gives a copy")

    def test_dlpack(self) -> None:
        """Memory is handed out by DLPack with its device, or refused as the protocol says."""
        t = made([1.0, 2.0], self.device)
        with pipeline_context():
            pending = t + 1
            capsule = outcome(pending.__dlpack__)
        on = outcome(t.__dlpack_device__)
        if isinstance(capsule, Exception):
            require(isinstance(capsule, BufferError), f"must raise BufferError, not {capsule!r}")
            return
        require(type(capsule).__name__ == "PyCapsule", f"__dlpack__() gave {capsule!r}")
        pair = isinstance(on, tuple) and len(on) == 2
        require(pair, f"there is a capsule, but __dlpack_device__() gave {on!r}")
