"""The device protocol: what a backend supplies besides kernels.

A backend author subclasses `Runtime` and fills the methods marked abstract; every other method
has a default that is right for a synchronous device without streams. Sizes are bytes unless a name
says otherwise, device indices count from 0, and the core calls no method before the first tensor
of the device is asked for.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from .tensors.storage import Storage
from .values.devices import device
from .values.dtypes import bfloat16, dtype, float16
from .values.shapes import Shape, contiguous_strides, numel, storage_extent

if TYPE_CHECKING:
    from .streams import EventType, StreamType
    from .tensors.tensor import Tensor

__all__ = ["Runtime"]


class Runtime(ABC):
    """Memory, copies, synchronisation and random numbers of one device type.

    Attributes:
        type: the device type this runtime serves.
        key: bits that every tensor of the device carries, set when the backend is loaded.
        planned_from: bytes of results from which on a pipeline asks `plan` how to launch them.
        compiles_at_once: whether blocks are compiled the first time that they come; False compiles only
            those that come again at the same place.
        donates: whether its executables make use of inputs that nobody can see any more. Where one that
            was given such inputs fails, all of its ops have failed: they cannot be computed again.
        executes: False for a device without data, whose ops need not be deferred.
        autocast_dtype: dtype that `torch.autocast` uses on the device unless told otherwise; None
            leaves the choice to the core.
        autocast_dtypes: dtypes that `torch.autocast` may use on it.
        stream_type: the class of its streams, derived from `mindtorch_core.streams.Stream`; None for
            a device on which nothing is ever queued.
        event_type: the class of its events, or None.
    """

    type: str = ""
    key: int = 0
    planned_from: int = 0
    compiles_at_once: bool = True
    donates: bool = False
    executes: bool = True
    autocast_dtype: dtype | None = None
    autocast_dtypes: tuple[dtype, ...] = (bfloat16, float16)
    stream_type: StreamType | None = None
    event_type: EventType | None = None

    # ---- required ------------------------------------------------------------------------------

    @abstractmethod
    def device_count(self) -> int:
        """Number of devices of this type, 0 if there is none. Must not raise."""

    @abstractmethod
    def allocate(self, nbytes: int, on: device) -> Any:
        """Allocate memory and return a handle that owns it.

        The memory is released when the last reference to the handle goes.

        Raises:
            OutOfMemoryError: if there is not enough.
        """

    @abstractmethod
    def copy_from_host(self, memory: Any, start: int, data: memoryview) -> None:
        """Write host bytes into device memory from byte ``start`` on.

        The host buffer may be reused as soon as the call returns.
        """

    @abstractmethod
    def copy_to_host(self, memory: Any, start: int, nbytes: int) -> memoryview:
        """Return a host copy of ``nbytes`` of device memory, after all work queued on it."""

    # ---- devices -------------------------------------------------------------------------------

    _current: threading.local

    def __new__(cls, *args: Any, **kwargs: Any) -> Runtime:
        """Set up what the defaults need, so that a backend's own ``__init__`` need not."""
        self = super().__new__(cls)
        self._current = threading.local()
        return self

    def current_device(self) -> int:
        """Index of this thread's current device."""
        return getattr(self._current, "index", 0)

    def set_device(self, index: int) -> None:
        """Make a device current for this thread."""
        self._current.index = index

    def concrete_device(self, wanted: device) -> device:
        """The device a tensor is made on when ``wanted`` is asked for.

        Raises:
            RuntimeError: if the index is out of range or there is no such device.
        """
        count = self.device_count()
        index = self.current_device() if wanted.index is None else wanted.index
        if index >= count:
            raise RuntimeError(
                f"{self.type}:{index} was asked for, but "
                + (
                    f"no {self.type} device was found"
                    if not count
                    else f"there are {count} {self.type} devices"
                    if count > 1
                    else f"there is 1 {self.type} device"
                )
            )
        return device(self.type, index)

    def synchronize(self, on: device | None = None) -> None:
        """Wait until all work queued on a device is done.

        The default is for devices on which nothing is ever queued.
        """
        return

    def properties(self, on: device) -> dict[str, Any]:
        """Facts about a device for people to read."""
        return {"name": str(on)}

    # ---- streams -------------------------------------------------------------------------------

    def default_stream(self, on: device) -> Any:
        """The stream that threads use on a device unless they set another."""
        from .streams import Stream

        return (self.stream_type or Stream).numbered(on, 0)

    def current_stream(self, on: device) -> Any:
        """The stream on which this thread's ops are queued on a device."""
        chosen: dict[device, Any] = getattr(self._current, "streams", {})
        return chosen.get(on) or self.default_stream(on)

    def set_stream(self, stream: Any) -> None:
        """Queue this thread's ops on a stream from now on."""
        self._current.__dict__.setdefault("streams", {})[stream.device] = stream

    def record_stream(self, storage: Storage, stream: Any) -> None:
        """Keep memory from being reused before what a stream has queued by then is done.

        Called for memory that is used on another stream than it was made on. The default is for
        devices on which nothing is ever queued.
        """
        return

    # ---- tensors -------------------------------------------------------------------------------

    def empty(self, shape: Shape, strides: Shape | None, d: dtype, on: device) -> Tensor:
        """Make a tensor with undefined elements; row-major if ``strides`` is None."""
        from .tensors.tensor import make_tensor

        extent = numel(shape) if strides is None else storage_extent(shape, strides, 0)
        nbytes = extent * d.itemsize
        storage = Storage(self.allocate(nbytes, on), nbytes, on)
        layout = None if strides is None else (strides, 0)
        data = self.payload(storage, shape, strides or contiguous_strides(shape), 0, d)
        return make_tensor(data, shape, d, on, self.key, storage, layout)

    def payload(self, storage: Storage, shape: Shape, strides: Shape, offset: int, d: dtype) -> Any:
        """What kernels of this backend find in ``tensor.raw_data``; None if they need nothing."""
        return None

    def storage_of(self, tensor: Tensor) -> Storage:
        """The storage of a tensor that a kernel made without one."""
        raise NotImplementedError(
            f"a kernel of the {self.type} backend made a tensor without a storage: make results by "
            f"Runtime.empty or from_host, or give the runtime a storage_of(tensor)"
        )

    def fits(self, tensor: Tensor) -> bool:
        """Whether what a tensor has as its payload is one, of the tensor's shape and dtype.

        Asked of what executables give in the place of tensors. By default, whether `storage_of` finds
        as much memory as such a tensor takes.
        """
        try:
            storage = self.storage_of(tensor)
        except Exception:  # noqa: BLE001 (whatever looking for memory in no payload raises)
            return False
        strides = (
            contiguous_strides(tensor._shape) if tensor._strided is None else tensor._strided[0]
        )
        extent = storage_extent(tensor._shape, strides, 0)
        return storage.size_bytes == extent * tensor._dtype.itemsize

    def layout(self, tensor: Tensor) -> tuple[Shape, int]:
        """Strides and storage offset, in elements, of a tensor whose layout was not set."""
        return contiguous_strides(tensor._shape), 0

    def from_host(
        self, data: memoryview, shape: Shape, d: dtype, on: device, strides: Shape | None = None
    ) -> Tensor:
        """Make a tensor from host bytes (a copy), row-major or dense with other strides.

        Args:
            data: the elements in the order in which they lie in memory, without gaps.
            shape: of the tensor.
            d: dtype of the elements.
            on: where the tensor is made.
            strides: in elements, those of a row-major tensor in another order of dimensions; None
                for row-major.
        """
        made = self.empty(shape, strides, d, on)
        storage = made._storage
        if storage is not None and len(data):
            self.copy_from_host(storage.memory, 0, data)
        return made

    def to_host(self, tensor: Tensor) -> memoryview:
        """Row-major host bytes of a tensor."""
        packed = tensor.contiguous()._settled()
        storage = packed._storage
        if storage is None:
            raise RuntimeError(f"{tensor.device} tensor has no storage")
        _, offset = packed._geometry()
        size = packed._dtype.itemsize
        return self.copy_to_host(storage.memory, offset * size, numel(packed._shape) * size)

    def data_ptr(self, storage: Storage) -> int:
        """Address of the storage's first byte; 0 where the backend has no addresses."""
        return 0

    def numpy(self, tensor: Tensor) -> Any:
        """The tensor as a NumPy array sharing its memory, where the memory is the host's.

        Raises:
            TypeError: on every other device.
        """
        raise TypeError(
            f"can't convert {tensor.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            f"the tensor to host memory first."
        )

    def dlpack(self, tensor: Tensor, **options: Any) -> Any:
        """A DLPack capsule over the tensor's memory.

        Args:
            tensor: the tensor; what was recorded on it has been launched.
            **options: the consumer's wishes, as in the Python specification of ``__dlpack__``.

        Raises:
            BufferError: on a device without memory that others could read.
        """
        raise BufferError(
            f"Cannot pack tensors on {tensor.device}: copy it to host memory with Tensor.cpu() first"
        )

    def dlpack_device(self, tensor: Tensor) -> tuple[int, int]:
        """DLPack's numbers for the tensor's device.

        Raises:
            ValueError: if DLPack has none, or nothing is exported.
        """
        raise ValueError(f"Unknown device type {self.type} for Dlpack")

    def pinned(self, nbytes: int) -> memoryview | None:
        """Page-locked memory of the host, from which the device copies faster.

        Args:
            nbytes: how much.

        Returns:
            The bytes, for writing, which own the memory; None from a backend that supplies none.
        """
        return None

    # ---- pipelines -----------------------------------------------------------------------------

    def plan(self, entries: Any) -> Any:
        """Plan the launch of recorded ops; None to have them launched one by one.

        Args:
            entries: recorded ops in program order, `mindtorch_core.dispatch.pipeline.Entry` or None
                for one that was dropped.

        Returns:
            A `mindtorch_core.dispatch.pipeline.Plan`.
        """
        return None

    def compiles(self, op: Any) -> bool:
        """Whether ops of a kind may be part of programs; asked once for each.

        Those that may not are launched between programs. By default it is what only computes: the op has
        a definition, draws no random numbers, has no plan of its own, and is none that the backend leaves
        to the CPU. A backend that says yes to such an op gets it in programs without a kernel for it; where
        a program is declined, the op is left to the CPU at the launch.

        Args:
            op: a `mindtorch_core.backend.RecordedOp`.
        """
        d = op.definition
        return d is not None and not (d.traits.random or op.plan is not None or op.fallback)

    def remakes(self, op: Any) -> bool:
        """Whether results of an element-wise op may be made again where late ops read them.

        Where less has to be held for it at the fullest moment of a launch, large values that follow from
        others which are kept anyway are let go, and the kernel makes them again. Programs and what `plan` is
        asked about have such ops only where the backend says yes; it is asked once for each op.

        Args:
            op: a `mindtorch_core.backend.RecordedOp`, which only makes one result.
        """
        return False

    def compile(self, program: Any) -> Any:
        """Compile recorded ops. A backend that has this method is asked before `plan`.

        What it returns is kept by ``program.key``, and called for each launch of that program.

        Args:
            program: a `mindtorch_core.backend.Program`.

        Returns:
            A `mindtorch_core.backend.Executable`; None to have `plan` asked, from now on as well.
        """
        return None

    # ---- statistics and random numbers ---------------------------------------------------------

    def memory_stats(self, on: device) -> dict[str, int]:
        """Counters of the device's allocator, under PyTorch's names; empty if it keeps none."""
        return {}

    def reset_memory_stats(self, on: device, part: str) -> None:
        """Let a part of the counters start anew: ``peak`` or ``accumulated``."""
        return

    def memory_info(self, on: device) -> tuple[int, int]:
        """Free and total bytes of a device.

        Raises:
            RuntimeError: if the backend cannot tell.
        """
        raise RuntimeError(f"the {self.type} backend does not tell how much memory {on} has")

    def empty_cache(self) -> None:
        """Return memory that the allocator keeps for later to the system."""
        return

    def generator(self, on: device) -> Any:
        """A new source of random numbers for a device.

        It has ``manual_seed(int)``, ``initial_seed() -> int``, ``get_state() -> bytes`` and
        ``set_state(bytes)``; the backend's random kernels draw from it.

        Raises:
            RuntimeError: if the device has no random numbers.
        """
        raise RuntimeError(
            f"the {self.type} backend supplies no random numbers: its runtime has no generator(on)"
        )
