"""What stores hold and are asked: keys, values, lengths of time, and one table that they all share."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import timedelta

from .errors import DistStoreError, QueueEmptyError

__all__ = ["Table", "as_key", "as_keys", "as_timeout", "as_value", "frames", "packed", "pairs"]


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
    """A value as bytes.

    Raises:
        TypeError: for another type than text and bytes.
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"a store's values are str or bytes, got {type(value).__name__}: {value!r}")


def as_key(key: str) -> str:
    """A key.

    Raises:
        TypeError: for another type than text.
    """
    if isinstance(key, str):
        return key
    raise TypeError(f"a store's keys are str, got {type(key).__name__}: {key!r}")


def as_keys(keys: Sequence[str]) -> list[str]:
    """Several keys.

    Raises:
        TypeError: for what is no list of texts.
    """
    if isinstance(keys, str | bytes):
        raise TypeError(f"a list of keys is expected, got {keys!r}")
    return [as_key(key) for key in keys]


def pairs(keys: Sequence[str], values: Sequence[str | bytes]) -> list[tuple[str, bytes]]:
    """Keys with their values.

    Raises:
        DistStoreError: if there are not as many of both.
    """
    if len(keys) != len(values):
        raise DistStoreError(
            f"multiSet keys and values vectors must be of same size: {len(keys)} keys, {len(values)} values"
        )
    return [(as_key(key), as_value(value)) for key, value in zip(keys, values, strict=True)]


def as_timeout(timeout: timedelta | float) -> timedelta:
    """A length of time, of which PyTorch's stores take a number of seconds too.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(timeout, timedelta):
        return timeout
    if isinstance(timeout, int | float):
        return timedelta(seconds=timeout)
    raise TypeError(f"a timeout is a datetime.timedelta, got {type(timeout).__name__}: {timeout!r}")


class Table:
    """What a store does to its values, whoever asks."""

    def __init__(self, values: dict[str, bytes] | None = None) -> None:
        self.values = {} if values is None else values
        self.queues: dict[str, list[bytes]] = {}

    def has(self, key: str) -> bool:
        """Whether there is a value, or something in a queue."""
        return key in self.values or bool(self.queues.get(key))

    def get(self, key: str) -> bytes:
        """A value; empty for a queue, which `pop` takes values of."""
        return self.values.get(key, b"")

    def push(self, key: str, value: bytes) -> None:
        """See `Store.queue_push`."""
        self.queues.setdefault(key, []).append(value)

    def pop(self, key: str) -> bytes:
        """The first value of a queue.

        Raises:
            QueueEmptyError: if there is none.
        """
        if not self.queues.get(key):
            raise QueueEmptyError("queue is empty")
        return self.queues[key].pop(0)

    def add(self, key: str, amount: int) -> int:
        """See `Store.add`."""
        there = self.values.get(key, b"0")
        try:
            total = int(there) + amount
        except ValueError:
            raise ValueError(f"the value of {key!r} is no number: {there[:40]!r}") from None
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
