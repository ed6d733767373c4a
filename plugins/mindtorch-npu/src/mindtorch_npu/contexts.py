"""CANN in this process: initialisation, the context of every thread, forks and shutdown.

A thread without a context can do nothing. Whoever is about to call CANN for a device calls
`Contexts.activate` right before, which costs an attribute lookup when the thread is there already: an op of
a finaliser or a signal handler may have come in since, for another device. The first use of a device in the
process makes its default context; other threads share it.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any, Final

from .acl import acl, check, recent_message

__all__ = ["CONTEXTS", "Contexts", "quietly"]

REPEATED: Final = 100002  # aclInit: somebody in the process has done it, and will finalise
FORKED: Final = (
    "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use "
    "the 'spawn' start method"
)
CLOSED: Final = "the NPU runtime has been shut down: the process is exiting"

_users: Final[set[int]] = set()  # identifiers of the threads that have used NPUs


class _Local(threading.local):
    """What a thread uses.

    Attributes:
        bound: device whose context the thread has; -1 for none.
        changes: how often it changed.
        handles: its current stream by device, once one was asked for.
        numbers: the numbers of those streams, where they are not the default ones.
    """

    def __init__(self) -> None:
        self.bound = -1
        self.changes = 0
        self.handles: dict[int, int] = {}
        self.numbers: dict[int, int] = {}
        _users.add(threading.get_ident())


def quietly(call: Callable[..., Any], *args: Any) -> None:
    """Call what may fail where nobody could do anything about it."""
    try:
        call(*args)
    except RuntimeError:
        return


class Contexts:
    """The state of CANN in this process.

    Attributes:
        alive: whether functions of CANN may be called: not before it was initialised, not after the
            shutdown, and not in a forked child. Finalisers ask.
        local: state of the calling thread.
        closing: called at exit while everything still works.
    """

    def __init__(self) -> None:
        self.alive = False
        self.local = _Local()
        self.closing: list[Callable[[], None]] = []
        self._refused = ""  # why it cannot be initialised any more
        self._lock = threading.RLock()
        self._contexts: dict[int, int] = {}
        self._count = 0
        self._ours = False
        self._abandoned: set[int] = set()
        os.register_at_fork(after_in_child=self._forked)

    # ---- initialisation ------------------------------------------------------------------------

    def start(self) -> None:
        """Load and initialise CANN, if that has not been done.

        Raises:
            ToolkitError: if there is none, or it cannot be loaded.
            ACLError: if it does not start.
            RuntimeError: in a forked child of a process that uses NPUs, and at exit.
        """
        if self.alive:
            return
        with self._lock:
            if self._refused:
                raise RuntimeError(self._refused)
            if self.alive:
                return
            codes: list[int] = []
            initialising = map(acl.aclInit, (None,))
            try:
                codes.extend(initialising)
            finally:
                if codes == [0]:
                    self._ours = True
            if codes[0] == REPEATED:
                recent_message()  # which a later error would show otherwise
            else:
                check(codes[0], "aclInit")
            self.alive = True
            atexit.register(self._close)

    def count(self) -> int:
        """Number of devices; 0 where CANN is missing or does not start."""
        if self._count or self._refused:
            return self._count
        try:
            return self.find_devices()
        except (RuntimeError, OSError):
            return 0

    def find_devices(self) -> int:
        """Number of devices, asking CANN until there is one.

        Raises:
            RuntimeError: if CANN is missing or fails.
        """
        self.start()
        found = ctypes.c_uint32()
        check(acl.aclrtGetDeviceCount(ctypes.byref(found)), "aclrtGetDeviceCount")
        self._count = int(found.value)
        return self._count

    @property
    def over(self) -> bool:
        """Whether CANN cannot be used any more: at exit, and in a forked child."""
        return bool(self._refused)

    # ---- threads -------------------------------------------------------------------------------

    def activate(self, index: int) -> None:
        """Give this thread the context of a device.

        Raises:
            RuntimeError: if CANN is missing or fails.
        """
        if self.local.bound != index:
            self._bind(index)

    def _bind(self, index: int) -> None:
        self.start()
        local = self.local
        while local.bound != index:
            local.bound = -1
            local.changes += 1
            change = local.changes
            context = self._contexts.get(index)
            if context is None:
                self._first_use(index)
            else:
                check(acl.aclrtSetCurrentContext(context), "aclrtSetCurrentContext")
            if local.changes == change:  # else an op of a finaliser came in
                local.bound = index

    def _first_use(self, index: int) -> None:
        """Make a device's default context."""
        with self._lock:
            if index in self._contexts:  # another thread was faster
                check(acl.aclrtSetCurrentContext(self._contexts[index]), "aclrtSetCurrentContext")
                return
            context = ctypes.c_void_p()
            codes: list[int] = []
            setting = map(acl.aclrtSetDevice, (index,))
            try:
                codes.extend(setting)
                check(codes[0], f"aclrtSetDevice({index})")
                check(acl.aclrtGetCurrentContext(ctypes.byref(context)), "aclrtGetCurrentContext")
                self._contexts[index] = context.value or 0
            except BaseException:
                if codes == [0]:
                    acl.aclrtResetDevice(index)
                raise

    # ---- the end -------------------------------------------------------------------------------

    def _close(self) -> None:
        """Give everything back, in whatever state the process is; nothing works afterwards."""
        if not self.alive:
            return
        for close in self.closing:
            quietly(close)
        with self._lock:
            self.alive = False
            self._refused = CLOSED
            self.local = _Local()
            for index in self._contexts.keys() - self._abandoned:
                quietly(acl.aclrtResetDevice, index)
            self._contexts.clear()
            if self._ours and not self._abandoned:
                quietly(acl.aclFinalize)

    def abandon(self, index: int) -> None:
        """Leave a device to the end of the process: `Contexts` does not reset it."""
        self._abandoned.add(index)

    def used_elsewhere(self) -> bool:
        """Whether another thread that is alive uses NPUs: at exit a daemon that goes on working."""
        me = threading.current_thread()
        return any(t.ident in _users for t in threading.enumerate() if t is not me)

    def _forked(self) -> None:
        """In a forked child nothing of the parent's CANN can be used."""
        self._lock = threading.RLock()
        self.local = _Local()
        self._contexts = {}
        if self.alive:
            self.alive = False
            self._refused = FORKED


CONTEXTS: Final = Contexts()
