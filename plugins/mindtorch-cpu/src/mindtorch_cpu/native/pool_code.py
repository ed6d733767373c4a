"""The machine code of `pool`: a module that stays in memory until the process ends, as threads sleep in it.

The *state* is words of eight bytes: `_WORDS`, those that are written by several threads on a cache line each;
`FIELDS`, which are written once; then a mutex, the conditions that there is work and that it is done, and a
set of all signals, which the threads leave to Python's.

A *job* lies on the stack of who asks. Each thread has a *place*, 0 that of who asks, and begins with a part
of the items that is the same in each job: it works on what it has in its own cache from one op in the next.
Then it helps the others with theirs. Items are counted from 0; item ``i`` is the call
``function(base + i * apart, i * step, min(i * step + step, limit), scratch + place * room)``. Where ``step``
is 0 an item is ``calls`` calls one after the other, whose second and third arguments lie before the words
that the first one points to. Bits of answers that are among ``answers`` are the job's.
"""

from __future__ import annotations

import platform
from typing import Final

from . import compiler

__all__ = [
    "DONE",
    "FIELDS",
    "FIRST_FIELD",
    "LINE",
    "MUTEX",
    "SIGNALS",
    "SIZE",
    "WORK",
    "text_of_pool",
]

_WORDS: Final = ("busy", "job", "turn", "inside", "waiting", "asleep", "born")
LINE: Final = 8  # words of a cache line
FIELDS: Final = (
    "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_broadcast",
    "pthread_sigmask", "block",
)  # fmt: skip
_ROOM: Final = 16  # words of a mutex, a condition, a set of signals: glibc's, musl's and macOS' fit
FIRST_FIELD: Final = LINE * len(_WORDS)
MUTEX: Final = FIRST_FIELD + LINE * -(-len(FIELDS) // LINE)
WORK, DONE, SIGNALS = (MUTEX + _ROOM * i for i in (1, 2, 3))
SIZE: Final = SIGNALS + _ROOM
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


def text_of_pool() -> str:
    """LLVM's text of the module."""
    places = {name: LINE * i for i, name in enumerate(_WORDS)}
    places |= {name: FIRST_FIELD + i for i, name in enumerate(FIELDS)}
    places |= {"mutex": MUTEX, "work": WORK, "done": DONE, "signals": SIGNALS}
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
            _ITEMS.format(of_job=of_job, line=LINE),
            _LOOK.format(looks=_LOOKS, pause=pause),
            _SERVE.format(of_state=of_state),
            _SHARED.format(of_state=of_state, of_job=of_job, words=len(_JOB), line=LINE),
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
