"""The threads that share out the calls of a kernel. They are the system's own, and never run Python.

A thread of Python that is woken waits for the interpreter's lock besides; these look at a word of memory for
some 25 microseconds after their last work, and sleep after that. One caller at a time is helped: another
one that comes meanwhile does its work alone, and so does a child of a fork until it asks for the first time.

All is one module of machine code, which stays in memory until the process ends: threads sleep in it. The
*state* is words of eight bytes: `_WORDS`, those that are written by several threads on a cache line each;
`_FIELDS`, which are written once; then a mutex, the conditions that there is work and that it is done, and a
set of all signals, which the threads leave to Python's.

A *job* lies on the stack of who asks. Each thread has a *place*, 0 that of who asks, and begins with a part
of the items that is the same in each job: it works on what it has in its own cache from one op in the next.
Then it helps the others with theirs. Items are counted from 0; item ``i`` is the call
``function(base + i * apart, i * step, min(i * step + step, limit), scratch + place * room)``. Where ``step``
is 0 an item is ``calls`` calls one after the other, whose second and third arguments lie before the words
that the first one points to. Bits of answers that are among ``answers`` are the job's.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import signal
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address
from ..workers import at_work
from . import compiler, store

__all__ = ["Pool", "pool", "threads_used"]

_WORDS: Final = ("busy", "job", "turn", "inside", "waiting", "asleep", "born")
_LINE: Final = 8  # words of a cache line
_FIELDS: Final = (
    "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_broadcast",
    "pthread_sigmask", "block",
)  # fmt: skip
_ROOM: Final = 16  # words of a mutex, a condition, a set of signals: glibc's, musl's and macOS' fit
_FIRST_FIELD: Final = _LINE * len(_WORDS)
_MUTEX: Final = _FIRST_FIELD + _LINE * -(-len(_FIELDS) // _LINE)
_WORK, _DONE, _SIGNALS = (_MUTEX + _ROOM * i for i in (1, 2, 3))
_SIZE: Final = _SIGNALS + _ROOM
# How often a thread looks before it sleeps: some 25 us, as other threads, such as BLAS's, may be waiting for
# the processor. It does not let them run between: it would get the processor back when all is long over.
_LOOKS: Final = 1000
# What tells a processor that a thread only looks, and what is called for that.
_PAUSES: Final = {
    "x86": ("llvm.x86.sse2.pause()", ""),
    "aarch64": ("llvm.aarch64.hint(i32)", "i32 1"),
}
# What a job is made of.
_JOB: Final = (
    "begun", "seats", "refused", "function", "base", "apart", "step", "limit", "scratch", "room",
    "answers", "calls", "count",
)  # fmt: skip
_SHARE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 11)


def _text() -> str:
    """LLVM's text of the module."""
    places = {name: _LINE * i for i, name in enumerate(_WORDS)}
    places |= {name: _FIRST_FIELD + i for i, name in enumerate(_FIELDS)}
    places |= {"mutex": _MUTEX, "work": _WORK, "done": _DONE, "signals": _SIGNALS}
    of_state = "\n".join(
        f"  %{name} = getelementptr i64, ptr %state, i64 {at}" for name, at in places.items()
    )
    of_job = "\n".join(
        f"  %{name}.p = getelementptr i64, ptr %own, i64 {i}" for i, name in enumerate(_JOB)
    )
    machine = {"x86_64": "x86", "AMD64": "x86", "arm64": "aarch64"}.get(platform.machine())
    name, given = _PAUSES.get(machine or platform.machine(), ("", ""))
    pause = name and f"call void @{name.partition('(')[0]}({given})"
    return "\n".join(
        [
            f"declare void @{name}" if name else "",
            _ENTRY.format(name=compiler.NAME),
            _ITEMS.format(of_job=of_job, line=_LINE),
            _LOOK.format(looks=_LOOKS, pause=pause),
            _SERVE.format(of_state=of_state),
            _SHARED.format(of_state=of_state, of_job=of_job, words=len(_JOB), line=_LINE),
            _PROBE,
            "attributes #0 = { nounwind }",
        ]
    )


# The module's first function tells where the others are.
_ENTRY: Final = """
define void @{name}(ptr %out) #0 {{
  store ptr @share, ptr %out
  %out.1 = getelementptr i64, ptr %out, i64 1
  store ptr @serve, ptr %out.1
  %out.2 = getelementptr i64, ptr %out, i64 2
  store ptr @probe, ptr %out.2
  ret void
}}"""

# Work on the items of a job, until there are no more.
_ITEMS: Final = """
define internal void @items(ptr %own, i64 %place) #0 {{
entry:
{of_job}
  %function = load ptr, ptr %function.p
  %base = load i64, ptr %base.p
  %apart = load i64, ptr %apart.p
  %step = load i64, ptr %step.p
  %limit = load i64, ptr %limit.p
  %count = load i64, ptr %count.p
  %answers = load i64, ptr %answers.p
  %calls = load i64, ptr %calls.p
  %first = load i64, ptr %scratch.p
  %room = load i64, ptr %room.p
  %offset = mul i64 %place, %room
  %scratch = add i64 %first, %offset
  %listed = icmp eq i64 %step, 0
  %begun = load ptr, ptr %begun.p
  %seats = load i64, ptr %seats.p
  %places = add i64 %seats, 1
  br label %part
part:
  %p = phi i64 [ 0, %entry ], [ %p.1, %done ]
  %p.own = add i64 %place, %p
  %whose = urem i64 %p.own, %places
  %whose.1 = add i64 %whose, 1
  %upto = mul i64 %count, %whose.1
  %bound = udiv i64 %upto, %places
  %line = mul i64 %whose, {line}
  %next.p = getelementptr i64, ptr %begun, i64 %line
  br label %next
next:
  %i = atomicrmw add ptr %next.p, i64 1 seq_cst
  %more = icmp slt i64 %i, %bound
  br i1 %more, label %which, label %done
done:
  %p.1 = add i64 %p, 1
  %p.more = icmp slt i64 %p.1, %places
  br i1 %p.more, label %part, label %end
which:
  br i1 %listed, label %list, label %call
call:
  %along = mul i64 %i, %apart
  %words = add i64 %base, %along
  %low = mul i64 %i, %step
  %above = add i64 %low, %step
  %last = icmp slt i64 %above, %limit
  %high = select i1 %last, i64 %above, i64 %limit
  %answer = call i64 %function(i64 %words, i64 %low, i64 %high, i64 %scratch)
  %told = and i64 %answer, %answers
  %other = atomicrmw or ptr %refused.p, i64 %told seq_cst
  br label %next
list:
  %from = mul i64 %i, %calls
  %to = add i64 %from, %calls
  br label %each
each:
  %c = phi i64 [ %from, %list ], [ %c.1, %each ]
  %c.along = mul i64 %c, %apart
  %c.place = add i64 %base, %c.along
  %c.p = inttoptr i64 %c.place to ptr
  %c.high.p = getelementptr i64, ptr %c.p, i64 1
  %c.low = load i64, ptr %c.p
  %c.high = load i64, ptr %c.high.p
  %c.words = add i64 %c.place, 16
  %c.answer = call i64 %function(i64 %c.words, i64 %c.low, i64 %c.high, i64 %scratch)
  %c.1 = add i64 %c, 1
  %c.more = icmp slt i64 %c.1, %to
  br i1 %c.more, label %each, label %next
end:
  ret void
}}"""

# Look at a word until it is another than what it was: 1 if it became so before long.
_LOOK: Final = """
define internal i1 @look(ptr %word, i64 %old) #0 {{
entry:
  br label %looks
looks:
  %l = phi i64 [ 0, %entry ], [ %l.1, %wait ]
  %now = load atomic i64, ptr %word seq_cst, align 8
  %same = icmp eq i64 %now, %old
  br i1 %same, label %wait, label %seen
wait:
  {pause}
  %l.1 = add i64 %l, 1
  %l.more = icmp ult i64 %l.1, {looks}
  br i1 %l.more, label %looks, label %vain
seen:
  ret i1 1
vain:
  ret i1 0
}}"""

# What a thread does: wait for another turn, help if so many are wanted, tell who waits when it is the last.
_SERVE: Final = """
define internal ptr @serve(ptr %state) #0 {{
entry:
{of_state}
  %mask = load ptr, ptr %pthread_sigmask
  %how.long = load i64, ptr %block
  %how = trunc i64 %how.long to i32
  %masked = call i32 %mask(i32 %how, ptr %signals, ptr null)
  %lock = load ptr, ptr %pthread_mutex_lock
  %unlock = load ptr, ptr %pthread_mutex_unlock
  %sleep = load ptr, ptr %pthread_cond_wait
  %wake = load ptr, ptr %pthread_cond_broadcast
  %elder = atomicrmw add ptr %born, i64 1 seq_cst
  %place = add i64 %elder, 1
  br label %begin
begin:
  %seen = phi i64 [ 0, %entry ], [ %now, %out ], [ %now, %tell ]
  %soon = call i1 @look(ptr %turn, i64 %seen)
  br i1 %soon, label %enter, label %bed
bed:
  %l1 = call i32 %lock(ptr %mutex)
  %a1 = atomicrmw add ptr %asleep, i64 1 seq_cst
  br label %dream
dream:
  %turn.is = load atomic i64, ptr %turn seq_cst, align 8
  %still = icmp eq i64 %turn.is, %seen
  br i1 %still, label %doze, label %rise
doze:
  %c1 = call i32 %sleep(ptr %work, ptr %mutex)
  br label %dream
rise:
  %a2 = atomicrmw sub ptr %asleep, i64 1 seq_cst
  %u1 = call i32 %unlock(ptr %mutex)
  br label %enter
enter:
  %i1 = atomicrmw add ptr %inside, i64 1 seq_cst
  %now = load atomic i64, ptr %turn seq_cst, align 8
  %own.raw = load atomic i64, ptr %job seq_cst, align 8
  %none = icmp eq i64 %own.raw, 0
  br i1 %none, label %leave, label %sit
sit:
  %own = inttoptr i64 %own.raw to ptr
  %seats.p = getelementptr i64, ptr %own, i64 1
  %seats = load i64, ptr %seats.p
  %wanted = icmp sle i64 %place, %seats
  br i1 %wanted, label %help, label %leave
help:
  call void @items(ptr %own, i64 %place)
  br label %leave
leave:
  %before = atomicrmw sub ptr %inside, i64 1 seq_cst
  %last = icmp eq i64 %before, 1
  %awaited.is = load atomic i64, ptr %waiting seq_cst, align 8
  %awaited = icmp ne i64 %awaited.is, 0
  %both = and i1 %last, %awaited
  br i1 %both, label %tell, label %out
tell:
  %l2 = call i32 %lock(ptr %mutex)
  %b2 = call i32 %wake(ptr %done)
  %u2 = call i32 %unlock(ptr %mutex)
  br label %begin
out:
  br label %begin
}}"""

# Do a job: with the others if nobody else asks them, and end when none of them is at it any more.
_SHARED: Final = """
define internal i64 @share(ptr %state, i64 %seats, i64 %function, i64 %base, i64 %apart, i64 %step,
                           i64 %limit, i64 %scratch, i64 %room, i64 %answers, i64 %calls) #0 {{
entry:
  %own = alloca [{words} x i64], align 64
{of_state}
{of_job}
  store i64 %seats, ptr %seats.p
  store i64 0, ptr %refused.p
  store i64 %function, ptr %function.p
  store i64 %base, ptr %base.p
  store i64 %apart, ptr %apart.p
  store i64 %step, ptr %step.p
  store i64 %limit, ptr %limit.p
  store i64 %scratch, ptr %scratch.p
  store i64 %room, ptr %room.p
  store i64 %answers, ptr %answers.p
  store i64 %calls, ptr %calls.p
  %listed = icmp eq i64 %step, 0
  %per = select i1 %listed, i64 1, i64 %step
  %rest = sub i64 %per, 1
  %full = add i64 %limit, %rest
  %count = sdiv i64 %full, %per
  store i64 %count, ptr %count.p
  %places = add i64 %seats, 1
  %words = mul i64 %places, {line}
  %begun = alloca i64, i64 %words, align 64
  store ptr %begun, ptr %begun.p
  br label %fill
fill:
  %p = phi i64 [ 0, %entry ], [ %p.1, %fill ]
  %p.items = mul i64 %count, %p
  %p.first = udiv i64 %p.items, %places
  %p.at = mul i64 %p, {line}
  %p.begun = getelementptr i64, ptr %begun, i64 %p.at
  store i64 %p.first, ptr %p.begun
  %p.1 = add i64 %p, 1
  %p.more = icmp slt i64 %p.1, %places
  br i1 %p.more, label %fill, label %filled
filled:
  %several = icmp sgt i64 %count, 1
  %helped = icmp sgt i64 %seats, 0
  %both = and i1 %several, %helped
  br i1 %both, label %ask, label %alone
ask:
  %swap = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst
  %mine = extractvalue {{ i64, i1 }} %swap, 1
  br i1 %mine, label %offer, label %alone
alone:
  call void @items(ptr %own, i64 0)
  br label %end
offer:
  %lock = load ptr, ptr %pthread_mutex_lock
  %unlock = load ptr, ptr %pthread_mutex_unlock
  %sleep = load ptr, ptr %pthread_cond_wait
  %wake = load ptr, ptr %pthread_cond_broadcast
  %own.raw = ptrtoint ptr %own to i64
  store atomic i64 %own.raw, ptr %job seq_cst, align 8
  %turn.is = atomicrmw add ptr %turn, i64 1 seq_cst
  %asleep.is = load atomic i64, ptr %asleep seq_cst, align 8
  %some = icmp ne i64 %asleep.is, 0
  br i1 %some, label %call, label %work.on
call:
  %l1 = call i32 %lock(ptr %mutex)
  %b1 = call i32 %wake(ptr %work)
  %u1 = call i32 %unlock(ptr %mutex)
  br label %work.on
work.on:
  call void @items(ptr %own, i64 0)
  store atomic i64 0, ptr %job seq_cst, align 8
  br label %wait
wait:
  %inside.is = load atomic i64, ptr %inside seq_cst, align 8
  %clear = icmp eq i64 %inside.is, 0
  br i1 %clear, label %settle, label %spin
spin:
  %changed = call i1 @look(ptr %inside, i64 %inside.is)
  br i1 %changed, label %wait, label %bed
bed:
  %l2 = call i32 %lock(ptr %mutex)
  store atomic i64 1, ptr %waiting seq_cst, align 8
  br label %dream
dream:
  %inside.now = load atomic i64, ptr %inside seq_cst, align 8
  %over = icmp eq i64 %inside.now, 0
  br i1 %over, label %rise, label %doze
doze:
  %c2 = call i32 %sleep(ptr %done, ptr %mutex)
  br label %dream
rise:
  store atomic i64 0, ptr %waiting seq_cst, align 8
  %u2 = call i32 %unlock(ptr %mutex)
  br label %settle
settle:
  store atomic i64 0, ptr %busy seq_cst, align 8
  br label %end
end:
  %refused = load atomic i64, ptr %refused.p seq_cst, align 8
  ret i64 %refused
}}"""

# An item that is looked at before others are trusted: it counts what it was called with.
_PROBE: Final = """
define internal i64 @probe(ptr %counts, i64 %low, i64 %high, i64 %scratch) #0 {
entry:
  br label %next
next:
  %i = phi i64 [ %low, %entry ], [ %i.1, %next ]
  %at = getelementptr i64, ptr %counts, i64 %i
  %old = atomicrmw add ptr %at, i64 1 seq_cst
  %i.1 = add i64 %i, 1
  %more = icmp slt i64 %i.1, %high
  br i1 %more, label %next, label %end
end:
  ret i64 -3
}"""


class Pool:
    """The threads of this process.

    Attributes:
        share: address of the function that does a job: ``share(state, seats, function, base, apart, step,
            limit, scratch, room, answers, calls)``, see above; ``seats`` are threads that may help.
        state: address of its first argument.
        size: threads that there are, about: two callers that come at once may each make one.
    """

    def __init__(self) -> None:
        key = f"pool-{compiler.fingerprint()}"
        loaded = compiler.loaded(store.kept(key, lambda: compiler.compiled(_text())))
        words = np.zeros(_SIZE + _LINE, np.int64)
        start = -(-address(words) // 64) * 64 - address(words)
        self._words = words[start // 8 :][:_SIZE]
        for kept in (loaded.owner, words):  # threads use both until the process ends
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        found = np.zeros(3, np.int64)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.address)(address(found))
        self.share, self._serve, self._probe = found.tolist()
        self.state = address(self._words)
        self._functions = {name: _function(name) for name in (*_FIELDS[:-1], *_MADE)}
        self._call: Any = _SHARE(self.share)
        self.begin()
        self._check()

    def begin(self) -> None:
        """Make the state of a process without threads: those of the parent do not exist in a child."""
        self.size = 0
        self._words[:] = 0
        values = [self._functions[name] for name in _FIELDS[:-1]] + [signal.SIG_BLOCK]
        self._words[_FIRST_FIELD : _FIRST_FIELD + len(_FIELDS)] = values
        self._words[_SIGNALS:] = -1
        for make, *places in (("pthread_mutex_init", _MUTEX), ("pthread_cond_init", _WORK, _DONE)):
            for place in places:
                _INIT(self._functions[make])(self.state + 8 * place, None)

    def _check(self) -> None:
        counts = np.zeros(1000, np.int64)
        own = self._call(
            self.state, self._grown(1), self._probe, address(counts), 0, 7, 1000, 0, 0, 5, 1
        )
        if own != 5 or set(counts.tolist()) != {1}:
            raise RuntimeError("the pool of threads does not do all items once")

    def _grown(self, seats: int) -> int:
        while self.size < seats:
            made = (ctypes.c_int64 * 2)()
            create = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(
                self._functions["pthread_create"]
            )
            if create(ctypes.addressof(made), None, self._serve, self.state):
                break  # the system gives no more
            self.size += 1
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(self._functions["pthread_detach"])(
                made[0]
            )
        return seats

    def seats(self) -> int:
        """How many threads may help the one that calls; they are there then, if the system gives them."""
        count = 0 if at_work() else get_num_threads() - 1
        return count if count <= self.size else self._grown(count)

    def run(
        self, seats: int, function: int, base: int, apart: int, step: int, limit: int, *, scratch: int = 0,
        room: int = 0, answers: int = 0, calls: int = 1,
    ) -> int:  # fmt: skip
        """Do a job. The interpreter's lock is released.

        Args:
            seats: how many threads may help.
            function: address of what is called for each item.
            base: its first argument, of item 0.
            apart: bytes from that of an item to the next one's.
            step: its second and third are multiples of it; 0 if they lie before the words of each call.
            limit: how far these multiples go; the number of items if there are none.
            scratch: its fourth, of the calling thread.
            room: bytes from there to that of the next thread.
            answers: which bits of the answers count.
            calls: of an item, if ``step`` is 0.

        Returns:
            All bits of the answers that count and that some item gave.
        """
        found: int = self._call(
            self.state, seats, function, base, apart, step, limit, scratch, room, answers,
            calls,
        )  # fmt: skip
        return found


_MADE: Final = ("pthread_create", "pthread_detach", "pthread_mutex_init", "pthread_cond_init")
_INIT: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def _function(name: str) -> int:
    return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0


@functools.cache
def _pool() -> Pool | str:
    if os.name != "posix":
        return "the system has no threads of POSIX"
    reason = compiler.ready()
    if reason is not None:
        return reason
    try:
        made = Pool()
    except (OSError, AttributeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    os.register_at_fork(after_in_child=made.begin)
    return made


def pool() -> Pool | None:
    """The pool of this process; None where there can be none, and threads of Python do the work."""
    found = _pool()
    return None if isinstance(found, str) else found


def threads_used() -> str:
    """How many threads kernels run in, for reports: the system's, or Python's and why."""
    found = _pool()
    whose = f"Python's ({found})" if isinstance(found, str) else "the system's own"
    return f"{get_num_threads()}, {whose}"
