import ctypes
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from acl_binding import H2D, output, run_python

from mindtorch_npu_simulator import ToolkitNotBuiltError, control, toolkit_root


def where():
    return ctypes.byref(ctypes.c_void_p())


def test_the_nth_call_fails(acl):
    control.inject("aclrtGetDevice:3=507899,aclrtSetDevice:1=107001")
    codes = [acl.aclrtGetDevice(where()) for _ in range(5)]
    assert codes == [0, 0, 507899, 0, 0]
    assert acl.aclrtSetDevice(0) == 107001
    assert "injected" in acl.message()
    assert [(f["seen"], f["fired"]) for f in control.faults()] == [(5, 1), (1, 1)]


def test_every_call_fails_until_the_faults_are_cleared(acl):
    control.inject("aclrtMalloc:*=207001")
    assert {acl.aclrtMalloc(where(), 64, 0) for _ in range(3)} == {207001}
    control.clear_faults()
    acl.malloc(64)
    assert control.faults() == []


def test_a_failed_call_has_no_effect(acl):
    block = acl.malloc(64)
    control.inject("aclrtFree:1=507899")
    assert acl.aclrtFree(block) == 507899
    assert control.live() == {"device memory": 1}


def test_any_name(acl):
    control.inject("*:2=500000")
    codes = [
        acl.aclrtGetDevice(where()),
        acl.aclrtGetRunMode(where()),
        acl.aclrtSynchronizeDevice(),
    ]
    assert codes == [0, 500000, 0]


@pytest.mark.parametrize(
    "rules", ["aclrtMalloc", "aclrtMalloc:1", "aclrtMalloc:0=5", ":1=5", "a:1=0", "a:x=5", "a:1=-5"]
)
def test_rules_that_are_not_understood(acl, rules):
    with pytest.raises(ValueError, match="expected SYMBOL:N=CODE"):
        control.inject(f"aclrtFree:1=5,{rules}")
    assert control.faults() == []


def test_faults_from_the_environment():
    code = "print(acl.aclInit(None), acl.aclrtSetDevice(0), acl.aclrtSetDevice(0))"
    assert output(code, NPU_SIMULATOR_FAULTS="aclrtSetDevice:2=507033") == "0 0 507033"
    done = run_python(code, NPU_SIMULATOR_FAULTS="aclrtSetDevice")
    assert "NPU_SIMULATOR_FAULTS: 'aclrtSetDevice' is not understood" in done.stderr


def test_latency_of_calls_and_kernels(acl):
    control.latency("aclrtGetDevice=30000,kernel:aclrtMemsetAsync=60000")
    start = time.monotonic()
    acl.get("aclrtGetDevice")
    assert time.monotonic() - start >= 0.03
    acl.fill(acl.malloc(64), 1, 64, None)
    acl.ok("aclrtSynchronizeStream", None)
    assert time.monotonic() - start >= 0.09
    with pytest.raises(ValueError, match="expected MICROSECONDS"):
        control.latency("fast")


def test_recording_an_event_cannot_fail_on_the_stream(acl):
    event = acl.event()
    control.inject("kernel:*:1=507015")
    acl.ok("aclrtRecordEvent", event, None)
    acl.ok("aclrtSynchronizeEvent", event)  # would wait for ever


def test_latency_from_the_environment():
    code = """
from mindtorch_npu_simulator import control
acl.aclInit(None); acl.aclrtSetDevice(0)
acl.fill(acl.malloc(64), 1, 64, None); acl.ok("aclrtSynchronizeStream", None)
run, = [e["us"] for e in control.log() if e["kind"] == "run"]
done, = [e["us"] for e in control.log() if e["kind"] == "done"]
print(done - run >= 20000)
"""
    assert output(code, NPU_SIMULATOR_LATENCY_US="20000") == "True"


def test_tasks_that_are_held_run_when_they_are_let_go(acl):
    held, free, event = acl.stream(), acl.stream(), acl.event()
    block, other, pinned = acl.malloc(64), acl.malloc(64), acl.pinned(64)
    with control.held("aclnnExp,aclrtMemsetAsync"):
        acl.fill(block, 1, 64, held)
        acl.ok("aclrtRecordEvent", event, held)
        acl.ok("aclrtMemcpyAsync", other, 64, pinned, 64, H2D, free)
        acl.ok("aclrtSynchronizeStream", free)
        assert acl.aclrtSynchronizeStreamWithTimeout(held, 20) == 507046
        assert acl.get("aclrtQueryEventStatus", event) == 0
    acl.ok("aclrtSynchronizeStream", held)
    assert acl.read(block, 64) == b"\1" * 64


def test_nothing_is_held_after_an_error_or_a_reset(acl):
    stream, block = acl.stream(), acl.malloc(64)
    with pytest.raises(ZeroDivisionError), control.held():
        acl.fill(block, 1, 64 // 0, stream)
    acl.fill(block, 1, 64, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    with control.held():
        acl.fill(block, 2, 64, stream)
        control.reset()
        acl.ok("aclrtSynchronizeStream", stream)
    assert acl.read(block, 64) == b"\2" * 64


def test_counters(acl):
    stream, block = acl.stream(), acl.malloc(64)
    control.reset()
    acl.fill(block, 1, 64, stream)
    acl.ok("aclrtSynchronizeStream", stream)
    counters = control.counters()
    assert counters["calls"] == {"aclrtMemsetAsync": 1, "aclrtSynchronizeStream": 1}
    assert (counters["launches"], counters["copies"], counters["synchronizations"]) == (0, 1, 1)
    assert counters["findings"] == 0
    control.reset()
    assert control.counters()["calls"] == {}


def test_the_log_tells_calls_tasks_and_faults(acl):
    stream, block = acl.stream(), acl.malloc(64)
    number = acl.get("aclrtStreamGetId", stream)
    control.reset()
    control.inject("kernel:aclrtMemsetAsync:1=507015,aclrtGetDevice:1=5")
    acl.fill(block, 1, 64, stream)
    acl.aclrtSynchronizeStream(stream)
    acl.aclrtGetDevice(where())
    log = control.log()
    mine = [(e["kind"], e["name"], e["stream"], e["code"]) for e in log if e["kind"] != "sync"]
    assert sorted(mine) == [
        ("call", "aclrtMemsetAsync", 0, 0),
        ("call", "aclrtSynchronizeStream", 0, 0),
        ("done", "aclrtMemsetAsync", number, 507015),
        ("fault", "aclrtGetDevice", 0, 5),
        ("queue", "aclrtMemsetAsync", number, 0),
        ("run", "aclrtMemsetAsync", number, 0),
    ]
    times = [e["us"] for e in log]
    assert times == sorted(times)
    assert control.log(clear=True) == log
    assert control.log() == []


def test_the_log_goes_to_a_file(tmp_path):
    path = tmp_path / "log"
    output("acl.aclInit(None); acl.aclrtSetDevice(0)", NPU_SIMULATOR_LOG=str(path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["name"] for line in lines] == ["aclInit", "aclrtSetDevice"]


def test_findings_are_kept_until_they_are_cleared(acl):
    acl.aclrtFree(4096)
    assert len(control.findings()) == 1
    assert len(control.findings(clear=True)) == 1
    assert control.findings() == []


def module(**environment):
    return subprocess.run(
        [sys.executable, "-m", "mindtorch_npu_simulator"],
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_module_prints_the_root_or_says_why_not():
    done = module()
    try:
        root = toolkit_root()
    except ToolkitNotBuiltError:
        assert done.returncode == 1
        assert done.stdout == ""
        assert "install the distribution" in done.stderr
    else:
        assert done.stdout == f"{root}\n"


def test_a_toolkit_of_a_card_cannot_be_steered(tmp_path):
    lib = tmp_path / "lib64"
    lib.mkdir()
    maps = Path("/proc/self/maps").read_text().split()
    (lib / "libascendcl.so").symlink_to(next(m for m in maps if "/libc.so" in m or "/libc-" in m))
    code = f"""
os.environ["ASCEND_TOOLKIT_HOME"] = {str(tmp_path)!r}
control.counters()
"""
    assert "is not the simulator's library" in run_python(code).stderr


def test_the_tree_has_what_loaders_look_for():
    root = control.root()
    names = {path.name for path in (root / "lib64").iterdir()}
    wanted = ["ascendcl", "nnopbase", "opapi", "hccl", "aclnn_ops_infer", "aclnn_math"]
    assert names >= {f"lib{name}.so" for name in wanted}
    assert (root / "opp").is_dir()
    assert "8.1.RC1" in (root / "version.cfg").read_text()


def test_the_script_for_the_environment():
    root = control.root()
    script = f". {root}/set_env.sh && echo $ASCEND_TOOLKIT_HOME $ASCEND_OPP_PATH $LD_LIBRARY_PATH"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, env={}
    )
    assert done.stdout.split() == [str(root), f"{root}/opp", f"{root}/lib64"]


def test_operators_are_found_through_the_older_names():
    code = """
root = str(control.root() / "lib64")
for name in ("libopapi.so", "libaclnn_math.so", "libaclnn_ops_infer.so"):
    library = ctypes.CDLL(f"{root}/{name}")
    print(hasattr(library, "aclCreateTensor"), hasattr(library, "aclrtMalloc"))
"""
    assert set(output(code).split()) == {"True"}
