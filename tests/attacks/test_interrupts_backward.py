"""Ctrl-C at any instant of a backward pass: no state of the thread stays changed, and the next one works.

Python hands a signal to its handler where a function begins, where a call of something built in has ended,
and where a loop begins again. A profiling function is called at the first two, so it can stand for a
signal handler at each of them in turn: exactly, and as often as there is time for. Set ATTACK_SECONDS for
more than the few seconds that each case has.
"""

import os
import random
import signal
import sys
import threading
import time

import pytest

import mindtorch_core as torch
from mindtorch_core.amp.state import STATE
from mindtorch_core.autograd.graph import saved_tensors_hooks
from mindtorch_core.dispatch.masks import ACTIVE, MASKS
from mindtorch_core.dispatch.overrides import MODES
from mindtorch_core.frontend.dispatch_modes import active_modes
from mindtorch_core.gradients import packing, walks
from mindtorch_core.gradients.node import WATCHERS
from mindtorch_core.utils.checkpoint import checkpoint

SECONDS = float(os.environ.get("ATTACK_SECONDS", "1.5"))
pytestmark = pytest.mark.skipif(
    "ATTACK_SECONDS" not in os.environ,
    reason="throws interrupts at an interpreter for minutes: set ATTACK_SECONDS, for a process of its own",
)


def state():
    """What an interrupt must leave as it was."""
    return {
        "gradients": torch.is_grad_enabled(),
        "masks": (MASKS.include, MASKS.keep, MASKS.blocked),
        "threads with masks": len(ACTIVE),
        "hooks on saved tensors": packing.depth(),
        "who watches nodes": list(WATCHERS),
        "walk": walks.CURRENT.walk,
        "modes": (active_modes(), list(MODES.stack), dict(MODES.handed)),
        "autocast": (dict(STATE.dtypes), STATE.nesting, STATE.cache_enabled),
        "random numbers": torch.get_rng_state().tolist()[:8],
    }


class Places:
    """Counts the places where a signal would be seen, and raises at one of them.

    Args:
        at: which; None to count only.
        error: what is raised.
    """

    def __init__(self, at=None, error=KeyboardInterrupt):
        self.at = at
        self.error = error
        self.count = 0
        self.where = ""

    def seen(self, frame, event, arg):
        if event not in ("call", "c_return") or _is_an_exit(frame):
            return
        self.count += 1
        if self.count == self.at:
            sys.setprofile(None)
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
            raise self.error

    def during(self, call):
        """Whether the call was interrupted."""
        sys.setprofile(self.seen)
        try:
            call()
        except self.error:
            return True
        finally:
            sys.setprofile(None)
        return False


def _is_an_exit(frame):
    """Whether a ``with`` block of the test ends: on Python 3.11 what is raised there has no handler.

    For signals it has one, as `test_interrupts_exits` finds.
    """
    end = frame.f_code.co_name == "__exit__" and frame.f_back.f_code.co_filename == __file__
    return end and sys.version_info < (3, 12)


# ---- what is interrupted ------------------------------------------------------------------------


def leaf():
    return torch.tensor([0.3, 0.6, 0.9], requires_grad=True)


def plain(x):
    return ((x * 2).exp() * x).sum()


def with_hooks(x):
    y = x * 2
    y.register_hook(lambda g: g * 1)
    y.retain_grad()
    x.register_hook(lambda g: g + 0)
    x.register_post_accumulate_grad_hook(lambda t: None)
    z = y.exp()
    z.grad_fn.register_prehook(lambda grads: grads)
    z.grad_fn.register_hook(lambda grads, given: grads)
    return (z * x).sum()


def with_inplace(x):
    y = x * 2
    y[0].mul_(3)
    return (y.exp_() * x).sum()


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (inner,) = torch.autograd.grad((y * y).sum(), y)
        return g * inner


def with_function(x):
    return Squared.apply(x * 2).sum()


def with_saved_tensor_hooks(x):
    y = packing.with_hooks(lambda t: t.detach().clone(), lambda t: t * 1, (x * 2).exp)
    return (y * x).sum()


def with_blocks(x):
    with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t * 1):
        y = (x * 2).exp()
    with torch.no_grad(), torch.enable_grad(), torch.set_grad_enabled(False):
        y.detach() + 1
    with torch.inference_mode():
        y.detach() + 1
    with torch.autocast("cpu"):
        (y * x).sum()
    return (y * x).sum()


def with_checkpoint(x):
    def part(y):
        return torch.dropout(y.exp(), 0.5, True) * y.sin()

    torch.manual_seed(7)
    y = checkpoint(part, x * 2, use_reentrant=False)
    y = checkpoint(lambda t: checkpoint(part, t, use_reentrant=False) * 2, y, use_reentrant=False)
    return y.sum()


def with_checkpoint_in_a_block(x):
    with torch.autocast("cpu", enabled=False):
        return with_checkpoint(x)


def with_logged_checkpoint(x):
    """Dispatch modes log what both runs call."""
    return checkpoint(lambda y: y.exp() * y.sin(), x * 2, use_reentrant=False, debug=True).sum()


class AsItIs(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def with_function_modes(x):
    with AsItIs():
        y = (x * 2).exp()
        with AsItIs():
            return (y * x).sum()


def with_reentrant_checkpoint(x):
    torch.manual_seed(7)
    return checkpoint(lambda y: torch.dropout(y.exp(), 0.5, True), x * 2, use_reentrant=True).sum()


def with_grad_of_grad(x):
    (g,) = torch.autograd.grad(plain(x), x, create_graph=True)
    return (g * g).sum()


PROGRAMS = [
    plain,
    with_hooks,
    with_inplace,
    with_function,
    with_saved_tensor_hooks,
    with_blocks,
    with_checkpoint,
    with_checkpoint_in_a_block,
    with_logged_checkpoint,
    with_function_modes,
    with_reentrant_checkpoint,
    with_grad_of_grad,
]


def gradient(program):
    x = leaf()
    program(x).backward()
    return x.grad.tolist()


# ---- every place --------------------------------------------------------------------------------


def instants(count):
    """Places in random order, until the time is over; all of them if there is enough."""
    end = time.monotonic() + SECONDS
    for at in random.sample(range(1, count + 1), count):
        yield at
        if time.monotonic() > end:
            return


# In a generator that is closed because nobody refers to it, an exception goes no further.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_interrupt_leaves_no_state_changed(program, error):
    expected = gradient(program)
    assert gradient(program) == expected  # all that is made on first use is there
    places = Places()
    places.during(lambda: gradient(program))
    for at in instants(places.count):
        before = state()
        places = Places(at, error)
        places.during(lambda: gradient(program))
        after = state()
        after["random numbers"] = before["random numbers"]  # the program has drawn some
        assert after == before, places.where
        assert gradient(program) == expected, places.where


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_backward_that_was_interrupted_can_be_repeated(program):
    expected = gradient(program)

    def ready():
        x = leaf()
        return x, program(x)

    x, loss = ready()
    places = Places()
    places.during(lambda: loss.backward(retain_graph=True))
    for at in instants(places.count):
        x, loss = ready()
        before = state()
        places = Places(at)
        places.during(lambda: loss.backward(retain_graph=True))
        assert state() == before, places.where
        x.grad = None
        loss.backward()
        assert x.grad.tolist() == expected, places.where


# ---- changes in place ---------------------------------------------------------------------------


def refusal(loss):
    """The text of backward's error, None if there is none."""
    try:
        loss.backward()
    except RuntimeError as error:
        return str(error)
    return None


def whole(x):
    y = x * 2
    return y, y


def part(x):
    y = x * 2
    return y, y[1:]


def constant(x):
    y = torch.tensor([0.6, 1.2, 1.8])
    return y, y


CHANGES = {
    "mul_": lambda t, x: t.mul_(3),
    "log_": lambda t, x: t.log_(),
    "copy_": lambda t, x: t.copy_(x[: len(t)]),
    "eq_": lambda t, x: t.eq_(0.6),
    "masked_fill_": lambda t, x: t.masked_fill_(t > 1, 0.0),
    "add_ of a result": lambda t, x: t.add_(x[: len(t)] * 2),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("make", [whole, part, constant])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_interrupted_change_is_complete_or_has_no_gradient(make, change):
    """A tensor that was changed may have its new gradient or none, but not its old one."""

    def outcome(at):
        x = leaf()
        y, t = make(x)
        places = Places(at)
        places.during(lambda: change(t, x))
        values = y.tolist()
        refused = refusal((y * x).sum())
        assert (
            refused is None or "was interrupted" in refused or "modified by an inplace" in refused
        )
        return values, None if refused else x.grad.tolist(), places

    values, grads, places = outcome(None)
    count = places.count
    x = leaf()
    y, _ = make(x)
    before = y.tolist()
    (y * x).sum().backward()
    right = {tuple(before): x.grad.tolist(), tuple(values): grads}
    for at in instants(count):
        found, got, places = outcome(at)
        assert got is None or got == right[tuple(found)], places.where


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["mul_", "add_", "copy_", "fill_"])
def test_an_interrupted_change_of_what_was_saved_is_noticed(name):
    def attempt(at):
        x = leaf()
        y = (x * 2).exp()
        z = (y * x).sum()
        before = y.tolist()
        places = Places(at)
        with torch.no_grad():
            places.during(lambda: getattr(y, name)(torch.tensor(3.0)))
        refused = refusal(z)
        assert (refused and "modified by an inplace" in refused) or y.tolist() == before, (
            places.where
        )
        return places

    for at in instants(attempt(None).count):
        attempt(at)


# ---- real signals -------------------------------------------------------------------------------


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # in a callback of the collector
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if not p.__name__.endswith(("_blocks", "_block", "_modes"))]
)
def test_signals_leave_no_state_changed(program):
    """Signals also come where a loop begins again."""
    assert threading.current_thread() is threading.main_thread()
    expected = gradient(program)
    started = time.perf_counter()
    gradient(program)
    longest = time.perf_counter() - started
    end = time.monotonic() + SECONDS
    before = state()
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, longest))
                gradient(program)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                pass
            after = state()
            after["random numbers"] = before["random numbers"]
            assert after == before
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert gradient(program) == expected
