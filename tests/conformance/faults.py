"""What mutants are made with: the bare backend gets one fault, and some tests have to see it.

A mutant is a function that puts one fault into the loaded bare backend. `mutant` says which tests of
the kit are to see it, for ops as ``test=[names of ops]`` and for tests of the runtime as
``test=()``, and what they have to say.
"""

import threading
from dataclasses import dataclass

import numpy as np
from bare_backend.kernels import KERNELS, axes, elementwise_kernel, made, rule_of, wide

from mindtorch_core.dispatch.registry import registry

MUTANTS = {}


@dataclass(frozen=True)
class Mutant:
    """A fault: `put(patch)` puts it in, `tests` are to see it, and say something that `tells` finds."""

    put: object
    tests: dict
    tells: str


def mutant(tells, **tests):
    def add(put):
        MUTANTS[put.__name__] = Mutant(put, tests, tells)
        return put

    return add


def kernel(name, fn, **options):
    """Put a kernel in the place of the backend's own."""
    registry.register_kernel(name, "bare", fn, **options)


def shared_scratch(function):
    """Arithmetic whose results pass through one buffer, where another thread's overtake them."""
    scratch = np.zeros(1 << 12)
    overtaken = threading.Barrier(2, timeout=60)
    here = threading.local()

    def compute(*operands, **options):
        values = function(*operands, **options)
        if values.size > scratch.size or values.dtype.kind != "f":
            return values
        room = scratch[: values.size].reshape(values.shape)
        room[...] = values
        if threading.current_thread() is not threading.main_thread() and not vars(here):
            here.met = True  # once for each thread of the kit, of which there are six
            overtaken.wait()
        return room.astype(values.dtype)

    return compute


def pointwise(name, compute, array=wide):
    """Put a faulty element-wise kernel in: the rule is right, the numbers are not."""
    kernel(name, elementwise_kernel(name, compute, array))


def altered(name, change):
    """Put a kernel in that alters what the right one gives."""
    right = KERNELS[name]
    kernel(name, lambda *args, **options: change(right(*args, **options)))


def reduction(name, compute, rule_dtype=None):
    """Put a faulty reduction in: `compute(array, axis, keepdims)`."""
    rule = rule_of(name)

    def run(self, dim=None, keepdim=False, *, dtype=None):
        spec = rule(self, dim, keepdim, **({} if dtype is None else {"dtype": dtype}))
        a = self.raw_data if rule_dtype == "own" else wide(self)
        with np.errstate(all="ignore"):
            values = compute(a, axes(dim) if self.ndim else None, keepdim)
        shape = spec.shape if np.size(values) == np.prod(spec.shape) else np.shape(values)
        return made(np.reshape(values, shape), spec.dtype, self)

    kernel(name, run)
