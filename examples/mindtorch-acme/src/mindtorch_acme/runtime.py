"""Acme's part of the device protocol: devices, memory, copies, streams, random numbers, plans."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

import mindtorch_core as torch
from mindtorch_core.backend import DTYPES, Runtime
from mindtorch_core.dispatch.pipeline import Plan

from .chip import ARENA_BYTES, Block
from .generator import AcmeGenerator
from .sending import CHIPS, AcmeBatch, chip_of, send, send_collected
from .streams import AcmeEvent, AcmeStream, queue_of

__all__ = ["RUNTIME", "AcmeRuntime", "Cells"]

# bfloat16 is what NumPy lacks: kernels get its bits, see `mindtorch_acme.elements`.
KINDS: Final = {d: np.dtype("uint16" if n == "bfloat16" else n) for n, d in DTYPES.items()}
BYTE: Final = np.dtype(np.uint8)


class Cells(NamedTuple):
    """The elements of a tensor, as its kernels find them in ``tensor.raw_data``.

    Attributes:
        block: the memory, which stays allocated as long as queued work refers to it.
        dtype: of the elements.
        shape, strides: sizes, and steps in bytes.
        start: bytes from the block's begin to the first element.
    """

    block: Block
    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int

    def view(self) -> Any:
        """The elements as an array over device memory; for queued work only."""
        at = self.block.start + self.start
        return self.block.arena.view(at, KINDS[self.dtype], self.shape, self.strides)


class AcmeRuntime(Runtime):
    """Two chips."""

    stream_type = AcmeStream
    event_type = AcmeEvent

    def device_count(self) -> int:
        """Number of chips."""
        return 2

    def properties(self, on: Any) -> dict[str, Any]:
        """Facts about a chip."""
        return {"name": "Acme One", "total_memory": ARENA_BYTES}

    def synchronize(self, on: Any = None) -> None:
        """Wait for all queues of a chip, or of all; failures of earlier kernels come up here."""
        send_collected()
        for chip in list(CHIPS.values()) if on is None else [chip_of(on)]:
            chip.wait()

    # ---- memory ----------------------------------------------------------------------------------

    def allocate(self, nbytes: int, on: Any) -> Block:
        """A block of a chip's arena. If there is none, wait for queued work that keeps memory."""
        arena = chip_of(on).arena
        block = arena.allocate(nbytes)
        if block is None:
            gc.collect()
            self.synchronize(on)
            block = arena.allocate(nbytes)
        if block is None:
            raise torch.OutOfMemoryError(
                f"acme: {nbytes} bytes do not fit into the {ARENA_BYTES - arena.used} that are free "
                f"of the {ARENA_BYTES} on {on}"
            )
        return block

    def payload(self, storage: Any, shape: Any, strides: Any, offset: int, d: Any) -> Cells:
        """What kernels find in a tensor."""
        size = d.itemsize
        steps = tuple(size * n for n in strides)
        return Cells(storage.memory, d, tuple(shape), steps, size * offset)

    def data_ptr(self, storage: Any) -> int:
        """Number of the first byte on its chip; no address of the host."""
        block: Block = storage.memory
        return block.arena.base + block.start

    def memory_stats(self, on: Any) -> dict[str, int]:
        """Use of a chip's arena."""
        arena = chip_of(on).arena
        return {
            "allocated_bytes.all.current": arena.used,
            "allocated_bytes.all.peak": arena.peak,
            "reserved_bytes.all.current": ARENA_BYTES,
            "reserved_bytes.all.peak": ARENA_BYTES,
        }

    def reset_memory_stats(self, on: Any, part: str) -> None:
        """Let the peak start anew."""
        arena = chip_of(on).arena
        if part == "peak":
            arena.peak = arena.used

    def memory_info(self, on: Any) -> tuple[int, int]:
        """Free and total bytes of a chip."""
        return ARENA_BYTES - chip_of(on).arena.used, ARENA_BYTES

    # ---- queued work -----------------------------------------------------------------------------

    def send(self, on: Any, name: str, job: Callable[[], object]) -> None:
        """Queue work on this thread's stream of a device."""
        send(self.current_stream(on), name, job)

    def fetch(self, on: Any, name: str, job: Callable[[], Any]) -> Any:
        """What work gives that runs after all that is queued on a device; waits for it."""
        self.synchronize(on)
        results: list[Any] = []
        stream = self.current_stream(on)
        send(stream, name, lambda: results.append(job()))
        queue_of(stream).wait()
        return results[0]

    def copy_from_host(self, memory: Block, start: int, data: memoryview) -> None:
        """Queue a copy; the bytes are the queue's own by then."""
        source = np.frombuffer(bytes(data), BYTE)
        cells = Cells(memory, torch.uint8, source.shape, (1,), start)
        self.send(self._device_of(memory), "a copy", lambda: np.copyto(cells.view(), source))

    def copy_to_host(self, memory: Block, start: int, nbytes: int) -> memoryview:
        """Bytes of a block, after all work queued on its chip."""
        cells = Cells(memory, torch.uint8, (nbytes,), (1,), start)
        copied = self.fetch(self._device_of(memory), "a copy", lambda: cells.view().tobytes())
        return memoryview(copied)

    def _device_of(self, memory: Block) -> Any:
        return torch.device("acme", memory.arena.index)

    # ---- random numbers and pipelines ------------------------------------------------------------

    def generator(self, on: Any) -> AcmeGenerator:
        """A new stream of random numbers."""
        return AcmeGenerator()

    def plan(self, entries: Any) -> Plan:
        """Have a pipeline's kernels queue their work in one message."""
        return Plan(batch=AcmeBatch())


RUNTIME: Final = AcmeRuntime()
