"""Forks, and the end of the process in whatever order things go."""

import pytest

END = """
import atexit, gc, json, os, sys
from mindtorch_npu_simulator import control
def left(*names):
    # Called by CANN's last function at the latest: what the process gave back.
    live = control.live()
    return {k: v for k, v in live.items() if v}
"""


def test_everything_is_given_back_at_exit(python):
    said = python(
        END
        + """
def report():
    print(left(), control.findings())
atexit.register(report)  # runs after the runtime's own
import mindtorch_core as torch
kept = [torch.arange(1000).to("npu"), torch.zeros(5, device="npu:1")]
stream = torch.npu.Stream(); event = torch.npu.Event(); event.record(stream)
torch.npu.runtime = None
from mindtorch_npu.runtime import RUNTIME
space = RUNTIME.workspace(100, 0)
"""
    )
    assert said == "{} []\n"


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(0)",
        "del kept, stream, event",
        "sys.modules.clear()",
        "kept[0].me = kept; del kept; gc.disable()",
        "import builtins; builtins.kept = kept, stream, event",
        "threading.Thread(target=lambda: [torch.zeros(9, device='npu:1').cpu() for _ in range(50)]).start()",
        "threading.Thread(target=torch.npu.current_stream().synchronize, daemon=True).start()",
        "threading.Thread(target=busy, daemon=True).start(); started.wait()",
        "block = suspended(); next(block)",
        "control.latency('100000'); kept.append(torch.zeros(9, device='npu'))",
        "control.inject('aclrtSynchronizeStreamWithTimeout:*=507015')",
        "control.inject('aclrtSynchronizeStreamWithTimeout:*=507046')",
        "control.inject('aclrtSetCurrentContext:*=107002')",
    ],
)
def test_the_process_ends_well_in_any_order(python, end):
    said = python(
        END
        + f"""
import mindtorch_core as torch
kept = [torch.arange(1000).to("npu"), torch.zeros(5, device="npu:1")]
stream = torch.npu.Stream(); event = torch.npu.Event(enable_timing=True); event.record(stream)
print("works")
sys.stdout.flush()
import threading
started = threading.Event()
def busy():
    while True:
        kept[0].cpu()
        started.set()
def suspended():
    with torch.npu.device(1), torch.npu.stream(stream):
        yield
{end}
"""
    )
    assert said == "works\n"


@pytest.mark.parametrize("symbol", ["aclrtFree", "aclrtFreeHost", "aclrtDestroyStream",
                                    "aclrtDestroyEvent", "aclrtResetDevice", "aclFinalize"])  # fmt: skip
def test_failures_at_the_end_are_nobody_s_problem(python, symbol):
    done = python(
        "import mindtorch_core as torch; kept = torch.arange(9).to('npu');"
        "mark = torch.npu.current_stream().record_event(); torch.npu.current_stream().synchronize();"
        f"from mindtorch_npu_simulator import control; control.inject('{symbol}:*=507899')",
        check=False,
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_what_comes_after_the_end_is_told_so(python):
    said = python(
        END
        + """
def late():
    try:
        kept.cpu()
    except RuntimeError as error:
        print(error)
    torch.npu.synchronize()
    print(torch.npu.is_initialized())
atexit.register(late)
import mindtorch_core as torch
kept = torch.arange(1000).to("npu")
"""
    )
    assert said.splitlines() == [
        "the NPU runtime has been shut down: the process is exiting",
        "False",
    ]


FORK = """
import os, sys
import mindtorch_core as torch
{before}
child = os.fork()
if not child:
    try:
        {inside}
    except RuntimeError as error:
        print(error)
    sys.stdout.flush()
    {end}
_, status = os.waitpid(child, 0)
print("child", os.waitstatus_to_exitcode(status))
{after}
"""
USED = 'kept = torch.zeros(5, device="npu"); side = torch.npu.Stream(); mark = side.record_event()'


@pytest.mark.parametrize(
    "inside",
    [
        "torch.zeros(5, device='npu')",
        "kept.cpu()",
        "torch.ones(3).to('npu')",
        "side.synchronize()",
        "mark.synchronize()",
        "torch.npu.set_device(0)",
        "torch.npu.init()",
        "torch.npu.mem_get_info()",
        "torch.npu.is_bf16_supported()",
        "torch.npu.get_soc_name()",
        "torch.npu.synchronize(); torch.npu.empty_cache(); torch.npu.get_device_name()",
    ],
)
@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)"])
def test_a_forked_child_is_told_to_spawn(python, inside, end):
    program = FORK.format(before=USED, inside=inside, end=end, after="print(kept.cpu().tolist())")
    lines = python(program).splitlines()
    assert lines[0] == (
        "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must "
        "use the 'spawn' start method"
    )
    assert lines[1:] == ["child 0", "[0.0, 0.0, 0.0, 0.0, 0.0]"]


@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)"])
def test_a_forked_child_may_let_go_of_what_it_inherited(python, end):
    inside = (
        "del kept, side, mark; import gc; gc.collect(); "
        "print(torch.npu.is_initialized(), torch.npu.is_available(), torch.ones(2).sum().item())"
    )
    program = FORK.format(before=USED, inside=inside, end=end, after="torch.npu.synchronize()")
    assert python(program).splitlines() == ["False True 2.0", "child 0"]


HELD = """
import signal, threading
from mindtorch_npu.devices import device_at
device, held, done = device_at(0), threading.Event(), threading.Event()
def hold():
    with device._lock, device.allocator.turn, device.allocator._lock:
        held.set()
        done.wait()
threading.Thread(target=hold).start()
held.wait()
"""


def test_a_forked_child_waits_for_no_thread_that_it_has_not(python):
    inside = (
        "signal.alarm(20); print(torch.npu.memory_allocated() >= 0); "
        "torch.npu.memory_summary(); del kept, side, mark; import gc; gc.collect(); print('gone')"
    )
    program = FORK.format(before=USED + HELD, inside=inside, end="os._exit(0)", after="done.set()")
    assert python(program).splitlines() == ["True", "gone", "child 0"]


def test_a_child_forked_before_the_first_use_may_use_npus(python):
    inside = "print(torch.zeros(2, device='npu').cpu().tolist())"
    program = FORK.format(before="", inside=inside, end="sys.exit(0)", after="")
    assert python(program).splitlines() == ["[0.0, 0.0]", "child 0"]


@pytest.mark.parametrize("block", ["torch.npu.stream(side)", "torch.npu.device(1)"])
def test_a_forked_child_may_leave_the_block_it_was_forked_in(python, block):
    said = python(
        f"""
import os, sys
import mindtorch_core as torch
{USED}
with {block}:
    child = os.fork()
    if not child:
        sys.exit(7)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    )
    assert said == "child 7\n"
