"""The runtime's memory: blocks, offsets, alignment, big and empty ones, shortage and release."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import mindtorch_core as torch

from ...tensors.storage import Storage
from ...values.errors import OutOfMemoryError
from ..comparison import outcome
from .base import ConformanceBase, from_level
from .checks import made, refuses, require

__all__ = ["MemoryTests"]

_SIZES = (0, 1, 3, 8, 63, 64, 65, 1000, 4096, 100_001)
_ALIGNED = 16  # the widest element


def _pattern(n: int, seed: int = 1) -> bytes:
    return bytes((i * 31 + seed * 17) % 251 for i in range(n))


class MemoryTests(ConformanceBase):
    """`Runtime.allocate`, `copy_from_host` and `copy_to_host`."""

    def _block(self, n: int) -> Any:
        block = self.runtime().allocate(n, self.devices()[0])
        require(block is not None, f"allocate({n}) gave None, not what owns the memory")
        return block

    def _read(self, block: Any, start: int, n: int) -> bytes:
        found: Any = self.runtime().copy_to_host(block, start, n)
        told = isinstance(found, memoryview | bytes | bytearray) and memoryview(found).nbytes == n
        require(told, f"copy_to_host of {n} bytes gave {found!r:.100}, not a memoryview of them")
        return bytes(found)

    def test_blocks_keep_bytes(self) -> None:
        """What is written into a block of any size comes back, and blocks do not overlap."""
        runtime = self.runtime()
        blocks = [(n, self._block(n)) for n in _SIZES]
        for seed, (n, block) in enumerate(blocks):
            runtime.copy_from_host(block, 0, memoryview(_pattern(n, seed)))
        for seed, (n, block) in enumerate(blocks):
            found = self._read(block, 0, n)
            require(found == _pattern(n, seed), f"a block of {n} bytes does not keep what it got")

    def test_offsets_into_blocks(self) -> None:
        """A copy from byte ``start`` on touches no other byte."""
        runtime, n = self.runtime(), 256
        block = self._block(n)
        for start, length in ((0, 1), (1, 7), (13, 64), (255, 1), (100, 0), (3, 250)):
            wanted = bytearray(_pattern(n))
            runtime.copy_from_host(block, 0, memoryview(bytes(wanted)))
            wanted[start : start + length] = b"\xff" * length
            runtime.copy_from_host(block, start, memoryview(b"\xff" * length))
            found = self._read(block, 0, n)
            require(found == wanted, f"copy_from_host of {length} bytes at {start} wrote elsewhere")
            part = self._read(block, start, length)
            require(part == wanted[start : start + length], f"copy_to_host from {start} on differs")

    def test_host_buffers_are_copied(self) -> None:
        """A host buffer may change after ``copy_from_host``; ``copy_to_host`` gives a copy."""
        runtime, block = self.runtime(), self._block(64)
        data = bytearray(_pattern(64))
        runtime.copy_from_host(block, 0, memoryview(data))
        data[:] = bytes(64)
        first = runtime.copy_to_host(block, 0, 64)
        require(bytes(first) == _pattern(64), "the block changes with the host buffer it came from")
        runtime.copy_from_host(block, 0, memoryview(bytes(64)))
        require(bytes(first) == _pattern(64), "what copy_to_host gave changes with the block")

    def test_alignment(self) -> None:
        """Memory begins where the widest element may lie."""
        runtime, on = self.runtime(), self.devices()[0]
        kept = [self._block(n) for n in (1, 3, 8, 100, 4096)]
        addresses = [runtime.data_ptr(Storage(block, 1, on)) for block in kept]
        bad = [address for address in addresses if address % _ALIGNED]
        require(not bad, f"addresses are no multiples of {_ALIGNED}: {bad}")

    def test_empty_memory(self) -> None:
        """Tensors without elements are made, copied and computed with."""
        for shape in ((0,), (2, 0), (0, 3, 0)):
            t = torch.empty(shape, device=self.device)
            found = outcome(lambda t=t: ((t + 1).clone().shape, t.sum().item(), t.tolist()))
            if isinstance(found, Exception):
                raise AssertionError(f"an empty tensor of {list(shape)}: {found!r}") from found
            require(tuple(found[0]) == shape and found[1] == 0, f"an empty tensor gave {found}")

    @from_level("core")
    def test_big_memory(self) -> None:
        """Sixteen million bytes and more: the last elements are where they belong."""
        n = (1 << 22) + 3
        t = torch.zeros(n, device=self.device)
        t[n - 2] = 5
        require(t[n - 3 :].tolist() == [0.0, 5.0, 0.0], "the end of a big tensor is wrong")
        require(t.sum().item() == 5, "the sum of a big tensor is wrong")

    def test_out_of_memory(self) -> None:
        """More than there is raises OutOfMemoryError, and the device works afterwards."""
        refuses("allocating 2**60 bytes", lambda: self._block(1 << 60), OutOfMemoryError)
        require(made([1, 2], self.device).tolist() == [1, 2], "no tensor is made after a shortage")

    def test_memory_is_released(self) -> None:
        """Memory goes when the last tensor that uses it goes."""
        stats = self.runtime().memory_stats(self.devices()[0])
        for _ in range(2):  # the first round fills what is made once
            gc.collect()
            before = self._allocated()
            t = made([0] * 10_000, self.device)
            view = t[1:]
            storage = t._storage
            handle = None if storage is None else storage.memory
            watched = _watched(handle)
            during = self._allocated()
            del t, storage, handle
            gc.collect()
            require(view.tolist()[:1] == [0], "memory went while a view of it was alive")
            del view
            self.runtime().synchronize()
            gc.collect()
        if stats and during > before:
            require(
                self._allocated() <= before,
                f"a tensor is gone, but {self._allocated() - before} of its bytes are counted",
            )
        elif watched is None:
            pytest.skip("memory handles cannot be watched, and memory_stats counts nothing")
        require(watched is None or watched() is None, "the memory of a tensor outlives it: a leak")

    def _allocated(self) -> int:
        found = self.runtime().memory_stats(self.devices()[0])
        return found.get("allocated_bytes.all.current", 0)

    def test_memory_is_not_shared(self) -> None:
        """Memory of living tensors is not handed out again."""
        kept = []
        for i in range(200):
            kept.append(made([i] * (i % 37 + 1), self.device))
            made([-1] * (i % 37 + 1), self.device)  # dies at once: its memory may be used again
        wrong = [i for i, t in enumerate(kept) if t.tolist() != [i] * (i % 37 + 1)]
        require(not wrong, f"memory of {len(wrong)} living tensors was given to others")


def _watched(handle: Any) -> Any:
    """A weak reference to a memory handle; None if it allows none or lives in another way."""
    found = outcome(weakref.ref, handle)
    return None if isinstance(found, Exception) else found
