"""What a captured function asks of the machine: clocks, files. A recording asks for nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from ..deferred.trace import location_of
from ..tensors.tensor import Tensor
from .captured_asked import UNSEEN, argument_of, hands_on
from .captured_names import is_foreign, is_own
from .captured_packages import in_package
from .code_beside import is_beside, is_importing
from .seen_calls import SeesCalls

__all__ = ["Outside"]

_CLOCKS: Final = frozenset({
    "asctime", "clock_gettime", "clock_gettime_ns", "ctime", "gmtime", "localtime", "monotonic",
    "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "strftime",
    "thread_time", "thread_time_ns", "time", "time_ns",
})  # fmt: skip
_NOW: Final = frozenset({"now", "today", "utcnow"})
_FILES: Final = frozenset({
    "access", "listdir", "lstat", "open", "open_code", "readlink", "scandir", "stat",
})  # fmt: skip
_OF_SYSTEM: Final = frozenset({"getloadavg", "times", "umask"})
_IDENTIFYING: Final[Any] = (id, hash)
_LOOKING_AT_FRAMES: Final = frozenset({"inspect", "traceback"})
_ASKING: Final = {
    "time": (_CLOCKS, "a clock"),
    "io": (_FILES, "a file"),
    "_io": (_FILES, "a file"),
    "posix": (_FILES, "a file"),
    "nt": (_FILES, "a file"),
    "_posixsubprocess": (frozenset({"fork_exec"}), "another program"),
    "builtins": (frozenset({"input"}), "whoever types"),
    "gc": (
        frozenset({"get_count", "get_objects", "get_referrers", "get_stats"}),
        "what is in memory",
    ),
    "sys": (frozenset({"getallocatedblocks", "getrefcount"}), "what is in memory"),
    "resource": (frozenset({"getrusage"}), "a clock"),
    "_contextvars": (frozenset({"copy_context"}), "all context variables"),
    "_weakref": (frozenset({"getweakrefcount", "getweakrefs"}), "what is in memory"),
    "_locale": (frozenset({"localeconv", "setlocale"}), "a setting of the machine"),
    "_signal": (frozenset({"getsignal"}), "a setting of the machine"),
}
_WRITES: Final[Any] = vars(Tensor)["_version"].fget
_TUPLES: Final = "namedtuple_"  # what Python calls the module of a class of tuples
# Parts of Python that do so for themselves, and tell it to nobody.
_ASIDE: Final = frozenset({
    "asyncio", "concurrent", "importlib", "inspect", "linecache", "logging", "multiprocessing", "tempfile",
    "threading", "tokenize", "traceback", "warnings", "weakref",
})  # fmt: skip


class Outside(SeesCalls):
    """Sees, while a function runs in this thread, what it asks of the machine.

    Attributes:
        asked: what it has asked, by which function and where.
        identified: whose identity it has asked for, and where; UNSEEN where that is not known.
        ran: the variables around code that has run, by it and the name of its module.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.identified: list[tuple[Any, str]] = []
        self.ran: dict[tuple[CodeType, str], dict[str, Any]] = {}

    def others(self) -> dict[tuple[CodeType, str], dict[str, Any]]:
        """Of what has run what is of a module that is neither Python's nor mindtorch's."""
        return {
            key: around
            for key, around in self.ran.items()
            if "__name__" in around and not is_foreign(key[1]) and not key[1].startswith(_TUPLES)
        }

    def handed_on(self) -> str | None:
        """Code of the user's that passes `id` on to what calls it unseen."""
        for (code, _), around in self.others().items():
            if "id" not in around and not in_package(code.co_filename) and hands_on(code, "id"):
                return location_of(code, 0)
        return None

    def _identify(self, frame: FrameType, called: Any) -> None:
        value = argument_of(frame)
        hashed: Any = type(value).__hash__
        by_identity = isinstance(value, Tensor) or hashed is object.__hash__
        name, at = called.__name__, location_of(frame.f_code, frame.f_lasti)
        if name == "id" or (by_identity and value is not UNSEEN):
            self.identified.append((value, f"{name}() at {at}"))

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "call":
            around = frame.f_globals
            key = frame.f_code, str(around.get("__name__"))
            if key not in self.ran and not is_importing(frame) and not is_beside(frame):
                self.ran[key] = around
        if event == "call" and frame.f_code is _WRITES.__code__:
            if (at := _asker(frame.f_back, is_clock=False)) is not None:
                self.asked.append(f"how often memory was written by _version at {at}")
        elif event == "c_call" and called is sys._getframe:
            by = _looking_at_frames(frame)
            if _is_users(by):
                at = location_of(by.f_code, by.f_lasti)
                how = "_getframe" if by is frame else frame.f_code.co_name
                self.asked.append(f"who called it by {how}() at {at}")
        elif event == "c_call" and called in _IDENTIFYING:
            if _is_users(frame):
                self._identify(frame, called)
        elif event == "c_call" and (what := _asks(called)) is not None:
            at = _asker(frame, is_clock=what == "a clock")
            if at is not None and not is_beside(frame):
                self.asked.append(f"{what} by {called.__name__}() at {at}")


def _is_users(frame: FrameType) -> bool:
    """Whether code is not that of an installed package: these look at frames, and ask for identities."""
    name = frame.f_globals.get("__name__")
    return not (is_foreign(name) or in_package(frame.f_code.co_filename))


def _looking_at_frames(frame: FrameType) -> FrameType:
    """The code on whose behalf frames are looked at."""
    while frame.f_globals.get("__name__") in _LOOKING_AT_FRAMES and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _asks(called: Callable[..., Any]) -> str | None:
    """What a function in C asks of the machine; None where it asks nothing."""
    name, module = called.__name__, called.__module__
    if module is None:  # a method
        owner = getattr(called, "__self__", None)
        if name in _NOW and isinstance(owner, type) and owner.__module__ == "datetime":
            return "a clock"
        return "the classes derived of another one" if name == "__subclasses__" else None
    if module in ("posix", "nt") and name in _OF_SYSTEM:
        return "a setting of the machine"
    found = _ASKING.get(module)
    if found is not None and name in found[0]:
        return found[1]
    return "random numbers of the system" if name == "urandom" else None


def _asker(frame: FrameType | None, *, is_clock: bool) -> str | None:
    """The line of the function on whose behalf that is asked; None where it is not the user's."""
    reads_for_it = False
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        first = name.partition(".")[0]
        if not is_foreign(name):
            return location_of(frame.f_code, frame.f_lasti)
        reads_for_it = reads_for_it or name.startswith("mindtorch_core.serialization")
        aside = first in _ASIDE or (is_own(name) and first != "numpy" and not reads_for_it)
        if aside or (is_clock and first != "datetime"):
            return None
        frame = frame.f_back
    return None
