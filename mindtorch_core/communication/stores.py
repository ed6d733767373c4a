"""Stores: small values by key that all processes see. PyTorch's names and answers.

Stores carry addresses, the parts of a rendezvous and news of failures; no tensor goes through one.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import timedelta
from operator import index
from pathlib import Path
from typing import Final

from .errors import DistStoreError
from .store_values import (
    Table,
    as_key,
    as_keys,
    as_timeout,
    as_value,
    frames,
    packed,
    pairs,
)

__all__ = ["DEFAULT_TIMEOUT", "FileStore", "HashStore", "PrefixStore", "Store"]

DEFAULT_TIMEOUT: Final = timedelta(seconds=300)
_PAUSE: Final = 0.01  # between two looks into a file, in seconds
_MOMENT: Final = 0.2  # how long a finalizer waits for it
# Keys of a file by which its stores are counted: those there are, and those that were let go of.
_USERS: Final = "\0users"
_GONE: Final = "\0gone"


class Store:
    """Values by key, for several processes.

    `get` and `wait` wait until the keys are there, at most `timeout`. A class of your own defines what it
    has: `set`, `get`, `add`, `wait` and `check` are enough for most.
    """

    def __init__(self) -> None:
        self._timeout = DEFAULT_TIMEOUT

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Change how long `get` and `wait` wait."""
        self._timeout = as_timeout(timeout)

    def set(self, key: str, value: str | bytes) -> None:
        """Set a key's value."""
        raise _missing(self, "set")

    def get(self, key: str) -> bytes:
        """A key's value, which is waited for.

        Raises:
            DistStoreError: if it does not come in time.
        """
        raise _missing(self, "get")

    def add(self, key: str, amount: int) -> int:
        """Add to a key's number, which begins as 0; returns the sum.

        Raises:
            ValueError: if its value is no number.
        """
        raise _missing(self, "add")

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Set a key if it has the expected value, or has none and that is empty.

        Returns the value after it; where there is none, the expected one.
        """
        raise _missing(self, "compare_set")

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are there.

        Raises:
            DistStoreError: if they do not come in time.
        """
        raise _missing(self, "wait")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there. Never waits."""
        raise _missing(self, "check")

    def delete_key(self, key: str) -> bool:
        """Delete a key; whether it was there."""
        raise _missing(self, "delete_key")

    def num_keys(self) -> int:
        """How many keys there are."""
        raise _missing(self, "num_keys")

    def list_keys(self) -> list[str]:
        """The keys, in any order."""
        raise _missing(self, "list_keys")

    def append(self, key: str, value: str | bytes) -> None:
        """Write after a key's value, which begins empty."""
        before = self.get(key) if self.check([key]) else b""
        self.set(key, before + as_value(value))

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of a queue, whose key is no other value's."""
        raise NotImplementedError("queue support is not implemented.")

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of a queue.

        Args:
            key: the queue's.
            block: whether it is waited for.

        Raises:
            QueueEmptyError: if there is none, and it is not waited for.
            DistStoreError: if none comes in time.
        """
        raise NotImplementedError("queue support is not implemented.")

    def queue_len(self, key: str) -> int:
        """How many values a queue has."""
        raise NotImplementedError("queue support is not implemented.")

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Several keys' values."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set several keys.

        Raises:
            DistStoreError: if there are not as many values.
        """
        for key, value in pairs(keys, values):
            self.set(key, value)

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Wait until so many processes have called it with the key.

        Raises:
            DistStoreError: if they do not come in time.
        """
        if self.add(f"{key}/num_members", 1) == world_size:
            self.set(f"{key}/last_member", "1")
        self.wait([f"{key}/last_member"], timeout)

    def clone(self) -> Store:
        """The same store, for another thread to wait in: with a connection of its own, if it has one."""
        return self

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get` and `multi_set` are the store's own, and not made of other calls."""
        return False


def _missing(store: Store, name: str) -> NotImplementedError:
    return NotImplementedError(f"Not implemented. {type(store).__name__} does not define {name}")


def too_late(keys: Sequence[str], timeout: timedelta) -> DistStoreError:
    """The error about keys that have not come."""
    shown = ", ".join(f"/{key}" for key in keys)
    milliseconds = timeout // timedelta(milliseconds=1)
    return DistStoreError(f"wait timeout after {milliseconds}ms, keys: {shown}")


class _LockedStore(Store, ABC):
    """A store whose values lie in one table, which `_open` gives to one user at a time."""

    def has_extended_api(self) -> bool:
        return True

    @abstractmethod
    def _open(self) -> contextlib.AbstractContextManager[Table]:
        """The table, for the caller alone."""

    @abstractmethod
    def _rest(self, seconds: float) -> None:
        """Wait for a change, at most so long."""

    def set(self, key: str, value: str | bytes) -> None:
        with self._open() as table:
            table.values[as_key(key)] = as_value(value)

    def get(self, key: str) -> bytes:
        self.wait([key])
        with self._open() as table:
            return table.get(key)

    def add(self, key: str, amount: int) -> int:
        with self._open() as table:
            return table.add(as_key(key), index(amount))

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        with self._open() as table:
            return table.compare_set(as_key(key), as_value(expected_value), as_value(desired_value))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        limit = self._timeout if timeout is None else as_timeout(timeout)
        end = time.monotonic() + limit.total_seconds()
        while not self.check(keys):
            left = end - time.monotonic()
            if left <= 0:
                raise too_late([key for key in keys if not self.check([key])], limit)
            self._rest(left)

    def check(self, keys: Sequence[str]) -> bool:
        with self._open() as table:
            return all(map(table.has, as_keys(keys)))

    def delete_key(self, key: str) -> bool:
        with self._open() as table:
            return table.values.pop(key, None) is not None

    def num_keys(self) -> int:
        with self._open() as table:
            return len(table.values)

    def list_keys(self) -> list[str]:
        with self._open() as table:
            return list(table.values)

    def append(self, key: str, value: str | bytes) -> None:
        with self._open() as table:
            table.append(as_key(key), as_value(value))


class HashStore(_LockedStore):
    """A store for the threads of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def _open(self) -> Iterator[Table]:
        with self._changed:
            yield self._table
            self._changed.notify_all()

    def _rest(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait(min(seconds, 0.05))

    def queue_push(self, key: str, value: str | bytes) -> None:
        with self._open() as table:
            table.push(as_key(key), as_value(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        if block:
            self.wait([key])
        with self._open() as table:
            return table.pop(as_key(key))

    def queue_len(self, key: str) -> int:
        with self._open() as table:
            return len(table.queues.get(as_key(key), ()))


class FileStore(_LockedStore):
    """A store in a file that all processes reach; use a new one for each run.

    The file is removed when the last of its stores is let go of, and as many were as use it.

    Args:
        file_name: its path; it is made if it is not there.
        world_size: how many processes use it; the file stays where it is not given.
    """

    def __init__(self, file_name: str | os.PathLike[str], world_size: int = -1) -> None:
        super().__init__()
        self.path = os.fspath(file_name)
        self.world_size = world_size
        self._lock = threading.RLock()
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._open() as table:
            table.add(_USERS, 1)
        self._process = os.getpid()

    def __del__(self) -> None:
        if self.__dict__.get("_process") != os.getpid() or sys.is_finalizing():
            return  # it was not made, or is a forked process's copy
        with contextlib.suppress(OSError), self._open(_MOMENT) as table:
            gone = table.add(_GONE, 1)
            if table.add(_USERS, -1) == 0 and 0 <= self.world_size <= gone:
                Path(self.path).unlink()

    def has_extended_api(self) -> bool:
        return False

    def list_keys(self) -> list[str]:
        return [key for key in super().list_keys() if key not in (_USERS, _GONE)]

    @contextlib.contextmanager
    def _open(self, patience: float = math.inf) -> Iterator[Table]:
        with self._lock, open(self.path, "r+b") as file:
            _lock_file(file.fileno(), patience)
            data = file.read()
            rows = frames(data) if data else []
            keys = [key.decode() for key in rows[::2]]
            table = Table(dict(zip(keys, rows[1::2], strict=True)))
            before = dict(table.values)
            yield table
            if table.values != before:
                each = [p for key, value in table.values.items() for p in (key.encode(), value)]
                file.seek(0)
                file.write(packed(each))
                file.truncate()

    def _rest(self, seconds: float) -> None:
        time.sleep(min(seconds, _PAUSE))


def _lock_file(descriptor: int, patience: float) -> None:
    """Have a file for this user alone, who waits so long for it.

    Raises:
        BlockingIOError: if another has it for longer: in a finalizer that may be what it has interrupted.
    """
    import fcntl  # not on all systems

    at_once = 0 if patience == math.inf else fcntl.LOCK_NB
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | at_once)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(1e-3)


class PrefixStore(Store):
    """Another store, with a prefix before all keys.

    Raises:
        ValueError: if there is no other store.
    """

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        if store is None:
            raise ValueError("store argument cannot be None")
        self._prefix = prefix
        self.underlying_store = store

    @property
    def _underlying_non_prefix_store(self) -> Store:
        """The store below all prefixes."""
        store = self.underlying_store
        return store._underlying_non_prefix_store if isinstance(store, PrefixStore) else store

    def has_extended_api(self) -> bool:
        """The other store's."""
        return self.underlying_store.has_extended_api()

    @property
    def timeout(self) -> timedelta:
        """The other store's."""
        return self.underlying_store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Change the other store's."""
        self.underlying_store.set_timeout(timeout)

    def clone(self) -> PrefixStore:
        """The same prefix, before a clone of the other store."""
        return PrefixStore(self._prefix, self.underlying_store.clone())

    def _key(self, key: str) -> str:
        return f"{self._prefix}/{as_key(key)}"

    def set(self, key: str, value: str | bytes) -> None:
        self.underlying_store.set(self._key(key), as_value(value))

    def get(self, key: str) -> bytes:
        return self.underlying_store.get(self._key(key))

    def add(self, key: str, amount: int) -> int:
        return self.underlying_store.add(self._key(key), amount)

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        return self.underlying_store.compare_set(self._key(key), expected_value, desired_value)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self.underlying_store.wait([self._key(key) for key in as_keys(keys)], timeout)

    def check(self, keys: Sequence[str]) -> bool:
        return self.underlying_store.check([self._key(key) for key in as_keys(keys)])

    def delete_key(self, key: str) -> bool:
        return self.underlying_store.delete_key(self._key(key))

    def num_keys(self) -> int:
        """The other store's number of keys."""
        return self.underlying_store.num_keys()

    def list_keys(self) -> list[str]:
        """The other store's with this prefix, without it."""
        start = self._key("")
        keys = self.underlying_store.list_keys()
        return [key.removeprefix(start) for key in keys if key.startswith(start)]

    def queue_push(self, key: str, value: str | bytes) -> None:
        self.underlying_store.queue_push(self._key(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        return self.underlying_store.queue_pop(self._key(key), block)

    def queue_len(self, key: str) -> int:
        return self.underlying_store.queue_len(self._key(key))

    def append(self, key: str, value: str | bytes) -> None:
        self.underlying_store.append(self._key(key), as_value(value))

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        return self.underlying_store.multi_get([self._key(key) for key in as_keys(keys)])

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        own = [self._key(key) for key in as_keys(keys)]
        self.underlying_store.multi_set(own, [as_value(value) for value in values])
