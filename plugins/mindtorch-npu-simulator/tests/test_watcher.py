import ctypes
import signal

import pytest
from acl_binding import D2H, H2D, eventually, run_python

from mindtorch_npu_simulator import control


@pytest.fixture
def stream(acl):
    return acl.stream()


def test_work_on_memory_that_is_gone_fails(acl, stream, found):
    block, other = acl.malloc(64), acl.malloc(64)
    with control.held():
        acl.fill(other, 1, 64, stream)
        acl.fill(block, 1, 64, stream)
        acl.destroy(block)
    assert acl.aclrtSynchronizeStream(stream) == 507015
    words = [
        "its last use: aclrtMemsetAsync on stream",
        "runs on memory that was freed",
        "64 bytes",
    ]
    found("free-while-in-use", "use-after-free", words=words)


def test_freeing_what_nobody_waited_for_is_found_whatever_the_timing(acl, stream, found):
    block = acl.malloc(64)
    acl.fill(block, 1, 64, stream)
    eventually(lambda: any(event["kind"] == "done" for event in control.log()))
    acl.destroy(block)
    found("free-while-in-use")


def test_freeing_after_waiting_is_right(acl, stream):
    ways = {
        "stream": lambda e: acl.ok("aclrtSynchronizeStream", stream),
        "device": lambda e: acl.ok("aclrtSynchronizeDevice"),
        "event": lambda e: acl.ok("aclrtSynchronizeEvent", e),
    }
    for wait in ways.values():
        block, event = acl.malloc(64), acl.event()
        acl.fill(block, 1, 64, stream)
        acl.ok("aclrtRecordEvent", event, stream)
        wait(event)
        acl.destroy(block)
    block, event = acl.malloc(64), acl.event()
    acl.fill(block, 1, 64, stream)
    acl.ok("aclrtRecordEvent", event, stream)
    eventually(lambda: acl.get("aclrtQueryEventStatus", event) == 1)
    acl.destroy(block)
    block = acl.malloc(64)
    acl.fill(block, 1, 64, stream)
    eventually(lambda: acl.get("aclrtStreamQuery", stream) == 0)
    acl.destroy(block)


def test_streams_without_order_race(acl, stream, found):
    other, block = acl.stream(), acl.malloc(64)
    acl.fill(block, 1, 64, stream)
    acl.fill(block + 32, 2, 32, other)
    found("race", words=["writes 32 bytes", "in no order"])
    acl.ok("aclrtSynchronizeDevice")


def test_different_bytes_do_not_race(acl, stream):
    other, block = acl.stream(), acl.malloc(64)
    acl.fill(block, 1, 32, stream)
    acl.fill(block + 32, 2, 32, other)
    acl.ok("aclrtSynchronizeDevice")


def test_reading_does_not_race_with_reading(acl, stream, found):
    other, block = acl.stream(), acl.malloc(64)
    acl.write(block, bytes(64))
    pinned = [acl.pinned(64), acl.pinned(64)]
    for where, to in zip((stream, other), pinned, strict=True):
        acl.ok("aclrtMemcpyAsync", to, 64, block, 64, D2H, where)
    acl.fill(block, 1, 64, other)
    found("race", words=["aclrtMemcpyAsync"])
    acl.ok("aclrtSynchronizeDevice")


def test_an_event_orders_streams(acl, stream):
    other, block, event = acl.stream(), acl.malloc(64), acl.event()
    acl.fill(block, 1, 64, stream)
    acl.ok("aclrtRecordEvent", event, stream)
    acl.ok("aclrtStreamWaitEvent", other, event)
    acl.fill(block, 2, 64, other)
    acl.ok("aclrtSynchronizeDevice")
    assert acl.read(block, 64) == b"\2" * 64


def test_an_event_orders_only_what_was_queued_before_it(acl, stream, found):
    other, block, event = acl.stream(), acl.malloc(64), acl.event()
    acl.ok("aclrtRecordEvent", event, stream)
    acl.fill(block, 1, 64, stream)
    acl.ok("aclrtStreamWaitEvent", other, event)
    acl.fill(block, 2, 64, other)
    found("race")
    acl.ok("aclrtSynchronizeDevice")


def test_a_blocking_copy_is_not_ordered_with_streams(acl, stream, found):
    block = acl.malloc(64)
    acl.fill(block, 1, 64, stream)
    acl.read(block, 64)
    found("race", words=["aclrtMemcpy reads 64 bytes"])
    acl.ok("aclrtSynchronizeStream", stream)
    acl.read(block, 64)


def test_waiting_for_one_stream_does_not_cover_another(acl, stream, found):
    other, block = acl.stream(), acl.malloc(64)
    acl.fill(block, 1, 64, other)
    acl.ok("aclrtSynchronizeStream", stream)
    acl.read(block, 64)
    found("race")
    acl.ok("aclrtSynchronizeStream", other)


def test_many_streams_one_after_the_other(acl):
    block = acl.malloc(64)
    for value in range(50):
        one = acl.stream()
        acl.fill(block, value, 64, one)
        acl.destroy(one)
    assert acl.read(block, 64) == bytes([49]) * 64


def test_memory_of_another_device(acl, found):
    block = acl.malloc(64)
    acl.ok("aclrtSetDevice", 1)
    stream = acl.stream()
    acl.fill(block, 1, 64, stream)
    assert acl.aclrtSynchronizeStream(stream) == 507015
    found("wrong-device")
    acl.destroy(stream)


@pytest.mark.parametrize(
    ("access", "kind"),
    [
        ("ctypes.string_at(acl.malloc(64), 8)", "host-access"),
        ("ctypes.memset(acl.malloc(64), 0, 8)", "host-access"),
        ("b = acl.malloc(64); acl.destroy(b); ctypes.string_at(b, 8)", "host-access"),
        ("b = acl.pinned(64); acl.destroy(b); ctypes.string_at(b, 8)", "use-after-free"),
    ],
)
def test_what_the_host_must_not_touch(access, kind):
    done = run_python(f"acl.aclInit(None); acl.aclrtSetDevice(0)\n{access}")
    assert done.returncode == -signal.SIGSEGV
    assert f"npu-simulator: finding: {kind}: the host touches" in done.stderr
    assert "(64 bytes" in done.stderr


def test_a_handler_that_was_there_before_still_runs():
    code = """
import faulthandler
faulthandler.enable()
acl.aclInit(None); acl.aclrtSetDevice(0)
ctypes.string_at(acl.malloc(64), 8)
"""
    done = run_python(code)
    assert done.returncode == -signal.SIGSEGV
    assert "finding: host-access" in done.stderr
    assert "Fatal Python error: Segmentation fault" in done.stderr


def test_an_ordinary_fault_is_no_finding():
    done = run_python(
        "acl.aclInit(None); acl.aclrtSetDevice(0); acl.malloc(8); ctypes.string_at(8)"
    )
    assert done.returncode == -signal.SIGSEGV
    assert "finding" not in done.stderr


def test_strict_mode_ends_the_process():
    code = "acl.aclInit(None); acl.aclrtSetDevice(0); acl.aclrtFree(4096); print('on')"
    done = run_python(code)
    assert done.stdout.strip() == "on"
    done = run_python(code, NPU_SIMULATOR_STRICT="1")
    assert done.returncode == -signal.SIGABRT
    assert "finding: unknown-address: aclrtFree was given 0x1000" in done.stderr


def test_live_objects_are_counted(acl, stream):
    acl.event(), acl.malloc(8), acl.pinned(8)
    assert control.live() == {"stream": 1, "event": 1, "device memory": 1, "pinned memory": 1}
    buffer = ctypes.create_string_buffer(8)
    acl.ok("aclrtMemcpy", acl.malloc(8), 8, buffer, 8, H2D)
    memory = control.counters()["memory"]
    assert memory == {"blocks": 2, "bytes": 16, "pinned_bytes": 8}
