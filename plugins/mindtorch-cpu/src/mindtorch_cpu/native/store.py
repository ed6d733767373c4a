"""Compiled objects on disk, for the next process: private to the user, bounded, and never trusted blindly.

A file holds the digest of its content before it. One that does not match, that somebody else could have
written, or that another version made, counts as missing and is written anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["clear", "folder", "kept", "load", "save", "usage"]

_MAGIC: Final = b"mindtorch kernel 1\n"
_MOST_BYTES: Final = 64 << 20
_MOST_FILES: Final = 1 << 13
_SUFFIX: Final = ".kernel"
# Of a file that is being written; a process that is killed meanwhile leaves it behind.
_UNFINISHED: Final = ".unfinished"
_LONGEST: Final = 3600.0  # seconds that writing one may take


def folder() -> Path | None:
    """Where objects lie; None where they are not kept.

    ``MINDTORCH_KERNEL_CACHE`` names another place, or nothing for none.
    """
    named = os.environ.get("MINDTORCH_KERNEL_CACHE")
    if named is not None:
        return Path(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "mindtorch" / "kernels"
    except RuntimeError:  # a user without a home
        return None


def _private(path: Path) -> bool:
    """Whether nobody else can write a file or folder."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def kept(key: str, make: Callable[[], bytes]) -> bytes:
    """An object that was saved, or one that is made now, and saved."""
    found = load(key)
    if found is None:
        found = make()
        save(key, found)
    return found


def load(key: str) -> bytes | None:
    """An object that was saved; None if there is none, or it is not as it was written."""
    where = folder()
    if where is None:
        return None
    path = where / f"{key}{_SUFFIX}"
    try:
        if not (_private(where) and _private(path)):
            return None
        data = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC)
    digest, code = data[head : head + 32], data[head + 32 :]
    if not data.startswith(_MAGIC) or hashlib.sha256(key.encode() + code).digest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the least recently used go first
    return code


def save(key: str, code: bytes) -> None:
    """Keep an object. Where that fails it is compiled again next time."""
    where = folder()
    if where is None:
        return
    temporary = None
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _private(where):
            return
        handle, temporary = tempfile.mkstemp(_UNFINISHED, dir=where)  # readable by the user alone
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(key.encode() + code).digest() + code)
        os.replace(temporary, where / f"{key}{_SUFFIX}")  # other processes see all of it or nothing
        temporary = None
        _prune(where)
    except OSError:
        pass
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _files(
    where: Path, suffixes: tuple[str, ...] = (_SUFFIX, _UNFINISHED)
) -> Iterator[tuple[float, int, Path]]:
    """When each file was last used, its size, and its path."""
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            if entry.name.endswith(suffixes):
                with contextlib.suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    yield found.st_mtime, found.st_size, where / entry.name


def _prune(where: Path) -> None:
    """Delete what was left unfinished, and the least recently used objects until the rest is small enough."""
    for used, _, path in _files(where, (_UNFINISHED,)):
        if used < time.time() - _LONGEST:
            with contextlib.suppress(OSError):
                path.unlink()
    files = list(_files(where, (_SUFFIX,)))
    total = sum(size for _, size, _ in files)
    if total <= _MOST_BYTES and len(files) <= _MOST_FILES:
        return
    for gone, (_, size, path) in enumerate(sorted(files), 1):
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
        if total <= _MOST_BYTES * 3 // 4 and len(files) - gone <= _MOST_FILES * 3 // 4:
            return


def usage() -> tuple[int, int]:
    """How many objects there are, finished or not, and their bytes."""
    where = folder()
    sizes = [] if where is None else [size for _, size, _ in _files(where)]
    return len(sizes), sum(sizes)


def clear() -> int:
    """Delete all objects, finished or not; returns how many there were."""
    where = folder()
    files = [] if where is None else [path for _, _, path in _files(where)]
    for path in files:
        with contextlib.suppress(OSError):
            path.unlink()
    return len(files)
