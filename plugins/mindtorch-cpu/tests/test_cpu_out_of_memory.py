"""Memory that the host has not is told by one name, and what was there before stays as it is."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("resource")

pytestmark = pytest.mark.slow

HEAD = """
import contextlib, ctypes, resource, threading
import numpy
import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.workers import share_out
nn = torch.nn.functional
x = torch.ones(2000, 2000)
r = torch.ones(2000, 2000, requires_grad=True)
whole = torch.arange(4_000_000)
x[:2] + x[:2], x[:2] @ x, whole[:9].sort(), torch.cat([x[:1], x[:1]]), nn.gelu(x[:2]), x[:3].std(0)
x.sum()
FIRST  # what a call needs once: modules, generated functions
KERNELS.wait()  # LLVM ends the process where it finds no memory
threads = torch.get_num_threads()
together = threading.Barrier(threads)
# Each thread uses NumPy once: glibc aborts where there is no room for a thread's own data of a library.
share_out(lambda item: (together.wait(), numpy.exp(numpy.ones(9, "f4"))), range(2 * threads))
with contextlib.suppress(OSError):
    ctypes.CDLL("libgcc_s.so.1")  # glibc loads it where a thread ends, and aborts where it cannot
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (ROOM << 20),) * 2)
"""

CALLS = {
    "operator": "x * 2",
    "operator of a number first": "1 - x",
    "function": "torch.exp(x)",
    "product": "x @ x",
    "joined": "torch.cat([x, x])",
    "copy": "x.clone()",
    "conversion": "x.double()",
    "order": "whole.sort()",
    "choice": "x.reshape(-1)[whole]",
    "factory": "torch.zeros(4_000_000).add_(1)",
    "uninitialised": "torch.empty(4_000_000)",
    "with strides": "torch.empty_strided((2000, 2000), (1, 2000))",
    "range": "torch.arange(4_000_000)",
    "random": "torch.rand(4_000_000)",
    "composition": "nn.gelu(x)",
    "in place": "x.add_(torch.zeros(2000, 2000))",
    "overload": "torch.ops.aten.mul.Tensor(x, x)",
    "out": "torch.mul(x, x, out=torch.empty(0))",
    "backward": "(r * r).sum().backward()",
    "array": "torch.tensor(x.numpy())",
}


def told(code, room=9, first="pass"):
    """What a fresh process prints that has so many MiB left, once it has run something."""
    head = HEAD.replace("FIRST", first)
    command = [sys.executable, "-W", "error", "-c", f"ROOM = {room}\n{head}{code}"]
    # glibc reserves 64 MiB for each thread that asks for memory, and takes them where others have none left.
    env = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", CALLS)
def test_every_call_raises_one_error(name):
    code = f"""
kept = []
try:
    while len(kept) < 9:
        kept.append({CALLS[name]})
except torch.OutOfMemoryError as error:
    assert error.__suppress_context__ or error.__context__ is None, error.__context__
    print(error)
del kept
assert (x[:2, :2] + 1).tolist() == [[2, 2], [2, 2]] or "{name}" == "in place"
assert whole[:3].tolist() == [0, 1, 2] and whole.sum().item() == 7999998000000
"""
    text = told(code, first=CALLS[name])
    assert "DefaultCPUAllocator: can't allocate memory" in text
    if name != "array":  # Python does not say how much
        assert int(text.split("you tried to allocate ")[1].split()[0]) >= 1 << 20


def test_a_pipeline_names_it_as_the_cause():
    code = """
try:
    with torch.pipeline():
        small = torch.ones(3) * 2
        made = [x + i for i in range(9)]
except torch.PipelineError as error:
    print(type(error.__cause__).__name__, error)
print(small.tolist())
"""
    text = told(code)
    assert text.startswith("OutOfMemoryError aten::add failed")
    assert text.endswith("[2.0, 2.0, 2.0]\n")


def test_what_is_kept_for_later_serves_first():
    """Blocks of a size that the C library gets from the system one by one, and gives back."""
    code = """
for n in (3000, 3100, 3200):
    (torch.ones(n, n) + 1).sum()
print(torch.empty(40_000_000).shape, torch.full((39_000_000,), 2.0).sum().item())
"""
    assert told(code, 230) == "torch.Size([40000000]) 78000000.0\n"


def test_a_thread_that_gets_no_memory_is_not_waited_for():
    """Each allocation in turn that a thread asks for after an item fails: a hang ends in an error."""
    pytest.importorskip("_testcapi", reason="CPython's own tests are not installed here")
    code = """
import _testcapi, faulthandler, itertools, sys, threading, time
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.workers import share_out

torch.set_num_threads(2)
sys.unraisablehook = lambda _: None
faulthandler.dump_traceback_later(60, exit=True)
ends = []

def work(item):
    if threading.current_thread() is threading.main_thread():
        time.sleep(0.001 * early)
    else:
        time.sleep(0.002 * (not early))  # the main thread waits by then
        _testcapi.set_nomemory(first, first + many)

for early, many, first in itertools.product((True, False), (1, 2, 9, 99), range(40)):
    try:
        share_out(work, range(6))
        ends.append("done")
    except MemoryError:
        ends.append("MemoryError")
    finally:
        _testcapi.remove_mem_hooks()
print(len(ends), *sorted({*ends}))
"""
    done = subprocess.run(
        [sys.executable, "-c", f"import mindtorch_core as torch\n{code}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "320 MemoryError done\n"
