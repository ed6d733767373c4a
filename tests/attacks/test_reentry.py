"""Ops inside `__del__` and inside signal handlers, in the middle of everything else: both come out right.

Python runs them between any two lines: while an op is dispatched, a graph is walked, a block recorded,
planned or launched. What was interrupted must not notice.
"""

import gc
import importlib
import random
import signal
import sys
import time
import types

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.masks import ACTIVE, MASKS
from mindtorch_core.utils.checkpoint import checkpoint


def forward():
    a = torch.tensor([1.0, 2.0, 3.0])
    return ((a + 1) * a).sum().item()


def backward():
    x = torch.tensor([0.5, 2.0], requires_grad=True)
    with torch.enable_grad():  # what is interrupted may have switched them off
        (x * x * 3).sum().backward()
    return x.grad.tolist()


def deferred():
    with torch.pipeline():
        a = torch.tensor([1.0, 2.0]) * 2
        b = (a + 1).sum()
    return [*a.tolist(), b.item()]


def without_gradients():
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
        return [(x * 2).requires_grad, (x + 1).sum().item()]


# What runs in between, and what it makes.
INNER = {
    "forward": (forward, 20.0),
    "backward": (backward, [3.0, 12.0]),
    "pipeline": (deferred, [2.0, 4.0, 8.0]),
    "no_grad": (without_gradients, [False, 4.0]),
}


def outer_eager():
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    y = torch.softmax(x @ x.t(), 1)
    y[0].mul_(2)
    return torch.cat([y, y.sin()]).sum(0).tolist()


def outer_backward():
    x = torch.linspace(-1, 1, 6, requires_grad=True)
    y = (x * 2).sin()
    y.register_hook(lambda g: g * 2)
    y[:2].mul_(3)
    (y * x).sum().backward()
    (again,) = torch.autograd.grad(((x**3).sum() * 2), x, create_graph=True)
    again.sum().backward()
    return x.grad.tolist()


def outer_checkpoint():
    x = torch.linspace(0, 1, 4, requires_grad=True)
    checkpoint(lambda t: (t.exp() * t).sum(), x, use_reentrant=False).backward()
    return x.grad.tolist()


def outer_pipeline():
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    with torch.pipeline():
        y = (x * 2).relu() + 1
        z = y[:, 1:]
        z.add_(1)
        early = y.sum().item()
        w = torch.where(y > 2, y, -y).sum(0)
    return [early, *w.tolist(), *z.reshape(-1).tolist()]


def outer_training():
    x = torch.linspace(-1, 1, 6).reshape(3, 2)
    w = torch.full((2, 2), 0.5, requires_grad=True)
    with torch.pipeline():
        for _ in range(2):
            loss = ((x @ w).tanh() - 1).square().mean()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
    return w.tolist()


OUTER = {
    "eager": outer_eager,
    "backward": outer_backward,
    "checkpoint": outer_checkpoint,
    "pipeline": outer_pipeline,
    "training": outer_training,
}


PAIRS = [
    (outer, inner)
    for outer in OUTER
    for inner in INNER
    # A checkpoint counts what its thread saves for backward, a handler's too, as in PyTorch.
    if (outer, inner) != ("checkpoint", "backward")
]


def state():
    return torch.is_grad_enabled(), MASKS.include, MASKS.keep, MASKS.blocked, len(ACTIVE)


class Places:
    """Calls something at every n-th place where Python would run a handler or a finalizer."""

    def __init__(self, inner, every, first):
        self.inner, self.every, self.left = inner, every, first
        self.made = []
        self.errors = []

    def seen(self, frame, event, arg):
        self.left -= 1
        if self.left > 0 or event not in ("call", "c_return"):
            return
        self.left = self.every
        sys.setprofile(None)
        try:
            self.made.append(self.inner())
        except Exception as error:  # noqa: BLE001 (whatever it is, the test shows it)
            self.errors.append(error)
        finally:
            sys.setprofile(self.seen)

    def during(self, outer):
        sys.setprofile(self.seen)
        try:
            return outer()
        finally:
            sys.setprofile(None)


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_at_every_place(outer, inner):
    """A profiling function stands for a handler, exactly, at about a hundred places of each program."""
    run, (call, expected) = OUTER[outer], INNER[inner]
    wanted, before = run(), state()
    call()
    count = Places(lambda: None, 1, 1)
    count.during(run)
    every = max(1, len(count.made) // 50)
    for first in (1, every // 2 + 1):
        places = Places(call, every, first)
        found = places.during(run)
        assert places.errors == []
        assert found == wanted
        assert len(places.made) >= 10
        assert all(made == expected for made in places.made)
        assert state() == before


@pytest.mark.parametrize(
    ("outer", "inner", "step"),
    [("pipeline", "forward", 1), ("pipeline", "pipeline", 1), ("training", "forward", 12)],
)
def test_at_each_place_of_a_block(outer, inner, step):
    """Once at every place: what only one of them upsets stays upset."""
    run, (call, expected) = OUTER[outer], INNER[inner]
    for _ in range(2):
        wanted = run()
        call()
    before, count = state(), Places(lambda: None, 1, 1)
    count.during(run)
    for first in range(1, len(count.made) + 1, step):
        places = Places(call, 10**9, first)
        assert places.during(run) == wanted
        assert places.errors == []
        assert places.made in ([expected], [])  # what is replayed has fewer places
        assert state() == before, first


def large_block(x):
    with torch.pipeline():
        y = (x * 2 + 1).exp()
        z = y.sum(1)
    return y + 1, z


def handler_of_large(x):
    with torch.pipeline():
        y = (x - 1).relu() * 3
        z = y.amax(1)
    return y + 1, z


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_where_a_lock_is_held():
    """What takes a lock may be called by a handler that comes while the lock is held."""
    planning = pytest.importorskip("mindtorch_cpu.fusion.planning", reason="wants the CPU backend")
    pool = importlib.import_module("mindtorch_cpu.memory_pool").Pool
    holders = {
        f.__code__: f.__qualname__ for f in (planning._Plans.get, planning._Plans.put, pool._take)
    }
    size, met = 700, []
    x = torch.ones(size, size)

    def fresh(f):
        """The same at a place of its own, where nothing is known."""
        return types.FunctionType(f.__code__.replace(), f.__globals__)

    def seen(frame, event, arg):
        name = holders.get(frame.f_code)
        if event == "c_return" and name and met.count(name) < 9:
            sys.setprofile(None)
            met.append(name)
            inner = fresh(handler_of_large)
            for _ in range(2):
                assert inner(x)[1][0].item() == 0
            sys.setprofile(seen)

    def waited(number, frame):
        raise TimeoutError("a lock is waited for by the thread that has it")

    old = signal.signal(signal.SIGALRM, waited)
    signal.setitimer(signal.ITIMER_REAL, 20)
    try:
        wanted = torch.exp(torch.tensor(3.0)).item()
        outer = fresh(large_block)
        for _ in range(5):
            sys.setprofile(seen)
            try:
                y, z = outer(x)
            finally:
                sys.setprofile(None)
            assert abs(y[0, 0].item() - wanted - 1) < 1e-4
            assert abs(z[0].item() / size - wanted) < 1e-4
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert {*met} == {*holders.values()}


class Runs:
    """Runs ops when it goes."""

    def __init__(self, call, made):
        self.call, self.made = call, made

    def __del__(self):
        self.made.append(self.call())


@pytest.fixture
def drops():
    """A custom op whose kernel drops something that runs ops when it goes, and so does its gradient."""
    held, made = [], []

    @torch.library.custom_op("reentry::drops", mutates_args=())
    def drops(x: torch.Tensor) -> torch.Tensor:
        held.clear()
        return x * 2

    @drops.register_fake
    def _(x):
        return torch.empty_like(x)

    def gradient(ctx, g):
        held.clear()
        return g * 2

    drops.register_autograd(gradient)
    yield drops, held, made
    drops._lib._destroy()


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("where", ["kernel", "launch", "backward", "hook"])
def test_inside_del(where, inner, drops):
    op, held, made = drops
    call, expected = INNER[inner]
    x = torch.tensor([1.0, -2.0], requires_grad=where in ("backward", "hook"))
    if where == "kernel":
        held.append(Runs(call, made))
        result = (op(x) + 1).tolist()
    elif where == "launch":
        with torch.pipeline():
            y = op(x + 0) + 1
            held.append(Runs(call, made))
            assert made == []
        result = y.tolist()
    else:
        y = op(x) + 1
        if where == "hook":
            y.register_hook(lambda g: held.clear())
        held.append(Runs(call, made))
        y.sum().backward()
        assert x.grad.tolist() == [2, 2]
        result = y.tolist()
    assert result == [3, -3]
    assert made == [expected]


@pytest.mark.parametrize("outer", OUTER)
def test_garbage_that_runs_ops(outer):
    """Cycles are collected in the middle of anything: at each tenth allocation here."""
    run, made = OUTER[outer], []
    wanted = run()
    frozen = gc.get_threshold()
    for _ in range(20):
        a, b = Runs(forward, made), Runs(deferred, made)
        a.other, b.other = b, a
        del a, b
        gc.set_threshold(10, 1, 1)
        try:
            assert run() == wanted
        finally:
            gc.set_threshold(*frozen)
    gc.collect()
    assert made.count(20.0) == made.count([2.0, 4.0, 8.0]) == 20


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_inside_a_signal_handler(outer, inner):
    """A timer's signals, each a moment after the last was handled.

    A thread that sends them comes too rarely: where the main one gives up the interpreter's lock for
    moments only, it takes it again before another can.
    """
    run, (call, expected) = OUTER[outer], INNER[inner]
    wanted, made, errors = run(), [], []
    before, moments = state(), random.Random(0)

    def handler(number, frame):
        try:
            made.append(call())
        except Exception as error:  # noqa: BLE001 (what is interrupted may swallow it)
            errors.append(error)
        finally:
            again()

    def again():
        signal.setitimer(signal.ITIMER_REAL, moments.uniform(1e-4, 2e-3))

    old = signal.signal(signal.SIGALRM, handler)
    try:
        end = time.monotonic() + 60  # of a machine that is at work, too
        again()
        while len(made) < 30 and not errors and time.monotonic() < end:
            assert run() == wanted
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # what runs now sets the timer again
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert errors == []
    assert len(made) >= 30
    assert all(each == expected for each in made)
    assert state() == before


def test_while_a_block_with_a_backward_pass_is_learnt():
    """A handler that has the block launched while its pass is described, which is done once."""
    inside = importlib.import_module("mindtorch_core.gradients.replayed").Walk.place.__code__
    made = []

    def seen(frame, event, arg):
        if frame.f_code is inside and event == "call":
            sys.setprofile(None)
            made.append(forward())
            sys.setprofile(seen)

    run = types.FunctionType(outer_training.__code__.replace(), globals())
    wanted = run()
    for _ in range(4):
        sys.setprofile(seen)
        try:
            assert run() == wanted
        finally:
            sys.setprofile(None)
    assert made == [20.0] * len(made)
    assert made
