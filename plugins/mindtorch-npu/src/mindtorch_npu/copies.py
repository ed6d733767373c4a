"""Copies between the host and a device, on a stream."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from .acl import ACLError, acl, check
from .acl.enums import MemcpyKind
from .contexts import quietly
from .devices import NPUDevice
from .staging import CHUNK

__all__ = ["Target", "download", "upload"]


@dataclass(frozen=True, slots=True)
class Target:
    """A stream that work is queued on; its device is active.

    Attributes:
        device: the device.
        number: which of its streams.
        handle: CANN's handle of the stream.
    """

    device: NPUDevice
    number: int
    handle: int


def upload(stream: Target, address: int, data: memoryview) -> None:
    """Queue a write of host bytes, by way of page-locked memory; the bytes may change at once."""
    source = np.frombuffer(data, np.uint8)
    for first in range(0, source.nbytes, CHUNK):
        _upload(stream, address + first, source[first : first + CHUNK])


def _upload(stream: Target, address: int, part: Any) -> None:
    device, nbytes = stream.device, part.nbytes
    buffer = device.staging.take(nbytes)
    event = None
    try:
        ctypes.memmove(buffer.address, part.__array_interface__["data"][0], nbytes)
        _queue(address, buffer.address, nbytes, MemcpyKind.HOST_TO_DEVICE, stream.handle)
        try:
            event = device.mark(stream.number)
        except ACLError:  # without an event nobody knows when the copy has left the buffer
            quietly(device.synchronize_stream, stream.number)
            raise
    finally:
        device.staging.give(buffer, event)


def download(device: NPUDevice, number: int, address: int, nbytes: int) -> memoryview:
    """A host copy of device memory, after what a stream has queued."""
    if not nbytes:
        device.synchronize_stream(number)
    if nbytes <= CHUNK:
        return memoryview(_download(device, number, address, nbytes) if nbytes else b"")
    parts = range(0, nbytes, CHUNK)
    return memoryview(
        b"".join(_download(device, number, address + at, min(CHUNK, nbytes - at)) for at in parts)
    )


def _download(device: NPUDevice, number: int, address: int, nbytes: int) -> bytes:
    handle = device.stream(number)
    buffer = device.staging.take(nbytes)
    try:
        _queue(buffer.address, address, nbytes, MemcpyKind.DEVICE_TO_HOST, handle)
        device.synchronize_stream(number)
        return ctypes.string_at(buffer.address, nbytes)
    finally:
        device.staging.give(buffer)


def _queue(target: int, source: int, nbytes: int, kind: int, handle: int) -> None:
    check(acl.aclrtMemcpyAsync(target, nbytes, source, nbytes, kind, handle), "aclrtMemcpyAsync")
