"""Devices, copies, deferred frees, random states: what the contract says of the runtime."""

import ctypes
import gc
import random
import subprocess
import sys

import pytest

import mindtorch_core as torch
import mindtorch_npu
from mindtorch_npu import ascend
from mindtorch_npu.acl import ACLError, acl, check
from mindtorch_npu.device_module import NAMES
from mindtorch_npu.runtime import RUNTIME

SLOW = "100000"  # microseconds that each task takes


def raw_memory(nbytes=1 << 20):
    """Memory that no tensor owns."""
    pointer = ctypes.c_void_p()
    RUNTIME.activate(RUNTIME.current_device())
    check(acl.aclrtMalloc(ctypes.byref(pointer), nbytes, 0), "aclrtMalloc")
    return pointer.value


# ---- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["runtime", "creation", "acl_loader", "aclnn", "ops"])
def test_the_package_holds_its_parts_by_name(name):
    assert getattr(mindtorch_npu, name).__name__ == f"mindtorch_npu.{name}"
    assert getattr(ascend, name) is getattr(mindtorch_npu, name)


def test_the_former_name_gives_the_same_objects():
    assert ascend.is_available is mindtorch_npu.is_available is torch.npu.is_available
    assert ascend.__all__ == mindtorch_npu.__all__
    assert {*NAMES, "runtime", "ops"} == set(dir(ascend)) - {
        "acl",
        "acl_loader",
        "aclnn",
        "creation",
    }
    for module in (ascend, mindtorch_npu):
        with pytest.raises(AttributeError):
            module.nothing_of_this_name


def test_importing_touches_neither_toolkit_nor_hardware():
    program = (
        "import mindtorch_npu.plugin, mindtorch_npu.ascend, mindtorch_npu.acl_loader as loader;"
        "import mindtorch_core as torch; torch.npu.is_initialized;"
        "assert not loader.report().opened; assert not torch.npu.is_initialized()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


@pytest.mark.parametrize("variable", ["no toolkit", "no devices"])
def test_without_toolkit_or_device_nothing_is_available_and_nothing_raises(
    python, variable, tmp_path
):
    program = """if True:
        import mindtorch_core as torch
        assert torch.npu.is_available() is False
        assert torch.npu.device_count() == 0
        assert torch.npu.memory_allocated() == 0
        torch.npu.manual_seed(1); torch.npu.manual_seed_all(1); torch.npu.seed(); torch.npu.empty_cache()
        assert torch.npu.get_rng_state_all() == []
        torch.npu.synchronize()
        try:
            torch.zeros(1, device="npu")
        except RuntimeError as error:
            print(error)
    """
    if variable == "no toolkit":
        others = dict.fromkeys(("ASCEND_HOME_PATH", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH"), "")
        said = python(program, ASCEND_TOOLKIT_HOME=str(tmp_path), HOME=str(tmp_path), **others)
        assert "no usable CANN toolkit was found" in said
    else:
        said = python(program, NPU_SIMULATOR_FAULTS="aclrtGetDeviceCount:*=507033")
        assert "aclrtGetDeviceCount" in said
        assert "507033" in said


# ---- devices ---------------------------------------------------------------------------------------


def test_the_current_device(npu):
    assert (npu.device_count(), npu.current_device()) == (2, 0)
    for device in (1, "npu:1", torch.device("npu:1")):
        with npu.device(device):
            assert npu.current_device() == 1
            assert torch.zeros(2, device="npu").device is torch.device("npu:1")
        assert npu.current_device() == 0
    for unchanged in (None, -1):
        with npu.device(unchanged):
            assert npu.current_device() == 0
    npu.set_device(-1)
    assert npu.current_device() == 0
    with npu.device_of(torch.zeros(1, device="npu:1")):
        assert npu.current_device() == 1
    with npu.device_of(torch.zeros(1)):
        assert npu.current_device() == 0


@pytest.mark.parametrize("device", [None, 0, 1, "npu", "npu:1", torch.device("npu:0")])
def test_synchronize_takes_any_form_of_a_device(npu, device):
    npu.synchronize(device)


@pytest.mark.parametrize("wrong", [2, "npu:2", torch.device("npu:17")])
def test_an_index_that_does_not_exist_is_named(npu, wrong):
    index = wrong if isinstance(wrong, int) else torch.device(wrong).index
    for call in (
        npu.set_device,
        npu.synchronize,
        npu.Stream,
        npu.memory_allocated,
        npu.current_stream,
    ):
        with pytest.raises(
            RuntimeError, match=f"npu:{index} was asked for, but there are 2 npu dev"
        ):
            call(wrong)
    with pytest.raises(RuntimeError, match=f"npu:{index} was asked for"):
        torch.zeros(1, device=torch.device("npu", index))


def test_a_device_of_another_type_is_refused(npu):
    with pytest.raises(ValueError, match="expected a npu device, got cpu"):
        npu.synchronize("cpu")


def test_properties(npu):
    found = npu.get_device_properties()
    assert found.name == npu.get_device_name(1) == npu.get_soc_name() == "Ascend910B3"
    assert found.total_memory == npu.mem_get_info()[1] > 0
    assert (found.cube_core_num, found.vector_core_num, found.L2_cache_size) == (20, 40, 192 << 20)
    with pytest.raises(AttributeError, match="tells no 'warp_size'"):
        found.warp_size


# ---- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 1000, 4_000_001, 9_000_000])
def test_tensors_go_there_and_back(npu, size):
    values = torch.arange(size, dtype=torch.int32)
    assert torch.equal(values.to("npu").to("npu:1").cpu(), values)


def test_the_host_buffer_may_change_after_the_call(npu, simulator):
    values = torch.arange(1000)
    simulator.latency(SLOW)
    moved = values.to("npu")
    values.zero_()
    assert moved.cpu().sum() == 499_500


def test_many_copies_in_flight_use_bounded_host_memory(python):
    """In a process of its own: what other tests have left to reuse would count, or be used."""
    python(
        """
import mindtorch_core as torch
from mindtorch_npu_simulator import control

values = torch.zeros(4 << 20, dtype=torch.uint8)
torch.zeros(1, device="npu")
control.latency("20000")  # so that they wait for each other
kept = [values.to("npu") for _ in range(40)]
assert control.counters()["memory"]["pinned_bytes"] < 128 << 20, control.counters()["memory"]
assert len(kept) == 40
control.latency("")
"""
    )


def test_copies_between_npus_wait_before_they_read(npu, simulator):
    simulator.latency(SLOW)
    first = torch.ones(100).to("npu:0")
    assert first.to("npu:1").cpu().sum() == 100


def test_copies_within_a_device_are_queued(npu, simulator):
    source = torch.arange(10).to("npu")
    target = torch.zeros(10, dtype=torch.int64, device="npu")
    before = simulator.counters()["synchronizations"]
    target[2:5].copy_(source[:3])
    assert simulator.counters()["synchronizations"] == before
    assert target.cpu().tolist() == [0, 0, 0, 1, 2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("value", "waits"), [("1", 2), ("yes", 2), ("0", 0), ("", 0), ("false", 0), ("no", 0)]
)
def test_launches_are_waited_for_where_that_was_asked(npu, simulator, monkeypatch, value, waits):
    values = torch.ones(5)
    torch.zeros(5, device="npu")
    monkeypatch.setenv("ACL_LAUNCH_BLOCKING", value)
    simulator.reset()
    kept = values.to("npu"), torch.zeros(5, device="npu")
    assert simulator.counters()["synchronizations"] == waits
    assert len(kept) == 2


def test_a_tensor_on_the_device_has_a_description_and_pickles(npu):
    import pickle

    moved = torch.arange(4.0).to("npu:1")
    assert repr(moved) == "tensor([0., 1., 2., 3.], device='npu:1')"
    again = pickle.loads(pickle.dumps(moved))
    assert again.device is moved.device
    assert again.tolist() == [0.0, 1.0, 2.0, 3.0]


# ---- synchronisation and deferred frees ------------------------------------------------------------


def freed(simulator):
    """The calls that matter here, in order."""
    wanted = ("aclrtSynchronizeStream", "aclrtFree")
    return [e["name"] for e in simulator.log() if e["kind"] == "call" and e["name"] in wanted]


def test_deferred_pointers_are_freed_after_the_stream_was_waited_for(npu, simulator):
    torch.zeros(1, device="npu")
    pointers = [raw_memory(), raw_memory()]
    simulator.reset()
    mindtorch_npu.runtime.defer_free(None)
    for pointer in pointers:
        mindtorch_npu.runtime.defer_free(pointer)
    assert freed(simulator) == []
    mindtorch_npu.runtime.synchronize()
    calls = freed(simulator)
    assert calls.count("aclrtFree") == 2
    assert calls.index("aclrtFree") > max(i for i, c in enumerate(calls) if c != "aclrtFree")
    mindtorch_npu.runtime.synchronize()
    assert freed(simulator).count("aclrtFree") == 2


def test_a_failed_synchronisation_names_the_code_and_frees_nothing(npu, simulator):
    torch.zeros(1, device="npu")
    RUNTIME.defer_free(raw_memory())
    simulator.reset()
    simulator.inject("aclrtSynchronizeStream:1=507015")
    with pytest.raises(ACLError, match=r"aclrtSynchronizeStream failed with code 507015"):
        RUNTIME.synchronize()
    assert "aclrtFree" not in freed(simulator)
    RUNTIME.synchronize()
    assert freed(simulator).count("aclrtFree") == 1


def test_a_failed_free_is_tried_once_more_and_keeps_no_other_back(npu, simulator):
    torch.zeros(1, device="npu")
    before = simulator.counters()["memory"]["bytes"]
    for pointer in (raw_memory(), raw_memory()):
        RUNTIME.defer_free(pointer)
    simulator.inject("aclrtFree:1=507899")
    with pytest.raises(ACLError, match="507899"):
        RUNTIME.synchronize()
    RUNTIME.synchronize()
    assert simulator.counters()["memory"]["bytes"] == before


def test_a_pointer_that_cannot_be_freed_does_not_fail_for_ever(npu, simulator):
    torch.zeros(1, device="npu")
    pointer = raw_memory()
    RUNTIME.defer_free(pointer)
    simulator.inject("aclrtFree:*=507899")
    for _ in range(2):
        with pytest.raises(ACLError, match="507899"):
            RUNTIME.synchronize()
    simulator.clear_faults()
    RUNTIME.synchronize()
    check(acl.aclrtFree(pointer), "aclrtFree")


def test_a_failure_of_one_stream_does_not_keep_others_from_being_waited_for(npu, simulator):
    streams = [npu.Stream(), npu.Stream()]
    simulator.latency(SLOW)
    kept = []
    for stream in streams:
        with stream:
            kept.append(torch.zeros(5, device="npu"))
    simulator.inject("aclrtSynchronizeStream:1=507015")
    with pytest.raises(ACLError, match="507015"):
        npu.synchronize()
    npu.synchronize()
    assert all(stream.query() for stream in streams)


def test_synchronize_before_initialisation_does_nothing(python):
    python(
        "from mindtorch_npu import runtime, acl_loader;"
        "runtime.defer_free(None); runtime.synchronize(); assert not acl_loader.report().opened"
    )


def test_a_workspace_is_reused_on_its_stream_and_grows(npu, simulator):
    index = 0
    first = RUNTIME.workspace(1000, index)
    assert RUNTIME.workspace(2000, index) == first
    assert RUNTIME.workspace(0, index) == 0
    with npu.Stream():
        assert RUNTIME.workspace(1000, index) != first
    simulator.reset()
    larger = RUNTIME.workspace(64 << 20, index)
    address = int(first)
    assert larger != address
    del first
    assert "aclrtFree" not in freed(simulator)  # a kernel may still use it
    npu.synchronize()
    assert freed(simulator).count("aclrtFree") == 1
    assert RUNTIME.workspace(32 << 20, index) == larger


def test_a_workspace_in_use_outlives_a_larger_one(npu, simulator):
    held = RUNTIME.workspace(1000, 0)
    RUNTIME.workspace(64 << 20, 0)
    simulator.reset()
    npu.synchronize()
    assert "aclrtFree" not in freed(simulator)
    del held
    npu.synchronize()
    assert "aclrtFree" in freed(simulator)


def test_no_op_synchronises_by_itself(npu, simulator):
    torch.zeros(10, device="npu")
    values = torch.ones(1000)
    values.to("npu")
    simulator.reset()
    kept = [torch.zeros(100, device="npu") for _ in range(20)]
    kept += [values.to("npu") for _ in range(20)]
    assert simulator.counters()["synchronizations"] == 0
    assert len(kept) == 40


# ---- random states ---------------------------------------------------------------------------------


def test_seeds_and_states(npu):
    npu.manual_seed_all(7)
    assert npu.initial_seed() == 7
    states = npu.get_rng_state_all()
    assert [s.shape for s in states] == [(16,), (16,)]
    source = torch.Generator("npu:0").manual_seed(-1).source
    assert source.draw() == (2**64 - 1, 0)
    assert source.draw(5) == (2**64 - 1, 12)
    assert source.draw() == (2**64 - 1, 20)
    npu.manual_seed(8)
    assert npu.initial_seed() == 8
    npu.set_rng_state_all(states)
    assert npu.initial_seed() == 7
    torch.manual_seed(9)
    assert npu.initial_seed() == 9
    npu.seed_all()
    with npu.device(1):
        other = npu.initial_seed()
    assert npu.initial_seed() == other != 9


def test_a_position_comes_back_and_a_wrong_one_is_refused(npu):
    generator = torch.Generator("npu")
    generator.manual_seed(random.getrandbits(64))
    generator.source.draw()
    state = generator.get_state()
    drawn = generator.source.draw()
    generator.set_state(state)
    assert generator.source.draw() == drawn
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        generator.set_state(torch.zeros(5, dtype=torch.uint8))
    with pytest.raises(RuntimeError, match="multiple of 4"):
        generator.set_state(torch.full((16,), 1, dtype=torch.uint8))


def test_tensors_that_go_leave_nothing(npu, simulator):
    torch.ones(1).to("npu").to("npu:1").cpu()  # streams and segments are made at first use
    before = simulator.live()
    for _ in range(200):
        torch.arange(100).to("npu").to("npu:1").cpu()
    gc.collect()
    npu.synchronize()
    now = simulator.live()
    grown = {k: v - before.get(k, 0) for k, v in now.items() if k not in ("pinned memory", "event")}
    assert sum(grown.values()) <= 2  # a segment on each device at most
    assert now["event"] <= before.get("event", 0) + 100  # they are kept for reuse
