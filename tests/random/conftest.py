"""A device that supplies `uniform_` and `random_` alone: what else it draws are compositions."""

import random
import struct

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.random import source_for


class Stream:
    """A backend's generator, made of Python's own."""

    def __init__(self):
        self.manual_seed(0)

    def manual_seed(self, seed):
        self.seed = seed
        self.draws = random.Random(seed)

    def initial_seed(self):
        return self.seed

    def get_state(self):
        _, words, _ = self.draws.getstate()
        return struct.pack("<Q625I", self.seed, *words)

    def set_state(self, raw):
        seed, *words = struct.unpack("<Q625I", raw)
        self.manual_seed(seed)
        self.draws.setstate((3, tuple(words), None))


@pytest.fixture
def dice(toy):
    """Name of the device; it runs on the CPU what it has no kernel and no composition for."""
    toy.RUNTIME.generator = lambda on: Stream()

    def stream(t, generator):
        return source_for(generator, t.device).draws

    def uniform_(self, low=0, high=1, *, generator=None):
        draw = stream(self, generator)
        return toy.write(self, [draw.uniform(low, high) for _ in range(self.numel())])

    def random_(self, low, high, *, generator=None):
        draw = stream(self, generator)
        end = high or (1 << 24 if self.dtype.is_floating_point else torch.iinfo(self.dtype).max)
        return toy.write(self, [draw.randrange(low, end) for _ in range(self.numel())])

    key = registry.key_of("toy")
    handles = [
        registry.register_kernel("uniform_", key, uniform_),
        registry.register_kernel("random_.from", key, random_),
    ]
    with torch.library._scoped_library("_", "IMPL", key) as lib:
        lib.fallback(lambda op, *args, **kw: torch.library.cpu_fallback(op.name(), *args, **kw))
        yield "toy"
    for handle in handles:
        handle.remove()
