import ctypes
import threading

import pytest
from acl_binding import D2D, output, slow

from mindtorch_npu_simulator import control


def on_thread(function):
    """Run a function on a thread that has no context; give its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_count_comes_from_the_environment():
    count = "print(acl.get('aclrtGetDeviceCount', kind=ctypes.c_uint32))"
    assert output(count) == "2"
    assert output(count, NPU_SIMULATOR_DEVICES="5") == "5"
    assert output(count, NPU_SIMULATOR_DEVICES="0") == "0"


@pytest.mark.parametrize(
    ("visible", "count"),
    [("1,3", 2), ("0", 1), ("2,1", 1), ("0,0", 1), ("0,9", 1), ("x", 0), ("", 0)],
)
def test_visible_devices_are_numbered_anew(visible, count):
    code = "print(acl.get('aclrtGetDeviceCount'), acl.aclrtSetDevice(0), acl.aclrtSetDevice(1))"
    got = output(code, NPU_SIMULATOR_DEVICES="4", ASCEND_RT_VISIBLE_DEVICES=visible)
    codes = [0 if i < count else 107001 for i in (0, 1)]
    assert got == f"{count} {codes[0]} {codes[1]}"


def test_a_device_that_is_not_there(acl):
    assert acl.aclrtSetDevice(-1) == 107001
    assert acl.aclrtSetDevice(2) == 107001
    assert acl.aclrtResetDevice(2) == 107001


def test_a_new_thread_has_no_context(acl):
    result = ctypes.c_void_p()
    where = ctypes.byref(result)
    calls = {
        "aclrtGetDevice": (where,),
        "aclrtMalloc": (where, 64, 0),
        "aclrtMallocHost": (where, 64),
        "aclrtCreateStream": (where,),
        "aclrtCreateEvent": (where,),
        "aclrtCreateEventExWithFlag": (where, 1),
        "aclrtGetCurrentContext": (where,),
        "aclrtSynchronizeDevice": (),
        "aclrtSynchronizeStream": (None,),
        "aclrtMemcpy": (64, 8, 64, 8, 0),
        "aclrtMemset": (64, 8, 0, 8),
        "aclrtGetRunMode": (where,),
        "aclrtGetMemInfo": (1, where, where),
    }
    codes = on_thread(lambda: {name: getattr(acl, name)(*a) for name, a in calls.items()})
    assert codes == dict.fromkeys(calls, 107002)


def test_set_device_binds_the_thread_only(acl):
    def other():
        acl.ok("aclrtSetDevice", 1)
        return acl.get("aclrtGetDevice")

    assert on_thread(other) == 1
    assert acl.get("aclrtGetDevice") == 0


def test_devices_are_counted(acl):
    acl.ok("aclrtSetDevice", 0)
    acl.ok("aclrtResetDevice", 0)
    assert acl.get("aclrtGetDevice") == 0
    acl.ok("aclrtResetDevice", 0)
    assert acl.aclrtGetDevice(ctypes.byref(ctypes.c_int())) == 107002
    assert acl.aclrtResetDevice(0) != 0


def test_force_ignores_the_count(acl):
    for _ in range(3):
        acl.ok("aclrtSetDevice", 0)
    acl.ok("aclrtResetDeviceForce", 0)
    assert acl.aclrtResetDevice(0) != 0


def test_the_last_reset_releases_what_is_left_and_tells(acl, found):
    stream, block = acl.stream(), acl.malloc(100)
    slow(20)
    acl.fill(block, 1, 100, stream)
    acl.ok("aclrtResetDevice", 0)
    assert control.live() == {}
    found("leak", "leak", words=["1 streams and 0 events", "100 bytes"])
    acl.disown(stream), acl.disown(block)
    acl.ok("aclrtSetDevice", 0)
    assert acl.aclrtSynchronizeStream(stream) == 107003
    assert acl.aclrtFree(block) == 107000
    found("unknown-handle", "double-free")


def test_another_thread_loses_its_context_with_the_device(acl):
    ready, gone, codes = threading.Event(), threading.Event(), []

    def other():
        acl.ok("aclrtSetDevice", 1)
        ready.set()
        gone.wait(100)
        codes.append(acl.aclrtSynchronizeDevice())

    thread = threading.Thread(target=other)
    thread.start()
    ready.wait(100)
    acl.ok("aclrtResetDeviceForce", 1)
    gone.set()
    thread.join()
    assert codes == [107002]


def test_explicit_contexts(acl):
    primary = acl.get("aclrtGetCurrentContext", kind=ctypes.c_void_p)
    context = acl.get("aclrtCreateContext", 1, kind=ctypes.c_void_p, first=True)
    assert acl.get("aclrtGetCurrentContext", kind=ctypes.c_void_p) == context
    assert acl.get("aclrtGetDevice") == 1
    acl.ok("aclrtSetCurrentContext", primary)
    assert acl.get("aclrtGetDevice") == 0
    acl.ok("aclrtDestroyContext", context)
    assert acl.aclrtSetCurrentContext(context) == 107002
    assert acl.aclrtDestroyContext(context) == 107002
    assert acl.aclrtDestroyContext(primary) == 107000
    assert acl.aclrtSetCurrentContext(None) == 100000


def test_set_device_replaces_an_explicit_context(acl):
    context = acl.get("aclrtCreateContext", 0, kind=ctypes.c_void_p, first=True)
    acl.ok("aclrtSetDevice", 0)
    assert acl.get("aclrtGetCurrentContext", kind=ctypes.c_void_p) != context
    acl.ok("aclrtDestroyContext", context)


def test_something_else_is_no_context(acl, found):
    assert acl.aclrtSetCurrentContext(12345) == 107002
    found("unknown-handle")


def test_synchronising_a_device_waits_for_all_its_streams(acl):
    block = acl.malloc(64)
    slow(30)
    for value in (1, 2):
        acl.fill(block + 32 * (value - 1), value, 32, acl.stream())
    acl.ok("aclrtSynchronizeDevice")
    assert acl.read(block, 64) == b"\1" * 32 + b"\2" * 32


def test_synchronising_a_device_may_time_out(acl):
    block = acl.malloc(64)
    with control.held():
        acl.fill(block, 1, 64, acl.stream())
        assert acl.aclrtSynchronizeDeviceWithTimeout(10) == 507046
    assert acl.aclrtSynchronizeDeviceWithTimeout(-2) == 107000
    acl.ok("aclrtSynchronizeDeviceWithTimeout", -1)


def test_peer_access(acl, found):
    here = acl.malloc(64)
    acl.ok("aclrtSetDevice", 1)
    there = acl.malloc(64)
    acl.write(there, b"p" * 64)
    assert acl.get("aclrtDeviceCanAccessPeer", 0, 1, first=True) == 1
    assert acl.aclrtDeviceCanAccessPeer(ctypes.byref(ctypes.c_int()), 1, 1) == 107000
    assert acl.aclrtMemcpy(here, 64, there, 64, D2D) == 107000
    found("wrong-device")
    assert acl.aclrtDeviceEnablePeerAccess(0, 1) == 100000
    acl.ok("aclrtDeviceEnablePeerAccess", 0, 0)
    acl.ok("aclrtMemcpy", here, 64, there, 64, D2D)
    assert acl.read(here, 64) == b"p" * 64
    acl.ok("aclrtDeviceDisablePeerAccess", 0)
    assert acl.aclrtMemcpy(here, 64, there, 64, D2D) == 107000
    found("wrong-device")


def test_properties(acl):
    assert acl.get("aclrtGetRunMode") == 1
    assert acl.get("aclrtQueryDeviceStatus", 0) == 0
    cores = [acl.get("aclGetDeviceCapability", 0, i, kind=ctypes.c_int64) for i in range(3)]
    assert cores == [20, 40, 192 << 20]
    assert acl.aclGetDeviceCapability(0, 3, ctypes.byref(ctypes.c_int64())) == 100000
    assert [acl.get("aclGetCannAttribute", i) for i in range(3)] == [1, 1, 1]


def test_the_first_generation_lacks_bfloat16():
    code = "print([acl.get('aclGetCannAttribute', i) for i in range(3)])"
    assert output(code, NPU_SIMULATOR_SOC="Ascend910B") == "[0, 0, 1]"
    assert output(code, NPU_SIMULATOR_SOC="Ascend910B2C") == "[1, 1, 1]"


def test_options(acl):
    value = ctypes.c_int64()
    assert acl.aclrtCtxGetSysParamOpt(0, ctypes.byref(value)) == 107021
    acl.ok("aclrtCtxSetSysParamOpt", 0, 1)
    assert acl.get("aclrtCtxGetSysParamOpt", 0, kind=ctypes.c_int64) == 1
    acl.ok("aclrtSetSysParamOpt", 0, 0)
    assert acl.get("aclrtGetSysParamOpt", 0, kind=ctypes.c_int64) == 0
    assert acl.aclrtSetSysParamOpt(9, 0) == 100000
    assert acl.aclrtSetSysParamOpt(0, 7) == 100000
    acl.ok("aclrtSetDeviceSatMode", 1)
    acl.ok("aclrtSetOpExecuteTimeOut", 100)
    acl.ok("aclopSetModelDir", b"/nowhere")


def test_aborting_the_tasks_of_a_device(acl):
    stream, block = acl.stream(), acl.malloc(64)
    with control.held():
        for _ in range(50):
            acl.fill(block, 1, 64, stream)
        acl.ok("aclrtDeviceTaskAbort", 0, 0)
    assert acl.aclrtSynchronizeStream(stream) == 107022
