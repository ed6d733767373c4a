import ctypes

import pytest
from acl_binding import D2D, D2H, DEFAULT, H2D, H2H, slow

from mindtorch_npu_simulator import control

DATA = bytes(range(64))


@pytest.fixture
def stream(acl):
    return acl.stream()


def buffer(data=DATA):
    return ctypes.create_string_buffer(data, len(data))


@pytest.mark.parametrize("kind", [H2D, DEFAULT, 5])
def test_to_the_device(acl, kind):
    block = acl.malloc(64)
    acl.ok("aclrtMemcpy", block, 64, buffer(), 64, kind)
    assert acl.read(block, 64) == DATA


@pytest.mark.parametrize(("out", "within"), [(D2H, D2D), (DEFAULT, DEFAULT)])
def test_from_and_within_the_device(acl, out, within):
    a, b, host = acl.malloc(64), acl.malloc(64), buffer(bytes(64))
    acl.write(a, DATA)
    acl.ok("aclrtMemcpy", b, 64, a, 64, within)
    acl.ok("aclrtMemcpy", host, 64, b, 64, out)
    assert host.raw == DATA


def test_parts_of_blocks(acl):
    block = acl.malloc(64)
    acl.write(block, DATA)
    acl.write(block + 8, b"x" * 8)
    assert acl.read(block + 4, 16) == DATA[4:8] + b"x" * 8 + DATA[16:20]


def test_within_the_host(acl, stream):
    a, b = buffer(), buffer(bytes(64))
    acl.ok("aclrtMemcpy", b, 64, a, 64, H2H)
    assert b.raw == DATA
    assert acl.aclrtMemcpyAsync(b, 64, a, 64, H2H, stream) == 207000


@pytest.mark.parametrize("asynchronous", [False, True])
def test_arguments(acl, stream, asynchronous):
    block, host = acl.malloc(64), buffer()

    def copy(*arguments):
        if asynchronous:
            return acl.aclrtMemcpyAsync(*arguments, stream)
        return acl.aclrtMemcpy(*arguments)

    assert copy(block, 63, host, 64, H2D) == 107000
    assert "destMax" in acl.message()
    assert copy(None, 64, host, 64, H2D) == 100000
    assert copy(block, 64, None, 64, H2D) == 100000
    for kind in (6, 7, 8, -1):
        assert copy(block, 64, host, 64, kind) == 100000
    assert copy(block, 64, host, 0, H2D) == 0


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_kind_must_fit_the_pointers(acl, stream, found, asynchronous):
    block, host = acl.malloc(64), buffer()
    last = (stream,) if asynchronous else ()
    copy = acl.aclrtMemcpyAsync if asynchronous else acl.aclrtMemcpy
    assert copy(host, 64, block, 64, H2D, *last) == 107000
    assert copy(block, 64, host, 64, D2H, *last) == 107000
    assert copy(block, 64, host, 64, D2D, *last) == 107000
    found(*["wrong-memory"] * 3, words=["the destination is 64 bytes", "the source is 64 bytes"])


def test_copies_stay_within_blocks(acl, found):
    block, pinned, host = acl.malloc(64), acl.pinned(64), buffer(bytes(128))
    assert acl.aclrtMemcpy(block, 128, host, 65, H2D) == 107000
    assert acl.aclrtMemcpy(block + 60, 128, host, 5, H2D) == 107000
    assert acl.aclrtMemcpy(block, 64, pinned + 60, 5, H2D) == 107000
    found(*["out-of-bounds"] * 3)
    acl.destroy(block)
    assert acl.aclrtMemcpy(block, 64, host, 64, H2D) == 107000
    found("use-after-free", words=["memory that was freed"])


def test_pinned_memory_makes_copies_asynchronous(acl, stream):
    block, pinned = acl.malloc(64), acl.pinned(64)
    ctypes.memmove(pinned, DATA, 64)
    with control.held():
        acl.ok("aclrtMemcpyAsync", block, 64, pinned, 64, H2D, stream)
        assert acl.get("aclrtStreamQuery", stream) == 1
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 64) == DATA


def test_other_memory_is_copied_when_the_call_returns(acl, stream):
    block, host = acl.malloc(64), buffer(bytes(64))
    slow(20, "aclrtMemcpyAsync")
    acl.ok("aclrtMemcpyAsync", block, 64, buffer(), 64, H2D, stream)  # the source dies here
    acl.ok("aclrtMemcpyAsync", host, 64, block, 64, D2H, stream)
    assert host.raw == DATA
    assert control.counters()["synchronizations"] == 2


def test_a_failing_copy_fails_its_stream(acl, stream):
    control.inject("kernel:aclrtMemcpyAsync:1=507013")
    acl.ok("aclrtMemcpyAsync", acl.malloc(64), 64, buffer(), 64, H2D, stream)
    assert acl.aclrtSynchronizeStream(stream) == 507013


def test_fills(acl, stream):
    block, pinned = acl.malloc(64), acl.pinned(64)
    acl.ok("aclrtMemset", block, 64, 0x1234, 64)  # the lowest byte counts
    assert acl.read(block, 64) == b"\x34" * 64
    acl.ok("aclrtMemset", pinned, 64, 1, 32)
    assert ctypes.string_at(pinned, 33) == b"\1" * 32 + b"\xff"
    acl.ok("aclrtMemsetAsync", block, 64, 5, 32, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 64) == b"\5" * 32 + b"\x34" * 32
    assert acl.aclrtMemset(block, 31, 0, 32) == 107000
    assert acl.aclrtMemset(None, 64, 0, 32) == 100000


def test_ordinary_memory_is_not_filled(acl, found):
    assert acl.aclrtMemset(buffer(), 64, 0, 64) == 107000
    found("wrong-memory", words=["neither a device's nor pinned"])


@pytest.mark.parametrize("asynchronous", [False, True])
def test_rows(acl, stream, asynchronous):
    last = (stream,) if asynchronous else ()
    copy = "aclrtMemcpy2dAsync" if asynchronous else "aclrtMemcpy2d"
    block, host = acl.malloc(64), buffer(bytes(64))
    acl.ok("aclrtMemset", block, 64, 0, 64)
    acl.ok(copy, block, 16, buffer(), 8, 4, 4, H2D, *last)
    acl.ok(copy, host, 8, block, 16, 4, 4, D2H, *last)
    rows = [DATA[8 * i : 8 * i + 4] for i in range(4)]
    assert acl.read(block, 64) == b"".join(row + bytes(12) for row in rows)
    assert host.raw[:32] == b"".join(row + bytes(4) for row in rows)
    call = getattr(acl, copy)
    assert call(block, 3, buffer(), 8, 4, 4, H2D, *last) == 107000
    assert call(block, 8, buffer(), 8, 0, 4, H2D, *last) == 107000
    assert call(block, 8, None, 8, 4, 4, H2D, *last) == 100000
    assert call(buffer(), 8, buffer(), 8, 4, 4, H2H, *last) == 207000


def test_rows_stay_within_blocks(acl, found):
    block = acl.malloc(64)
    assert acl.aclrtMemcpy2d(block, 32, buffer(), 8, 8, 4, H2D) == 107000
    found("out-of-bounds")
