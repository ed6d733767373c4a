"""Dispatching while other threads register: every call sees one state of the registry, never a mix.

Masks belong to one thread. A call whose kernel is already in the op's table takes no lock.
"""

import contextlib
import itertools
import random
import sys
import threading
import time

import pytest

import mindtorch_core as torch
from mindtorch_core.dispatch.calls.fronts import make_front
from mindtorch_core.dispatch.choice import choose
from mindtorch_core.dispatch.dispatcher import dispatch, dispatch_with_keyset
from mindtorch_core.dispatch.keys import (
    ACTIVE,
    DispatchKey,
    apply_tls_masks,
    exclude_keys,
    include_keys,
)
from mindtorch_core.dispatch.registry import Registration, registry

CPU = DispatchKey.CPU
OP = "threads_test::op"
ROUNDS = 5
CALLS, FLIPS = 60_000, 1500


@pytest.fixture(autouse=True)
def scope():
    with registry.scope():
        yield


@pytest.fixture(autouse=True)
def switch_often():
    """Let threads take turns after every few bytecodes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_all(*targets):
    """Run functions in a thread each until all have ended; the first exception is raised here."""
    failures = []

    def guarded(target):
        try:
            target()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(t,)) for t in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


class Others:
    """Whether threads of the one kind are still at work: those of the other kind go on until then.

    Args:
        count: how many threads say ``with others``.
    """

    def __init__(self, count):
        self.running = [True] * count

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.pop()

    def __bool__(self):
        return bool(self.running)


def answer(call):
    """What a call returns, or that it has no kernel."""
    try:
        return call()
    except torch.NoKernelError:
        return "refused"


# ---- every call sees one state ------------------------------------------------------------------


def kernel(name):
    return lambda *args: name


# What is registered and removed over and over, each by a thread of its own.
SWITCHES = (
    lambda: registry.register_kernel(OP, CPU, kernel("cpu")),
    lambda: registry.register_kernel(OP, "Autograd", kernel("autograd")),
    lambda: registry.register_kernel(OP, "CompositeImplicitAutograd", kernel("implicit")),
    lambda: registry.register_kernel(OP, "CompositeExplicitAutograd", kernel("explicit")),
    lambda: registry.register_fallthrough(OP, "Functionalize"),
    lambda: registry.register_fallback("PrivateUse3", kernel("fallback")),
)


class Switch:
    """A registration that is on or off; changes are written to a log when they begin and end."""

    def __init__(self, number, make, log):
        self.number, self.make, self.log = number, make, log
        self.handle = None

    def flip(self):
        self.log.append(self.number)
        if self.handle is None:
            self.handle = self.make()
        else:
            self.handle = self.handle.remove()
        self.log.append(self.number)

    def set(self, wanted):
        if wanted != (self.handle is not None):
            self.flip()


def calls():
    """Calls by several ways in, each with a name."""
    plain, tracked = torch.ones(2), torch.ones(2).requires_grad_()
    entry = registry.entry(OP)
    front = make_front(entry, torch.Tensor)
    return {
        "front": lambda: front(plain),
        "front, tracked": lambda: front(tracked),
        "dispatch": lambda: dispatch(OP, None, tracked),
        "functionalize": lambda: dispatch_with_keyset(
            OP, DispatchKey.Functionalize | CPU, None, plain
        ),
        "fallback": lambda: dispatch_with_keyset(OP, DispatchKey.PrivateUse3, None, plain),
        "undefined": lambda: dispatch_with_keyset(OP, 0, None, plain),
        "looked up": lambda: registry.get(OP) is entry,
        "rule at CPU": lambda: choose(entry, CPU).rule,
        "rule at AutogradCPU": lambda: choose(entry, DispatchKey.AutogradCPU).rule,
    }


def possible(start, end, states, expected, name):
    """The answers that a state of the registry between two places of the log allows."""
    found = set()
    for at in range(start, end + 1):
        options = [
            {False: (False,), True: (True,), None: (False, True)}[state] for state in states[at]
        ]
        found |= {expected[combination][name] for combination in itertools.product(*options)}
    return found


def replayed(log):
    """The state of each switch after each entry of the log: on, off, or None while it changes."""
    state = [False] * len(SWITCHES)
    changing = [False] * len(SWITCHES)
    states = [tuple(state)]
    for number in log:
        if changing[number]:
            state[number] = not state[number]
        changing[number] = not changing[number]
        states.append(tuple(None if c else s for s, c in zip(state, changing, strict=True)))
    return states


def test_every_call_answers_as_some_state_of_the_registry_says():
    registry.register_schema(OP, "op(Tensor x) -> str")
    registry.register_kernel(OP, "Functionalize", kernel("functionalize"))
    log, seen = [], []
    switches = [Switch(number, make, log) for number, make in enumerate(SWITCHES)]
    ways = calls()

    expected = {}
    for combination in itertools.product((False, True), repeat=len(SWITCHES)):
        for switch, wanted in zip(switches, combination, strict=True):
            switch.set(wanted)
        expected[combination] = {name: answer(way) for name, way in ways.items()}
    for switch in switches:
        switch.set(False)
    log.clear()
    callers = Others(3)

    def flipping(switch):
        def run():
            shuffled = random.Random(switch.number)
            while callers:
                switch.flip()
                time.sleep(shuffled.choice((0, 0, 1e-4)))  # some calls see no change

        return run

    def calling():
        with callers:
            while len(seen) < CALLS or len(log) < FLIPS:
                for name, way in ways.items():
                    start = len(log)
                    got = answer(way)
                    seen.append((start, len(log), name, got))

    run_all(*map(flipping, switches), calling, calling, calling)

    final = tuple(switch.handle is not None for switch in switches)
    settled = {name: answer(way) for name, way in ways.items()}
    for switch in switches:
        switch.set(False)
    assert settled == expected[final]
    states = replayed(log)
    for start, end, name, got in seen:
        assert got in possible(start, end, states, expected, name), name


def test_a_registration_is_seen_by_the_next_call_in_another_thread():
    registry.register_kernel(OP, CPU, kernel("first"))
    turn, seen = threading.Barrier(2, timeout=60), []

    def registering():
        for _ in range(50):
            handle = registry.register_kernel(OP, CPU, kernel("second"))
            turn.wait()  # it is there
            turn.wait()  # it was called
            handle.remove()
            turn.wait()
            turn.wait()

    def calling():
        for _ in range(100):
            turn.wait()
            seen.append(dispatch_with_keyset(OP, CPU))
            turn.wait()

    run_all(registering, calling)
    assert seen == ["second", "first"] * 50


def test_what_is_registered_while_a_kernel_is_looked_for_is_taken_into_account(monkeypatch):
    registry.register_kernel(OP, CPU, kernel("old"))
    looked = []

    def wrapper(entry, below, resolve):
        """Stands for another thread: it registers after AutogradCPU and before CPU is looked at."""
        if not looked:
            looked.append(below)
            registry.register_kernel(OP, CPU, kernel("mixed"))
            registry.register_kernel(OP, DispatchKey.AutogradCPU, kernel("new"))

    monkeypatch.setitem(registry.wrappers, DispatchKey.Functionalize, wrapper)
    mask = DispatchKey.AutogradCPU | DispatchKey.Functionalize | CPU
    assert dispatch_with_keyset(OP, mask) == "new"
    assert looked == [CPU]


def test_what_is_registered_while_a_kernel_runs_for_the_first_time_holds_for_the_next_call():
    def first():
        registry.register_kernel(OP, CPU, kernel("second"))
        return "first"

    registry.register_kernel(OP, CPU, first)
    assert [dispatch_with_keyset(OP, CPU) for _ in range(3)] == ["first", "second", "second"]


# ---- nothing is lost ----------------------------------------------------------------------------


def test_registrations_at_one_key_from_many_threads_are_all_kept_and_all_removed():
    kept = []

    def registering(name):
        def run():
            for _ in range(100):
                registry.register_kernel(OP, CPU, kernel("gone")).remove()
                kept.append((name, registry.register_kernel(OP, CPU, kernel(name))))

        return run

    run_all(*map(registering, "abcd"))
    assert len(registry.get(OP).records[CPU]) == len(kept) == 400
    for _, handle in random.Random(0).sample(kept, len(kept)):
        assert dispatch_with_keyset(OP, CPU) in "abcd"
        handle.remove()
    assert OP not in registry


def test_a_handle_that_two_threads_remove_is_undone_once():
    for _ in range(100):
        undone = []
        handle = Registration(lambda: undone.append(True))
        run_all(handle.remove, handle.remove)
        assert undone == [True]


def test_ops_that_come_and_go_do_not_disturb_who_looks_them_up():
    names = [f"{OP}{n}" for n in range(20)]
    known = {entry.name for entry in registry}
    lookers = Others(2)

    def coming_and_going(seed):
        def run():
            shuffled = random.Random(seed)
            while lookers:
                with registry.scope():
                    for name in shuffled.sample(names, 5):
                        registry.register_schema(name, f"{name.partition('::')[2]}() -> str")
                        registry.register_kernel(name, "CompositeExplicitAutograd", kernel(name))

        return run

    def failing():
        while lookers:
            with contextlib.suppress(ZeroDivisionError), registry.transaction():
                for name in names:
                    registry.register_kernel(name, CPU, kernel(name))
                raise ZeroDivisionError

    def looked_up(name):
        try:
            assert registry.get(name).name == name
            return dispatch(name)
        except torch.NoKernelError:
            return "refused"
        except RuntimeError as error:
            if "Could not find an operator" not in str(error):
                raise
            return "unknown"

    def looking():
        with lookers:
            for _ in range(ROUNDS):
                for name in names:
                    assert looked_up(name) in (name, "refused", "unknown")
                assert known <= {entry.name for entry in registry}

    run_all(coming_and_going(1), coming_and_going(2), failing, looking, looking)
    assert {entry.name for entry in registry} == known


# ---- masks --------------------------------------------------------------------------------------

KEYS = (DispatchKey.Python, DispatchKey.Functionalize, DispatchKey.Meta, CPU, DispatchKey.NPU)


def test_a_new_thread_starts_with_the_default_masks():
    seen = []
    before = apply_tls_masks(CPU)
    with include_keys(DispatchKey.Python), exclude_keys(CPU):
        run_all(lambda: seen.append(apply_tls_masks(CPU)))
    assert seen == [before] == [CPU]


def test_each_thread_nests_its_own_masks_and_restores_them():
    meeting = threading.Barrier(4, timeout=60)
    before = len(ACTIVE)

    def nesting(seed):
        def descend(shuffled, depth, mask):
            """Masks of this depth hold while the other threads have theirs, and after an exception."""
            assert apply_tls_masks(CPU | DispatchKey.Meta) == mask
            if depth == 0:
                meeting.wait()
                assert apply_tls_masks(CPU | DispatchKey.Meta) == mask
                raise ZeroDivisionError
            key = shuffled.choice(KEYS)
            guard = shuffled.choice((include_keys, exclude_keys))
            with guard(key):
                inner = apply_tls_masks(CPU | DispatchKey.Meta)
                assert inner in (mask | key, mask, mask & ~key)
                try:
                    descend(shuffled, depth - 1, inner)
                finally:
                    assert apply_tls_masks(CPU | DispatchKey.Meta) == inner

        def run():
            shuffled = random.Random(seed)
            for _ in range(20):
                with pytest.raises(ZeroDivisionError):
                    descend(shuffled, 6, CPU | DispatchKey.Meta)
                assert apply_tls_masks(CPU | DispatchKey.Meta) == CPU | DispatchKey.Meta

        return run

    run_all(*map(nesting, range(4)))
    assert apply_tls_masks(CPU) == CPU
    assert len(ACTIVE) == before  # calls look at masks only while some thread has any


def test_masks_of_a_thread_do_not_change_another_threads_calls():
    for key in (CPU, DispatchKey.Python, DispatchKey.Functionalize):
        registry.register_kernel(OP, key, kernel(key.name))
    t = torch.ones(2)

    def including(key):
        def run():
            for _ in range(600):
                with include_keys(key):
                    assert dispatch(OP, None, t) == key.name
                assert dispatch(OP, None, t) == "CPU"

        return run

    def recording(wanted):
        def run():
            x = torch.ones(2).requires_grad_()
            for _ in range(600):
                with torch.set_grad_enabled(wanted):
                    assert (x * 2).requires_grad is wanted
                assert (x * 2).requires_grad

        return run

    run_all(
        including(DispatchKey.Python),
        including(DispatchKey.Functionalize),
        recording(True),
        recording(False),
    )


# ---- the lock -----------------------------------------------------------------------------------


def test_a_call_in_the_table_needs_no_lock():
    registry.register_schema(OP, "op(Tensor x) -> str")
    registry.register_kernel(OP, CPU, kernel("cpu"))
    front = make_front(registry.entry(OP), torch.Tensor)
    x = torch.ones(2)
    ways = (lambda: front(x), lambda: dispatch(OP, None, x), lambda: dispatch_with_keyset(OP, CPU))
    held, done, seen = threading.Event(), threading.Event(), []

    def holding():
        with registry._lock:
            held.set()
            done.wait(60)

    def calling():
        held.wait(60)
        seen.extend(way() for way in ways)
        seen.append((x + x).tolist())
        done.set()

    assert [way() for way in ways] == ["cpu"] * 3
    assert (x + x).tolist() == [2, 2]
    run_all(holding, calling)
    assert seen == ["cpu", "cpu", "cpu", [2, 2]]
