"""Page-locked memory of the host that tensors lie in: ``t.pin_memory()``."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

from mindtorch_core.backend import OutOfMemoryError

from .acl import acl, check, recent_message
from .acl.codes import NO_MEMORY
from .contexts import CONTEXTS, quietly

__all__ = ["page_locked"]


def page_locked(index: int, nbytes: int) -> memoryview:
    """Memory for a tensor, freed when nobody looks at it any more.

    Args:
        index: of the device whose driver locks it.
        nbytes: how much, at least one.

    Raises:
        OutOfMemoryError: if the host has not enough.
    """
    CONTEXTS.start()
    CONTEXTS.activate(index)
    pointer = ctypes.c_void_p()
    code = acl.aclrtMallocHost(ctypes.byref(pointer), nbytes)
    if code in NO_MEMORY:
        raise OutOfMemoryError(
            f"the host has no {nbytes} bytes of page-locked memory left for pin_memory() "
            f"(aclrtMallocHost: {code}, {recent_message()})"
        )
    check(code, f"aclrtMallocHost({nbytes})")
    address = pointer.value or 0
    memory: Any = (ctypes.c_ubyte * nbytes).from_address(address)
    weakref.finalize(memory, _free, address, os.getpid()).atexit = False
    return memoryview(memory).cast("B")


def _free(address: int, pid: int) -> None:
    """Free memory, unless the driver is gone, or is another process's."""
    if pid == os.getpid() and CONTEXTS.alive:
        quietly(acl.aclrtFreeHost, address)
