"""What hooks ask of the backward pass that calls them: its node, its number, what follows at its end.

The answers stand in the frames of the calls that are under way, so that passes nobody asks pay nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, TypeVar

from .node import Node, accumulator

__all__ = [
    "FINAL",
    "collecting",
    "current_node",
    "end_pass",
    "graph_task_id",
    "keeps_graph",
    "marks",
    "queue_callback",
]

F = TypeVar("F", bound=Callable[..., Any])

# By the frame of a pass, what is to be called at its end.
FINAL: Final[dict[FrameType, list[Callable[[], Any]]]] = {}

_ROLES: Final[dict[Any, str]] = {}


def marks(role: str) -> Callable[[F], F]:
    """Say what a function of the engine is: ``pass``, or what its frame has: ``node`` or ``leaf``."""

    def mark(function: F) -> F:
        _ROLES[function.__code__] = role
        return function

    return mark


def _frame(*roles: str) -> FrameType | None:
    """The innermost frame that has one of the roles."""
    return _outwards(sys._getframe(1), *roles)


def _outwards(frame: FrameType | None, *roles: str) -> FrameType | None:
    """This frame, or else the innermost one around it, that has one of the roles."""
    while frame is not None and _ROLES.get(frame.f_code) not in roles:
        frame = frame.f_back
    return frame


def current_node() -> Node | None:
    """The node that is being computed, or whose hooks are called; None outside of backward passes."""
    frame = _frame("node", "leaf")
    if frame is None:
        return None
    found = frame.f_locals
    return accumulator(found["meta"]) if "meta" in found else found["node"]


def graph_task_id() -> int:
    """A number of the backward pass that is under way; -1 outside."""
    frame = _frame("pass")
    return -1 if frame is None else id(frame)


def keeps_graph() -> bool:
    """Whether the backward pass that is under way leaves saved values in place; true outside."""
    frame = _frame("pass")
    return frame is None or bool(frame.f_locals["keep"])


def collecting() -> bool:
    """Whether a backward pass that is under way visits only what leads to some inputs."""
    frame = _frame("pass")
    while frame is not None:
        if frame.f_locals["wanted"] is not None:
            return True
        frame = _outwards(frame.f_back, "pass")
    return False


def queue_callback(callback: Callable[[], Any]) -> None:
    """Have a function called when the backward pass that is under way has ended.

    Raises:
        RuntimeError: outside of backward passes.
    """
    frame = _frame("pass")
    if frame is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    FINAL.setdefault(frame, []).append(callback)


def end_pass(call: bool) -> None:
    """At the end of a pass, call what was queued in it, or forget it."""
    waiting = FINAL.get(sys._getframe(1), [])
    while call and waiting:  # callbacks may queue others
        waiting.pop(0)()
    FINAL.pop(sys._getframe(1), None)
