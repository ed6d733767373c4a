"""`TCPStore`: a store that one process serves to all others, and what its server knows of them."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import struct
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from .errors import DistNetworkError
from .stores import DEFAULT_TIMEOUT, Store, Table, as_value, frames, packed, too_late

__all__ = ["TCPStore"]

_INIT: Final = "init/"  # counts the processes that have come
EVENT: Final = "event/"  # before the number of an event
_SOON: Final = timedelta(seconds=2)  # news are not worth more


class _Peer:
    """A connection, as the server sees it.

    Attributes:
        name: who is watched by it; empty for none.
        waiting: the keys that it waits for, and whether it wants their values.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.data = b""
        self.name = ""
        self.waiting: tuple[list[str], bool] | None = None


class _Server:
    """Answers all processes, in a thread of its own."""

    def __init__(self, host: str, port: int, descriptor: int | None) -> None:
        self.table = Table()
        self._events = 0
        self._left: set[str] = set()
        self._watched: set[str] = set()
        self._peers: dict[socket.socket, _Peer] = {}
        self._selector = selectors.DefaultSelector()
        if descriptor is not None:
            self._socket = socket.socket(fileno=descriptor)
        else:
            try:
                self._socket = socket.create_server(("", port), backlog=2048)
            except OSError as error:
                raise DistNetworkError(
                    f"The server socket has failed to listen on port {port}: {error}"
                ) from error
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._woken, self._waker = socket.socketpair()
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="mindtorch-store", daemon=True)
        self._thread.start()

    def await_leaving(self, seconds: float) -> None:
        """Wait until all that are watched have left."""
        end = time.monotonic() + seconds
        while self._watched - self._left and time.monotonic() < end:
            time.sleep(0.005)

    def stop(self) -> None:
        """Answer no more; when this returns, the port is free."""
        with contextlib.suppress(OSError):  # it has stopped before
            self._waker.send(b"\0")  # closing it would not do: a forked process may hold a copy
        if threading.current_thread() is not self._thread and not sys.is_finalizing():
            self._thread.join()
            self._waker.close()

    def _serve(self) -> None:
        stopped = False
        while not stopped:
            for key, _ in self._selector.select():
                if key.fileobj is self._socket:
                    self._accept()
                elif key.fileobj is self._woken:
                    stopped = True
                else:
                    self._read(self._peers[key.fileobj])  # type: ignore[index]  # sockets alone
        for peer in list(self._peers.values()):
            peer.connection.close()
        self._socket.close()
        self._woken.close()
        self._selector.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._socket.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._peers[connection] = _Peer(connection)
            self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, peer: _Peer) -> None:
        try:
            data = peer.connection.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self._lose(peer)
            return
        peer.data += data
        while len(peer.data) >= 4:
            (size,) = struct.unpack_from("<I", peer.data)
            if len(peer.data) < 4 + size:
                break
            request, peer.data = peer.data[4 : 4 + size], peer.data[4 + size :]
            self._answer(peer, frames(request))

    def _lose(self, peer: _Peer) -> None:
        self._selector.unregister(peer.connection)
        del self._peers[peer.connection]
        peer.connection.close()
        if peer.name and peer.name not in self._left:
            self._left.add(peer.name)
            text = "its process has died"
            self._tell(json.dumps({"rank": int(peer.name), "kind": "lost", "text": text}).encode())

    def _tell(self, event: bytes) -> None:
        self.table.values[f"{EVENT}{self._events}"] = event
        self._events += 1
        self._settle()

    def _settle(self) -> None:
        """Answer those whose keys have come."""
        for peer in list(self._peers.values()):
            if peer.waiting is not None:
                keys, wanted = peer.waiting
                if all(key in self.table.values for key in keys):
                    peer.waiting = None
                    self._send(peer, [self.table.values[k] for k in keys] if wanted else [])

    def _send(self, peer: _Peer, parts: Sequence[bytes]) -> None:
        data = packed(parts)
        with contextlib.suppress(OSError):  # it is gone, and the next look at it says so
            peer.connection.sendall(struct.pack("<I", len(data)) + data)

    def _answer(self, peer: _Peer, request: list[bytes]) -> None:
        command, arguments = request[0].decode(), request[1:]
        values, table = self.table.values, self.table
        if command in ("get", "wait"):
            peer.waiting = [key.decode() for key in arguments], command == "get"
            self._settle()
            return
        key = arguments[0].decode() if arguments else ""
        answer: list[bytes] = []
        if command == "set":
            for name, value in zip(arguments[::2], arguments[1::2], strict=True):
                values[name.decode()] = value
        elif command == "add":
            answer = [str(table.add(key, int(arguments[1]))).encode()]
        elif command == "compare_set":
            answer = [table.compare_set(key, arguments[1], arguments[2])]
        elif command == "append":
            table.append(key, arguments[1])
        elif command == "check":
            answer = [b"1" if all(k.decode() in values for k in arguments) else b"0"]
        elif command == "delete":
            answer = [b"0" if values.pop(key, None) is None else b"1"]
        elif command == "count":
            answer = [str(sum(not k.startswith(EVENT) for k in values)).encode()]
        elif command == "watch":
            peer.name = key
            self._watched.add(key)
        elif command == "leave":
            self._left.add(key)
        elif command == "tell":
            self._tell(arguments[0])
        self._send(peer, answer)
        self._settle()


_SERVERS: Final[dict[int, _Server]] = {}  # by port, for those that share one
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
        self._timeout = timeout
        self.host, self.libuvBackend = host_name, use_libuv
        self._server: _Server | None = None
        if is_master:
            shared = _SERVERS.get(port) if multi_tenant else None
            self._server = shared or _Server(host_name, port, master_listen_fd)
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
                raise too_late([f"{_INIT} ({come} of {count} clients joined)"], self._timeout)
            time.sleep(0.01)

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
                        f"The client socket has failed to connect to ({host}, {self.port}) within "
                        f"{self._timeout.total_seconds():g} s: {error}"
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
                return frames(_exactly(connection, size))
            except BaseException as error:
                connection.close()  # an answer that comes later is nobody's
                self._connection = None
                if isinstance(error, TimeoutError) or not isinstance(error, OSError):
                    raise
                raise self._gone() from error

    def _gone(self) -> DistNetworkError:
        return DistNetworkError(f"the store at {self.host}:{self.port} is gone")

    # ---- the store -----------------------------------------------------------------------------

    def set(self, key: str, value: str | bytes) -> None:
        """See `Store.set`."""
        self._ask(["set", key, value])

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        return self.multi_get([key])[0]

    def add(self, key: str, amount: int) -> int:
        """See `Store.add`."""
        return int(self._ask(["add", key, str(amount)])[0])

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """See `Store.compare_set`."""
        return self._ask(["compare_set", key, expected_value, desired_value])[0]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """See `Store.wait`."""
        limit = self._timeout if timeout is None else timeout
        try:
            self._ask(["wait", *keys], limit)
        except TimeoutError:
            raise too_late([k for k in keys if not self.check([k])], limit) from None

    def check(self, keys: Sequence[str]) -> bool:
        """See `Store.check`."""
        return self._ask(["check", *keys]) == [b"1"]

    def delete_key(self, key: str) -> bool:
        """See `Store.delete_key`."""
        return self._ask(["delete", key]) == [b"1"]

    def num_keys(self) -> int:
        """See `Store.num_keys`: one more than were set, by which processes are counted."""
        return int(self._ask(["count"])[0])

    def append(self, key: str, value: str | bytes) -> None:
        """See `Store.append`."""
        self._ask(["append", key, value])

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """See `Store.multi_get`."""
        try:
            return self._ask(["get", *keys])
        except TimeoutError:
            missing = [k for k in keys if not self.check([k])]
            raise too_late(missing, self._timeout) from None

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """See `Store.multi_set`."""
        pairs = [part for pair in zip(keys, values, strict=True) for part in pair]
        self._ask(["set", *pairs])

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
