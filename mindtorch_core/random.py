"""Random numbers: generators per device and the functions that seed them all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from .autograd_state import born
from .devices import TABLE, concrete, device, row_of
from .errors import BackendUnavailableError
from .storage import BEFORE_EXPORT
from .tensor import Tensor, from_values

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


class Generator:
    """A stream of random numbers on one device; the same seed gives the same numbers.

    Attributes:
        device: where it draws.
        source: the backend's generator, which its kernels draw from.
    """

    __slots__ = ("device", "source")

    def __init__(self, device: device | str = "cpu") -> None:
        self.device = concrete(device)
        self.source = row_of(self.device.type).runtime.generator(self.device)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to ``seed``; returns the generator.

        Raises:
            ValueError: if the seed does not fit 64 bits.
        """
        _launch_recorded()
        self.source.manual_seed(checked_seed(seed))
        return self

    def seed(self) -> int:
        """Start a stream that differs from run to run and return its seed."""
        _launch_recorded()
        fresh = int.from_bytes(os.urandom(8), "little") >> 1
        self.source.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """The seed of the running stream."""
        return int(self.source.initial_seed())

    def get_state(self) -> Tensor:
        """The stream's position, as a uint8 tensor on the CPU."""
        _launch_recorded()
        return _as_tensor(self.source.get_state())

    def set_state(self, state: Tensor) -> Generator:
        """Go back to a position that `get_state` gave; returns the generator."""
        position = bytes(state.tolist())
        _launch_recorded()
        self.source.set_state(position)
        return self

    def __repr__(self) -> str:
        return f"<Generator on {self.device}>"


def _launch_recorded() -> None:
    """Let recorded ops draw before the stream is moved or its position is read."""
    for flush in BEFORE_EXPORT:
        flush()


def _as_tensor(state: bytes) -> Tensor:
    from .dtypes import uint8

    return born(from_values(list(state), (len(state),), uint8, concrete("cpu")))


def checked_seed(seed: Any) -> int:
    """A seed as a 64-bit unsigned integer; negative ones wrap, as in PyTorch.

    Raises:
        ValueError: if it is no integer, or one of more than 64 bits.
    """
    value = int(seed)
    if not -(1 << 63) <= value < (1 << 64):
        raise ValueError(f"Overflow when unpacking long long: seed {value} does not fit 64 bits")
    return value % (1 << 64)


_defaults: Final[dict[device, Generator]] = {}
_seed: Final[list[int | None]] = [None]


def default_generator(on: device) -> Generator:
    """The generator that random ops on a device use when none is given."""
    found = _defaults.get(on)
    if found is None:
        found = _defaults[on] = Generator(on)
        if _seed[0] is None:
            found.seed()
        else:
            found.manual_seed(_seed[0])
    return found


def source_for(generator: Generator | None, on: device) -> Any:
    """The backend's generator for a random kernel.

    Raises:
        RuntimeError: if a generator of another device was given.
    """
    if generator is None:
        return default_generator(on).source
    if generator.device is not on:
        raise RuntimeError(
            f"Expected a '{on}' device type for generator but found '{generator.device}'"
        )
    return generator.source


def manual_seed(seed: int) -> Generator | None:
    """Seed the default generators of all devices; returns the CPU's, None without that backend."""
    value = checked_seed(seed)
    _seed[0] = value
    for generator in _defaults.values():
        generator.manual_seed(value)
    try:
        return default_generator(concrete("cpu"))
    except BackendUnavailableError:
        return None


def seed() -> int:
    """Seed all default generators with a number that differs from run to run; returns it."""
    fresh = int.from_bytes(os.urandom(8), "little") >> 1
    manual_seed(fresh)
    return fresh


def initial_seed() -> int:
    """The seed of the CPU's default generator."""
    return default_generator(concrete("cpu")).initial_seed()


def get_rng_state() -> Tensor:
    """Position of the CPU's default generator."""
    return default_generator(concrete("cpu")).get_state()


def set_rng_state(state: Tensor) -> None:
    """Go back to a position of the CPU's default generator."""
    default_generator(concrete("cpu")).set_state(state)


@contextmanager
def fork_rng() -> Iterator[None]:
    """Restore the default generators of all loaded devices when the block ends."""
    kept = [(g, g.source.get_state()) for on, g in _defaults.items() if on.type in TABLE]
    try:
        yield
    finally:
        for g, state in kept:
            g.source.set_state(state)
