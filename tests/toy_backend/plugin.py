"""A whole third-party backend, for the tests of plugin loading.

It is never imported from here: the tests copy this file into a package of its own, beside a
``config.py`` that holds its device name, its dispatch key and the plugin API it was built for.
Its memory is a bytearray per storage and its kernels are loops over Python numbers.
"""

import mindtorch_core as torch
from mindtorch_core.backend import Runtime, broadcast, pack, unpack
from mindtorch_core.dispatch.registry import registry
from mindtorch_core.plugins import Backend, hookimpl

from .config import API, DEVICE, KEY

CALLS = []  # names of the kernels that ran, in order


class ToyRuntime(Runtime):
    """Two devices that share the host's memory."""

    def device_count(self):
        return 2

    def allocate(self, nbytes, on):
        return bytearray(nbytes)

    def copy_from_host(self, memory, start, data):
        memory[start : start + len(data)] = bytes(data)

    def copy_to_host(self, memory, start, nbytes):
        return memoryview(bytes(memory[start : start + nbytes]))


RUNTIME = ToyRuntime()


@hookimpl
def mindtorch_backend():
    return Backend(device=DEVICE, key=KEY, runtime=RUNTIME, api=API)


@hookimpl
def mindtorch_register(key):
    for name, kernel in KERNELS.items():
        registry.register_kernel(name, key, logged(name, kernel))


def logged(name, kernel):
    def run(*args, **kwargs):
        CALLS.append(name)
        return kernel(*args, **kwargs)

    return run


# ---- kernels ------------------------------------------------------------------------------------


def places(t):
    """Where the elements lie in the storage, in elements, row-major."""
    out = [t.storage_offset()]
    for n, step in zip(t.shape, t.stride(), strict=True):
        out = [start + i * step for start in out for i in range(n)]
    return out


def read(t):
    cells = unpack(t.untyped_storage().memory, t.dtype)
    return [cells[i] for i in places(t)]


def write(t, values):
    memory, size = t.untyped_storage().memory, t.dtype.itemsize
    raw = pack(values, t.dtype)
    for n, i in enumerate(places(t)):
        memory[i * size : (i + 1) * size] = raw[n * size : (n + 1) * size]
    return t


def new(like, shape, values, dtype=None):
    return write(torch.empty(shape, dtype=dtype or like.dtype, device=like.device), values)


def pairwise(fn):
    def kernel(self, other):
        shape = broadcast(tuple(self.shape), tuple(other.shape))
        pairs = zip(read(self.expand(shape)), read(other.expand(shape)), strict=True)
        return new(self, shape, [fn(a, b) for a, b in pairs])

    return kernel


def add(self, other, *, alpha=1):
    return pairwise(lambda a, b: a + alpha * b)(self, other)


def relu(self):
    return new(self, self.shape, [max(v, 0) for v in read(self)])


def total(self, dim=None, keepdim=False, *, dtype=None):
    if dim is not None:
        raise NotImplementedError("the toy sums over all dimensions only")
    if dtype is None and not self.dtype.is_floating_point:
        dtype = torch.int64
    return new(self, [1] * self.ndim if keepdim else [], [sum(read(self))], dtype)


def clone(self, *, memory_format=None):
    return new(self, self.shape, read(self))


def copy_(self, src, non_blocking=False):
    """Called for copies onto the device and off it: the device is the stronger of the two."""
    if self.device.type != DEVICE:
        return self.copy_(src.to(self.device))
    write(self, read(src.to(self.device, self.dtype).expand(self.shape)))
    return self


def fill_(self, value):
    return write(self, [value] * self.numel())


KERNELS = {
    "add": add,
    "mul": pairwise(lambda a, b: a * b),
    "relu": relu,
    "sum": total,
    "clone": clone,
    "copy_": copy_,
    "fill_.Scalar": fill_,
    "_to_dtype": lambda self, dtype: new(self, self.shape, read(self), dtype),
}
