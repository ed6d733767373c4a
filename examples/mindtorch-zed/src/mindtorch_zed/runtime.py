"""Memory of the device 'zed': here a bytearray for each tensor."""

from __future__ import annotations

import random
from typing import Any, Final

from mindtorch_core import OutOfMemoryError
from mindtorch_core.backend import Runtime

__all__ = ["RUNTIME", "ZedRuntime"]

MEMORY_BYTES: Final = 1 << 32  # of one allocation; more is refused


class Memory:
    """What `allocate` returns. It owns the memory: when it goes, the memory goes."""

    __slots__ = ("__weakref__", "data")

    def __init__(self, nbytes: int) -> None:
        self.data = bytearray(nbytes)


class ZedGenerator:
    """Random numbers of one device: a seed, and how many numbers were drawn.

    A kernel that draws numbers takes `mindtorch_core.backend.source_for(generator, device)`.
    """

    def __init__(self) -> None:
        self._seed = 0
        self.numbers = random.Random(0)

    def manual_seed(self, seed: int) -> None:
        """Start the stream of a seed."""
        self._seed = seed
        self.numbers.seed(seed)

    def initial_seed(self) -> int:
        """The stream's seed."""
        return self._seed

    def get_state(self) -> bytes:
        """The position in the stream."""
        version, words, gauss = self.numbers.getstate()
        assert gauss is None  # no normal numbers are drawn from it
        return b"".join(n.to_bytes(8, "little") for n in (self._seed, version, *words))

    def set_state(self, state: bytes) -> None:
        """Go to a position."""
        parts = [int.from_bytes(state[i : i + 8], "little") for i in range(0, len(state), 8)]
        if len(parts) < 3 or len(state) % 8:
            raise RuntimeError("not a state of this generator: it has another length")
        seed, version, *words = parts
        try:
            self.numbers.setstate((version, tuple(words), None))
        except (TypeError, ValueError) as error:
            raise RuntimeError(f"not a state of this generator: {error}") from None
        self._seed = seed


class ZedRuntime(Runtime):
    """One device. The methods of `Runtime` that are not here have defaults."""

    def device_count(self) -> int:
        """Number of devices; 0, and no error, where there is none."""
        return 1

    def allocate(self, nbytes: int, on: Any) -> Memory:
        """Memory of a tensor."""
        if nbytes > MEMORY_BYTES:
            raise OutOfMemoryError(f"{nbytes} bytes do not fit on {on}, which has {MEMORY_BYTES}")
        return Memory(nbytes)

    def copy_from_host(self, memory: Memory, start: int, data: memoryview) -> None:
        """Write host bytes into the device's memory."""
        memory.data[start : start + len(data)] = data

    def copy_to_host(self, memory: Memory, start: int, nbytes: int) -> memoryview:
        """A host copy of the device's memory. A queue of work would have to be waited for here."""
        return memoryview(bytes(memory.data[start : start + nbytes]))

    def generator(self, on: Any) -> ZedGenerator:
        """A new stream of random numbers."""
        return ZedGenerator()


RUNTIME: Final = ZedRuntime()
