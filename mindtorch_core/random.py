"""Random numbers: generators per device and the functions that seed them all."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from .dispatch.nearest import lacking
from .tensors.autograd_state import born
from .tensors.tensor import Tensor
from .values.devices import TABLE, concrete, device, row_of
from .values.dtypes import uint8
from .values.errors import BackendUnavailableError
from .values.interrupts import contextmanager, surely

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "random_positions",
    "seed",
    "set_rng_state",
]


class Generator:
    """A stream of random numbers on one device; the same seed gives the same numbers.

    Threads may draw from one generator; which of them gets which numbers is then a matter of chance.

    Args:
        device: where it draws.

    Attributes:
        device: where it draws.
        source: the backend's generator, which its kernels draw from.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> first = torch.rand(2, generator=generator)
        >>> torch.equal(torch.rand(2, generator=generator.manual_seed(0)), first)
        True
    """

    __slots__ = ("__weakref__", "device", "source")

    def __init__(self, device: device | str | int = "cpu") -> None:
        self.device = concrete(device)  # type: ignore[arg-type]  # a number, for its error
        self.source = row_of(self.device.type).runtime.generator(self.device)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to ``seed``; returns the generator.

        Raises:
            RuntimeError: if the seed is no integer.
            ValueError: if it does not fit 64 bits.
        """
        try:
            value = operator.index(None if isinstance(seed, bool | Tensor) else seed)  # type: ignore[arg-type]
        except TypeError:
            raise RuntimeError(
                f"manual_seed expected a long, but got {type(seed).__name__}"
            ) from None
        value = checked_seed(value)
        _launch_recorded()
        self.source.manual_seed(value)
        return self

    def seed(self) -> int:
        """Start a stream that differs from run to run and return its seed."""
        _launch_recorded()
        fresh = _fresh_seed()
        self.source.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """The seed of the running stream."""
        _launch_recorded()
        return int(self.source.initial_seed())

    def get_state(self) -> Tensor:
        """The stream's position, as a uint8 tensor on the CPU."""
        _launch_recorded()
        return _as_tensor(self.source.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go to a position that `get_state` gave; returns the generator.

        Raises:
            TypeError: if it is no uint8 tensor on the CPU.
            RuntimeError: if it is not contiguous, or no position of a generator of this device.
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state._dtype is not uint8 or new_state._device.type != "cpu":
            raise TypeError(
                f"RNG state must be a torch.ByteTensor, which is a uint8 tensor on the CPU, not "
                f"{new_state._dtype} on {new_state._device}"
            )
        if not new_state.is_contiguous():
            raise RuntimeError("RNG state must be contiguous")
        _launch_recorded()
        position = bytes(new_state._host())
        self.source.set_state(position)
        return self

    def clone_state(self) -> Generator:
        """Another generator at the same position, independent of this one."""
        _launch_recorded()
        return _generator_at(str(self.device), bytes(self.source.get_state()))

    def __reduce__(self) -> tuple[Any, ...]:
        _launch_recorded()
        return _generator_at, (str(self.device), bytes(self.source.get_state()))

    def __repr__(self) -> str:
        return f"<Generator on {self.device}>"


def _generator_at(on: str, state: bytes) -> Generator:
    """A generator at a position, from a pickle or for a copy."""
    made = Generator(on)
    made.source.set_state(state)
    return made


# Called before a stream is moved or its position is read: what is recorded may still have to draw.
BEFORE_POSITION: Final[list[Callable[[], None]]] = []


def _launch_recorded() -> None:
    """Let recorded ops draw before the stream is moved or its position is read."""
    for call in [*BEFORE_POSITION]:
        call()


def _fresh_seed() -> int:
    return int.from_bytes(os.urandom(8), "little") >> 1


def _as_tensor(state: bytes) -> Tensor:
    home = concrete("cpu")
    runtime = row_of(home.type).runtime
    return born(runtime.from_host(memoryview(state), (len(state),), uint8, home), own=True)


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
        found = Generator(on)
        _start(found)
        found = _defaults.setdefault(on, found)  # another thread may have made one meanwhile
    return found


def forget_generators(device_type: str) -> None:
    """Forget the default generators of a device type, whose backend is unloaded."""
    for on in [on for on in tuple(_defaults) if on.type == device_type]:
        del _defaults[on]


def _start(generator: Generator) -> None:
    """Start a default generator's stream: where `manual_seed` said, anywhere before it was called."""
    chosen = _seed[0]
    generator.source.manual_seed(_fresh_seed() if chosen is None else chosen)


def source_for(generator: Generator | None, on: device) -> Any:
    """The backend's generator for a random kernel.

    Raises:
        RuntimeError: if a generator of another device was given.
        TypeError: if something else was given.
    """
    if generator is None:
        return default_generator(on).source
    if generator.__class__ is not Generator:
        raise TypeError(f"generator must be a torch.Generator, not {type(generator).__name__}")
    if generator.device is not on:
        raise RuntimeError(
            f"Expected a '{on}' device type for generator but found '{generator.device}'"
        )
    return generator.source


def manual_seed(seed: int) -> Generator | None:
    """Seed the default generators of all devices; returns the CPU's, None without that backend.

    Args:
        seed: any int of 64 bits.

    Raises:
        RuntimeError: for a larger one.

    Example:
        >>> generator = torch.manual_seed(0)
        >>> first = torch.rand(2)
        >>> generator = torch.manual_seed(0)
        >>> torch.equal(torch.rand(2), first)
        True
    """
    value = checked_seed(seed)
    _seed[0] = value
    for generator in list(_defaults.values()):
        generator.manual_seed(value)
    try:
        return default_generator(concrete("cpu"))
    except BackendUnavailableError:
        return None


def seed() -> int:
    """Seed all default generators with a number that differs from run to run; returns it.

    Example:
        >>> number = torch.seed()
        >>> torch.initial_seed() == number
        True
    """
    fresh = _fresh_seed()
    manual_seed(fresh)
    return fresh


def initial_seed() -> int:
    """The seed of the CPU's default generator."""
    return default_generator(concrete("cpu")).initial_seed()


def get_rng_state() -> Tensor:
    """Position of the CPU's default generator.

    Example:
        >>> state = torch.get_rng_state()
        >>> first = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(torch.rand(2), first)
        True
    """
    return default_generator(concrete("cpu")).get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go back to a position of the CPU's default generator.

    Args:
        new_state: what `get_rng_state` gave.

    Example:
        >>> state = torch.get_rng_state()
        >>> torch.set_rng_state(state)
    """
    default_generator(concrete("cpu")).set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[device | str | int] | None = None,
    enabled: bool = True,
    device_type: str | None = None,
) -> Iterator[None]:
    """Restore the default generators when the block ends.

    Args:
        devices: whose generators, besides the CPU's; a number is one of ``device_type``. By default
            those of all loaded devices.
        enabled: False to do nothing.
        device_type: limits the default to devices of this type.
    """
    restore = random_positions(devices, device_type) if enabled else _nothing
    try:
        yield
    finally:
        surely(restore)


def _nothing() -> None:
    pass


def random_positions(
    devices: Iterable[device | str | int] | None = None, device_type: str | None = None
) -> Callable[[], None]:
    """What brings the default generators back to where they are now; it may be called several times.

    Args:
        devices: as for `fork_rng`.
        device_type: as for `fork_rng`.
    """
    _launch_recorded()
    chosen = _seed[0]
    forked = _forked(devices, device_type)
    kept = {on: default_generator(on).source.get_state() for on in forked if on in _defaults}

    def restore() -> None:
        _launch_recorded()
        _seed[0] = chosen
        for on, generator in list(_defaults.items()):
            if on in kept:
                generator.source.set_state(kept[on])
            elif on in forked or (devices is None and device_type in (None, on.type)):
                _start(generator)  # made since: as if it had never been

    return restore


def _forked(
    devices: Iterable[device | str | int] | None, device_type: str | None
) -> tuple[device, ...]:
    """The devices whose default generators a fork keeps."""
    if devices is None:
        loaded = [on for on in tuple(_defaults) if on.type in TABLE]
        return tuple(on for on in loaded if on.type == "cpu" or device_type in (None, on.type))
    named = [
        concrete(device(device_type or "cpu", d) if isinstance(d, int) else d) for d in devices
    ]
    return (*(on for on in tuple(_defaults) if on.type == "cpu"), *named)


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = lacking(sys.modules[__name__])
