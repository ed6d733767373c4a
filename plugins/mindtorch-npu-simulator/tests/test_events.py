import ctypes

import pytest
from acl_binding import SYNC, TIME_LINE, eventually, output, slow

from mindtorch_npu_simulator import control


@pytest.fixture
def block(acl):
    return acl.malloc(256)


def status(acl, event):
    """1 complete, 0 not ready."""
    return acl.get("aclrtQueryEventStatus", event)


def test_an_event_is_complete_when_its_stream_has_come_to_it(acl, block):
    stream, event = acl.stream(), acl.event()
    assert status(acl, event) == 1  # never recorded
    with control.held("aclrtMemsetAsync"):
        acl.fill(block, 1, 256, stream)
        acl.ok("aclrtRecordEvent", event, stream)
        assert status(acl, event) == 0
    acl.ok("aclrtSynchronizeEvent", event)
    assert status(acl, event) == 1
    assert acl.read(block, 256) == b"\1" * 256


def test_recording_again_replaces_the_recording(acl, block):
    stream, event = acl.stream(), acl.event()
    acl.ok("aclrtRecordEvent", event, stream)
    acl.ok("aclrtSynchronizeEvent", event)
    with control.held("aclrtMemsetAsync"):
        acl.fill(block, 1, 256, stream)
        acl.ok("aclrtRecordEvent", event, stream)
        assert status(acl, event) == 0
    acl.ok("aclrtSynchronizeEvent", event)


def test_a_stream_waits_for_the_recording_that_was_there_when_it_was_told(acl, block):
    first, second, event = acl.stream(), acl.stream(), acl.event()
    acl.ok("aclrtRecordEvent", event, first)
    acl.ok("aclrtStreamWaitEvent", second, event)
    with control.held("aclrtMemsetAsync"):
        acl.fill(block, 1, 256, first)
        acl.ok("aclrtRecordEvent", event, first)  # not what the second stream waits for
        acl.ok("aclrtSynchronizeStream", second)
        assert status(acl, event) == 0
    acl.ok("aclrtSynchronizeStream", first)


def test_waiting_orders_two_streams(acl, block):
    first, second, event = acl.stream(), acl.stream(), acl.event()
    for value in range(1, 30):
        control.latency("kernel:aclrtMemsetAsync=2000" if value % 2 else "")
        acl.fill(block, value, 256, first)
        acl.ok("aclrtRecordEvent", event, first)
        acl.ok("aclrtStreamWaitEvent", second, event)
        acl.fill(block, 0, 256, second)
        acl.ok("aclrtRecordEvent", event, second)
        acl.ok("aclrtStreamWaitEvent", first, event)
    acl.ok("aclrtSynchronizeStream", second)
    assert acl.read(block, 256) == bytes(256)


def test_an_ex_event_never_recorded_does_not_block(acl):
    stream, event = acl.stream(), acl.event()
    acl.ok("aclrtStreamWaitEvent", stream, event)
    acl.ok("aclrtSynchronizeStream", stream)
    acl.ok("aclrtSynchronizeEvent", event)


def test_an_event_may_be_destroyed_while_it_is_awaited(acl, block):
    first, second, event = acl.stream(), acl.stream(), acl.event()
    with control.held():
        acl.fill(block, 1, 256, first)
        acl.ok("aclrtRecordEvent", event, first)
        acl.ok("aclrtStreamWaitEvent", second, event)
        acl.destroy(event)
        acl.fill(block, 2, 256, second)
    acl.ok("aclrtSynchronizeStream", second)
    assert acl.read(block, 256) == b"\2" * 256


def test_waiting_needs_the_flag(acl):
    assert acl.aclrtStreamWaitEvent(acl.stream(), acl.event(TIME_LINE)) == 107000
    assert "SYNC" in acl.message()


def test_a_wait_of_the_host_may_time_out(acl, block):
    stream, event = acl.stream(), acl.event()
    with control.held():
        acl.fill(block, 1, 256, stream)
        acl.ok("aclrtRecordEvent", event, stream)
        assert acl.aclrtSynchronizeEventWithTimeout(event, 10) == 507047
    assert acl.aclrtSynchronizeEventWithTimeout(event, -2) == 107000
    acl.ok("aclrtSynchronizeEventWithTimeout", event, -1)


def test_elapsed_time(acl, block):
    stream = acl.stream()
    start, end = acl.event(TIME_LINE), acl.event(TIME_LINE)
    acl.ok("aclrtRecordEvent", start, stream)
    slow(30)
    acl.fill(block, 1, 256, stream)
    acl.ok("aclrtRecordEvent", end, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    ms = ctypes.c_float()
    acl.ok("aclrtEventElapsedTime", ctypes.byref(ms), start, end)
    stamps = [acl.get("aclrtEventGetTimestamp", e, kind=ctypes.c_uint64) for e in (start, end)]
    assert ms.value == pytest.approx((stamps[1] - stamps[0]) / 1000)
    assert ms.value >= 30
    assert acl.aclrtEventElapsedTime(ctypes.byref(ms), end, start) == 107007


def test_times_that_are_missing(acl, block):
    stream, ms = acl.stream(), ctypes.byref(ctypes.c_float())
    timed, plain, never = acl.event(TIME_LINE), acl.event(SYNC), acl.event(TIME_LINE)
    for event in (timed, plain):
        acl.ok("aclrtRecordEvent", event, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.aclrtEventElapsedTime(ms, timed, plain) == 107006
    assert acl.aclrtEventElapsedTime(ms, timed, never) == 107006
    with control.held():
        acl.fill(block, 1, 256, stream)
        acl.ok("aclrtRecordEvent", never, stream)
        assert acl.aclrtEventElapsedTime(ms, timed, never) == 107006  # not reached yet
    assert acl.aclrtEventGetTimestamp(plain, ctypes.byref(ctypes.c_uint64())) == 107006


def test_ordinary_events(acl, block):
    event = acl.make("aclrtDestroyEvent", "aclrtCreateEvent")
    first, second = acl.stream(), acl.stream()
    assert acl.get("aclrtQueryEvent", event) == 1  # 0 complete, 1 not ready
    acl.ok("aclrtStreamWaitEvent", second, event)  # waits for a recording to come
    assert acl.get("aclrtQueryEventWaitStatus", event) == 1
    acl.fill(block, 1, 256, first)
    acl.ok("aclrtRecordEvent", event, first)
    acl.ok("aclrtSynchronizeStream", second)
    assert acl.get("aclrtQueryEvent", event) == 0
    eventually(lambda: acl.get("aclrtQueryEventWaitStatus", event) == 0)
    acl.ok("aclrtResetEvent", event, first)
    assert acl.get("aclrtQueryEvent", event) == 1
    assert acl.aclrtSynchronizeEvent(event) == 107000  # nothing would ever come


def test_what_ex_events_refuse(acl):
    event, result = acl.event(), ctypes.byref(ctypes.c_int())
    assert acl.aclrtQueryEvent(event, result) == 107000
    assert acl.aclrtQueryEventWaitStatus(event, result) == 107000
    assert acl.aclrtResetEvent(event, None) == 107000


def test_flags_are_checked(acl):
    result = ctypes.byref(ctypes.c_void_p())
    assert acl.aclrtCreateEventExWithFlag(result, 0) == 107000
    assert acl.aclrtCreateEventWithFlag(result, 0x80) == 107000
    assert acl.aclrtCreateEvent(None) == 100000


def test_events_of_another_context(acl):
    event = acl.event()
    acl.ok("aclrtSetDevice", 1)
    assert acl.aclrtRecordEvent(event, None) == 107003
    assert status(acl, event) == 1
    acl.ok("aclrtSynchronizeEvent", event)


def test_a_destroyed_event_is_recognised(acl, found):
    event = acl.event()
    acl.destroy(event)
    assert acl.aclrtDestroyEvent(event) == 107000
    assert acl.aclrtRecordEvent(event, None) == 107000
    assert acl.aclrtDestroyEvent(None) == 100000
    found("unknown-handle", "unknown-handle", words=["destroyed event"])


def test_a_wait_inside_a_stream_may_have_a_limit(acl):
    event = acl.make("aclrtDestroyEvent", "aclrtCreateEvent")
    stream = acl.stream()
    acl.ok("aclrtSetOpWaitTimeout", 1)
    try:
        acl.ok("aclrtStreamWaitEvent", stream, event)
        assert acl.aclrtSynchronizeStream(stream) == 107019
    finally:
        acl.ok("aclrtSetOpWaitTimeout", 0)


def test_ordinary_events_are_limited_in_number():
    code = """
acl.aclInit(None); acl.aclrtSetDevice(0)
made = 0
where = ctypes.byref(ctypes.c_void_p())
while acl.aclrtCreateEvent(where) == 0: made += 1
print(made, acl.aclrtCreateEventWithFlag(where, 1), acl.aclrtCreateEventExWithFlag(where, 1))
"""
    assert output(code, NPU_SIMULATOR_SOC="Ascend310P3") == "1023 207007 0"
