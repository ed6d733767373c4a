"""`TCPStore`: a store that one process serves to all others, and what its server knows of them."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from operator import index
from typing import Any, Final

from .errors import DistNetworkError, DistStoreError, QueueEmptyError
from .store_values import as_key, as_keys, as_timeout, as_value, frames, packed, pairs
from .stores import DEFAULT_TIMEOUT, Store, too_late
from .tcp_server import EVENT, FAILED, Server

__all__ = ["TCPStore"]

_INIT: Final = "init/"  # counts the processes that have come
_MS: Final = timedelta(milliseconds=1)
_SOON: Final = timedelta(seconds=2)  # news are not worth more


_SERVERS: Final[dict[int, Server]] = {}  # by port, for those that share one
_STORES: Final[weakref.WeakSet[TCPStore]] = weakref.WeakSet()


def _forget_connections() -> None:
    """In a forked child: the connections are the parent's, and end with it alone."""
    for store in list(_STORES):
        if store._connection is not None:
            store._connection.close()
        store._connection = store._server = None
        store._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_connections)


class TCPStore(Store):
    """A store that the process with ``is_master`` serves over TCP.

    Args:
        host_name: where the server is.
        port: of the server; 0 takes a free one, which `port` then says.
        world_size: how many processes use it; None if that is not known.
        is_master: whether this process serves it.
        timeout: how long to wait for the server, for other processes, and for keys.
        wait_for_workers: whether the server waits until all processes have come.
        multi_tenant: whether a server of this process at that port is used again.
        master_listen_fd: a listening socket for the server.
        use_libuv: taken for PyTorch's sake.

    Raises:
        DistNetworkError: if the server cannot be reached, or the port is taken.
        DistStoreError: if not all processes come in time.
        ValueError: for a world size of 0.
        TypeError: for what is no port.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        if world_size == 0:
            raise ValueError("TCPStore world size cannot be 0: give None where it is not known")
        _check_port(port)
        self._timeout = timeout
        self.host, self.libuvBackend = host_name, use_libuv
        self._server: Server | None = None
        if is_master:
            shared = _SERVERS.get(port) if multi_tenant else None
            self._server = shared or Server(host_name, port, master_listen_fd)
            port = self._server.port
            if multi_tenant:
                _SERVERS[port] = self._server
        self.port = port
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._reached = False
        _STORES.add(self)
        self._ask(["add", _INIT, "1"])
        if is_master and wait_for_workers and world_size is not None and world_size > 0:
            self._await_workers(world_size)

    def _await_workers(self, count: int) -> None:
        end = time.monotonic() + self._timeout.total_seconds()
        while (come := self.add(_INIT, 0)) < count:
            if time.monotonic() > end:
                raise DistStoreError(
                    f"Timed out after {self._timeout.total_seconds():g} seconds waiting for clients. "
                    f"{come}/{count} clients joined."
                )
            time.sleep(0.01)

    def __repr__(self) -> str:
        client, server = "<nullptr>", "<nullptr>"
        if self._connection is not None:
            here, there = self._connection.getsockname(), self._connection.getpeername()
            client = (
                f"TCPClient(SocketImpl(fd={self._connection.fileno()}, addr=[{here[0]}]:{here[1]}, "
                f"remote=[{there[0]}]:{there[1]}))"
            )
        if self._server is not None:
            server = f"TCPServer(port={self.port})"
        return f"TCPStore(client={client}, server={server})"

    def has_extended_api(self) -> bool:
        return True

    def clone(self) -> TCPStore:
        """Another connection to the same server."""
        made = TCPStore.__new__(TCPStore)
        Store.__init__(made)
        made._timeout, made.host, made.port = self._timeout, self.host, self.port
        made._server, made._connection, made._lock = None, None, threading.Lock()
        made.libuvBackend, made._reached = self.libuvBackend, self._reached
        _STORES.add(made)
        return made

    def close(self) -> None:
        """Close the connection, and end the server if it is this object's."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        if self._server is not None and self._server not in _SERVERS.values():
            self._server.stop()

    def __del__(self) -> None:
        if "_connection" in self.__dict__:  # else it was not made
            self.close()

    # ---- the connection ------------------------------------------------------------------------

    def _connect(self) -> socket.socket:
        """Connect: wait for a server that has not begun yet, but not for one that has ended."""
        end = time.monotonic() + self._timeout.total_seconds()
        host = "localhost" if self._server is not None else self.host
        while True:
            try:
                made = socket.create_connection((host, self.port), timeout=5)
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._reached = True
                return made
            except OSError as error:
                if self._reached and isinstance(error, ConnectionRefusedError):
                    raise self._gone() from error
                if time.monotonic() > end:
                    raise DistNetworkError(
                        f"The client socket has timed out after {self._timeout // _MS}ms while trying to "
                        f"connect to ({host}, {self.port}): {error}"
                    ) from error
                time.sleep(0.05)

    def _ask(self, request: Sequence[str | bytes], limit: timedelta | None = None) -> list[bytes]:
        """Send a request and return the answer.

        Args:
            request: command and arguments.
            limit: how long the answer may take; None for the store's timeout, negative for ever.

        Raises:
            TimeoutError: if it takes longer.
            DistNetworkError: if the connection breaks.
        """
        seconds = (self._timeout if limit is None else limit).total_seconds()
        with self._lock:
            if self._connection is None:
                self._connection = self._connect()
            connection = self._connection
            connection.settimeout(None if seconds < 0 else max(seconds, 1e-3))
            data = packed([as_value(part) for part in request])
            try:
                connection.sendall(struct.pack("<I", len(data)) + data)
                (size,) = struct.unpack("<I", _exactly(connection, 4))
                answer = frames(_exactly(connection, size & ~FAILED))
            except BaseException as error:
                connection.close()  # an answer that comes later is nobody's
                self._connection = None
                if isinstance(error, TimeoutError) or not isinstance(error, OSError):
                    raise
                raise self._gone() from error
        if size & FAILED:
            raise _refusal(*(part.decode() for part in answer))
        return answer

    def _gone(self) -> DistNetworkError:
        return DistNetworkError(f"the store at {self.host}:{self.port} is gone")

    # ---- the store -----------------------------------------------------------------------------

    def set(self, key: str, value: str | bytes) -> None:
        self._ask(["set", as_key(key), as_value(value)])

    def get(self, key: str) -> bytes:
        return self.multi_get([key])[0]

    def add(self, key: str, amount: int) -> int:
        return int(self._ask(["add", as_key(key), str(index(amount))])[0])

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        expected, desired = as_value(expected_value), as_value(desired_value)
        return self._ask(["compare_set", as_key(key), expected, desired])[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        limit = self._timeout if timeout is None else as_timeout(timeout)
        self._await("wait", as_keys(keys), limit)

    def _await(self, command: str, keys: list[str], limit: timedelta) -> list[bytes]:
        try:
            return self._ask([command, *keys], limit)
        except TimeoutError:
            raise too_late([k for k in keys if not self.check([k])], limit) from None

    def check(self, keys: Sequence[str]) -> bool:
        return self._ask(["check", *as_keys(keys)]) == [b"1"]

    def delete_key(self, key: str) -> bool:
        return self._ask(["delete", as_key(key)]) == [b"1"]

    def num_keys(self) -> int:
        """See `Store.num_keys`: one more than were set, by which processes are counted."""
        return len(self._ask(["keys"]))

    def list_keys(self) -> list[str]:
        return [name for key in self._ask(["keys"]) if (name := key.decode()) != _INIT]

    def append(self, key: str, value: str | bytes) -> None:
        self._ask(["append", as_key(key), as_value(value)])

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        return self._await("get", as_keys(keys), self._timeout)

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        self._ask(["set", *(part for pair in pairs(keys, values) for part in pair)])

    def queue_push(self, key: str, value: str | bytes) -> None:
        self._ask(["push", as_key(key), as_value(value)])

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        if not block:
            return self._ask(["take", as_key(key)])[0]
        return self._await("pop", [as_key(key)], self._timeout)[0]

    def queue_len(self, key: str) -> int:
        return int(self._ask(["length", as_key(key)])[0])

    def await_leaving(self, seconds: float) -> None:
        """Where this process serves the store, wait until those that `watch` have left."""
        if self._server is not None:
            self._server.await_leaving(seconds)

    # ---- news of processes -----------------------------------------------------------------------

    def watch(self, rank: int) -> None:
        """Have the server tell all if this connection breaks before `leave`."""
        self._ask(["watch", str(rank)])

    def leave(self, rank: int) -> None:
        """Say that a rank ends as it should."""
        self._ask(["leave", str(rank)], _SOON)

    def tell(self, event: dict[str, Any]) -> None:
        """Tell all processes something."""
        self._ask(["tell", json.dumps(event)], _SOON)

    def event(self, number: int) -> dict[str, Any]:
        """An event, which is waited for as long as it takes."""
        answer = self._ask(["get", f"{EVENT}{number}"], timedelta(seconds=-1))
        found: dict[str, Any] = json.loads(answer[0])
        return found


def _refusal(kind: str, text: str) -> Exception:
    """What the server says about a request that it cannot answer."""
    known = {each.__name__: each for each in (ValueError, QueueEmptyError)}
    return known.get(kind, DistStoreError)(text)


def _exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes.

    Raises:
        ConnectionError: if the connection ends before.
    """
    parts = []
    while count:
        part = connection.recv(count)
        if not part:
            raise ConnectionError("the connection has ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _check_port(port: Any) -> None:
    """Refuse what is no port.

    Raises:
        TypeError: as PyTorch does.
    """
    if not hasattr(port, "__index__") or not 0 <= index(port) < 1 << 16:
        raise TypeError(
            "__init__(): incompatible constructor arguments: port must be a whole number from 0 to 65535, "
            f"got {port!r}"
        )
