"""What goes wrong around compiled kernels leaves NumPy's results: no compiler, wrong code, forks, interrupts."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import ModuleType

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.cli import main
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native import compiler, kernels
from mindtorch_cpu.native.kernels import KERNELS, Kernels

BEGIN = """
import sys
import mindtorch_core as torch
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.straight import compiling

x = torch.arange(5000.0)
compiling.tiles_pay = lambda program, find: True
row_of("cpu").runtime.planned_from = LIMITS.min_elements = 1

def group(factor):
    with torch.pipeline() as pipe:
        made = (x * factor).tanh() + 1
    assert torch.equal(made, (x * factor).tanh() + 1)
    return pipe.stats()["group_notes"]
"""


def run(text, **variables):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def fresh(monkeypatch):
    """Kernels of which none is there yet."""
    torch.zeros(1)
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    made = Kernels()
    assert made.enabled
    made.mode = "now"
    monkeypatch.setattr("mindtorch_cpu.native.preparing.KERNELS", made)
    monkeypatch.setattr("mindtorch_cpu.fusion.compiled.KERNELS", made)
    monkeypatch.setattr("mindtorch_cpu.straight.compiling.tiles_pay", lambda program, find: True)
    monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
    monkeypatch.setattr(LIMITS, "min_elements", 1)
    monkeypatch.setenv("MINDTORCH_KERNEL_CACHE", "")
    return made


def group(number=2.0):
    x = torch.arange(3000.0)
    with torch.pipeline() as pipe:
        made = (x * number).sin() - 1
    assert torch.equal(made, (x * number).sin() - 1)
    return pipe.stats()["group_notes"]


def test_without_llvmlite_everything_runs_in_tiles():
    assert "llvmlite is not installed" in run(
        "sys.modules['llvmlite'] = sys.modules['llvmlite.binding'] = None\n"
        "assert not KERNELS.enabled  # which looks at once\nprint(group(2.0))"
    )


DAMAGED = {
    "no number": ("__version__ = '0+unknown'", "", "has the version '0+unknown'"),
    "too old": ("__version__ = '0.44rc1'", "", "llvmlite 0.44rc1 is too old"),
    "no version": ("", "", "cannot be loaded: AttributeError"),
    "raises": ("raise ValueError('two\\nlines')", "", "cannot be loaded: ValueError: two lines"),
    "needs another": ("import nowhere_to_be_found", "", "ModuleNotFoundError: No module named 'no"),
    "part missing": ("__version__ = '0.45.1'", "", "does not know this machine: AttributeError"),
    "library missing": ("__version__ = '1.0'", "raise OSError('no LLVM')", "OSError: no LLVM"),
}


@pytest.fixture(params=DAMAGED)
def damaged(request, tmp_path):
    """An llvmlite that is of no use, and what is said of it."""
    package, binding, words = DAMAGED[request.param]
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text(package)
    (tmp_path / "llvmlite" / "binding.py").write_text(binding)
    return f"sys.path.insert(0, {str(tmp_path)!r})\n", words


@pytest.mark.parametrize("native", ["on", "now"])
def test_with_a_damaged_llvmlite_everything_runs_in_tiles(damaged, native):
    path, words = damaged
    first, doctor, rest = run(
        path
        + """
sys.stderr = sys.stdout
group(2.0)
KERNELS.wait()
print(*group(3.0), *torch.softmax(x, 0)[:1].tolist())
from mindtorch_cpu.native.showing import condition
print(condition())
print("the end")
""",
        MINDTORCH_NATIVE=native,
    ).splitlines()
    assert first.startswith("in tiles: ")
    assert words in first
    assert doctor.startswith("none: ")
    assert words in doctor
    assert rest == "the end"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_early_is_followed_by_another(fresh, monkeypatch):
    fresh.mode = "on"

    def leave(program):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(kernels, "made_from", leave)
        group(1.0), group(1.5)
        fresh.wait()
    group(2.0), group(2.5)
    fresh.wait()
    assert group(3.0) == {"compiled": 1}


def test_the_variable_switches_it_off():
    assert "switched off" in run("print(group(2.0))", MINDTORCH_NATIVE="0")


def test_the_doctor_says_why_nothing_is_compiled(capsys, monkeypatch):
    monkeypatch.setattr(KERNELS, "mode", "off")
    assert main(["doctor", "cpu"]) == 0
    assert "compiled kernels: none: switched off" in capsys.readouterr().out


def test_a_kernel_that_computes_otherwise_turns_all_off(fresh, monkeypatch):
    text = kernels.ir_of
    monkeypatch.setattr(kernels, "ir_of", lambda program: text(program).replace("fmul", "fadd"))
    assert group() == {"in tiles: the kernel is not there yet": 1}
    assert "does not agree with NumPy" in fresh.broken
    assert "does not agree with NumPy" in next(iter(group()))
    assert not fresh.enabled


def test_one_that_cannot_be_compiled_leaves_its_group_to_tiles(fresh, monkeypatch):
    def fail(text):
        raise RuntimeError("no room for code")

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compiled", fail)
        assert group() == {"in tiles: the kernel is not there yet": 1}
    assert fresh.stats()["failures"] == {"RuntimeError: no room for code": 1}
    assert fresh.enabled
    x = torch.arange(3000.0)
    with torch.pipeline() as pipe:
        made = (x + 1).cos() * 3
    assert torch.equal(made, (x + 1).cos() * 3)
    assert pipe.stats()["group_notes"] == {"compiled": 1}


def test_the_second_launch_has_it_compiled_and_a_later_one_uses_it(fresh):
    fresh.mode = "on"
    waiting = {"in tiles: the kernel is not there yet": 1}
    assert group(1.0) == waiting
    fresh.wait()
    assert fresh.kernels() == []
    assert group(1.5) == waiting
    fresh.wait()
    assert group(2.5) == {"compiled": 1}
    KERNELS.wait()  # an earlier test's
    end = time.monotonic() + 30
    while "mindtorch-compiler" in {t.name for t in threading.enumerate()}:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_kernels_and_makes_more():
    pytest.importorskip("llvmlite")
    assert (
        run(
            """
import os, warnings
warnings.simplefilter("ignore")
torch.set_num_threads(3)
KERNELS.mode = "now"
group(2.0)
KERNELS.mode = "on"
for i in range(8):
    with torch.pipeline():
        made = [(x * 2 + i).exp() * x for _ in range(i + 2)]
        total = sum(made)
    del made, total
    child = os.fork()
    if not child:
        KERNELS.mode = "now"
        assert group(3.0) == {"compiled": 1}
        with torch.pipeline() as pipe:
            y = (x + i).cos() - x
        os._exit(0 if pipe.stats()["group_notes"] == {"compiled": 1} else 1)
    assert os.waitpid(child, 0)[1] == 0
print("fine")
"""
        )
        == "fine"
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_interrupts_leave_right_results(fresh):
    """Ctrl-C at any instant of a launch: what has not run runs when somebody asks."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    x = torch.arange(1 << 17).float() * 1e-5
    wanted = (x.exp() + 1).tanh() * x
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for i in range(60):
            try:
                with torch.pipeline():
                    made = (x.exp() + 1).tanh() * x
                    signal.setitimer(signal.ITIMER_REAL, 1e-5 + i * 1e-5)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert torch.equal(made, wanted)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_program_of_an_op_can_be_seen(capsys):
    pytest.importorskip("llvmlite")
    assert main(["explain", "--native", "silu"]) == 0
    text = capsys.readouterr().out
    assert "negative(x0)" in text
    assert "define void @kernel(" in text
    assert main(["explain", "--native", "sort"]) == 0
    assert "is left to NumPy" in capsys.readouterr().out
    for op, of in (("softmax", "row_max"), ("log_softmax", "log("), ("native_layer_norm", "row_dot"),
                   ("_softmax_backward_data", "row_dot"), ("where", "where(")):  # fmt: skip
        assert main(["explain", "--native", op]) == 0
        found = capsys.readouterr().out
        assert of in found
        assert "define void @kernel" in found


def test_a_process_ends_when_what_is_being_compiled_is_done():
    # A thread that the ending interpreter kills within LLVM's code corrupts the heap.
    done = run(
        """
import sys, threading, time
from mindtorch_cpu.native import kernels

begun, right = threading.Event(), kernels.made_from

def slow(program):
    begun.set()
    time.sleep(0.5)
    made = right(program)
    sys.stdout.write("compiled")
    return made

kernels.made_from = slow
group(2.0), group(3.0)
while KERNELS.enabled and not begun.wait(0.01):
    group(2.0)
print("the end of the program")
""",
        MINDTORCH_KERNEL_CACHE="",
    )
    assert "the end of the program" in done
    if KERNELS.enabled:
        assert done.endswith("compiled")


def test_a_call_while_another_thread_imports_the_kernels(monkeypatch):
    """Two threads may begin at once: the second finds a module that has no names yet."""
    monkeypatch.setitem(sys.modules, "mindtorch_cpu.native.kernels", ModuleType("half imported"))
    x = torch.linspace(0, 1, 101)
    found = torch.nn.functional.gelu(x, approximate="tanh")
    inner = np.sqrt(2 / np.pi) * (x.numpy() + 0.044715 * x.numpy() ** 3)
    assert np.allclose(found.numpy(), 0.5 * x.numpy() * (1 + np.tanh(inner)), atol=1e-6)


def test_where_memory_is_scarce_nothing_is_compiled_yet():
    """LLVM ends the process where it finds none."""
    pytest.importorskip("resource")
    pytest.importorskip("llvmlite")
    text = """
import resource
assert KERNELS.enabled
group(2.0)
KERNELS.wait()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + (40 << 20), before[1]))
for _ in range(4):
    print(group(2.0))
    KERNELS.wait()
assert not KERNELS.kernels() and not KERNELS.failures
resource.setrlimit(resource.RLIMIT_AS, before)
group(2.0)
KERNELS.wait()
print(len(KERNELS.kernels()))
"""
    told = run(text, MINDTORCH_NATIVE="on").splitlines()
    assert told[-1] == "1", told


def test_the_look_for_memory_counts_as_no_memory_in_use():
    """It would be the peak of whatever a program measures meanwhile."""
    pytest.importorskip("llvmlite")
    text = """
import tracemalloc
assert KERNELS.enabled
tracemalloc.start()
for _ in range(4):
    group(2.0)
    KERNELS.wait()
print(tracemalloc.get_traced_memory()[1])
"""
    assert int(run(text, MINDTORCH_NATIVE="on")) < 32 << 20
