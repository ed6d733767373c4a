"""Stores: PyTorch's names and answers, in threads and processes."""

import multiprocessing
import os
import re
import socket
import struct
import threading
import time
from datetime import timedelta

import pytest

import mindtorch_core as torch

dist = torch.distributed
SOON = timedelta(milliseconds=100)


@pytest.fixture(params=["hash", "file", "tcp", "prefix"])
def store(request, tmp_path):
    if request.param == "hash":
        made = dist.HashStore()
    elif request.param == "file":
        made = dist.FileStore(str(tmp_path / "store"), 1)
    else:
        made = dist.TCPStore("localhost", 0, 1, True, timedelta(seconds=20))
    yield dist.PrefixStore("mine", made) if request.param == "prefix" else made
    if isinstance(made, dist.TCPStore):
        made.close()


def test_values(store):
    store.set("a", "text")
    store.set("b", b"\0\xff")
    assert (store.get("a"), store.get("b")) == (b"text", b"\0\xff")
    assert store.add("n", 2) == 2
    assert store.add("n", 3) == 5
    assert store.get("n") == b"5"
    store.append("c", "x")
    store.append("c", "y")
    assert store.get("c") == b"xy"
    assert store.check(["a", "b"])
    assert not store.check(["a", "missing"])
    assert store.delete_key("a") is True
    assert store.delete_key("a") is False
    store.multi_set(["k", "l"], ["1", "2"])
    assert store.multi_get(["l", "k"]) == [b"2", b"1"]


def test_several_keys_want_as_many_values(store):
    with pytest.raises(dist.DistStoreError, match="must be of same size"):
        store.multi_set(["k"], ["1", "2"])
    assert not store.check(["k"])


def test_compare_set_answers_as_pytorch_does(store):
    assert (
        store.compare_set("k", "first", "second") == b"first"
    )  # there is none, and one is expected
    assert not store.check(["k"])
    assert store.compare_set("k", "", "one") == b"one"
    assert store.compare_set("k", "wrong", "two") == b"one"
    assert store.compare_set("k", "one", "two") == b"two"


def test_waiting_ends_with_an_error_that_names_the_keys(store):
    store.set("there", "1")
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 100ms, keys: .*/gone"):
        store.wait(["there", "gone"], SOON)
    store.set_timeout(SOON)
    assert store.timeout == SOON
    with pytest.raises(dist.DistStoreError, match="wait timeout after 100ms"):
        store.get("gone")
    assert store.get("there") == b"1"  # it goes on working


def test_keys_queues_and_barriers(store):
    store.set("a", "1")
    store.add("n", 1)
    assert sorted(store.list_keys()) == ["a", "n"]
    store.barrier("b", 1)
    with pytest.raises(dist.DistStoreError, match=r"keys: .*/c/last_member"):
        store.barrier("c", 2, SOON)
    if isinstance(store, dist.FileStore):
        with pytest.raises(NotImplementedError, match="queue"):
            store.queue_push("q", "1")
        return
    store.queue_push("q", "1")
    store.queue_push("q", b"\xff")
    assert store.queue_len("q") == 2
    assert store.check(["q"])
    assert [store.queue_pop("q"), store.queue_pop("q", False)] == [b"1", b"\xff"]
    assert store.queue_len("q") == 0
    with pytest.raises(dist.QueueEmptyError, match="queue is empty"):
        store.queue_pop("q", False)
    store.set_timeout(SOON)
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 100ms, keys: .*/q"):
        store.queue_pop("q")


@pytest.mark.parametrize(
    ("kind", "text", "call"),
    [
        (ValueError, "the value of '.*word' is no number", lambda s: s.add("word", 1)),
        (TypeError, "keys are str, got int", lambda s: s.set(1, "2")),
        (TypeError, "values are str or bytes, got int", lambda s: s.set("a", 2)),
        (TypeError, "cannot be interpreted as an integer", lambda s: s.add("a", "b")),
        (TypeError, "a list of keys", lambda s: s.check("ab")),
        (TypeError, "a timeout is", lambda s: s.wait(["a"], "1")),
        (dist.DistStoreError, "after 50ms", lambda s: s.wait(["none"], 0.05)),
    ],
)
def test_what_a_store_refuses_harms_nobody(store, kind, text, call):
    store.set("word", "x")
    with pytest.raises(kind, match=text):
        call(store)
    assert store.get("word") == b"x"  # in particular the server goes on


def test_a_server_outlives_what_is_no_request():
    store = dist.TCPStore("localhost", 0, None, True, timedelta(seconds=20))
    for data in (b"GET / HTTP/1.1\r\n\r\n", struct.pack("<I", 3) + b"abc", b"\xff" * 64):
        with socket.create_connection(("localhost", store.port)) as stranger:
            stranger.sendall(data)
            store.set("k", "v")
            assert store.get("k") == b"v"
    store.close()


def test_a_store_of_ones_own():
    class Own(dist.Store):
        def __init__(self):
            super().__init__()
            self.values = {}

        def set(self, key, value):
            self.values[key] = value

        def get(self, key):
            return self.values[key]

    own = Own()
    prefixed = dist.PrefixStore("p", own)
    prefixed.set("a", b"1")
    assert (prefixed.get("a"), own.values) == (b"1", {"p/a": b"1"})
    with pytest.raises(NotImplementedError, match="Own does not define add"):
        prefixed.add("n", 1)


UNDEFINED = {
    "set": ("k", "v"), "get": ("k",), "add": ("k", 1), "compare_set": ("k", "a", "b"), "wait": (["k"],),
    "check": (["k"],), "delete_key": ("k",), "num_keys": (), "list_keys": (),
}  # fmt: skip


@pytest.mark.parametrize(("method", "given"), UNDEFINED.items())
def test_what_a_store_does_not_define_is_named(method, given):
    class Nothing(dist.Store):
        """Defines nothing."""

    with pytest.raises(NotImplementedError, match=f"Nothing does not define {method}"):
        getattr(Nothing(), method)(*given)


def of_ones_own(lib):
    """What a store that defines little answers below two prefixes, and what is refused."""

    class Own(lib.Store):
        def __init__(self):
            super().__init__()
            self.values = {}

        def set(self, key, value):
            self.values[key] = value

        def get(self, key):
            return self.values[key]

        def check(self, keys):
            return all(key in self.values for key in keys)

        def compare_set(self, key, expected, desired):
            if self.values.get(key, b"") == expected:
                self.values[key] = desired
            return self.values.get(key, expected)

    own = Own()
    inner = lib.PrefixStore("p", own)
    outer = lib.PrefixStore("q", inner)
    outer.append("a", b"po")
    outer.append("a", "tato")
    outer.multi_set(["b", "c"], ["1", b"2"])
    found = [
        outer.get("a"), outer.multi_get(["b", "c"]), own.values, outer.has_extended_api(),
        lib.PrefixStore("p", lib.HashStore()).has_extended_api(), outer._underlying_non_prefix_store is own,
    ]  # fmt: skip
    for call in (
        lambda: lib.PrefixStore("p", None), lambda: lib.TCPStore("localhost", 0, world_size=0, is_master=False),
        lambda: lib.TCPStore("localhost", 0, 2, True, timedelta(seconds=1)),
        lambda: lib.rendezvous("file:///nowhere?rank=1&world_size=2", 1, 2),
    ):  # fmt: skip
        with pytest.raises((ValueError, RuntimeError, AssertionError)) as caught:
            call()
        known = (ValueError, lib.DistStoreError, AssertionError, RuntimeError)
        text = (
            str(caught.value)
            .partition("(")[0]
            .partition(":")[0]
            .partition(". ")[0]
            .partition(" after ")[0]
        )
        found.append(
            [next(i for i, kind in enumerate(known) if isinstance(caught.value, kind)), text]
        )
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        port = listener.getsockname()[1]
        store = lib.TCPStore("localhost", port, 1, True, master_listen_fd=listener.detach())
    store.set("a", "1")
    return [*found, store.get("a"), store.port == port]


def test_stores_of_ones_own_and_refusals_are_as_in_pytorch():
    pt = pytest.importorskip("torch")
    assert of_ones_own(dist) == of_ones_own(pt.distributed)


def test_a_key_that_another_thread_sets_is_waited_for(store):
    other = store.underlying_store.clone() if isinstance(store, dist.PrefixStore) else store
    if isinstance(store, dist.TCPStore):
        other = store.clone()  # a connection serves one at a time
    key = "mine/k" if isinstance(store, dist.PrefixStore) else "k"

    def later():
        time.sleep(0.1)
        other.set(key, "now")

    thread = threading.Thread(target=later)
    thread.start()
    assert store.get("k") == b"now"
    thread.join()


def _count(port, times):
    store = torch.distributed.TCPStore("localhost", port, None, False, timedelta(seconds=20))
    for _ in range(times):
        store.add("n", 1)


def test_processes_share_a_tcp_store():
    store = dist.TCPStore("localhost", 0, None, True, timedelta(seconds=30))
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_count, args=(store.port, 50)) for _ in range(2)]
    for each in others:
        each.start()
    for each in others:
        each.join(30)
    assert store.add("n", 0) == 100
    store.close()


def test_a_store_that_is_not_there():
    with pytest.raises(
        dist.DistNetworkError,
        match=r"timed out after \d+ms while trying to connect to \(localhost, 9\)",
    ):
        dist.TCPStore("localhost", 9, None, False, timedelta(seconds=0.2))
    store = dist.TCPStore("localhost", 0, None, True)
    with pytest.raises(dist.DistNetworkError, match="failed to listen"):
        dist.TCPStore("localhost", store.port, None, True)
    store.close()


def test_a_store_whose_server_has_ended_is_not_waited_for():
    server = dist.TCPStore("localhost", 0, None, True)
    client = dist.TCPStore("localhost", server.port, None, False, timedelta(seconds=60))
    late = client.clone()
    server.close()
    began = time.monotonic()
    for each in (client, client, late):  # the second time there is no connection to break
        with pytest.raises(dist.DistNetworkError, match=rf"localhost:{server.port} is gone"):
            each.set("a", "1")
    assert time.monotonic() - began < 20  # of 60


def test_errors_are_runtime_errors():
    for name in ("DistBackendError", "DistNetworkError", "DistStoreError", "DistributedError"):
        assert issubclass(getattr(dist, name), dist.DistError)
    assert issubclass(dist.DistError, RuntimeError)


def test_a_queue_is_no_value():
    made = dist.HashStore()
    made.queue_push("q", "v")
    assert made.get("q") == b""
    assert made.queue_pop("q") == b"v"


def file_stores(dist, path, sizes):
    """Whether the file is there after each of several stores was made and let go of; and its keys."""
    found = []
    for size in sizes:
        one, two = dist.FileStore(path, size), dist.FileStore(path, size)
        two.set("k", "v")
        found.append((one.num_keys(), one.has_extended_api()))
        del one
        found.append(os.path.exists(path))
        del two
        found.append(os.path.exists(path))
    return found


@pytest.mark.parametrize("sizes", [[1], [2, 2], [3, 3], [-1, -1], [0, 0]], ids=str)
def test_a_file_is_removed_after_the_last_store_as_in_pytorch(tmp_path, sizes):
    pytorch = pytest.importorskip("torch").distributed
    mine = file_stores(dist, str(tmp_path / "mine"), sizes)
    assert mine == file_stores(pytorch, str(tmp_path / "theirs"), sizes)


def test_a_file_stays_where_a_forked_process_lets_go_of_it(tmp_path):
    made = dist.FileStore(str(tmp_path / "file"), 1)
    child = multiprocessing.get_context("fork").Process(target=made.__del__)
    child.start()
    child.join()
    assert os.path.exists(made.path)
    assert made.num_keys() == 1


def test_a_store_shows_its_sockets():
    served = dist.TCPStore("localhost", 0, 1, True)
    assert re.fullmatch(
        r"TCPStore\(client=TCPClient\(SocketImpl\(fd=\d+, addr=\[.*\]:\d+, remote=\[.*\]:\d+\)\), "
        r"server=TCPServer\(port=\d+\)\)",
        repr(served),
    )
    assert repr(served.clone()) == "TCPStore(client=<nullptr>, server=<nullptr>)"


def refused_ports(dist):
    """What is said of ports that no store can be served at: one in use, and numbers that are none."""
    said = []
    with socket.create_server(("", 0)) as taken:
        used = taken.getsockname()[1]
        for port in (used, -1, 65_536, "29500"):
            with pytest.raises((RuntimeError, TypeError)) as caught:
                dist.TCPStore("127.0.0.1", port, 1, is_master=True, timeout=timedelta(seconds=5))
            text = str(caught.value).replace(f"port: {used}", "port")
            said.append((caught.type.__name__, text.partition(" arguments")[0]))
    return said


def test_ports_that_are_in_use_or_none_are_refused_as_by_pytorch():
    pytest.importorskip("torch")
    import torch.distributed as theirs

    mine = refused_ports(dist)
    assert mine == refused_ports(theirs)
    assert [kind for kind, _ in mine] == ["DistNetworkError", *["TypeError"] * 3]
