"""Backends with faulty streams and events: the bare device with queues that nobody works off at once."""

import itertools
import threading
import time
from collections import defaultdict, deque

import numpy as np
from bare_backend.kernels import KERNELS, rule_of
from bare_backend.runtime import NUMPY, RUNTIME
from faults import kernel, mutant

import mindtorch_core as torch
from mindtorch_core.streams import Event, Stream


class Mark:
    """A place in a queue."""

    def __init__(self, number):
        self.number, self.passed, self.time = number, False, 0.0

    def pass_by(self):
        self.passed, self.time = True, time.perf_counter()


class Queues:
    """Additions are queued on the current stream; what else a stream gets works its queue off first."""

    def __init__(self):
        self.work = defaultdict(deque)
        self.numbers = itertools.count(1)
        self.lock = threading.RLock()

    def drain(self, number, mark=None):
        with self.lock:
            while self.work[number] and not (mark and mark.passed):
                self.work[number].popleft()()

    def drain_all(self, on=None):
        for number in list(self.work):
            self.drain(number)

    def push(self, number, job):
        with self.lock:
            self.work[number].append(job)

    def current(self):
        return RUNTIME.current_stream(torch.device("bare", 0)).stream_id

    def after(self, fn):
        def run(*args, **options):
            self.drain(self.current())
            return fn(*args, **options)

        return run

    def add(self, one, other, *, alpha=1):
        spec = rule_of("add")(one, other, alpha=alpha)
        if alpha != 1 or not spec.dtype.is_floating_point:
            return self.after(KERNELS["add"])(one, other, alpha=alpha)
        steps = spec.strides or torch.empty(spec.shape, device="meta").stride()
        out = torch.empty_strided(spec.shape, steps, dtype=spec.dtype, device=one.device)
        # The memory, not the handles.
        target, left, right = out.raw_data, one.raw_data, other.raw_data
        self.push(self.current(), lambda: np.copyto(target, left + right, casting="unsafe"))
        return out


def streamed(patch):
    """A device with streams and events, without a fault; gives its queues and its two classes."""
    queues = Queues()

    class BareStream(Stream):
        __slots__ = ()
        _family = "bare"

        @classmethod
        def _new_id(cls, on, priority):
            return next(queues.numbers)

        def _is_done(self):
            return not queues.work[self.stream_id]

        def _finish(self):
            queues.drain(self.stream_id)

    class BareEvent(Event):
        __slots__ = ("mark",)
        _family = "bare"

        def _record(self, stream):
            self.mark = Mark(stream.stream_id)
            queues.push(stream.stream_id, self.mark.pass_by)

        def _hold(self, stream):
            mark = self.mark
            queues.push(stream.stream_id, lambda: queues.drain(mark.number, mark))

        def _is_done(self):
            return self.mark.passed

        def _finish(self):
            queues.drain(self.mark.number, self.mark)

        def _milliseconds(self, end):
            return 1000 * (end.mark.time - self.mark.time)

    patch.setattr(RUNTIME, "_current", threading.local())  # another mutant's streams are in it
    patch.setattr(RUNTIME, "stream_type", BareStream)
    patch.setattr(RUNTIME, "event_type", BareEvent)
    patch.setattr(RUNTIME, "synchronize", queues.drain_all)
    for name in ("copy_to_host", "copy_from_host"):
        patch.setattr(RUNTIME, name, queues.after(getattr(RUNTIME, name)))
    kernel("add", queues.add)
    for name, fn in KERNELS.items():
        if name != "add":
            kernel(name, queues.after(fn))
    return queues, BareStream, BareEvent


def reusing(patch):
    """Memory is given out again when its handle goes, behind the streams that were noted for it."""
    queues, _, _ = streamed(patch)
    free, noted = defaultdict(list), defaultdict(set)

    class Block(np.ndarray):
        def __del__(self):
            if getattr(self, "mine", False):
                free[self.nbytes].append(self.base)

    right = RUNTIME.allocate

    def allocate(nbytes, on):
        try:
            old = free[nbytes].pop()
        except IndexError:
            old = right(nbytes, on)
        # The current stream too: other threads have the same one, and most kernels here do not
        # stand in its queue, so they could come before what is left of the last owner's work.
        for number in noted.pop(id(old), ()):
            queues.drain(number)
        noted[id(old)].add(queues.current())
        handle = old.view(Block)
        handle.mine = True
        return handle

    def payload(storage, shape, strides, offset, d):
        kind = NUMPY[d]
        if 0 in shape:
            return np.empty(shape, kind)
        steps = [s * kind.itemsize for s in strides]
        return np.ndarray(shape, kind, storage.memory.base, offset * kind.itemsize, steps)

    def record_stream(storage, stream):
        noted[id(storage.memory.base)].add(stream.stream_id)

    patch.setattr(RUNTIME, "allocate", allocate)
    patch.setattr(RUNTIME, "payload", payload)
    patch.setattr(RUNTIME, "record_stream", record_stream)


@mutant("does not wait: work is left on|does not wait: events", test_synchronize=())
def synchronize_does_not_wait(patch):
    streamed(patch)
    patch.setattr(RUNTIME, "synchronize", lambda on=None: None)


@mutant("does not wait: work is left on", test_synchronize=())
def synchronize_forgets_other_streams(patch):
    queues, _, _ = streamed(patch)
    patch.setattr(RUNTIME, "synchronize", lambda on=None: queues.drain(queues.current()))


@mutant("says that work is left", test_default_stream=())
def waiting_for_a_stream_returns_at_once(patch):
    _, stream, _ = streamed(patch)
    stream._finish = lambda self: None


@mutant("a stream says that it is done before", test_events_order_streams=())
def a_stream_is_always_done(patch):
    _, stream, _ = streamed(patch)
    stream._is_done = lambda self: True


@mutant("does not begin on the default stream", test_default_stream=())
def every_stream_is_the_default_one(patch):
    _, stream, _ = streamed(patch)
    patch.setattr(RUNTIME, "default_stream", stream)


@mutant("two streams are one", test_streams=())
def two_streams_are_one(patch):
    _, stream, _ = streamed(patch)
    stream._new_id = classmethod(lambda cls, on, priority: 1)


@mutant(
    "which another thread has set|another thread changed", test_threads_have_a_current_stream=()
)
def current_stream_shared_by_threads(patch):
    streamed(patch)
    current = [RUNTIME.default_stream(torch.device("bare", 0))]
    patch.setattr(RUNTIME, "current_stream", lambda on: current[0])
    patch.setattr(RUNTIME, "set_stream", lambda stream: current.__setitem__(0, stream))


@mutant(
    "one stream does not wait for another|does not wait for an event",
    test_streams=(),
    test_events_order_streams=(),
)
def events_hold_nobody(patch):
    _, _, event = streamed(patch)
    event._hold = lambda self, stream: None


@mutant(
    "returned too early|while work before it is left", test_events=(), test_events_order_streams=()
)
def waiting_for_an_event_returns_at_once(patch):
    _, _, event = streamed(patch)
    event._finish = lambda self: None


@mutant("passed while work is left", test_events_order_streams=())
def an_event_is_always_passed(patch):
    _, _, event = streamed(patch)
    event._is_done = lambda self: True


@mutant("from memory that was reused", test_memory_on_two_streams=())
def other_streams_not_noted(patch):
    reusing(patch)
    patch.setattr(RUNTIME, "record_stream", lambda storage, stream: None)
