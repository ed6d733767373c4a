"""Ctrl-C at any instant of a block that sets something: what it has set is not left behind.

Python hands a signal to its handler where a function begins, where a call of something built in has ended,
and where a loop begins again. The first instant of ``__exit__`` is special: a profiling function may not raise
there on Python 3.11, and no line of the function has run. A signal comes there exactly if it arrives
in a call that is no call to the interpreter, as that of a property which is built in.
"""

import _thread
import contextlib
import linecache
import signal
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core.amp.state import STATE
from mindtorch_core.autograd import graph
from mindtorch_core.deferred.blocks import STACK
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.calls import generated
from mindtorch_core.dispatch.masks import ACTIVE, MASKS, PROCESS_INCLUDE
from mindtorch_core.dispatch.overrides import MODES
from mindtorch_core.ecosystem.compiled_stances import STANCE
from mindtorch_core.frontend.dispatch_modes import active_modes
from mindtorch_core.frontend.printing import get_printoptions
from mindtorch_core.gradients import packing
from mindtorch_core.gradients.node import WATCHERS
from mindtorch_core.serialization.options import OPTIONS
from mindtorch_core.values.interrupts import contextmanager, from_entry, leaving, undone

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection")


class Signal(int):
    """A signal that arrives where its attribute is read; Python looks for it at the next instant."""

    arrives = property(_thread.interrupt_main)


CTRL_C = Signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    """Also where the tests run in the background of a shell, which has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Noticing(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Asked(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def hooked():
    return graph.saved_tensors_hooks(lambda t: t, lambda t: t)


BLOCKS = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "set_grad_enabled": lambda: torch.set_grad_enabled(False),
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu"),
    "device": lambda: torch.device("meta"),
    "saved_tensors_hooks": hooked,
    "save_on_cpu": graph.save_on_cpu,
    "disable_saved_tensors_hooks": lambda: graph.disable_saved_tensors_hooks("no"),
    "allow_mutation_on_saved_tensors": graph.allow_mutation_on_saved_tensors,
    "pipeline": torch.pipeline,
    "TorchDispatchMode": Noticing,
    "TorchFunctionMode": Asked,
    "DisableTorchFunction": torch._C.DisableTorchFunction,
    "detect_anomaly": torch.autograd.detect_anomaly,
    "set_detect_anomaly": lambda: torch.autograd.set_detect_anomaly(True),
    "set_stance": lambda: torch.compiler.set_stance("force_eager"),
    "skip_data": torch.serialization.skip_data,
    "printoptions": lambda: torch._tensor_str.printoptions(precision=2),
    "fork_rng": torch.random.fork_rng,
    "exclude_keys": lambda: torch._C._ExcludeDispatchKeyGuard(
        torch._C.DispatchKeySet(torch._C.DispatchKey.ADInplaceOrView)
    ),
}

SET_WHEN_MADE = ("set_grad_enabled", "set_detect_anomaly", "set_stance")


def state():
    """What a block may change."""
    torch.zeros(1) + 1  # a call takes out a key of pipelines that nobody needs
    return {
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "masks": (MASKS.include, MASKS.keep, MASKS.blocked, len(ACTIVE), PROCESS_INCLUDE[0]),
        "hooks on saved tensors": (packing.depth(), packing.disabled(), list(WATCHERS)),
        "modes": (active_modes(), list(MODES.stack)),
        "autocast": (dict(STATE.dtypes), STATE.nesting, STATE.cache_enabled),
        "device": torch.get_default_device(),
        "pipelines": (current_pipeline(), list(STACK.open)),
        "anomaly": torch.is_anomaly_enabled(),
        "settings": (STANCE[0], OPTIONS.skips, get_printoptions()),
        "random numbers": torch.get_rng_state().tolist()[:8],
    }


@contextlib.contextmanager
def outer(name):
    """Blocks in which the attacked one stands: what is given back is not always the default."""
    with torch.no_grad(), torch.device("cpu"):
        if name in ("allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks"):
            yield
        else:
            with hooked():
                yield


@pytest.mark.parametrize("name", BLOCKS)
def test_an_interrupt_where_exit_begins_leaves_nothing_set(name):
    with outer(name):
        before = state()
        caught = None
        try:
            with BLOCKS[name]():
                torch.rand(2) if name == "fork_rng" else None
                CTRL_C.arrives
        except KeyboardInterrupt as error:
            caught = error  # holds the frames, and so what they hold
        assert state() == before
    assert caught is not None
    assert caught.__traceback__.tb_next.tb_frame.f_code.co_name in ("__exit__", "__call__")


class Instants:
    """Counts the instants of a program, and raises at one of them.

    Args:
        at: which; None to count only.
    """

    def __init__(self, at=None):
        self.at = at
        self.count = 0
        self.where = ""

    def seen(self, frame, event, arg):
        if event not in ("call", "c_return"):
            return
        covered = frame.f_code.co_exceptiontable[:1] == b"\x80"
        if event == "call" and covered and sys.version_info < (3, 12):
            return
        self.count += 1
        if self.count == self.at:
            sys.setprofile(None)
            self.where = f"{event} at {frame.f_code.co_filename}:{frame.f_lineno}"
            raise KeyboardInterrupt

    def during(self, call, *args):
        sys.setprofile(self.seen)
        try:
            call(*args)
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)


def attacked(name, at):
    """Interrupt a block at one of its instants; None to count them."""

    def run():
        with BLOCKS[name]():
            pass

    instants = Instants(at)
    if name in SET_WHEN_MADE:  # also without a block, so only its end is attacked
        block = BLOCKS[name]()
        block.__enter__()
        instants.during(block.__exit__, None, None, None)
    else:
        instants.during(run)
    return instants


@pytest.mark.parametrize("name", BLOCKS)
def test_an_interrupt_at_any_instant_leaves_nothing_set(name):
    attacked(name, None)  # what is made on first use is there
    with outer(name):
        before = state()
        for at in range(1, attacked(name, None).count + 1):
            where = attacked(name, at).where
            assert state() == before, where


@pytest.mark.parametrize("name", ["no_grad", "inference_mode", "autocast", "saved_tensors_hooks"])
def test_a_block_that_is_entered_again_gives_back_the_right_thing(name):
    """An instance may be nested in itself: an entry that was interrupted leaves no trace in it."""
    block = BLOCKS[name]()

    def enter():
        with block:
            pass

    enter()
    counted = Instants()
    counted.during(enter)
    for at in range(1, counted.count + 1):
        before = state()
        instants = Instants(at)
        with block:
            inside = state()
            instants.during(enter)
            assert state() == inside, instants.where
        assert state() == before, instants.where


def test_an_interrupt_that_comes_with_the_end_of_a_weight_or_a_function_is_not_lost():
    """What is kept for them is let go of by built-in functions: an exception there were printed only."""
    x = torch.ones(2, 2)

    def weight_ends():
        w = torch.ones(2, 2, requires_grad=True)
        with torch.autocast("cpu"):
            x @ w
            CTRL_C.arrives
            del w
            x.sum()

    def function_ends():
        f = generated.compile_function("ended", "def ended():\n    return 1\n", {})
        assert f() == 1
        CTRL_C.arrives
        del f
        x.sum()

    for ends in (weight_ends, function_ends):
        with pytest.raises(KeyboardInterrupt):
            ends()
    assert "<mindtorch ended>" not in linecache.cache
    assert not STATE.casts


# ---- what all of them use -----------------------------------------------------------------------


def test_undoing_begins_although_an_interrupt_comes_first():
    log = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted(undone, lambda: log.append("undone"), lambda: log.append("called"))
    assert log == ["undone"]


def _interrupted(call, *args):
    """Call something with a signal waiting for it."""
    return (CTRL_C.arrives, call)[1](*args)


def test_an_exit_is_repeated_and_errors_of_its_own_are_raised():
    class Counting:
        left = 0

        def leave(self):
            self.left += 1
            if self.left == 1:
                raise KeyboardInterrupt

        __exit__ = leaving(leave)

    counting = Counting()
    with pytest.raises(KeyboardInterrupt):
        counting.__exit__(None, None, None)
    assert counting.left == 2


@pytest.mark.parametrize("lines", [1, 40])
def test_a_try_is_covered_wherever_its_handler_lies(lines):
    """The numbers of the table take more bytes in long functions."""
    body = "".join(f"        log.append({i})\n" for i in range(lines))
    source = f"def f(log):\n    try:\n{body}    except BaseException:\n        log.append('undone')\n        raise\n"
    made = {}
    exec(source, made)
    log = []
    from_entry(made["f"])(log)
    assert log == list(range(lines))
    log.clear()
    with pytest.raises(KeyboardInterrupt):
        _interrupted(made["f"], log)
    assert log == ["undone"]


def test_a_generator_is_ended_where_the_end_of_its_block_is_interrupted():
    log = []

    @contextmanager
    def block(value):
        log.append(value)
        try:
            yield value
        except ValueError:
            log.append("swallowed")
        finally:
            log.append("ended")

    with block(1) as given:
        assert given == 1
    with block(2):
        raise ValueError
    assert log == [1, "ended", 2, "swallowed", "ended"]
    log.clear()
    with pytest.raises(KeyboardInterrupt) as caught, block(3):
        CTRL_C.arrives
    assert log == [3, "ended"]
    assert caught.value.__traceback__ is not None
    with pytest.raises(KeyError), block(4):
        raise KeyError
