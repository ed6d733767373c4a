"""What a captured function asks of the machine: clocks, files. A recording asks for nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from ..deferred.trace import location_of
from ..tensors.tensor import Tensor
from .captured_names import is_foreign, is_own
from .captured_packages import in_package
from .code_beside import is_beside, is_importing
from .seen_calls import SeesCalls

__all__ = ["Outside"]

_CLOCKS: Final = frozenset({
    "clock_gettime", "clock_gettime_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
    "process_time", "process_time_ns", "thread_time", "thread_time_ns", "time", "time_ns",
})  # fmt: skip
_NOW: Final = frozenset({"now", "today", "utcnow"})
_FILES: Final = frozenset({
    "access", "listdir", "lstat", "open", "open_code", "readlink", "scandir", "stat",
})  # fmt: skip
_ASKING: Final = {
    "time": (_CLOCKS, "a clock"),
    "io": (_FILES, "a file"),
    "_io": (_FILES, "a file"),
    "posix": (_FILES, "a file"),
    "nt": (_FILES, "a file"),
    "_posixsubprocess": (frozenset({"fork_exec"}), "another program"),
    "builtins": (frozenset({"input"}), "whoever types"),
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
        ran: the variables around code that has run, by it and the name of its module.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ran: dict[tuple[CodeType, str], dict[str, Any]] = {}

    def others(self) -> dict[tuple[CodeType, str], dict[str, Any]]:
        """Of what has run what is of a module that is neither Python's nor mindtorch's."""
        return {
            key: around
            for key, around in self.ran.items()
            if "__name__" in around and not is_foreign(key[1]) and not key[1].startswith(_TUPLES)
        }

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        if event == "call":
            around = frame.f_globals
            key = frame.f_code, str(around.get("__name__"))
            if key not in self.ran and not is_importing(frame):
                self.ran[key] = around
        if event == "call" and frame.f_code is _WRITES.__code__:
            if (at := _asker(frame.f_back, is_clock=False)) is not None:
                self.asked.append(f"how often memory was written by _version at {at}")
        elif event == "c_call" and called is sys._getframe:
            if not (is_foreign(frame.f_globals.get("__name__")) or _is_installed(frame)):
                at = location_of(frame.f_code, frame.f_lasti)
                self.asked.append(f"who called it by _getframe() at {at}")
        elif event == "c_call" and (what := _asks(called)) is not None:
            at = _asker(frame, is_clock=what == "a clock")
            if at is not None and not is_beside(frame):
                self.asked.append(f"{what} by {called.__name__}() at {at}")


def _is_installed(frame: FrameType) -> bool:
    """Whether code is that of an installed package: these look at frames for names and warnings."""
    return in_package(frame.f_code.co_filename)


def _asks(called: Callable[..., Any]) -> str | None:
    """What a function in C asks of the machine; None where it asks nothing."""
    name, module = called.__name__, called.__module__
    if module is None:  # a method
        owner = getattr(called, "__self__", None)
        if name in _NOW and isinstance(owner, type) and owner.__module__ == "datetime":
            return "a clock"
        return None
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
