"""Host memory that is more than one process's: files in memory, and blocks that processes share."""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import weakref
from typing import Final

from ..values.errors import OutOfMemoryError

__all__ = ["STRATEGIES", "Mapping", "map_file", "open_block", "shared_block"]

_NAMED_IN: Final = "/dev/shm"
# How blocks travel: as a descriptor that is passed on, or by a name in a folder.
STRATEGIES: Final = frozenset(
    {"file_descriptor", "file_system"} if os.path.isdir(_NAMED_IN) else {"file_descriptor"}
)
_next: Final = itertools.count().__next__


class Mapping:
    """Memory that a file, or a block without a file, is mapped to.

    Attributes:
        data: the memory; empty for one of no bytes.
        shared: whether other processes that map it see what is written.
        filename: path of the file; None where it has none, or is private to this process.
        owned: whether the file's name is this object's, and goes with it.
        fd: descriptor by which others map it, closed with this object; None if none is kept.
    """

    __slots__ = ("__weakref__", "data", "fd", "filename", "owned", "shared")

    def __init__(
        self, fd: int, nbytes: int, *, shared: bool, filename: str | None = None, keep: bool = False
    ) -> None:
        self.shared, self.filename, self.fd = shared, filename, fd if keep else None
        self.owned = False
        flags = mmap.MAP_SHARED if shared else mmap.MAP_PRIVATE
        try:
            # An empty block is mapped too: it is as shared as any other.
            whole = mmap.mmap(fd, nbytes or 1, flags, mmap.PROT_READ | mmap.PROT_WRITE)
        except (OSError, ValueError):
            if keep:
                os.close(fd)
            raise
        self.data = memoryview(whole)[:nbytes]
        if keep:
            weakref.finalize(self, os.close, fd)

    def alias(self) -> str:
        """Another name of a block, which whoever maps it by that name takes over."""
        assert self.filename is not None
        name = _new_name()
        os.link(self.filename, name)
        _track(name)
        return name


def map_file(path: str, shared: bool, nbytes: int) -> Mapping:
    """Map the first bytes of a file into memory.

    Args:
        path: of the file; one that is shared is made, and made longer, where needed.
        shared: whether writes change the file; otherwise they stay in this process.
        nbytes: how many.

    Raises:
        RuntimeError: if the file cannot be opened, or is too short.
    """
    mode = "read-write" if shared else "read-only"
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o600)
    except OSError as error:
        raise RuntimeError(
            f"unable to open file <{path}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from None
    try:
        size = os.fstat(fd).st_size
        if size < max(nbytes, 1):
            if not shared:
                raise RuntimeError(
                    f"file <{path}> size <{size}> is smaller than the required mapping size <{nbytes}>"
                )
            os.ftruncate(fd, nbytes or 1)
        return Mapping(fd, nbytes, shared=shared, filename=path if shared else None)
    except OSError as error:
        raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{path}>: {error}") from None
    finally:
        os.close(fd)


def shared_block(nbytes: int, strategy: str) -> Mapping:
    """Fresh memory that other processes can map; it is gone with the last of them.

    Raises:
        NotImplementedError: on systems without such memory.
        OutOfMemoryError: if there is not enough.
        RuntimeError: if the process may open no more files.
    """
    if sys.platform == "win32":
        raise NotImplementedError("memory is not shared between processes on Windows")
    name = _new_name() if strategy == "file_system" else None
    try:
        if name is not None:
            fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            _track(name)
        elif hasattr(os, "memfd_create"):
            fd = os.memfd_create("mindtorch", os.MFD_CLOEXEC)
        else:
            import tempfile  # takes long, and Linux needs it not

            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
    except OSError as error:
        raise RuntimeError(
            f"cannot share memory: {error}. Each block of memory that is shared takes two open files; "
            f"raise the limit (ulimit -n), or share fewer tensors at a time"
        ) from error
    try:
        if hasattr(os, "posix_fallocate"):  # else a full system would end the process at a write
            os.posix_fallocate(fd, 0, nbytes or 1)
        else:
            os.ftruncate(fd, nbytes or 1)
    except OSError as error:
        os.close(fd)
        if name is not None:
            forget(name, os.getpid())
        raise OutOfMemoryError(
            f"cannot share {nbytes} bytes of memory between processes: {error}"
        ) from error
    if name is None:
        return Mapping(fd, nbytes, shared=True, keep=True)
    return _owned(fd, name, nbytes)


def open_block(name: str, nbytes: int) -> Mapping:
    """Map a block by an `alias` of it, which is taken over.

    Raises:
        RuntimeError: if there is none of that name.
    """
    try:
        fd = os.open(name, os.O_RDWR)
    except OSError as error:
        raise RuntimeError(f"the memory that was to be shared is gone: {error}") from error
    _track(name)
    return _owned(fd, name, nbytes)


def _owned(fd: int, name: str, nbytes: int) -> Mapping:
    """A mapping of a block, whose name goes with it."""
    try:
        made = Mapping(fd, nbytes, shared=True, filename=name)
    finally:
        os.close(fd)
    made.owned = True
    _forget_with(made, os.getpid())
    return made


def _forget_with(made: Mapping, pid: int) -> None:
    """Have a block's name removed with the block, at the latest when the process ends."""
    from multiprocessing import util

    util.Finalize(made, forget, (made.filename, pid), exitpriority=0)
    # A process that was given the block with its arguments forgets what was to be done at its end.
    util.register_after_fork(made, lambda same: _again(same, pid))


def _again(made: Mapping, pid: int) -> None:
    from multiprocessing import util

    util.Finalize(made, forget, (made.filename, pid), exitpriority=0)


def _new_name() -> str:
    return f"{_NAMED_IN}/mindtorch-{os.getpid()}-{_next()}-{os.urandom(4).hex()}"


def _track(name: str) -> None:
    """Have a name removed when all processes of the program have ended, however they did."""
    from multiprocessing import resource_tracker

    resource_tracker.register(name.removeprefix(_NAMED_IN), "shared_memory")


def forget(name: str, pid: int) -> None:
    """Remove a name, in the process that has it and not in its forks."""
    if pid != os.getpid():
        return
    from multiprocessing import resource_tracker

    try:
        os.unlink(name)
    except FileNotFoundError:
        return
    resource_tracker.unregister(name.removeprefix(_NAMED_IN), "shared_memory")
