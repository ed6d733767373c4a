"""The NPU tests run on the simulator, through the same C interface as on a card.

`ASCEND_TOOLKIT_HOME` may name its toolkit; otherwise the installed simulator's is used. Where there
is none, tests that need it fail and say so.
"""

import gc
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))  # for the modules that several tests share

MISSING = (
    "the NPU tests need the simulated toolkit: install mindtorch-npu-simulator (a C++ compiler or "
    "ziglang builds it), or set ASCEND_TOOLKIT_HOME to a built one"
)


def _toolkit():
    """The root of a simulated toolkit, or None."""
    named = os.environ.get("ASCEND_TOOLKIT_HOME")
    if named:
        return named
    try:
        import mindtorch_npu_simulator
    except ImportError:
        return None
    try:
        return str(mindtorch_npu_simulator.toolkit_root())
    except RuntimeError:
        return None


ROOT = _toolkit()
if ROOT is not None:
    os.environ["ASCEND_TOOLKIT_HOME"] = ROOT


@pytest.fixture
def simulator():
    """The simulator's control functions; a test that asks for them starts from a clean slate."""
    if ROOT is None:
        pytest.fail(MISSING)
    from mindtorch_npu_simulator import control

    try:
        control.reset()
    except (OSError, RuntimeError) as error:
        pytest.fail(f"{MISSING} ({error})")
    yield control
    control.clear_faults()
    control.latency("")


@pytest.fixture(autouse=True)
def _nothing_to_report(request):
    """After every test: no finding of the watcher, and nothing left queued."""
    yield
    if "simulator" in request.fixturenames:
        gc.collect()  # too slow for the thousands of tests of the conformance kit
    _settle()


@pytest.fixture(autouse=True, scope="module")
def _nothing_to_report_of_garbage():
    gc.collect()
    gc.freeze()  # what thousands of tests have left behind would slow every `gc.collect` down
    yield
    gc.collect()
    _settle()


def _settle():
    contexts = sys.modules.get("mindtorch_npu.contexts")
    if contexts is None or not contexts.CONTEXTS.alive:
        return
    from mindtorch_npu.devices import devices_in_use
    from mindtorch_npu_simulator import control

    for device in devices_in_use():
        device.synchronize()
    assert control.findings() == []


@pytest.fixture
def npu(simulator):
    """``torch.npu`` with the first device current and nothing in the cache."""
    import mindtorch_core as torch

    torch.npu.set_device(0)
    torch.npu.synchronize()
    gc.collect()
    torch.npu.empty_cache()
    simulator.reset()
    yield torch.npu
    torch.npu.set_device(0)
    for index in range(torch.npu.device_count()):
        torch.npu.set_stream(torch.npu.default_stream(index))
    torch.npu.set_device(0)


@pytest.fixture
def launched(npu, simulator):
    """Runs a function and gives its result, the operators it launched, and how often it waited."""
    from mindtorch_npu.ops import steps

    def run(function):
        steps._refused.clear()  # which operators earlier tests had refuse their operands
        function()  # binds what it needs
        npu.synchronize()
        simulator.reset()
        result = function()
        counts = simulator.counters()
        names = {
            name.removeprefix("aclnn"): number
            for name, number in counts["calls"].items()
            if name.startswith("aclnn") and not name.endswith("GetWorkspaceSize")
        }
        return result, names, counts["synchronizations"]

    return run


@pytest.fixture
def python(simulator):
    """Runs a program in a fresh interpreter; gives what it printed.

    The program must end well and leave nothing to report, unless ``check`` is False.
    """

    def run(program, check=True, **environment):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=600,
        )
        if check:
            assert done.returncode == 0, done.stderr
            for trouble in ("finding", "Exception ignored", "Traceback"):
                assert trouble not in done.stderr, done.stderr
        return done if not check else done.stdout

    return run
