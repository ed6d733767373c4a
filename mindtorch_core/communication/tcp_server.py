"""The server of a `TCPStore`: it answers all processes, and knows which of them have gone."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final

from .errors import DistNetworkError
from .store_values import Table, frames, packed

__all__ = ["EVENT", "FAILED", "Server"]

EVENT: Final = "event/"  # before the number of an event
FAILED: Final = 1 << 31  # of an answer's size: it is an error's kind and text
_LONGEST: Final = 1 << 30  # bytes of a request; what announces more is not a store's client


class _Peer:
    """A connection, as the server sees it.

    Attributes:
        name: who is watched by it; empty for none.
        waiting: the keys that it waits for, and what it wants then: ``get``, ``wait`` or ``pop``.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.data = b""
        self.name = ""
        self.waiting: tuple[list[str], str] | None = None


class Server:
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
            self._socket.listen(2048)
        else:
            try:
                self._socket = socket.create_server(("", port), backlog=2048)
            except OSError as error:
                number = error.errno or 0
                said = os.strerror(number)
                raise DistNetworkError(
                    f"The server socket has failed to listen on any local network address. port: {port}, "
                    f"useIpv6: false, code: {-number}, name: {errno.errorcode.get(number, 'unknown')}, "
                    f"message: {said[:1].lower()}{said[1:]}"
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
            if size > _LONGEST:
                self._lose(peer)
                return
            if len(peer.data) < 4 + size:
                break
            request, peer.data = peer.data[4 : 4 + size], peer.data[4 + size :]
            try:
                self._answer(peer, frames(request))
            except Exception as error:  # noqa: BLE001 (it is the asker's; others are served on)
                self._send(peer, [type(error).__name__.encode(), str(error).encode()], FAILED)

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
                if all(map(self.table.has, keys)):
                    peer.waiting = None
                    self._send(peer, self._wanted(keys, wanted))

    def _wanted(self, keys: Sequence[str], wanted: str) -> list[bytes]:
        if wanted == "wait":
            return []
        if wanted == "pop":
            return [self.table.pop(keys[0])]
        return [self.table.get(key) for key in keys]

    def _send(self, peer: _Peer, parts: Sequence[bytes], flag: int = 0) -> None:
        data = packed(parts)
        with contextlib.suppress(OSError):  # it is gone, and the next look at it says so
            peer.connection.sendall(struct.pack("<I", len(data) | flag) + data)

    def _answer(self, peer: _Peer, request: list[bytes]) -> None:
        command, arguments = request[0].decode(), request[1:]
        values, table = self.table.values, self.table
        if command in ("get", "wait", "pop"):
            peer.waiting = [key.decode() for key in arguments], command
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
            answer = [b"1" if all(table.has(k.decode()) for k in arguments) else b"0"]
        elif command == "delete":
            answer = [b"0" if values.pop(key, None) is None else b"1"]
        elif command == "keys":
            answer = [k.encode() for k in values if not k.startswith(EVENT)]
        elif command == "push":
            table.push(key, arguments[1])
        elif command == "take":
            answer = [table.pop(key)]
        elif command == "length":
            answer = [str(len(table.queues.get(key, ()))).encode()]
        elif command == "watch":
            peer.name = key
            self._watched.add(key)
        elif command == "leave":
            self._left.add(key)
        elif command == "tell":
            self._tell(arguments[0])
        self._send(peer, answer)
        self._settle()
