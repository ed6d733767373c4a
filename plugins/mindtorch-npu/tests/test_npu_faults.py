"""Every function of CANN that the runtime calls is made to fail once.

The failure is an error that names the call and the code, nothing leaks, and the next step works.
"""

import gc

import pytest

import mindtorch_core as torch
from mindtorch_npu.acl import ACLError, recent_message
from mindtorch_npu.runtime import RUNTIME

CODE = 507899

# What `step` calls once everything is warm.
CALLS = (
    "aclrtCreateEventExWithFlag",
    "aclrtEventElapsedTime",
    "aclrtFree",
    "aclrtGetMemInfo",
    "aclrtMalloc",
    "aclrtMallocHost",
    "aclrtMemcpyAsync",
    "aclrtQueryEventStatus",
    "aclrtRecordEvent",
    "aclrtSetCurrentContext",
    "aclrtStreamQuery",
    "aclrtStreamWaitEvent",
    "aclrtSynchronizeEvent",
    "aclrtSynchronizeStream",
)

# What the first use of a device calls.
FIRST_CALLS = (
    "aclInit",
    "aclrtCreateStreamWithConfig",
    "aclrtGetCurrentContext",
    "aclrtGetDeviceCount",
    "aclrtSetDevice",
)

held = []  # events, so that each step needs fresh ones


def step(npu, size):
    """A bit of everything."""
    stream = npu.Stream()
    first, last = npu.Event(enable_timing=True), npu.Event(enable_timing=True)
    held.extend((first, last))
    first.record(stream)
    moved = torch.arange(size, dtype=torch.uint8).to("npu")
    with stream:
        stream.wait_stream(npu.default_stream())
        cleared = torch.zeros(30 << 20, dtype=torch.uint8, device="npu")
        moved.record_stream(stream)
        last.record()
    stream.query()
    RUNTIME.workspace(size, 0)
    RUNTIME.workspace(2 * RUNTIME.workspace(size, 0).nbytes, 0)
    other = moved.to("npu:1")
    last.synchronize()
    elapsed = first.elapsed_time(last)
    npu.mem_get_info()
    assert other.cpu().sum() == torch.arange(size, dtype=torch.uint8).sum()
    del moved, cleared, other
    npu.synchronize(0)
    npu.synchronize(1)
    npu.empty_cache()
    return elapsed


def use_up_events(npu, simulator):
    """Hold all events that earlier tests have left for reuse, so that the next one is made."""
    before = simulator.live().get("event", 0)
    while simulator.live().get("event", 0) <= before:
        held.append(npu.Event(enable_timing=True))
        held[-1].record()


def settled(npu, simulator):
    """What is alive when all is done; workspaces and what is kept for reuse aside."""
    gc.collect()
    for index in range(2):
        npu.synchronize(index)
    npu.empty_cache()
    live = simulator.live()
    assert npu.memory_allocated(0) == npu.memory_allocated(1) == 0
    assert live["stream"] <= 2 * 33  # those that users make in turn
    return live.get("device memory", 0), live["event"]


@pytest.mark.parametrize(
    ("symbol", "nth"),
    [(symbol, nth) for symbol in CALLS for nth in (1, 2, 3) if (symbol, nth) < ("aclrtMallocHost", 2)
     or symbol > "aclrtMallocHost"],
)  # fmt: skip
def test_a_failing_call_is_named_leaks_nothing_and_the_next_step_works(npu, simulator, symbol, nth):
    held.clear()
    step(npu, 1000)
    if symbol == "aclrtCreateEventExWithFlag":
        use_up_events(npu, simulator)
    memory, events = settled(npu, simulator)
    size = 6 << 20 if symbol == "aclrtMallocHost" else 1000  # no such buffer is there yet
    simulator.inject(f"{symbol}:{nth}={CODE}")
    failed = None
    for _ in range(nth + 1):
        try:
            step(npu, size)
        except ACLError as error:
            failed = error
            break
    fired = simulator.faults()[0]["fired"]
    simulator.clear_faults()
    assert fired == 1, "the step does not call it"
    assert failed is not None, "the failure was swallowed"
    assert (failed.code, failed.call.partition("(")[0]) == (CODE, symbol)
    del failed
    assert step(npu, 1000) >= 0
    held.clear()
    after, events_after = settled(npu, simulator)
    assert after == memory
    assert events_after <= events + 2 * (nth + 2)  # those that the steps held, kept for reuse


@pytest.mark.parametrize("symbol", FIRST_CALLS)
def test_a_failing_first_call_is_named_and_the_second_try_works(python, symbol):
    said = python(
        """if True:
        import mindtorch_core as torch
        try:
            torch.npu.init()
            torch.npu.set_device(0)
            torch.npu.Stream()
            torch.zeros(3, device="npu")
        except RuntimeError as error:
            print(error)
        assert torch.zeros(3, device="npu").cpu().tolist() == [0.0, 0.0, 0.0]
        assert torch.npu.is_available()
        """,
        NPU_SIMULATOR_FAULTS=f"{symbol}:1={CODE}",
    )
    if symbol == "aclrtGetDeviceCount":
        assert said == ""  # asked again by the same call
    else:
        assert f"{symbol}" in said
        assert str(CODE) in said


def test_somebody_else_may_have_initialised_and_then_finalises(python):
    python(
        """if True:
        import ctypes, os
        from mindtorch_npu.acl import acl, recent_message
        assert acl.aclInit(None) == 0
        import mindtorch_core as torch
        assert torch.npu.is_available()
        assert recent_message() == ""  # that it was done before is no failure to be told later
        t = torch.zeros(3, device="npu")
        from mindtorch_npu.contexts import CONTEXTS
        CONTEXTS._close()
        assert acl.aclFinalize() == 0  # nobody has done it before
        """
    )


def test_what_a_device_cannot_tell_is_left_out_and_is_no_later_error_s_reason(npu, simulator):
    torch.zeros(1, device="npu")
    simulator.inject(f"aclGetDeviceCapability:*={CODE}")
    assert set(npu.get_device_properties()) == {"name", "total_memory"}
    assert recent_message() == ""


def test_a_chip_without_a_name_is_an_error(npu, simulator):
    simulator.inject(f"aclrtGetSocName:1={CODE}")
    with pytest.raises(ACLError, match=r"aclrtGetSocName failed and gave nothing \(NULL\)"):
        npu.get_device_name()
    assert npu.get_device_name() == "Ascend910B3"


def test_a_kernel_that_fails_later_is_reported_by_the_next_synchronisation(npu, simulator):
    torch.zeros(1, device="npu")
    npu.synchronize()
    simulator.inject("kernel:*:1=507015")
    kept = torch.zeros(100, device="npu")
    with pytest.raises(ACLError, match=r"aclrtSynchronizeStream failed with code 507015"):
        npu.synchronize()
    npu.synchronize()
    assert torch.zeros(3, device="npu").cpu().tolist() == [0.0, 0.0, 0.0]
    assert len(kept) == 100
