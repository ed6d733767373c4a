"""The NPU's side of the device protocol: asynchronous, on the current stream of each thread."""

from __future__ import annotations

import ctypes
from typing import Any, Final

from mindtorch_core.backend import Runtime, Shape, Storage, bfloat16, device, dtype, float16
from mindtorch_core.dispatch.pipeline import Plan

from . import copies, visible
from .acl import ACLError, acl, check, recent_message
from .aclnn.launching import blocking
from .allocator import Block
from .batching import LaunchBatch
from .collecting import send_collected
from .contexts import CONTEXTS
from .devices import Workspace, device_at, devices_in_use
from .generator import PhiloxSource
from .page_locked import page_locked
from .streams import NPUEvent, NPUStream, index_of

__all__ = ["RUNTIME", "NPURuntime", "defer_free", "synchronize"]

# What `aclGetDeviceCapability` is asked for.
CAPABILITIES: Final = {"cube_core_num": 0, "vector_core_num": 1, "L2_cache_size": 2}
HAS_BFLOAT16: Final = 1  # what `aclGetCannAttribute` is asked for

# What every tensor has for a payload: kernels need nothing but its storage and layout.
NOTHING: Final = object()


class NPURuntime(Runtime):
    """Memory, copies, streams and random numbers of Ascend NPUs.

    Nothing is loaded or initialised before a device is asked for.
    """

    type = "npu"
    autocast_dtype = float16  # which all chips have
    stream_type = NPUStream
    event_type = NPUEvent

    # ---- devices -------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether CANN may be called; see `Contexts.alive`."""
        return CONTEXTS.alive

    def device_count(self) -> int:
        """Number of NPUs; 0 without CANN."""
        return CONTEXTS.count()

    def concrete_device(self, wanted: device) -> device:
        """The device a tensor is made on.

        Raises:
            RuntimeError: if there is none of that index; where there is none at all, for its reason.
        """
        count = CONTEXTS.count() or CONTEXTS.find_devices()
        try:
            return super().concrete_device(wanted)
        except RuntimeError as error:
            hint = visible.hint(count)
            raise RuntimeError(f"{error}.\n  fix: {hint}." if hint else str(error)) from None

    def set_device(self, index: int) -> None:
        """Make a device current for this thread.

        Blocks go back to the device before by this, also while the process ends or in a forked child.
        """
        if not CONTEXTS.over:
            CONTEXTS.activate(index)
        super().set_device(index)

    def activate(self, index: int) -> None:
        """Give this thread the context of a device."""
        if CONTEXTS.local.bound != index:
            CONTEXTS.activate(index)

    def synchronize(self, on: device | None = None) -> None:
        """Wait for a device, by default the current one, then free what was deferred before."""
        if CONTEXTS.alive:
            device_at(self._index(on)).synchronize()

    def properties(self, on: device) -> dict[str, Any]:
        """Name, memory and cores."""
        index = self._index(on)
        CONTEXTS.activate(index)
        found: dict[str, Any] = {"name": self.name(), "total_memory": self.memory_info(on)[1]}
        for name, number in CAPABILITIES.items():
            value = ctypes.c_int64()
            if acl.aclGetDeviceCapability(index, number, ctypes.byref(value)):
                recent_message()  # what a device cannot tell is left out
            else:
                found[name] = value.value
        return found

    def name(self) -> str:
        """Name of the chip, such as ``Ascend910B3``; all devices of a process have the same.

        Raises:
            ACLError: if CANN does not know it.
        """
        CONTEXTS.start()
        name: bytes | None = acl.aclrtGetSocName()
        if not name:
            raise ACLError("aclrtGetSocName", 0, recent_message())
        return name.decode()

    @property
    def autocast_dtypes(self) -> tuple[dtype, ...]:  # type: ignore[override]
        """The dtypes for `torch.autocast`: bfloat16 too, where there is a chip that has it."""
        found = ctypes.c_int32()
        if CONTEXTS.count():
            CONTEXTS.start()  # raises in a forked child
            code = acl.aclGetCannAttribute(HAS_BFLOAT16, ctypes.byref(found))
            check(code, "aclGetCannAttribute")
        return (bfloat16, float16) if found.value else (float16,)

    def _index(self, on: device | None) -> int:
        return self.current_device() if on is None or on.index is None else on.index

    # ---- streams -------------------------------------------------------------------------------

    def launch_stream(self, index: int) -> int:
        """Handle of this thread's current stream on a device, which becomes active.

        To be called right before something is launched.
        """
        local = CONTEXTS.local
        found: int | None = local.handles.get(index)
        if found is None:
            found = local.handles[index] = device_at(index).stream(local.numbers.get(index, 0))
        if local.bound != index:
            CONTEXTS.activate(index)
        return found

    def current_stream(self, on: device) -> NPUStream:
        """The stream on which this thread's ops are queued on a device."""
        number = CONTEXTS.local.numbers.get(index_of(on), 0)
        found: NPUStream = NPUStream.numbered(on, number)
        return found

    def set_stream(self, stream: NPUStream) -> None:
        """Queue this thread's ops on a stream from now on."""
        index, local = index_of(stream.device), CONTEXTS.local
        local.numbers[index] = stream.stream_id
        local.handles.pop(index, None)  # `launch_stream` finds it

    def record_stream(self, storage: Storage, stream: NPUStream) -> None:
        """Keep memory from being reused before what a stream has queued by then is done."""
        storage.memory.used_on(stream.stream_id)

    # ---- memory --------------------------------------------------------------------------------

    def allocate(self, nbytes: int, on: device) -> Block:
        """Device memory for work on this thread's current stream.

        Raises:
            OutOfMemoryError: if there is not enough.
        """
        index = index_of(on)
        return device_at(index).allocator.allocate(nbytes, CONTEXTS.local.numbers.get(index, 0))

    def workspace(self, nbytes: int, index: int) -> Workspace | int:
        """Memory for an operator that is about to be launched on this thread's current stream.

        It is to be kept until the operator has been launched.

        Args:
            nbytes: its size.
            index: the device.

        Returns:
            Its address, which keeps it; 0 if there are no bytes.
        """
        if not nbytes:
            return 0
        return device_at(index).workspace(nbytes, CONTEXTS.local.numbers.get(index, 0))

    def defer_free(self, pointer: int | None) -> None:
        """Free memory of `aclrtMalloc` after the next `synchronize` of the current device."""
        if pointer:
            device_at(self.current_device()).defer_free(pointer)

    def data_ptr(self, storage: Storage) -> int:
        """Address of the storage's first byte."""
        address: int = storage.memory.ptr
        return address

    def payload(self, storage: Storage, shape: Shape, strides: Shape, offset: int, d: Any) -> Any:
        """The same for all tensors: they are described to CANN anew for each call."""
        return NOTHING

    def pinned(self, nbytes: int) -> memoryview:
        """Page-locked memory of the host, freed when nobody looks at it any more.

        Raises:
            OutOfMemoryError: if the host has not enough.
        """
        return page_locked(self.current_device(), nbytes)

    def memory_info(self, on: device) -> tuple[int, int]:
        """Free and total bytes of a device."""
        return device_at(self._index(on)).memory_info()

    def memory_stats(self, on: device) -> dict[str, int]:
        """Counters of the device's allocator, under PyTorch's names."""
        return device_at(self._index(on)).allocator.statistics()

    def reset_memory_stats(self, on: device, part: str) -> None:
        """Let a part of the counters start anew: ``peak`` or ``accumulated``."""
        allocator = device_at(self._index(on)).allocator
        if part == "peak":
            allocator.reset_peak()
        else:
            allocator.reset_accumulated()

    def empty_cache(self) -> None:
        """Wait for the devices, and give them back the memory that nobody uses."""
        if CONTEXTS.alive:
            for used in devices_in_use():
                used.allocator.empty_cache()

    # ---- copies --------------------------------------------------------------------------------

    def copy_from_host(self, memory: Block, start: int, data: memoryview) -> None:
        """Queue a write of host bytes; the host buffer may be reused at once."""
        if not data.nbytes:
            return
        send_collected()
        index = memory.device
        number = CONTEXTS.local.numbers.get(index, 0)
        memory.used_on(number)
        copies.upload(device_at(index), number, memory.ptr + start, data)
        if blocking():
            device_at(index).synchronize_stream(number)

    def copy_to_host(self, memory: Block, start: int, nbytes: int) -> memoryview:
        """A host copy of device memory, after all work queued on it."""
        send_collected()
        current = CONTEXTS.local.numbers.get(memory.device, 0)
        for number in memory.streams() - {current}:
            device_at(memory.device).synchronize_stream(number)
        return copies.download(device_at(memory.device), current, memory.ptr + start, nbytes)

    # ---- pipelines -----------------------------------------------------------------------------

    def plan(self, entries: Any) -> Plan | None:
        """Launch recorded ops as a batch, see `mindtorch_npu.batching`.

        None where every operator is to be waited for.
        """
        return None if blocking() else Plan(batch=LaunchBatch(self.launch_stream, self.workspace))

    # ---- random numbers ------------------------------------------------------------------------

    def generator(self, on: device) -> PhiloxSource:
        """A seed and a position."""
        return PhiloxSource()


RUNTIME: Final = NPURuntime()
defer_free = RUNTIME.defer_free
synchronize = RUNTIME.synchronize
