"""Copies between the host and a device, on a stream."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .acl import ACLError, acl, check
from .acl.enums import MemcpyKind
from .contexts import quietly
from .devices import NPUDevice
from .staging import CHUNK

__all__ = ["download", "upload"]


def upload(device: NPUDevice, number: int, address: int, data: memoryview) -> None:
    """Queue a write of host bytes, by way of page-locked memory; the bytes may change at once.

    Args:
        device: where to.
        number: on which of its streams.
        address: of the memory there.
        data: the bytes.
    """
    source = np.frombuffer(data, np.uint8)
    for first in range(0, source.nbytes, CHUNK):
        _upload(device, number, address + first, source[first : first + CHUNK])


def _upload(device: NPUDevice, number: int, address: int, part: Any) -> None:
    nbytes = part.nbytes
    buffer = device.staging.take(nbytes)
    try:
        ctypes.memmove(buffer.address, part.__array_interface__["data"][0], nbytes)
        buffer.used_on(number)
        _queue(device, number, address, buffer.address, nbytes, MemcpyKind.HOST_TO_DEVICE)
        buffer.done_after(device.mark(number))
    except ACLError:  # without an event nobody knows when the copy has left the buffer
        quietly(device.synchronize_stream, number)
        buffer.done_after(None)
        raise
    finally:
        del buffer  # which tracebacks would keep


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
    buffer = device.staging.take(nbytes)
    try:
        buffer.used_on(number)
        _queue(device, number, buffer.address, address, nbytes, MemcpyKind.DEVICE_TO_HOST)
        device.synchronize_stream(number)
        buffer.done_after(None)
        return ctypes.string_at(buffer.address, nbytes)
    except ACLError:
        buffer.done_after(None)
        raise
    finally:
        del buffer  # which tracebacks would keep


def _queue(
    device: NPUDevice, number: int, target: int, source: int, nbytes: int, kind: int
) -> None:
    handle = device.stream(number)
    check(acl.aclrtMemcpyAsync(target, nbytes, source, nbytes, kind, handle), "aclrtMemcpyAsync")
