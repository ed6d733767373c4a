import ctypes

import pytest
from acl_binding import eventually, output, slow

from mindtorch_npu_simulator import control


@pytest.fixture
def block(acl):
    return acl.malloc(256)


def idle(acl, stream):
    return acl.get("aclrtStreamQuery", stream) == 0


def test_tasks_of_a_stream_run_in_order(acl, block):
    stream = acl.stream()
    for value in range(1, 100):
        acl.fill(block, value, 256, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 256) == bytes([99]) * 256
    ran = [e for e in control.log() if e["kind"] == "run"]
    assert [e["name"] for e in ran] == ["aclrtMemsetAsync"] * 99


def test_queuing_returns_before_the_work_is_done(acl, block):
    stream = acl.stream()
    with control.held():
        acl.fill(block, 1, 256, stream)
        assert not idle(acl, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    assert idle(acl, stream)


def test_streams_run_at_the_same_time(acl, block):
    streams = [acl.stream() for _ in range(4)]
    with control.held():  # none ends before all have begun
        for i, stream in enumerate(streams):
            acl.fill(block + i * 64, i, 64, stream)
        eventually(lambda: len({e["stream"] for e in control.log() if e["kind"] == "run"}) == 4)
    acl.ok("aclrtSynchronizeDevice")


def test_null_is_the_default_stream_of_the_context(acl, block):
    slow(20)
    acl.fill(block, 5, 256, None)
    acl.ok("aclrtSynchronizeStream", None)
    assert acl.read(block, 256) == b"\5" * 256
    assert acl.get("aclrtStreamGetId", None) > 0


def test_destroying_waits_for_the_queue(acl, block):
    stream = acl.stream()
    slow(20)
    acl.fill(block, 7, 256, stream)
    acl.destroy(stream)
    assert acl.read(block, 256) == b"\7" * 256
    assert acl.aclrtDestroyStream(None) == 100000


def test_destroying_by_force_drops_the_queue(acl, block):
    stream = acl.stream()
    with control.held():
        for value in range(1, 100):
            acl.fill(block, value, 256, stream)
        acl.ok("aclrtDestroyStreamForce", acl.disown(stream))
    assert acl.read(block, 256) != bytes([99]) * 256


def test_a_destroyed_stream_is_recognised(acl, block, found):
    stream = acl.stream()
    acl.destroy(stream)
    assert acl.aclrtDestroyStream(stream) == 107003
    assert acl.aclrtMemsetAsync(block, 256, 0, 256, stream) == 107003
    assert acl.aclrtSynchronizeStream(0x1234) == 107003
    found("unknown-handle", "unknown-handle", "unknown-handle", words=["destroyed", "no stream"])


def test_a_stream_of_another_context(acl):
    stream, event = acl.stream(), acl.event()
    context = acl.get("aclrtCreateContext", 0, kind=ctypes.c_void_p, first=True)
    other = acl.malloc(64)
    assert acl.aclrtMemsetAsync(other, 64, 0, 64, stream) == 107003
    assert "another context" in acl.message()
    assert acl.aclrtRecordEvent(event, stream) == 107003
    assert acl.aclrtStreamWaitEvent(stream, event) == 107003
    assert acl.aclrtDestroyStream(stream) == 107003
    acl.ok("aclrtSynchronizeStream", stream)
    assert idle(acl, stream)
    acl.ok("aclrtSetDevice", 0)
    acl.ok("aclrtDestroyContext", context)


def test_waiting_with_a_limit(acl, block):
    stream = acl.stream()
    with control.held():
        acl.fill(block, 1, 256, stream)
        assert acl.aclrtSynchronizeStreamWithTimeout(stream, 10) == 507046
    assert acl.aclrtSynchronizeStreamWithTimeout(stream, -2) == 107000
    acl.ok("aclrtSynchronizeStreamWithTimeout", stream, -1)


def test_a_failure_comes_out_of_the_next_synchronisation_once(acl, block):
    stream = acl.stream()
    control.inject("kernel:aclrtMemsetAsync:1=507015")
    acl.fill(block, 1, 256, stream)
    acl.fill(block, 2, 256, stream)
    assert acl.aclrtSynchronizeStream(stream) == 507015
    assert "aclrtMemsetAsync on stream" in acl.message()
    acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 256) == b"\2" * 256  # later tasks ran


@pytest.mark.parametrize("call", ["aclrtSynchronizeDevice", "aclrtSynchronizeEvent"])
def test_other_synchronisations_deliver_failures_too(acl, block, call):
    stream, event = acl.stream(), acl.event()
    control.inject("kernel:aclrtMemsetAsync:1=507018")
    acl.fill(block, 1, 256, stream)
    acl.ok("aclrtRecordEvent", event, stream)
    arguments = (event,) if call == "aclrtSynchronizeEvent" else ()
    assert getattr(acl, call)(*arguments) == 507018
    acl.ok("aclrtSynchronizeStream", stream)


def test_failures_of_one_stream_do_not_touch_another(acl, block):
    bad, good = acl.stream(), acl.stream()
    control.inject("kernel:aclrtMemsetAsync:1=507015")
    acl.fill(block, 1, 128, bad)
    eventually(lambda: idle(acl, bad))
    acl.fill(block + 128, 2, 128, good)
    acl.ok("aclrtSynchronizeStream", good)
    assert acl.aclrtSynchronizeStream(bad) == 507015


def test_a_stream_may_stop_at_its_first_failure(acl, block):
    stream = acl.stream()
    acl.fill(block, 1, 256, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    acl.ok("aclrtSetStreamFailureMode", stream, 1)
    control.inject("kernel:aclrtMemsetAsync:1=507015")
    acl.fill(block, 2, 256, stream)
    acl.fill(block, 3, 256, stream)
    event = acl.event()
    acl.ok("aclrtRecordEvent", event, stream)
    assert acl.aclrtSynchronizeStream(stream) == 507015
    assert acl.aclrtSynchronizeStream(stream) == 507015
    where = ctypes.byref(ctypes.c_int())
    assert acl.aclrtStreamQuery(stream, where) == 507015
    assert acl.aclrtQueryEventStatus(event, where) == 507015
    assert acl.read(block, 256) == b"\1" * 256
    assert acl.aclrtSetStreamFailureMode(stream, 2) == 107000


def test_an_aborted_stream(acl, block):
    stream = acl.stream()
    with control.held():
        for _ in range(50):
            acl.fill(block, 1, 256, stream)
        acl.ok("aclrtStreamAbort", stream)
    assert acl.aclrtSynchronizeStream(stream) == 107023


def test_flags_and_priorities(acl):
    make = acl.make("aclrtDestroyStream", "aclrtCreateStreamWithConfig", 0, 3)
    assert acl.get("aclrtStreamGetId", make) > 0
    result = ctypes.byref(ctypes.c_void_p())
    assert acl.aclrtCreateStreamWithConfig(result, 8, 0) == 107000
    assert acl.aclrtCreateStreamWithConfig(result, 0, 0x40) == 107000
    assert acl.aclrtCreateStream(None) == 100000
    acl.ok("aclrtSetStreamOverflowSwitch", make, 1)


def test_the_number_of_streams_is_limited():
    code = """
acl.aclInit(None); acl.aclrtSetDevice(0)
made = 0
while acl.aclrtCreateStream(ctypes.byref(ctypes.c_void_p())) == 0: made += 1
print(made, acl.aclrtCreateStream(ctypes.byref(ctypes.c_void_p())))
"""
    assert output(code, NPU_SIMULATOR_SOC="Ascend310B1") == "512 207008"
