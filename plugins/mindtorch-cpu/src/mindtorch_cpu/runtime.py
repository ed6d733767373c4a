"""The CPU's side of the device protocol."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    Runtime,
    Shape,
    Storage,
    Tensor,
    contiguous_strides,
    device,
    dtype,
    make_tensor,
    numel,
    storage_extent,
)

from .addresses import address
from .arrays import CPU, KEYS, NUMPY_OF, torch_dtype, uninitialised, wrap
from .memory_pool import POOL
from .twister import TwisterSource

__all__ = ["RUNTIME", "CPURuntime"]


@lru_cache(4096)
def _in_elements(shape: Shape, strides: Shape, size: int) -> tuple[Shape, int]:
    """Strides in bytes as those of elements of a size, and how many bytes they reach over."""
    steps = tuple(s // size for s in strides)
    return steps, storage_extent(shape, steps, 0) * size


def flat_bytes(memory: Any) -> Any:
    """The bytes of a storage's memory as a one-dimensional array."""
    if memory.flags.c_contiguous:
        return memory.reshape(-1).view(np.uint8)
    size = memory.itemsize
    extent = storage_extent(memory.shape, tuple(s // size for s in memory.strides), 0)
    line = np.lib.stride_tricks.as_strided(memory, (extent,), (size,))
    return line.view(np.uint8)


class CPURuntime(Runtime):
    """Host memory; every op has finished when it returns."""

    planned_from = 1 << 20  # below, a plan costs more than it can save
    compiles_at_once = False

    def device_count(self) -> int:
        """One."""
        return 1

    def concrete_device(self, wanted: device) -> device:
        """The CPU has no index: ``cpu:0`` is ``cpu``.

        Raises:
            RuntimeError: for any other index.
        """
        if wanted is CPU or not wanted.index:
            return CPU
        raise RuntimeError(f"{wanted} was asked for, but there is one cpu device")

    def allocate(self, nbytes: int, on: device) -> Any:
        """Bytes of host memory.

        Raises:
            OutOfMemoryError: if the host has not enough.
        """
        return uninitialised((nbytes,), np.dtype(np.uint8))

    def copy_from_host(self, memory: Any, start: int, data: memoryview) -> None:
        """Write bytes into memory."""
        flat_bytes(memory)[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def copy_to_host(self, memory: Any, start: int, nbytes: int) -> memoryview:
        """Copy bytes out of memory."""
        return memoryview(flat_bytes(memory)[start : start + nbytes].tobytes())

    def empty(self, shape: Shape, strides: Shape | None, d: dtype, on: device) -> Tensor:
        """Make a tensor with undefined elements."""
        if strides is None:
            return wrap(uninitialised(shape, NUMPY_OF[d]), d)
        nbytes = storage_extent(shape, strides, 0) * d.itemsize
        storage = Storage(self.allocate(nbytes, on), nbytes, CPU)
        data = self.payload(storage, shape, strides, 0, d)
        return make_tensor(data, shape, d, CPU, KEYS, storage, (strides, 0))

    def payload(self, storage: Storage, shape: Shape, strides: Shape, offset: int, d: dtype) -> Any:
        """An array over the storage's memory."""
        size = d.itemsize
        if not numel(shape):
            return np.empty(shape, NUMPY_OF[d])
        return np.ndarray(
            shape, NUMPY_OF[d], flat_bytes(storage.memory), offset * size,
            tuple(s * size for s in strides),
        )  # fmt: skip

    def storage_of(self, tensor: Tensor) -> Storage:
        """The storage around a kernel's fresh result."""
        data = tensor.raw_data
        nbytes = data.nbytes
        if not data.flags.c_contiguous:
            size = data.itemsize
            steps = tuple(s // size for s in data.strides)
            nbytes = storage_extent(data.shape, steps, 0) * size
        return Storage(data, nbytes, CPU)

    def fits(self, tensor: Tensor) -> bool:
        """Whether a payload is an array of the tensor's shape, dtype and strides."""
        data, layout = tensor.raw_data, tensor.raw_layout
        if data.__class__ is not np.ndarray or data.shape != tensor.raw_shape:
            return False
        if data.dtype != NUMPY_OF[tensor.raw_dtype]:
            return False
        if layout is None or not data.size:
            return True
        steps = zip(data.shape, data.strides, layout[0], strict=True)
        return all(n == 1 or step == stride * data.itemsize for n, step, stride in steps)

    def layout(self, tensor: Tensor) -> tuple[Shape, int]:
        """Strides and offset, read from the array."""
        data = tensor.raw_data
        if not data.size:
            return contiguous_strides(data.shape), 0
        size = data.itemsize
        steps, reach = _in_elements(data.shape, data.strides, size)
        storage = tensor.raw_storage
        if storage is None or storage.memory is data:
            return steps, 0
        if reach == storage.size_bytes >= storage.memory.nbytes:
            return steps, 0  # all of it: NumPy takes long to say an address
        return steps, (address(data) - address(storage.memory)) // size

    def from_host(
        self, data: memoryview, shape: Shape, d: dtype, on: device, strides: Shape | None = None
    ) -> Tensor:
        """A tensor with a copy of host bytes, row-major or dense with other strides."""
        given = np.frombuffer(data, NUMPY_OF[d])
        flat = uninitialised(given.shape, given.dtype)
        flat[:] = given
        if strides is None:
            return wrap(flat.reshape(shape), d)
        return wrap(np.ndarray(shape, flat.dtype, flat, 0, [s * flat.itemsize for s in strides]), d)

    def to_host(self, tensor: Tensor) -> memoryview:
        """The elements' bytes, row-major."""
        return memoryview(tensor.raw_data.tobytes())

    def data_ptr(self, storage: Storage) -> int:
        """Address of the storage's first byte."""
        return address(storage.memory)

    def numpy(self, tensor: Tensor) -> Any:
        """The tensor's array."""
        return tensor.raw_data

    def from_numpy(self, array: Any) -> Tensor:
        """A tensor that shares memory with an array.

        Raises:
            TypeError: if it is not an ndarray, or of a dtype without counterpart.
            ValueError: if a stride is negative or no multiple of the element size.
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
        d = torch_dtype(array.dtype)
        if any(s < 0 for s in array.strides):
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative "
                "strides are not currently supported. (You can probably work around this by making a "
                "copy of your array with array.copy().)"
            )
        if any(s % array.itemsize for s in array.strides):
            raise ValueError("given numpy array strides not a multiple of the element byte size")
        return wrap(array.view(np.ndarray), d)

    def from_buffer(self, data: memoryview, d: dtype) -> Tensor:
        """A tensor with one dimension over the bytes of a buffer."""
        return wrap(np.frombuffer(data, NUMPY_OF[d]), d)

    def from_dlpack(self, source: Any) -> Tensor:
        """A tensor that shares memory with another library's array."""
        from .dlpack import load

        return self.from_numpy(load(source))

    def dlpack(self, tensor: Tensor, **options: Any) -> Any:
        """A capsule over the tensor's memory."""
        from .dlpack import export

        return export(tensor.raw_data, **options)

    def dlpack_device(self, tensor: Tensor) -> tuple[int, int]:
        """The number DLPack has for host memory."""
        from .dlpack import CPU_DEVICE

        return CPU_DEVICE

    def memory_stats(self, on: device) -> dict[str, int]:
        """Bytes of large results that are kept for reuse, and how often that happened."""
        return POOL.stats()

    def empty_cache(self) -> None:
        """Let go of the memory that is kept for reuse."""
        POOL.empty_cache()

    def plan(self, entries: Any) -> Any:
        """Fuse runs of element-wise ops, see `mindtorch_cpu.fusion`."""
        from .fusion import plan

        return plan(entries)

    def compiles(self, op: Any) -> bool:
        """Every op may be part of straight code: what is no ufunc is a call of its kernel."""
        return True

    def remakes(self, op: Any) -> bool:
        """What this backend's own kernels compute, which takes a pass over memory."""
        from .fusion.classify import is_own_kernel

        return is_own_kernel(op)

    def compile(self, program: Any) -> Any:
        """Small blocks that come again as straight code, see `mindtorch_cpu.straight`."""
        from .straight import compile_program

        return compile_program(program, self.empty)

    def generator(self, on: device) -> TwisterSource:
        """A stream of the Mersenne Twister."""
        return TwisterSource()


RUNTIME: Final = CPURuntime()
