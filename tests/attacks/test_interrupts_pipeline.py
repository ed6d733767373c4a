"""Interrupts at any instant: nothing is lost in silence, nothing is silently wrong.

Whatever an interrupt comes upon, every tensor afterwards has the value that the program gives it, or
says in a `PipelineError` why it has none, and the thread is as it was. Programs are interrupted at
every instant at which an interpreter looks for signals (where a function is entered, and where one of
C returns), and by a timer. ``ATTACK_SECONDS`` says for how long each program is attacked.
"""

import contextlib
import gc
import itertools
import os
import random
import signal
import sys
import threading
import time

import pytest

import mindtorch_core as torch
from mindtorch_core.deferred.replay.sites import Site
from mindtorch_core.dispatch import current_pipeline
from mindtorch_core.dispatch.keys import ACTIVE, MASKS, PROCESS_INCLUDE
from mindtorch_core.values.devices import row_of
from mindtorch_cpu.fusion.limits import LIMITS

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("ATTACK_SECONDS", "1.5"))


# ---- programs: each gives names to values, and writes into `w` ----------------------------------


def eager(x, w, out):
    out["a"] = a = x * 2
    w.add_(a)
    out["b"] = b = (w - 1).relu()
    out["c"] = torch.cat([a, b]).sum()


def block(x, w, out):
    with torch.pipeline():
        out["a"] = a = x * 2
        out["b"] = b = (a + 1).relu()
        w.add_(b)
        out["view"] = v = w.view(2, -1)
        out["sums"] = v.sum(0)
        out["both"] = torch.cat([a, w])
        unseen = a.exp()
        del unseen


def nested(x, w, out):
    with torch.pipeline():
        out["a"] = a = x * 2
        with torch.pipeline():
            out["b"] = b = a + 1
            w.mul_(2)
            out["c"] = w + b
        out["d"] = d = w + 1
        w.add_(1)
        out["e"] = (d * w).sum()


def looking_inside(x, w, out):
    with torch.pipeline() as pipe:
        out["a"] = a = x * 2
        w.add_(a)
        out["b"] = w * 1
        out["c"] = torch.full((), a.sum().item())
        out["d"] = c = w - a
        pipe.flush()
        w.sub_(1)
        out["e"] = w * c


def traced(x, w, out):
    with torch.pipeline(trace=True) as pipe:
        out["a"] = a = x * 2
        w.add_(a)
        out["b"] = (w * 1).exp()
    str(pipe.graph)


def breaking_off(x, w, out):
    with torch.pipeline(max_ops=3):
        out["a"] = a = x * 2
        out["found"] = found = a.nonzero()
        w.mul_(a)
        out["b"] = w + 1
        out["c"] = b = out["b"] * found.shape[0]
        out["d"] = b.view(2, -1).amax(1)


PROGRAMS = [eager, block, nested, looking_inside, traced, breaking_off]


def operands():
    return torch.arange(8.0) - 2, torch.ones(8)


def values(program):
    """What the names have at the end, and all that ``w`` has one line after the other."""
    x, w = operands()
    out, seen = {}, []

    def look(frame, event, arg):
        if frame.f_code is program.__code__:
            seen.append(w.tolist())
            return look
        return None

    before = sys.gettrace()
    sys.settrace(look)
    try:
        program(x, w, out)
    finally:
        sys.settrace(before)
    return {name: t.tolist() for name, t in out.items()}, [*seen, w.tolist(), "lost"]


# ---- what has to hold ---------------------------------------------------------------------------


class Interrupted(BaseException):
    """Like KeyboardInterrupt and SystemExit, no `Exception`."""


def value_of(t):
    """What a tensor holds, or that it was lost, if the error says why."""
    try:
        return t.tolist()
    except torch.PipelineError as error:
        return "lost" if isinstance(error.__cause__, Interrupted) else str(error)


def check(out, x, w, wanted, at):
    assert (MASKS.include, MASKS.keep) == (0, -1), at
    assert torch.is_grad_enabled(), at
    assert current_pipeline() is None, at
    finals, stages = wanted
    names = [*out]
    random.Random(len(names)).shuffle(names)
    for name in names:
        assert value_of(out[name]) in ("lost", finals[name]), (at, name)
    assert x.tolist() == operands()[0].tolist(), at
    assert value_of(w) in stages, at


def check_nothing_is_left(at):
    """Once the values are gone, calls are as fast as ever, and pipelines work."""
    gc.collect()
    torch.ones(1) + 1
    assert (ACTIVE, PROCESS_INCLUDE) == ([], [0]), at
    with torch.pipeline() as pipe:
        y = torch.ones(2) * 3
        assert y._pending, at
    assert (y.tolist(), pipe.stats()["pending"]) == ([3, 3], 0), at


# ---- at every instant ---------------------------------------------------------------------------


class Instants:
    """Raises at one of the instants at which mindtorch can be interrupted; counts them."""

    def __init__(self, number):
        self.number = number
        self.passed = 0
        self.place = None

    def __call__(self, frame, event, arg):
        if event not in ("call", "c_return"):
            return
        name = frame.f_globals.get("__name__") or ""
        if name.startswith("mindtorch"):
            self.passed += 1
            if self.passed == self.number:
                self.place = f"{name}.{frame.f_code.co_name}:{frame.f_lineno} {event}"
                sys.setprofile(None)
                raise Interrupted


def attacked(program, number, wanted):
    """Whether the program has so many instants; it is interrupted there, and all is checked."""
    x, w = operands()
    out = {}
    instants = Instants(number)
    hook, sys.unraisablehook = (
        sys.unraisablehook,
        lambda told: None,
    )  # pytest's keeps the frames, and so operands
    with contextlib.suppress(Interrupted):
        sys.setprofile(instants)
        try:
            program(x, w, out)
        finally:
            sys.setprofile(None)
            sys.unraisablehook = hook
    check(out, x, w, wanted, instants.place)
    out.clear()
    del x, w
    check_nothing_is_left(instants.place)
    return instants.place is not None


@pytest.fixture(params=["small", "planned"])
def size(request, monkeypatch):
    """Whether the CPU plans what is recorded, and shares it out among threads."""
    torch.ones(1)
    if request.param == "planned":
        monkeypatch.setattr(row_of("cpu").runtime, "planned_from", 1)
        monkeypatch.setattr(LIMITS, "min_elements", 2)
        monkeypatch.setattr(LIMITS, "tile_elements", 2)
        threads = torch.get_num_threads()
        torch.set_num_threads(2)
        yield request.param
        torch.set_num_threads(threads)
    else:
        yield request.param


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_at_every_instant(program, size):
    wanted = values(program)
    end = time.monotonic() + SECONDS
    # In steps that meet every instant sooner or later, so that time runs out anywhere.
    for start, step in ((s, 17) for s in range(1, 18)):
        for number in itertools.count(start, step):
            if time.monotonic() > end or not attacked(program, number, wanted):
                break


# ---- by a timer ---------------------------------------------------------------------------------


@pytest.mark.skipif(
    not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread, where there are timers",
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_by_a_timer(program, kind, size):
    class Kind(Interrupted, kind):
        """One of those that programs meet."""

    armed = []

    def handler(number, frame):
        if armed:
            armed.clear()
            raise Kind

    wanted = values(program)
    chance = random.Random(0)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        start = time.perf_counter()
        program(*operands(), {})
        usual = time.perf_counter() - start
        end = time.monotonic() + SECONDS / 6
        while time.monotonic() < end:
            x, w = operands()
            out = {}
            with contextlib.suppress(Kind):
                armed.append(True)
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, usual * 1.2))
                try:
                    program(x, w, out)
                finally:
                    armed.clear()
            check(out, x, w, wanted, "by a timer")
            out.clear()
            del x, w
            check_nothing_is_left("by a timer")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- a block that is replayed, and fails --------------------------------------------------------


def writing(x, w, out, at):
    out["a"] = a = x * 2
    out["b"] = b = a[at]
    w.add_(a)
    out["c"] = b + 1
    out["d"] = w * 3


def making(x, w, out, at):
    out["a"] = a = x * 2
    out["b"] = b = a[at]
    out["c"] = b + 1
    out["d"] = a * 3


def replayed(body, instants=None):
    """What a block leaves that is replayed, and whose index is out of bounds then."""
    x, w = operands()
    out, site = {}, Site(body)
    for last in (False, False, False, True):
        pipe = torch.pipeline()
        pipe.place = site
        at = torch.tensor([1, 90 if last else 0])
        into = (w, out) if last else (torch.ones(8), {})
        if last:
            sys.setprofile(instants)
        with contextlib.suppress(torch.PipelineError):
            try:
                with pipe:
                    body(x, *into, at)
            finally:
                sys.setprofile(None)
    return w, out


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("body", [writing, making], ids=lambda f: f.__name__)
def test_where_a_replayed_block_fails(body):
    w, out = replayed(body)
    wanted = {name: value_of(t) for name, t in out.items()}
    assert "out of bounds" in wanted["b"]
    assert wanted["d"][0] == (-9 if body is writing else -12)
    stages = [operands()[1].tolist(), value_of(w), "lost"]
    end = time.monotonic() + 4 * SECONDS
    for number in itertools.chain(range(1, 300), range(300, 2000, 13)):  # the first are the block's
        instants = Instants(number)
        hook, sys.unraisablehook = sys.unraisablehook, lambda told: None
        try:
            w, out = replayed(body, instants)
        except Interrupted as error:
            frame = error.__traceback__.tb_next.tb_frame
            w, out = frame.f_locals["w"], frame.f_locals["out"]
            del frame
        finally:
            sys.unraisablehook = hook
        for name, t in out.items():
            assert value_of(t) in ("lost", wanted[name]), (instants.place, name)
        assert value_of(w) in stages, instants.place
        if time.monotonic() > end:
            break
