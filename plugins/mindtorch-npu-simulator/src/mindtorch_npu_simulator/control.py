"""Steering and questioning the simulator, from tests.

The functions act on the libraries that the process uses: those of `ASCEND_TOOLKIT_HOME` (or
`ASCEND_HOME_PATH`) if it is set, otherwise those of this package.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict, cast

from . import toolkit_root

__all__ = [
    "Counters",
    "Event",
    "Fault",
    "Finding",
    "Memory",
    "ObjectCount",
    "clear_faults",
    "counters",
    "faults",
    "findings",
    "held",
    "inject",
    "latency",
    "live",
    "log",
    "reset",
    "root",
    "set_memory_limit",
]


class Finding(TypedDict):
    """Something that the watcher reported."""

    kind: str
    text: str


class Event(TypedDict):
    """A line of the event log.

    `kind` is call, fault, queue, run, done, sync or finding; `stream` is 0 where there is none.
    """

    us: int
    thread: int
    kind: str
    name: str
    stream: int
    code: int


class Fault(TypedDict):
    """A rule of `inject`, with how many calls it saw and how often it acted."""

    name: str
    nth: int
    code: int
    seen: int
    fired: int


class ObjectCount(TypedDict):
    """How many objects of a kind live, and how many were ever made."""

    live: int
    made: int


class Memory(TypedDict):
    """What is allocated at this moment."""

    blocks: int
    bytes: int
    pinned_bytes: int


class Counters(TypedDict):
    """Numbers since the last `reset` (objects and memory: at this moment)."""

    calls: dict[str, int]
    launches: int
    copies: int
    synchronizations: int
    objects: dict[str, ObjectCount]
    memory: Memory
    findings: int


def root() -> Path:
    """Return the root of the toolkit that is steered."""
    named = os.environ.get("ASCEND_TOOLKIT_HOME") or os.environ.get("ASCEND_HOME_PATH")
    return Path(named) if named else toolkit_root()


@functools.cache
def _library() -> ctypes.CDLL:
    path = root() / "lib64" / "libascendcl.so"
    library = ctypes.CDLL(str(path))
    if not hasattr(library, "simCounters"):
        raise RuntimeError(f"{path} is not the simulator's library: a real card cannot be steered")
    text, number = ctypes.c_char_p, ctypes.c_int32
    prototypes: dict[str, tuple[type | None, list[type]]] = {
        "simInject": (text, [text]),
        "simClearFaults": (None, []),
        "simFaults": (text, []),
        "simLatency": (text, [text]),
        "simHold": (None, [text]),
        "simFindings": (text, [number]),
        "simLog": (text, [number]),
        "simCounters": (text, []),
        "simReset": (None, []),
        "simSetMemoryLimit": (None, [number, ctypes.c_uint64]),
    }
    for name, (result, arguments) in prototypes.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _rules(text: str, problem: bytes | None) -> None:
    if problem is not None:
        raise ValueError(f"{text!r}: {problem.decode()}")


def inject(rules: str) -> None:
    """Make calls or kernels fail.

    Args:
        rules: separated by commas: "aclrtMalloc:3=207001" (the third call from now on returns the
            code), "aclnnAdd:*=561000" (every call), "kernel:aclnnAdd:1=507015" (the next such
            kernel fails on its stream). `*` as the name means any.

    Raises:
        ValueError: a rule is not understood; none is taken then.
    """
    _rules(rules, _library().simInject(rules.encode()))


def clear_faults() -> None:
    """Drop all rules of `inject`."""
    _library().simClearFaults()


def faults() -> list[Fault]:
    """Return the rules, with what became of them."""
    return cast("list[Fault]", json.loads(_library().simFaults()))


def latency(delays: str) -> None:
    """Make kernels or calls take longer.

    Args:
        delays: microseconds, separated by commas: "50" (each kernel and copy of a stream),
            "aclrtMalloc=20" (each call), "kernel:aclnnAdd=100". Replaces what was set before; an
            empty text removes all.
    """
    _rules(delays, _library().simLatency(delays.encode()))


@contextmanager
def held(tasks: str = "*") -> Iterator[None]:
    """Hold tasks of streams back: within the block they, and what is queued behind them, do not run.

    A task that is held has left its queue: the log says that it runs. It goes on when the block
    ends, or when its stream is aborted. One block at a time: an inner one takes the place of an
    outer one, and its end lets everything go.

    Args:
        tasks: the names, separated by commas: "aclnnExp,aclrtMemcpyAsync"; `*`: every task.
    """
    _library().simHold(tasks.encode())
    try:
        yield
    finally:
        _library().simHold(None)


def findings(*, clear: bool = False) -> list[Finding]:
    """Return what the watcher reported."""
    return cast("list[Finding]", json.loads(_library().simFindings(int(clear))))


def log(*, clear: bool = False) -> list[Event]:
    """Return the event log: the last 100,000 events."""
    return cast("list[Event]", json.loads(_library().simLog(int(clear))))


def counters() -> Counters:
    """Return all counts."""
    return cast("Counters", json.loads(_library().simCounters()))


def live() -> dict[str, int]:
    """Return the kinds of which objects live, with their numbers; contexts are not counted."""
    objects = counters()["objects"]
    return {k: v["live"] for k, v in objects.items() if v["live"] and k != "context"}


def reset() -> None:
    """Forget findings, log and counts, drop faults, latencies and holds. Objects and memory stay."""
    _library().simReset()


def set_memory_limit(size: int, device: int = -1) -> None:
    """Set how many bytes a device has (-1: every device), also below what is in use."""
    _library().simSetMemoryLimit(device, size)
