"""Memory of the bare device: arrays of bytes, of which kernels see views."""

import pickle

import ml_dtypes
import numpy as np

from mindtorch_core.backend import DTYPES, OutOfMemoryError, Runtime

NUMPY = {
    d: np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    for name, d in DTYPES.items()
}


class Source:
    """Random numbers of one device."""

    def __init__(self):
        self.manual_seed(0)

    def manual_seed(self, seed):
        self.seed = seed
        self.numbers = np.random.Generator(np.random.Philox(seed))

    def initial_seed(self):
        return self.seed

    def get_state(self):
        return pickle.dumps((self.seed, self.numbers.bit_generator.state))

    def set_state(self, state):
        self.seed, self.numbers.bit_generator.state = pickle.loads(bytes(state))


class BareRuntime(Runtime):
    """One device in host memory."""

    def device_count(self):
        return 1

    def allocate(self, nbytes, on):
        try:
            return np.zeros(nbytes, np.uint8)
        except MemoryError as error:
            raise OutOfMemoryError(f"bare: {nbytes} bytes do not fit into memory") from error

    def copy_from_host(self, memory, start, data):
        memory[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def copy_to_host(self, memory, start, nbytes):
        return memoryview(memory[start : start + nbytes].tobytes())

    def generator(self, on):
        return Source()

    def data_ptr(self, storage):
        return storage.memory.ctypes.data

    def payload(self, storage, shape, strides, offset, d):
        kind = NUMPY[d]
        if 0 in shape:
            return np.empty(shape, kind)
        steps = [s * kind.itemsize for s in strides]
        return np.ndarray(shape, kind, storage.memory, offset * kind.itemsize, steps)


RUNTIME = BareRuntime()
