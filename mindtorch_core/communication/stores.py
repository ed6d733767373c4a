"""Stores: small values by key that all processes see. PyTorch's names and answers.

Stores carry addresses, the parts of a rendezvous and news of failures; no tensor goes through one.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from .errors import DistStoreError

__all__ = ["DEFAULT_TIMEOUT", "FileStore", "HashStore", "PrefixStore", "Store", "frames", "packed"]

DEFAULT_TIMEOUT: Final = timedelta(seconds=300)
_PAUSE: Final = 0.01  # between two looks into a file, in seconds


def packed(parts: Sequence[bytes]) -> bytes:
    """Byte strings as one: their number, then the length of each and itself."""
    return b"".join(
        [struct.pack("<I", len(parts)), *(struct.pack("<I", len(p)) + p for p in parts)]
    )


def frames(data: bytes) -> list[bytes]:
    """What `packed` was given."""
    (count,), at, found = struct.unpack_from("<I", data), 4, []
    for _ in range(count):
        (size,) = struct.unpack_from("<I", data, at)
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return found


def as_value(value: str | bytes) -> bytes:
    """A value as bytes."""
    return value.encode() if isinstance(value, str) else bytes(value)


class Store(ABC):
    """Values by key, for several processes.

    `get` and `wait` wait until the keys are there, at most `timeout`.
    """

    def __init__(self) -> None:
        self._timeout = DEFAULT_TIMEOUT

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Change how long `get` and `wait` wait."""
        self._timeout = timeout

    @abstractmethod
    def set(self, key: str, value: str | bytes) -> None:
        """Set a key's value."""

    @abstractmethod
    def get(self, key: str) -> bytes:
        """A key's value, which is waited for.

        Raises:
            DistStoreError: if it does not come in time.
        """

    @abstractmethod
    def add(self, key: str, amount: int) -> int:
        """Add to a key's number, which begins as 0; returns the sum."""

    @abstractmethod
    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Set a key if it has the expected value, or has none and that is empty.

        Returns the value after it; where there is none, the expected one.
        """

    @abstractmethod
    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are there.

        Raises:
            DistStoreError: if they do not come in time.
        """

    @abstractmethod
    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there. Never waits."""

    @abstractmethod
    def delete_key(self, key: str) -> bool:
        """Delete a key; whether it was there."""

    @abstractmethod
    def num_keys(self) -> int:
        """How many keys there are."""

    @abstractmethod
    def append(self, key: str, value: str | bytes) -> None:
        """Write after a key's value, which begins empty."""

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Several keys' values."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set several keys."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def clone(self) -> Store:
        """The same store, for another thread to wait in: with a connection of its own, if it has one."""
        return self

    def has_extended_api(self) -> bool:
        """True: `append`, `multi_get` and `multi_set` exist."""
        return True


def too_late(keys: Sequence[str], timeout: timedelta) -> DistStoreError:
    """The error about keys that have not come."""
    shown = ", ".join(f"/{key}" for key in keys)
    milliseconds = timeout // timedelta(milliseconds=1)
    return DistStoreError(f"wait timeout after {milliseconds}ms, keys: {shown}")


class Table:
    """What a store does to its values, whoever asks."""

    def __init__(self, values: dict[str, bytes] | None = None) -> None:
        self.values = {} if values is None else values

    def add(self, key: str, amount: int) -> int:
        """See `Store.add`."""
        total = int(self.values.get(key, b"0")) + amount
        self.values[key] = str(total).encode()
        return total

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """See `Store.compare_set`."""
        there = self.values.get(key)
        if there is None and expected:
            return expected
        if there is None or there == expected:
            self.values[key] = desired
        return self.values[key]

    def append(self, key: str, value: bytes) -> None:
        """See `Store.append`."""
        self.values[key] = self.values.get(key, b"") + value


class _LockedStore(Store):
    """A store whose values lie in one table, which `_open` gives to one user at a time."""

    @abstractmethod
    def _open(self) -> contextlib.AbstractContextManager[Table]:
        """The table, for the caller alone."""

    @abstractmethod
    def _rest(self, seconds: float) -> None:
        """Wait for a change, at most so long."""

    def set(self, key: str, value: str | bytes) -> None:
        """See `Store.set`."""
        with self._open() as table:
            table.values[key] = as_value(value)

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        self.wait([key])
        with self._open() as table:
            return table.values[key]

    def add(self, key: str, amount: int) -> int:
        """See `Store.add`."""
        with self._open() as table:
            return table.add(key, amount)

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """See `Store.compare_set`."""
        with self._open() as table:
            return table.compare_set(key, as_value(expected_value), as_value(desired_value))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """See `Store.wait`."""
        limit = self._timeout if timeout is None else timeout
        end = time.monotonic() + limit.total_seconds()
        while not self.check(keys):
            left = end - time.monotonic()
            if left <= 0:
                raise too_late([key for key in keys if not self.check([key])], limit)
            self._rest(left)

    def check(self, keys: Sequence[str]) -> bool:
        """See `Store.check`."""
        with self._open() as table:
            return all(key in table.values for key in keys)

    def delete_key(self, key: str) -> bool:
        """See `Store.delete_key`."""
        with self._open() as table:
            return table.values.pop(key, None) is not None

    def num_keys(self) -> int:
        """See `Store.num_keys`."""
        with self._open() as table:
            return len(table.values)

    def append(self, key: str, value: str | bytes) -> None:
        """See `Store.append`."""
        with self._open() as table:
            table.append(key, as_value(value))


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


class FileStore(_LockedStore):
    """A store in a file that all processes reach; use a new one for each run.

    Args:
        file_name: its path; it is made if it is not there.
        world_size: how many processes use it; kept for PyTorch's sake.
    """

    def __init__(self, file_name: str | os.PathLike[str], world_size: int = -1) -> None:
        super().__init__()
        self.path = os.fspath(file_name)
        self.world_size = world_size
        self._lock = threading.RLock()
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))

    @contextlib.contextmanager
    def _open(self) -> Iterator[Table]:
        import fcntl  # not on all systems

        with self._lock, open(self.path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            data = file.read()
            rows = frames(data) if data else []
            keys = [key.decode() for key in rows[::2]]
            table = Table(dict(zip(keys, rows[1::2], strict=True)))
            before = dict(table.values)
            yield table
            if table.values != before:
                pairs = [p for key, value in table.values.items() for p in (key.encode(), value)]
                file.seek(0)
                file.write(packed(pairs))
                file.truncate()

    def _rest(self, seconds: float) -> None:
        time.sleep(min(seconds, _PAUSE))


class PrefixStore(Store):
    """Another store, with a prefix before all keys."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self._prefix = prefix
        self.underlying_store = store

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
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: str | bytes) -> None:
        """See `Store.set`."""
        self.underlying_store.set(self._key(key), value)

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        return self.underlying_store.get(self._key(key))

    def add(self, key: str, amount: int) -> int:
        """See `Store.add`."""
        return self.underlying_store.add(self._key(key), amount)

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """See `Store.compare_set`."""
        return self.underlying_store.compare_set(self._key(key), expected_value, desired_value)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """See `Store.wait`."""
        self.underlying_store.wait([self._key(key) for key in keys], timeout)

    def check(self, keys: Sequence[str]) -> bool:
        """See `Store.check`."""
        return self.underlying_store.check([self._key(key) for key in keys])

    def delete_key(self, key: str) -> bool:
        """See `Store.delete_key`."""
        return self.underlying_store.delete_key(self._key(key))

    def num_keys(self) -> int:
        """The other store's number of keys."""
        return self.underlying_store.num_keys()

    def append(self, key: str, value: str | bytes) -> None:
        """See `Store.append`."""
        self.underlying_store.append(self._key(key), value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """See `Store.multi_get`."""
        return self.underlying_store.multi_get([self._key(key) for key in keys])

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """See `Store.multi_set`."""
        self.underlying_store.multi_set([self._key(key) for key in keys], values)
