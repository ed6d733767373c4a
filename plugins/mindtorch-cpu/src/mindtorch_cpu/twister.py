"""Where the CPU's random numbers come from: the Mersenne Twister, at PyTorch's positions.

The generator is MT19937 (Matsumoto and Nishimura, 1998), which NumPy computes. Seeds, the bytes of a
position and the ways from outputs to uniform numbers are PyTorch's, so one seed gives one stream in both.
"""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import fork_safe

from .compiled import walk
from .libm import exact

__all__ = ["CHUNK", "TwisterSource"]

CHUNK: Final = 1 << 13  # outputs that are drawn at a time: they stay in the cache
_FIRST_SEED: Final = 67280421310721  # of a generator that nobody seeded
_WORDS: Final = 624
_SCALAR: Final = (
    16  # below so many normal numbers, Python's are computed faster than arrays of them
)
_SHORT: Final = 1 << 10  # up to so many outputs, `random_raw` has less overhead
_SINGLE: Final = np.uint64((1 << 24) - 1)
_DOUBLE: Final = (1 << 53) - 1
_UNIT: Final = (0x3FF0000000000000, 0)  # the bits of 1 and 0 as float64
# Seed, outputs left, whether seeded, next output, the words, the second number of a pair and if there is one.
_LAYOUT: Final = struct.Struct(f"<Qiiq{8 * _WORDS}s8xd8xi12x")


class TwisterSource:
    """A stream of random numbers; whoever draws several times in a row holds its lock.

    Attributes:
        lock: threads may share a stream, and a finaliser may draw within a draw.
        spare: the second of two normal numbers, which the next draw of one takes.
    """

    __slots__ = ("_bits", "_rng", "_seeder", "_start", "lock", "spare")

    def __init__(self) -> None:
        self.lock = fork_safe(threading.RLock())
        self._bits = np.random.MT19937(0)
        fork_safe(self._bits.lock)
        self._rng = np.random.Generator(self._bits)
        self._seeder = np.random.RandomState(self._bits)
        self.manual_seed(_FIRST_SEED)

    def manual_seed(self, seed: int) -> None:
        """Start the stream of a seed, of which the lower 32 bits count."""
        with self.lock:
            self._seeder.seed(seed & 0xFFFFFFFF)
            self._start = seed
            self.spare: float | None = None

    def initial_seed(self) -> int:
        """The running stream's seed."""
        return self._start

    @property
    def address(self) -> int:
        """Where the state lies in memory: its words, and the position of the next."""
        found: int = self._bits.ctypes.state_address
        return found

    # ---- positions ------------------------------------------------------------------------------

    def get_state(self) -> bytes:
        """The stream's position as PyTorch's 5056 bytes."""
        with self.lock:
            inner: Any = self._bits.state["state"]
            start, spare = self._start, self.spare
        key, at = inner["key"], int(inner["pos"])
        # Before the first draw PyTorch counts from 0; the first word is the seed until then.
        following = 0 if at == _WORDS and int(key[0]) == start & 0xFFFFFFFF else at
        return _LAYOUT.pack(
            start, 1 + _WORDS - at, 1, following, key.astype("<u8").tobytes(), spare or 0.0,
            spare is not None,
        )  # fmt: skip

    def set_state(self, raw: bytes) -> None:
        """Go to a position that `get_state` gave, here or in PyTorch.

        Raises:
            RuntimeError: if it is none.
        """
        if len(raw) != _LAYOUT.size:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_LAYOUT.size} but found the input RNG "
                f"state size to be {len(raw)}"
            )
        start, left, seeded, following, words, spare, paired = _LAYOUT.unpack(raw)
        key = np.frombuffer(words, "<u8")
        at = following or _WORDS
        alive = key[1:].any() or int(key[0]) >> 31  # from all zeros only zeros would follow
        if (
            seeded != 1 or not 0 <= following <= _WORDS or left != 1 + _WORDS - at
            or paired not in (0, 1) or not alive or (key >> 32).any()
        ):  # fmt: skip
            raise RuntimeError(
                "Invalid mt19937 state: these bytes are no position of a CPU generator. Pass what "
                "get_state() gave"
            )
        with self.lock:
            self._bits.state = {
                "bit_generator": "MT19937",
                "state": {"key": key.astype(np.uint32), "pos": at},
            }
            self._start, self.spare = start, spare if paired else None

    # ---- outputs and uniform numbers -----------------------------------------------------------

    def words(self, count: int) -> Any:
        """Outputs of 32 bits."""
        if count <= _SHORT:
            return self._bits.random_raw(count).astype(np.uint32)
        return self._rng.integers(0, 0xFFFFFFFF, count, np.uint32, endpoint=True)

    def few_words(self, count: int) -> Any:
        """The same as integers of 64 bits: faster for some."""
        return self._bits.random_raw(count)

    def long_words(self, count: int) -> Any:
        """Outputs of 64 bits: of two the first is the upper half."""
        if 2 * count <= _SHORT:
            halves = self._bits.random_raw(2 * count)
            return (halves[::2] << 32) | halves[1::2]
        return self._rng.integers(0, 0xFFFFFFFFFFFFFFFF, count, np.uint64, endpoint=True)

    def singles(self, count: int) -> Any:
        """Uniform float32 numbers from [0, 1), multiples of 2**-24."""
        bits = self.words(count)
        bits &= 0xFFFFFF
        made = bits.view(np.int32).astype(np.float32)
        made *= np.float32(2**-24)
        return made

    def doubles(self, count: int) -> Any:
        """Uniform float64 numbers from [0, 1), multiples of 2**-53."""
        bits = self.long_words(count)
        bits &= (1 << 53) - 1
        made = bits.view(np.int64).astype(np.float64)
        made *= 2**-53
        return made

    def put_singles(self, line: Any) -> None:
        """Write what `singles` gives into float32 numbers."""
        loop = walk("singles", line.dtype, line.size, 1)
        if loop is not None:
            loop(line, self.address, line.size, *_UNIT)
        elif line.size > _SHORT:
            line[:] = self.singles(line.size)
        else:
            bits = self.few_words(line.size)
            bits &= _SINGLE
            np.multiply(bits, 2**-24, line, casting="unsafe")

    def put_between(self, line: Any, low: float, high: float) -> bool:
        """Whether a compiled loop wrote uniform float32 numbers, of which rounding may make some ``high``."""
        loop = walk("singles", line.dtype, line.size)
        if loop is None:
            return False
        start, end = np.float32(low), np.float32(high)
        loop(line, self.address, line.size, _bits_of(end - start), _bits_of(start))
        return True

    def put_doubles(self, line: Any) -> None:
        """Write what `doubles` gives into float64 numbers."""
        line[:] = self.doubles(line.size)

    def double(self) -> float:
        """One uniform number from [0, 1), a multiple of 2**-53."""
        high, low = self._bits.random_raw(2).tolist()
        return float(((high << 32 | low) & ((1 << 53) - 1)) * 2**-53)

    # ---- going back -----------------------------------------------------------------------------

    def bits_state(self) -> Any:
        """Where the stream of outputs is, for `go_back`."""
        return self._bits.state

    def go_back(self, position: Any, count: int) -> None:
        """Go to ``count`` outputs after an earlier position."""
        self._bits.state = position
        self._bits.random_raw(count, output=False)

    # ---- normal numbers -------------------------------------------------------------------------

    def normals(self, count: int) -> Any:
        """Standard normal float64 numbers, two at a time (Box and Muller, 1958).

        What is left of the last pair is the first number of the next call.
        """
        with self.lock:
            if count < _SCALAR:
                return np.array(self.few_normals(count))
            made = np.empty(count + 2)
            first = self.spare is not None
            if first and count:
                made[0], self.spare = self.spare, None
            pairs = (count - first + 1) // 2
            if pairs > 0:
                sines = made[first + 1 :: 2][:pairs]
                made[first::2][:pairs], sines[:] = _pairs(self.doubles(2 * pairs))
                if first + 2 * pairs > count:
                    self.spare = float(sines[-1])
            return made[:count]

    def few_normals(self, count: int) -> list[float]:
        """The same, as floats: faster for some numbers."""
        with self.lock:
            made = []
            if self.spare is not None and count:
                made.append(self.spare)
                self.spare = None
            pairs = (count - len(made) + 1) // 2
            words = iter(self._bits.random_raw(4 * pairs).tolist())
            for high, low, more, rest in zip(words, words, words, words, strict=True):
                angle = (((high << 32 | low) & _DOUBLE) * 2**-53) * (2 * math.pi)
                radius = math.sqrt(-2 * math.log1p(-((more << 32 | rest) & _DOUBLE) * 2**-53))
                made += (radius * math.cos(angle), radius * math.sin(angle))
            if len(made) > count:
                self.spare = made.pop()
            return made

    def normal(self, uniform: Callable[[], float]) -> float:
        """One standard normal number, of the uniform ones that a function gives."""
        if self.spare is not None:
            z, self.spare = self.spare, None
            return z
        angle = 2 * math.pi * uniform()
        radius = math.sqrt(-2 * math.log1p(-uniform()))
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)


def _bits_of(x: Any) -> int:
    return int(np.float64(x).view(np.int64))


def _pairs(uniform: Any) -> tuple[Any, Any]:
    """Cosines and sines of angles, times radii; two uniform numbers make one of each."""
    angle = uniform[::2] * (2 * math.pi)
    radius = np.sqrt(exact("log1p")(-uniform[1::2]) * -2)
    return radius * exact("cos")(angle), radius * exact("sin")(angle)
