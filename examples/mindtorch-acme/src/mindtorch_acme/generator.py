"""Random numbers: a seed and a count of draws, so that kernels can draw when their turn comes."""

from __future__ import annotations

import struct
import threading

import numpy as np

__all__ = ["AcmeGenerator"]

STATE = struct.Struct("<QQ")


class AcmeGenerator:
    """A stream of random numbers on one device."""

    def __init__(self) -> None:
        self._seed = self._draws = 0
        self._lock = threading.Lock()

    def manual_seed(self, seed: int) -> None:
        """Start the stream of a seed."""
        with self._lock:
            self._seed, self._draws = seed, 0

    def initial_seed(self) -> int:
        """The stream's seed."""
        return self._seed

    def get_state(self) -> bytes:
        """The position in the stream."""
        return STATE.pack(self._seed, self._draws)

    def set_state(self, state: bytes) -> None:
        """Go to a position.

        Raises:
            RuntimeError: if it is not one of this kind of generator.
        """
        if len(state) != STATE.size:
            raise RuntimeError(
                f"an acme generator's state has {STATE.size} bytes, this one has {len(state)}: it "
                f"was not made by torch.acme.get_rng_state()"
            )
        with self._lock:
            self._seed, self._draws = STATE.unpack(state)

    def draw(self) -> np.random.Generator:
        """The numbers of the next draw. Taken when a kernel is queued, used when it runs."""
        with self._lock:
            seed, position = self._seed, self._draws
            self._draws += 1
        return np.random.Generator(np.random.Philox(key=seed, counter=position << 64))
